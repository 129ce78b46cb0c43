"""Scores pairs with one scorer and reports the time taken: `python scoring_worker.py SCORER`, driven by JSON lines.

It runs in the environment of that scorer, so it stands on the standard library alone. A question names a file with
pairs; the answer holds the seconds for scoring all of them once, each pair's headline figure, and the peak memory.
"""

from __future__ import annotations

import gc
import json
import resource
import sys
import time
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

Scorer = Callable[[Any, Any, Any], float]

STRING, NUMBER = {"type": "string"}, {"type": "number"}
LINE = {"type": "object", "properties": {"x": STRING, "y": NUMBER, "on": STRING}}
ROW = {"type": "object", "properties": {"a": STRING, "b": NUMBER, "lines": {"type": "array", "items": LINE}}}
WARM_UP_SCHEMA = {"type": "object", "properties": {"rows": {"type": "array", "items": ROW}}}


def warm_up_document(shift: int) -> dict[str, Any]:
    """Rows and rows below rows that share values, none of them wholly equal to one of another shift."""
    lines = [{"x": f"t{i % 3}", "y": i % 5 + 0.5, "on": f"2024-10-{i % 28 + 1:02}", "z": f"{shift}"} for i in range(60)]
    return {"rows": [{"a": f"r{i % 4}", "b": (i + shift) % 7, "lines": lines[i : i + 5]} for i in range(40)]}


def docassay(metric: str) -> Scorer:
    import scipy.optimize  # noqa: F401  # docassay loads it when it first needs it, its peers when they are imported

    from docassay import score

    return lambda prediction, gold, schema: score(prediction, gold, schema, metric=metric).accuracy or 0.0


def omni_extract_bench(_: str) -> Scorer:
    from omni_extract_bench import score

    return lambda prediction, gold, schema: score(prediction, gold, schema)["accuracy"]


def llama_extract_bench(_: str) -> Scorer:
    from extract_bench.evaluation.metrics.extract import compute_unified_evidence_metrics

    def score(prediction: Any, gold: Any, schema: Any) -> float:
        metrics = compute_unified_evidence_metrics(gold, prediction, [], data_schema=schema)
        return next((metric.value for metric in metrics if metric.metric_name.endswith("f1")), 0.0)

    return score


def structeval(_: str) -> Scorer:
    from structeval import StructEvaluator

    return lambda prediction, gold, _schema: StructEvaluator.run(prediction, gold).sum_metrics.f_score()


SCORERS = {
    "docassay": docassay,
    "omni-extract-bench": omni_extract_bench,
    "llama-extract-bench": llama_extract_bench,
    "structeval": structeval,
}


def main() -> None:
    """Answer every line of stdin."""
    name, _, variant = sys.argv[1].partition(" ")
    score = SCORERS[name](variant)
    score(warm_up_document(1), warm_up_document(0), WARM_UP_SCHEMA)
    for line in sys.stdin:
        question = json.loads(line)
        texts = json.loads(Path(question["pairs"]).read_bytes())
        answer = timed(score, texts) if question["what"] == "score" else parse_and_score(score, texts)
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()


def timed(score: Scorer, texts: list[list[str]]) -> dict[str, Any]:
    """Score parsed documents; processor time, so that other work on the machine is not in it."""
    pairs = [[json.loads(text) for text in pair] for pair in texts]
    gc.collect()
    started = time.process_time()
    figures = [score(*pair) for pair in pairs]
    taken = time.process_time() - started
    return {"seconds": taken, "figures": figures, "peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss}


def parse_and_score(score: Scorer, texts: list[list[str]]) -> dict[str, Any]:
    """Time parsing alone and parsing with scoring, by docassay's own loader, beside the standard library's parser."""
    from docassay.extraction.document import load_json

    data = [[text.encode() for text in pair] for pair in texts]
    marks = [time.process_time()]
    for pair in data:
        for text in pair:
            json.loads(text)
    marks.append(time.process_time())
    parsed = [[load_json(text, where="bench", exact=False) for text in pair] for pair in data]
    marks.append(time.process_time())
    for pair in parsed:
        score(*pair)
    marks.append(time.process_time())
    standard, parse, scoring = (later - earlier for earlier, later in pairwise(marks))
    return {"standard": standard, "parse": parse, "score": scoring, "bytes": sum(len(t) for pair in data for t in pair)}


if __name__ == "__main__":
    main()
