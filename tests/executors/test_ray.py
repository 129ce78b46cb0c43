"""Holds a run on Ray to equal the local one, also where a node is killed midway; clusters are on loopback."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from docassay.pipelines.score_table import score_table
from score_tables import Folder, same_run

pytest.importorskip("ray", reason="Ray is not installed")
SCRIPT = Path(__file__).resolve().parents[1] / "helpers" / "ray_cluster.py"


def on_ray(kind: str, folder: Folder, out: Path) -> dict[str, Any]:
    manifest = folder.manifest()
    command = [sys.executable, str(SCRIPT), kind, str(manifest), str(out), str(folder.root)]
    found = subprocess.run(command, capture_output=True, text=True, timeout=400)
    assert found.returncode == 0, found.stderr
    told: dict[str, Any] = json.loads(found.stdout.strip().splitlines()[-1])
    return told


@pytest.mark.slow
def test_a_local_cluster_gives_the_local_run(tmp_path: Path) -> None:
    folder = Folder(tmp_path)
    folder.add_many(120)
    folder.add("bad", {"vendor": "x"}, b"{")
    assert on_ray("local", folder, tmp_path / "ray") == {"scored": 120, "errors": 1}
    score_table(folder.root / "jobs.parquet", tmp_path / "local", root=tmp_path, workers=2)
    assert same_run(tmp_path / "ray", tmp_path / "local")


@pytest.mark.slow
def test_a_node_killed_midway_costs_nothing(tmp_path: Path) -> None:
    folder = Folder(tmp_path)
    folder.add_many(1200)
    told = on_ray("two-nodes", folder, tmp_path / "ray")
    assert 0 < told["killed_at"][0] < 1200
    assert (told["scored"], told["errors"], told["nodes_alive"]) == (1200, 0, 1)
    score_table(folder.root / "jobs.parquet", tmp_path / "local", root=tmp_path, workers=2)
    assert same_run(tmp_path / "ray", tmp_path / "local")
