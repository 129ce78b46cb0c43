"""Runs a table on Ray in a process of its own: on a new local cluster, or on two nodes of which one is killed midway.

Usage: python ray_cluster.py local|two-nodes MANIFEST OUT ROOT. Prints JSON: what the summary counts, and the kill.
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any

os.environ["RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"] = "0"  # loopback only

from docassay.pipelines.score_table import Progress, score_table


def local(manifest: str, out: str, root: str) -> dict[str, Any]:
    made = score_table(manifest, out, root=root, engine="ray", workers=2)
    return {"scored": made.summary.flat.scored, "errors": made.summary.flat.errors}


def two_nodes(manifest: str, out: str, root: str) -> dict[str, Any]:
    from ray.cluster_utils import Cluster

    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
    other = cluster.add_node(num_cpus=1)
    cluster.wait_for_nodes()
    killed_at: list[int] = []

    def kill(progress: Progress) -> None:
        if not killed_at and progress.done >= progress.documents // 4:
            killed_at.append(progress.done)
            cluster.remove_node(other, allow_graceful=False)

    made = score_table(
        manifest, out, root=root, engine="ray", workers=2, batch_rows=20, ray_address=cluster.address, progress=kill
    )
    alive = len([node for node in cluster.list_all_nodes() if node.all_processes])
    cluster.shutdown()
    return {
        "scored": made.summary.flat.scored,
        "errors": made.summary.flat.errors,
        "killed_at": killed_at,
        "nodes_alive": alive,
    }


if __name__ == "__main__":
    kind, *arguments = sys.argv[1:]
    print(json.dumps({"local": local, "two-nodes": two_nodes}[kind](*arguments)))
