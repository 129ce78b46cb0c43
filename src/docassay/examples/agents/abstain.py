"""The smallest agent: reads a task, finds nothing, and says so.

Run it with `docassay discover run --data data/ --command 'python -m docassay.examples.agents.abstain' --out subs/`.
"""

from __future__ import annotations

import json
import sys


def main() -> None:
    """Read the request from stdin and write a submission without findings to stdout."""
    request = json.load(sys.stdin)
    print("nothing was looked at", file=sys.stderr)
    reason = "This agent never looks at the corpus."
    json.dump({"task_id": request["task"]["task_id"], "findings": [], "abstention_reason": reason}, sys.stdout)


if __name__ == "__main__":
    main()
