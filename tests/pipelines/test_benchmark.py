"""A benchmark: runs named by their settings, side by side, scored alike, ranked."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from docassay.errors import ArgumentValueError, CredentialError, ManifestError
from docassay.pipelines.benchmark import Limits, benchmark, plan_benchmark, run_benchmark, run_name
from docassay.pipelines.interrupts import Stop
from docassay.pipelines.spending import Progress
from docassay.providers.contract import RetryPolicy
from docassay.providers.fake import KEYS, FakeServer, Fault
from docassay.providers.registry import configure

Make = Callable[..., Any]
Reads = Callable[[Any], dict[str, Any]]

ENVIRONMENT = dict.fromkeys(KEYS.values(), "key-4711-never-written")


def limits(folder: Any, **more: Any) -> Limits:
    return Limits(root=str(folder.root), retry=RetryPolicy(waits=(0.02, 0.04, 0.06)), **more)


def worse(reads: Reads) -> Reads:
    """Reducto misreads every total."""
    return lambda document: {**reads(document), **({"total": -1} if document.vendor == "reducto" else {})}


def test_providers_are_predicted_scored_and_ranked(make: Make, reads: Reads) -> None:
    folder = make(4, suite="s")
    with FakeServer(worse(reads)) as fake:
        result = benchmark(
            folder.manifest,
            folder.root / "runs",
            providers=["reducto", "datalab", "llamaextract"],
            options={name: fake.options(name) for name in ("reducto", "datalab", "llamaextract")},
            limits=limits(folder),
            environment=ENVIRONMENT,
        )
    assert [place.provider for place in result.leaderboard] == ["datalab", "llamaextract", "reducto"]
    first, _, last = result.leaderboard
    assert first.accuracy is not None
    assert last.accuracy is not None
    assert (first.accuracy.estimate, last.accuracy.estimate) == (1.0, 0.5)
    assert (first.accuracy.low, first.accuracy.high, first.documents, first.scored) == (1.0, 1.0, 4, 4)
    assert first.unified is not None
    assert first.unified.estimate == 1.0
    assert (result.stopped, result.interrupted) == ({}, False)
    stored = json.loads((folder.root / "runs/leaderboard.json").read_text())
    assert [place["run"] for place in stored["leaderboard"]] == [place.run for place in result.leaderboard]
    for place in result.leaderboard:
        assert (folder.root / "runs" / place.run / "manifest.parquet").is_file()
        assert json.loads((Path(place.score_run or "") / "summary.json").read_text())["flat"]["documents"] == 4
    for path in (folder.root / "runs").rglob("*"):
        assert not path.is_file() or b"never-written" not in path.read_bytes()


def test_each_entry_of_a_list_is_a_run_named_by_its_settings(make: Make, reads: Reads) -> None:
    folder = make(2)
    with FakeServer(reads) as fake:
        options = {"datalab": [fake.options("datalab", mode=mode) for mode in ("fast", "accurate")]}
        arguments: dict[str, Any] = {
            "providers": ["datalab"],
            "options": options,
            "limits": limits(folder),
            "environment": ENVIRONMENT,
        }
        plan = plan_benchmark(folder.manifest, folder.root / "runs", **arguments)
        assert [run.name for run in plan.runs] == [
            run_name(configure("datalab", entry)) for entry in options["datalab"]
        ]
        assert len({run.name for run in plan.runs}) == 2
        assert all(run.name.startswith("datalab-") for run in plan.runs)
        assert (fake.count(), (folder.root / "runs").exists()) == (0, False), "a plan sends and writes nothing"
        run_benchmark(plan, environment=ENVIRONMENT)
    modes = {json.loads(path.read_text())["options"]["mode"] for path in folder.root.glob("runs/*/predict.json")}
    assert modes == {"fast", "accurate"}


def test_a_default_that_is_spelled_out_names_the_same_run() -> None:
    assert run_name(configure("datalab")) == run_name(configure("datalab", {"mode": "balanced", "poll_interval": 5}))
    assert run_name(configure("datalab")) != run_name(configure("datalab", {"mode": "fast"}))
    assert run_name(configure("openai/gpt-5")).startswith("openai-gpt-5-")
    assert run_name(configure("openai/gpt-5")) != run_name(configure("openai/gpt.5"))


def test_the_plan_says_what_is_left_and_what_is_known_of_cost(make: Make, reads: Reads) -> None:
    folder = make(4)
    rows = [json.loads(line) for line in folder.manifest.read_text().splitlines()]
    rows[0]["gt_path"] = None
    folder.manifest.write_text("\n".join(json.dumps(row) for row in rows))
    providers = ["datalab", "reducto", "llamaextract", "baseline"]
    with FakeServer(reads) as fake:
        arguments: dict[str, Any] = {
            "providers": providers,
            "options": {name: fake.options(name) for name in providers[:3]},
            "environment": ENVIRONMENT,
        }
        fresh = plan_benchmark(folder.manifest, folder.root / "runs", limits=limits(folder), **arguments)
        assert (fresh.documents, fresh.to_score, fresh.costs_money) == (4, 3, True)
        assert [(run.to_predict, run.answered) for run in fresh.runs] == [(4, 0)] * 4
        assert [run.cost_known for run in fresh.runs] == [
            "unknown; stated afterwards in USD",
            "unknown; stated afterwards in credits",
            "unknown; never stated",
            "free",
        ]
        arguments["providers"] = ["datalab"]
        arguments["options"] = {"datalab": fake.options("datalab")}
        benchmark(folder.manifest, folder.root / "runs", limits=limits(folder, limit=3), **arguments)
        later = plan_benchmark(folder.manifest, folder.root / "runs", limits=limits(folder), **arguments)
        assert [(run.to_predict, run.answered) for run in later.runs] == [(1, 3)]
        assert later.runs[0].cost_known == "0.025 USD per document so far (3 documents)"


def test_documents_without_ground_truth_are_predicted_and_not_held_against_anyone(make: Make, reads: Reads) -> None:
    folder = make(3)
    rows = [json.loads(line) for line in folder.manifest.read_text().splitlines()]
    rows[1]["gt_path"] = None
    folder.manifest.write_text("\n".join(json.dumps(row) for row in rows))
    with FakeServer(reads) as fake:
        result = benchmark(
            folder.manifest,
            folder.root / "runs",
            providers=["datalab"],
            options={"datalab": fake.options("datalab")},
            limits=limits(folder),
            environment=ENVIRONMENT,
        )
    place = result.leaderboard[0]
    assert (place.predicted["ok"], place.documents, place.scored, place.coverage) == (3, 2, 2, 1.0)


def test_running_again_asks_and_scores_nothing_twice(make: Make, reads: Reads) -> None:
    folder = make(3)
    with FakeServer(reads, faults=[Fault("status", step="submit", document="1.pdf", times=4)]) as fake:
        arguments: dict[str, Any] = {
            "providers": ["datalab"],
            "options": {"datalab": fake.options("datalab")},
            "limits": limits(folder),
            "environment": ENVIRONMENT,
        }
        first = benchmark(folder.manifest, folder.root / "runs", **arguments)
        assert first.leaderboard[0].scored == 2
        second = benchmark(folder.manifest, folder.root / "runs", **arguments)
        assert second.leaderboard[0].scored == 3
        scored = {path: path.stat().st_mtime_ns for path in folder.root.glob("runs/*/score/scores.parquet/*")}
        requests = fake.count()
        third = benchmark(folder.manifest, folder.root / "runs", **arguments)
        assert third.leaderboard[0].accuracy == second.leaderboard[0].accuracy
        assert fake.count() == requests
        assert {path: path.stat().st_mtime_ns for path in scored} == scored


def test_a_refused_account_stops_only_that_provider(make: Make, reads: Reads) -> None:
    folder = make(6)
    with FakeServer(reads, faults=[Fault("status", vendor="reducto", status=402, times=None)]) as fake:
        result = benchmark(
            folder.manifest,
            folder.root / "runs",
            providers=["reducto", "extend"],
            options={name: fake.options(name) for name in ("reducto", "extend")},
            limits=limits(folder),
            environment=ENVIRONMENT,
        )
    assert [(name.split("-")[0], "refuses the account" in reason) for name, reason in result.stopped.items()] == [
        ("reducto", True)
    ]
    assert [(place.provider, place.scored) for place in result.leaderboard] == [("extend", 6), ("reducto", 0)]
    reducto = folder.root / "runs" / result.leaderboard[1].run
    assert not list(reducto.glob("predictions/*")) + list(reducto.glob("records/*"))


def test_a_stop_is_for_all_and_nothing_is_scored(make: Make, reads: Reads) -> None:
    folder = make(12)
    stop = Stop()
    seen: dict[str, Progress] = {}

    def watch(name: str, progress: Progress) -> None:
        seen[name] = progress
        if progress.done >= 2:
            stop.request()

    with FakeServer(reads) as fake:
        plan = plan_benchmark(
            folder.manifest,
            folder.root / "runs",
            providers=["reducto", "extend"],
            options={name: fake.options(name) for name in ("reducto", "extend")},
            limits=limits(folder, workers=2),
            environment=ENVIRONMENT,
        )
        result = run_benchmark(plan, environment=ENVIRONMENT, watch=watch, stop=stop)
        assert (result.interrupted, result.leaderboard) == (True, ())
        assert set(seen) == {run.name for run in plan.runs}
        assert not (folder.root / "runs/leaderboard.json").exists()
        again = run_benchmark(plan, environment=ENVIRONMENT)
        assert [place.scored for place in again.leaderboard] == [12, 12]
        assert fake.count(step="submit") == 24


@pytest.mark.parametrize(
    ("providers", "options", "told"),
    [
        (["datalab"], {"reducto": {}}, "options for 'reducto', which is not among the providers"),
        (["datalab"], {"datalab": [{"mode": "fast"}, {"mode": "fast"}]}, "datalab is configured twice"),
        (["datalab"], {"datalab": ["fast"]}, "an object or a list of objects"),
        (["datalab", "nobody"], {"datalab": {"speed": 1}}, "no option 'speed'.*no provider 'nobody'"),
        (["datalab"], {"datalab": []}, "at least one"),
    ],
)
def test_faults_of_the_arguments_are_told_together(
    make: Make, providers: list[str], options: dict[str, Any], told: str
) -> None:
    folder = make(1)
    with pytest.raises(ArgumentValueError, match=told):
        plan_benchmark(
            folder.manifest, folder.root / "x", providers=providers, options=options, environment=ENVIRONMENT
        )


def test_a_key_that_is_missing_for_one_stops_all_before_anything_is_sent(make: Make) -> None:
    folder = make(1)
    with FakeServer() as fake:
        options = {name: fake.options(name) for name in ("datalab", "reducto")}
        with pytest.raises(CredentialError, match="REDUCTO_API_KEY"):
            benchmark(
                folder.manifest,
                folder.root / "runs",
                providers=["datalab", "reducto"],
                options=options,
                environment={"DATALAB_API_KEY": "k"},
            )
        assert fake.count() == 0


def test_a_manifest_without_the_columns_is_told(make: Make) -> None:
    folder = make(1)
    folder.manifest.write_text('{"doc_id": "a"}\n')
    with pytest.raises(ManifestError, match="doc_path"):
        plan_benchmark(folder.manifest, folder.root / "runs", providers=["baseline"])


def test_what_could_not_be_scored_is_told_before_money_is_spent(make: Make) -> None:
    folder = make(1)
    with pytest.raises(ArgumentValueError, match="no metric 'sound/9'"):
        plan_benchmark(folder.manifest, folder.root / "runs", providers=["baseline"], metric="sound/9")
    folder = make(1, accuracy=1)
    with pytest.raises(ManifestError, match="'accuracy' has the name of an output column"):
        plan_benchmark(folder.manifest, folder.root / "runs", providers=["baseline"])
