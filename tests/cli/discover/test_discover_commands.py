"""`docassay discover` as a user runs it: what is printed where, exit codes, one-line errors."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from docassay.discovery.strict_json import read_json

Run = Callable[..., subprocess.CompletedProcess[str]]
RIGHT = "submissions/right/appliance_reviews-composition-reversal-001.json"


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with `data` and `data-planted`."""
    folder = tmp_path_factory.mktemp("world")
    discover(folder, "simulate", "--out", "data", "--tasks", "2", "--documents", "200", "--seed", "4")
    return folder


def discover(folder: Path, *arguments: str, stdin: str | None = None) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "docassay", "discover", *arguments]
    done = subprocess.run(command, cwd=folder, input=stdin, capture_output=True, text=True, timeout=120, check=False)
    assert "Traceback" not in done.stderr, done.stderr
    return done


def test_simulate_tells_what_it_made(tmp_path: Path) -> None:
    done = discover(
        tmp_path, "simulate", "--out", "d", "--tasks", "1", "--documents", "200", "--planted", "answers", "--json"
    )
    made = json.loads(done.stdout)
    assert (made["tasks"], made["documents"], made["planted"]) == (1, 200, "answers")
    again = discover(tmp_path, "simulate", "--out", "d")
    assert again.returncode == 2
    assert again.stderr.startswith("error: d exists and is not an empty folder")


def test_verify_flags_what_is_wrong(world: Path, tmp_path: Path) -> None:
    good = discover(world, "verify", "--data", "data", "--json")
    assert good.returncode == 0
    assert json.loads(good.stdout)["ok"] is True
    discover(tmp_path, "simulate", "--out", "data", "--tasks", "1", "--documents", "200")
    tasks = read_json(tmp_path / "data" / "tasks.json")
    (tmp_path / "data" / tasks[0]["corpus_path"]).write_bytes(b"gone")
    bad = discover(tmp_path, "verify", "--data", "data", "-q")
    assert bad.returncode == 1
    assert "SHA-256 is" in bad.stdout
    assert "not readable as gzip" in bad.stdout
    assert bad.stderr == ""
    none = discover(tmp_path, "verify", "--data", "nowhere")
    assert none.returncode == 2
    assert none.stderr == "error: nowhere is no data folder: it has no tasks.json\n"


def test_validate_a_folder(world: Path) -> None:
    good = discover(world, "validate", "--data", "data", "--submission", "data-planted/submissions/right")
    assert good.returncode == 0
    assert good.stdout.count(": valid") == 2
    bad = discover(
        world, "validate", "--data", "data", "--submission", "data-planted/submissions/shifted-quote", "--json"
    )
    assert bad.returncode == 1
    (first, _) = json.loads(bad.stdout)
    assert first["status"] == "invalid"
    assert [fault["code"] for fault in first["faults"]] == ["quote_offset"]
    abstained = discover(world, "validate", "--data", "data", "--submission", "data-planted/submissions/abstain")
    assert abstained.stdout.count(": abstained") == 2


def test_validate_says_what_is_missing_without_flagging_it(world: Path, tmp_path: Path) -> None:
    done = discover(world, "validate", "--data", "data", "--submission", str(tmp_path))
    assert done.returncode == 0
    assert done.stdout.count(": missing") == 2


def test_validate_one_file_and_stdin(world: Path) -> None:
    text = (world / "data-planted" / RIGHT).read_text()
    assert discover(world, "validate", "--data", "data", "--submission", f"data-planted/{RIGHT}").returncode == 0
    piped = discover(world, "validate", "--data", "data", "--submission", "-", stdin=text)
    assert piped.returncode == 0
    unreadable = discover(world, "validate", "--data", "data", "--submission", "-", stdin="{")
    assert unreadable.returncode == 2
    assert "names none of the 2 tasks" in unreadable.stderr
    task_id = Path(RIGHT).stem
    told = discover(world, "validate", "--data", "data", "--submission", "-", "--task-id", task_id, stdin="{")
    assert told.returncode == 1
    assert "not_json" in told.stdout
    assert discover(world, "validate", "--data", "data", "--submission", "absent.json").returncode == 2


def test_the_name_of_a_file_tells_its_task(world: Path) -> None:
    done = discover(
        world, "validate", "--data", "data", "--submission", f"data-planted/{RIGHT.replace('right', 'cut-off')}"
    )
    assert done.returncode == 1
    assert "not_json" in done.stdout


def test_statistics_completes_a_draft(world: Path) -> None:
    submission = read_json(world / "data-planted" / RIGHT)
    draft = dict(submission["findings"][0])
    expected = draft.pop("statistics")
    del draft["evidence"], draft["claim"]
    (world / "draft.json").write_text(json.dumps(draft))
    task_id = submission["task_id"]
    done = discover(world, "statistics", "--data", "data", "--finding", "draft.json", "--task-id", task_id)
    assert done.returncode == 0
    assert json.loads(done.stdout)["statistics"] == expected


def test_statistics_completes_a_submission_from_stdin(world: Path) -> None:
    submission = read_json(world / "data-planted" / RIGHT)
    expected = submission["findings"][0].pop("statistics")
    done = discover(world, "statistics", "--data", "data", stdin=json.dumps(submission))
    assert json.loads(done.stdout)["findings"][0]["statistics"] == expected


@pytest.mark.parametrize(
    ("stdin", "told"),
    [
        ("[]", "a JSON object is needed"),
        ("{", "not JSON"),
        ('{"kind": "x"}', "give --task-id"),
        ('{"task_id": "x", "findings": []}', "no task 'x'"),
        ('{"task_id": "appliance_reviews-composition-reversal-001", "findings": 5}', "a list of objects"),
        (
            '{"task_id": "appliance_reviews-composition-reversal-001", "findings": [{}]}',
            "no statistics for this finding",
        ),
    ],
)
def test_statistics_refuses_in_one_line(world: Path, stdin: str, told: str) -> None:
    done = discover(world, "statistics", "--data", "data", stdin=stdin)
    assert done.returncode == 2
    assert told in done.stderr
    assert done.stdout == ""


def test_run_tells_each_task_and_flags_failures(world: Path, tmp_path: Path) -> None:
    agent = f"{sys.executable} -m docassay.examples.agents.abstain"
    done = discover(world, "run", "--data", "data", "--command", agent, "--out", str(tmp_path / "subs"))
    assert done.returncode == 0
    assert "2 tasks: 2 valid" in done.stdout
    assert done.stderr.count("valid, abstains in") == 2
    again = discover(world, "run", "--data", "data", "--command", agent, "--out", str(tmp_path / "subs"), "--json")
    assert [outcome["reused"] for outcome in json.loads(again.stdout)] == [True, True]
    changed = discover(
        world, "run", "--data", "data", "--command", agent, "--out", str(tmp_path / "subs"), "--limit", "1"
    )
    assert changed.returncode == 2
    assert "limit was null, is 1" in changed.stderr
    failing = f"{sys.executable} -c 'import sys; sys.exit(9)'"
    failed = discover(
        world, "run", "--data", "data", "--command", failing, "--out", str(tmp_path / "other"), "--limit", "1"
    )
    assert failed.returncode == 1
    assert "failed in" in failed.stderr
    assert "exit code 9" in failed.stderr
    quiet = discover(world, "run", "--data", "data", "--command", failing, "--out", str(tmp_path / "third"), "-q")
    assert quiet.stderr == ""


def test_run_names_an_unusable_command(world: Path, tmp_path: Path) -> None:
    quote = discover(world, "run", "--data", "data", "--command", "python 'agent.py", "--out", str(tmp_path / "subs"))
    assert quote.returncode == 2
    assert "cannot be split" in quote.stderr
    empty = discover(world, "run", "--data", "data", "--command", "", "--out", str(tmp_path / "subs"))
    assert empty.returncode == 2
    assert "command is empty" in empty.stderr


def test_download_refuses_a_wrong_name(tmp_path: Path) -> None:
    done = discover(tmp_path, "download", "--dataset", "nothing", "--out", "data")
    assert done.returncode == 2
    assert "write OWNER/NAME" in done.stderr


@pytest.mark.parametrize("verb", ["simulate", "download", "verify", "run", "statistics", "validate"])
def test_help_is_whole_and_loads_nothing_heavy(verb: str, tmp_path: Path) -> None:
    program = (
        "import sys\nfrom docassay.cli import cli\n"
        f"cli.main(['discover', {verb!r}, '--help'], standalone_mode=False)\n"
        "loaded = {'numpy', 'scipy', 'rich', 'huggingface_hub', 'pyarrow'} & set(sys.modules)\n"
        "sys.exit(str(loaded) if loaded else 0)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "Example" in done.stdout
    assert "docassay discover" in done.stdout
