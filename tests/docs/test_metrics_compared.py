"""docs/metrics-compared.md shows what comes out when metrics are compared on real predictions, by its own recipe."""

from __future__ import annotations

import os
import re
from collections import Counter
from pathlib import Path

import pytest

from docassay.pipelines.metric_comparison import MetricComparison, compare_metrics
from docassay.pipelines.score_table import score_table
from docassay.report.metric_comparison import metric_markdown

SYSTEMS = ("claude", "docupipe_standard", "extend", "gpt")
PAGE = Path(__file__).resolve().parents[2] / "docs" / "metrics-compared.md"


@pytest.fixture(scope="module")
def page() -> str:
    return PAGE.read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def compared(shared_dir: Path, page: str, tmp_path_factory: pytest.TempPathFactory) -> MetricComparison:
    """The comparison, from manifests that the page's snippet makes."""
    here = tmp_path_factory.mktemp("compared")
    (here / "docubench").symlink_to(shared_dir / "data" / "extraction" / "docubench")
    recipe = re.search(r"^```python\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    assert recipe is not None
    before = Path.cwd()
    os.chdir(here)
    try:
        exec(compile(recipe[1], str(PAGE), "exec"), {})
    finally:
        os.chdir(before)
    runs = [here / "runs" / system for system in SYSTEMS]
    for system, run in zip(SYSTEMS, runs, strict=True):
        score_table(here / f"{system}.jsonl", run, metrics=["omni/1", "sound/1"], workers=2)
    return compare_metrics(runs)


def test_the_page_shows_what_comes_out(compared: MetricComparison, page: str) -> None:
    told = metric_markdown(compared, limit=20)
    lines = [line for line in told.splitlines() if line.startswith(("|", "- "))]
    assert len(lines) > 15
    assert [line for line in lines if line not in page.splitlines()] == []


def test_every_group_is_commented_on(compared: MetricComparison, page: str) -> None:
    """Each group stands in the comments with its number of addresses and of systems."""
    words = {1: "one system", 2: "two systems", 3: "three systems"}
    told = page[page.index("## Group by group") :]
    pairing = Counter[str]()
    for group in compared.groups:
        if "paired" in group.name:
            pairing.update(group.systems)
            assert f"**{group.name}**" in told
            continue
        plural = "" if group.count == 1 else "es"
        comment = f"**{group.name.split(': ')[1]}** ({group.count} address{plural}, {words[len(group.systems)]})"
        assert comment in told
    assert f"({sum(pairing.values())} addresses, {words[len(pairing)]})" in told


def test_what_is_said_of_the_pairing(compared: MetricComparison) -> None:
    where = Counter((one.system, one.doc_id) for one in compared.differences if "paired" in one.group)
    assert where == {("extend", "qoSTXgNE"): 20}
    assert not compared.ranking_changes
