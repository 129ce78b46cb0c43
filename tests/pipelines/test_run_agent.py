"""Agents that misbehave in every way we know: each is its task's recorded failure, the others finish, none survives."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from docassay.discovery.simulate.write import simulate
from docassay.discovery.strict_json import read_json
from docassay.discovery.submission_folder import log_file, outcome_file, submission_path
from docassay.discovery.tasks import TaskData, load_data
from docassay.errors import ArgumentValueError, RunLockedError, RunMismatchError, TaskDataError
from docassay.pipelines.agent_process import agent_environment, is_secret
from docassay.pipelines.run_agent import Outcome, RunOptions, run_agent

linux_only = pytest.mark.skipif(sys.platform != "linux", reason="adopting orphans needs Linux")

ABSTAIN = """
import json, sys
request = json.load(sys.stdin)
answer = {"task_id": request["task"]["task_id"], "findings": [], "abstention_reason": "nothing"}
"""
GOOD = ABSTAIN + "print(json.dumps(answer))\n"


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> TaskData:
    return load_data(simulate(tmp_path_factory.mktemp("world") / "data", tasks=3, documents=200, pool=20).data)


@pytest.fixture
def marker() -> Iterator[str]:
    """A command-line argument by which every process of an agent can be found; none may be left."""
    name = f"agent-marker-{os.getpid()}-{time.monotonic_ns()}"
    yield name
    assert processes_with(name) == []


def processes_with(marker: str) -> list[int]:
    found = subprocess.run(["ps", "-ww", "-eo", "pid,stat,args"], capture_output=True, text=True, check=True).stdout
    rows = [line.split(maxsplit=2) for line in found.splitlines() if marker in line]
    return [int(pid) for pid, state, _ in rows if not state.startswith("Z")]


def wait_for(marker: str, count: int) -> None:
    """Until so many processes with the marker run; what a test kills must have been there."""
    deadline = time.monotonic() + 60
    while len(processes_with(marker)) < count:
        assert time.monotonic() < deadline, processes_with(marker)
        time.sleep(0.05)


def command(tmp_path: Path, code: str, *arguments: str) -> tuple[str, ...]:
    script = tmp_path / "agent.py"
    script.write_text(code)
    return (sys.executable, str(script), *arguments)


def one(data: TaskData, tmp_path: Path, code: str, *arguments: str, **options: object) -> Outcome:
    """The outcome of the first task under this agent."""
    wanted = RunOptions(command(tmp_path, code, *arguments), limit=1, **{"timeout": 20.0, **options})  # type: ignore[arg-type]
    (outcome,) = run_agent(data, tmp_path / "subs", wanted).outcomes
    return outcome


def test_processes_are_found_by_their_marker(tmp_path: Path) -> None:
    """What the other tests rely on to see that nothing is left."""
    code = "import time; time.sleep(60)"
    process = subprocess.Popen([sys.executable, "-c", code, "x" * 500, "agent-marker-check"])
    try:
        wait_for("agent-marker-check", 1)
    finally:
        process.kill()
        process.wait()
    assert processes_with("agent-marker-check") == []


def test_a_well_behaved_agent_is_valid_and_kept(data: TaskData, tmp_path: Path) -> None:
    run = run_agent(data, tmp_path / "subs", RunOptions(command(tmp_path, GOOD), jobs=2))
    assert [outcome.status for outcome in run.outcomes] == ["valid"] * 3
    assert [outcome.findings for outcome in run.outcomes] == [0] * 3
    for task in data.tasks:
        assert read_json(submission_path(run.folder, task.task_id))["task_id"] == task.task_id
        assert read_json(run.folder / outcome_file(task.task_id))["status"] == "valid"


def test_the_request_holds_task_corpus_and_pool(data: TaskData, tmp_path: Path) -> None:
    seen = tmp_path / "request.json"
    code = f"import sys\ndata = sys.stdin.buffer.read()\nopen({str(seen)!r}, 'wb').write(data)\n"
    one(data, tmp_path, code, track="unlabeled_pool")
    request = read_json(seen)
    task = data.tasks[0]
    assert request["task"] == task.value
    assert set(request["corpus"]) == {"path", "format", "n_documents", "sha256"}
    assert Path(request["corpus"]["path"]).is_absolute()
    assert request["corpus"]["format"] == "jsonl.gz"
    assert (Path(request["learning_directory"]) / "pool.parquet").is_file()


def test_task_only_gets_no_pool(data: TaskData, tmp_path: Path) -> None:
    code = "import json, sys\nsys.exit(7 if json.load(sys.stdin)['learning_directory'] is None else 8)\n"
    assert one(data, tmp_path, code).exit_code == 7


FAILURES = {
    "exit 1": ("import sys\nprint('partial')\nsys.exit(1)", "ended with exit code 1"),
    "killed by a signal": ("import os\nos.kill(os.getpid(), 11)", "ended with signal 11"),
    "nothing on stdout": ("pass", "wrote nothing to stdout"),
    "traceback": ("raise RuntimeError('boom')", "ended with exit code 1"),
}


@pytest.mark.parametrize("name", FAILURES)
def test_a_failing_agent_is_a_recorded_failure(data: TaskData, tmp_path: Path, name: str) -> None:
    code, reason = FAILURES[name]
    outcome = one(data, tmp_path, code)
    assert outcome.status == "failed"
    assert outcome.reason == reason
    assert not submission_path(tmp_path / "subs", outcome.task_id).exists()
    assert read_json(tmp_path / "subs" / outcome_file(outcome.task_id))["reason"] == reason


INVALID = {
    "logs before JSON": (ABSTAIN + "print('working...')\nprint(json.dumps(answer))", "logs belong to stderr"),
    "invalid UTF-8": ("import sys\nsys.stdout.buffer.write(b'{\\xff}')", "not UTF-8"),
    "NaN": ("print('{\"task_id\": NaN}')", "NaN is not a JSON number"),
    "another task": (ABSTAIN + "answer['task_id'] = 'x'\nprint(json.dumps(answer))", "wrong_task"),
    "deep nesting": ("print('[' * 100000)", "nested deeper"),
    "a list": ("print('[]')", "wrong_type"),
}


@pytest.mark.parametrize("name", INVALID)
def test_an_unusable_answer_is_kept_and_invalid(data: TaskData, tmp_path: Path, name: str) -> None:
    code, reason = INVALID[name]
    outcome = one(data, tmp_path, code)
    assert outcome.status == "invalid"
    assert reason in outcome.reason
    assert submission_path(tmp_path / "subs", outcome.task_id).exists()


def test_a_command_that_is_not_there(data: TaskData, tmp_path: Path) -> None:
    run = run_agent(data, tmp_path / "subs", RunOptions(("no-such-agent-anywhere",), limit=1))
    assert run.outcomes[0].status == "failed"
    assert "could not be started" in run.outcomes[0].reason
    assert "no-such-agent-anywhere" in run.outcomes[0].reason


def test_a_hanging_agent_ends_at_its_timeout(data: TaskData, tmp_path: Path, marker: str) -> None:
    began = time.monotonic()
    outcome = one(data, tmp_path, "import time\ntime.sleep(600)", marker, timeout=1.0)
    assert outcome.reason == "ended after 1 s (timeout)"
    assert outcome.exit_code is None
    assert time.monotonic() - began < 10


def test_an_agent_that_ignores_signals_ends_too(data: TaskData, tmp_path: Path, marker: str) -> None:
    code = (
        "import signal, time\n"
        "for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP): signal.signal(number, signal.SIG_IGN)\n"
        "time.sleep(600)"
    )
    assert "timeout" in one(data, tmp_path, code, marker, timeout=1.0).reason


CHILDREN = """
import subprocess, sys, time
for _ in range(5):
    subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)", sys.argv[1]])
"""


def test_forked_children_end_with_a_hanging_agent(data: TaskData, tmp_path: Path, marker: str) -> None:
    assert "timeout" in one(data, tmp_path, CHILDREN + "time.sleep(600)", marker, timeout=2.0).reason


def test_children_left_behind_by_a_good_agent_end_too(data: TaskData, tmp_path: Path, marker: str) -> None:
    """They hold stdout open, which must not make the runner wait for them."""
    began = time.monotonic()
    outcome = one(data, tmp_path, CHILDREN + GOOD, marker)
    assert outcome.status == "valid"
    assert time.monotonic() - began < 15


ESCAPED = """
import os, sys, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.execv(sys.executable, [sys.executable, "-c", "import time; time.sleep(600)", sys.argv[1]])
    os._exit(0)
os.wait()
time.sleep(0.5)
"""


@linux_only
@pytest.mark.parametrize("ending", ["time.sleep(600)", GOOD])
def test_a_double_forked_child_in_its_own_session_ends_too(
    data: TaskData, tmp_path: Path, marker: str, ending: str
) -> None:
    outcome = one(data, tmp_path, ESCAPED + ending, marker, timeout=3.0)
    assert outcome.survivors == 0


FORK_BOMB = """
import os, sys, time
for _ in range(6):
    os.fork()
time.sleep(600)
"""


@linux_only
def test_a_swarm_of_forks_ends(data: TaskData, tmp_path: Path, marker: str) -> None:
    assert one(data, tmp_path, FORK_BOMB, marker, timeout=1.0).survivors == 0


def test_gigabytes_of_output_are_cut_off(data: TaskData, tmp_path: Path, marker: str) -> None:
    code = "import sys\nwhile True: sys.stdout.buffer.write(b'x' * (1 << 20))"
    outcome = one(data, tmp_path, code, marker, output=2 << 20)
    assert "wrote more than 2 MiB to stdout" in outcome.reason
    kept = [path for path in (tmp_path / "subs").rglob("*") if path.is_file()]
    assert sum(path.stat().st_size for path in kept) < 1 << 20


def test_gigabytes_of_logs_are_bounded_and_keep_both_ends(data: TaskData, tmp_path: Path) -> None:
    code = GOOD + "sys.stderr.write('FIRST' + 'x' * (8 << 20) + 'LAST')"
    outcome = one(data, tmp_path, code, log=64 << 10)
    assert outcome.status == "valid"
    log = (tmp_path / "subs" / log_file(outcome.task_id)).read_text()
    assert log.startswith("FIRST")
    assert log.endswith("LAST")
    assert "bytes left out" in log
    assert len(log) < 80 << 10


def test_an_agent_that_does_not_read_stdin_is_fine(data: TaskData, tmp_path: Path) -> None:
    task_id = data.tasks[0].task_id
    code = f"""print('{{"task_id": "{task_id}", "findings": [], "abstention_reason": "blind"}}')"""
    assert one(data, tmp_path, code).status == "valid"


@linux_only
def test_a_memory_hog_is_refused_memory(data: TaskData, tmp_path: Path, marker: str) -> None:
    outcome = one(data, tmp_path, "x = bytearray(1 << 30)\nimport time\ntime.sleep(60)", marker, memory=256 << 20)
    assert outcome.status == "failed"
    assert "MemoryError" in (tmp_path / "subs" / log_file(outcome.task_id)).read_text()


@linux_only
def test_a_family_of_hogs_is_ended_together(data: TaskData, tmp_path: Path, marker: str) -> None:
    code = "import os, time\nfor _ in range(2): os.fork()\nx = bytearray(b'y' * (100 << 20))\ntime.sleep(60)"
    outcome = one(data, tmp_path, code, marker, memory=256 << 20)
    assert outcome.reason == "ended: its processes held more than 256 MiB"


@linux_only
def test_an_agent_that_kills_its_supervisor_still_fails_alone(data: TaskData, tmp_path: Path, marker: str) -> None:
    code = "import os, signal, time\nos.kill(os.getppid(), signal.SIGKILL)\ntime.sleep(600)"
    outcome = one(data, tmp_path, code, marker, timeout=20.0)
    assert outcome.reason == "its supervisor was killed"


def test_one_bad_task_does_not_stop_the_others(data: TaskData, tmp_path: Path) -> None:
    bad = data.tasks[1].task_id
    code = ABSTAIN + f"if answer['task_id'] == {bad!r}: sys.exit(3)\nprint(json.dumps(answer))"
    run = run_agent(data, tmp_path / "subs", RunOptions(command(tmp_path, code), jobs=3))
    assert [outcome.status for outcome in run.outcomes] == ["valid", "failed", "valid"]


def test_secrets_do_not_reach_the_agent(data: TaskData, tmp_path: Path) -> None:
    environment = {
        "PATH": os.environ["PATH"],
        "OPENAI_API_KEY": "leaked-1",
        "HF_TOKEN": "leaked-2",
        "my_secret": "leaked-3",
        "DB_PASSWORD": "leaked-4",
        "SSH_AUTH_SOCK": "leaked-5",
        "DATABASE_URL": "postgres://user:leaked-6@localhost/db",
        "LANGUAGE": "kept",
        "WANTED_TOKEN": "passed-on",
    }
    seen = tmp_path / "environment.json"
    code = f"import json, os\njson.dump(dict(os.environ), open({str(seen)!r}, 'w'))"
    options = RunOptions(command(tmp_path, code), limit=1, pass_env=("WANTED_TOKEN",))
    run_agent(data, tmp_path / "subs", options, environment=environment)
    found = read_json(seen)
    assert "leaked" not in json.dumps(found)
    assert found["LANGUAGE"] == "kept"
    assert found["WANTED_TOKEN"] == "passed-on"
    everything = b"".join(path.read_bytes() for path in (tmp_path / "subs").rglob("*") if path.is_file())
    assert b"leaked" not in everything
    assert b"passed-on" not in everything


@pytest.mark.parametrize(
    ("name", "value", "secret"),
    [
        ("AWS_SECRET_ACCESS_KEY", "x", True),
        ("github_token", "x", True),
        ("PGPASSWORD", "x", True),
        ("REDIS", "redis://:word@localhost", False),
        ("REDIS", "redis://me:word@localhost", True),
        ("HOME", "/home/me", False),
        ("PATH", "/bin", False),
    ],
)
def test_what_counts_as_a_secret(name: str, value: str, secret: bool) -> None:
    assert is_secret(name, value) is secret
    assert agent_environment({name: value}) == ({} if secret else {name: value})
    assert agent_environment({name: value}, (name,)) == {name: value}


def test_a_second_run_reuses_valid_answers_and_runs_what_failed(data: TaskData, tmp_path: Path) -> None:
    flag = tmp_path / "flag"
    bad = data.tasks[1].task_id
    code = ABSTAIN + (
        f"import os\nopen({str(tmp_path / 'calls')!r}, 'a').write(answer['task_id'] + '\\n')\n"
        f"if answer['task_id'] == {bad!r} and not os.path.exists({str(flag)!r}): sys.exit(1)\n"
        "print(json.dumps(answer))"
    )
    options = RunOptions(command(tmp_path, code))
    first = run_agent(data, tmp_path / "subs", options)
    assert first.count("failed") == 1
    flag.touch()
    second = run_agent(data, tmp_path / "subs", options)
    assert [outcome.reused for outcome in second.outcomes] == [True, False, True]
    assert second.count("valid") == 3
    assert (tmp_path / "calls").read_text().split().count(bad) == 2
    assert len((tmp_path / "calls").read_text().split()) == 4


def test_a_stored_invalid_answer_is_told_and_run_again_only_on_request(data: TaskData, tmp_path: Path) -> None:
    options = RunOptions(command(tmp_path, GOOD))
    run_agent(data, tmp_path / "subs", options)
    submission_path(tmp_path / "subs", data.tasks[0].task_id).write_bytes(b"\xff not json")
    again = run_agent(data, tmp_path / "subs", options)
    assert [outcome.status for outcome in again.outcomes] == ["invalid", "valid", "valid"]
    assert again.outcomes[0].reused
    retried = run_agent(data, tmp_path / "subs", RunOptions(options.command, retry_invalid=True))
    assert retried.count("valid") == 3


CHANGES = {
    "timeout": (RunOptions((sys.executable, "a.py"), timeout=5.0), "timeout was 1800.0, is 5.0"),
    "command": (RunOptions((sys.executable, "b.py")), "command was"),
    "track": (RunOptions((sys.executable, "a.py"), track="unlabeled_pool"), 'track was "task_only"'),
    "selection": (RunOptions((sys.executable, "a.py"), limit=2), "limit was null, is 2"),
    "pass_env": (RunOptions((sys.executable, "a.py"), pass_env=("A_KEY",)), 'pass_env was [], is ["A_KEY"]'),
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_changed_configuration_is_refused_and_named(data: TaskData, tmp_path: Path, name: str) -> None:
    changed, told = CHANGES[name]
    run_agent(data, tmp_path / "subs", RunOptions((sys.executable, "a.py")))
    with pytest.raises(RunMismatchError, match=r".") as error:
        run_agent(data, tmp_path / "subs", changed)
    assert told in str(error.value)


def test_changed_tasks_are_refused_and_named(data: TaskData, tmp_path: Path) -> None:
    options = RunOptions(command(tmp_path, GOOD))
    run_agent(data, tmp_path / "subs", options)
    record = tmp_path / "subs" / "run.json"
    stored = json.loads(record.read_text())
    stored["configuration"]["tasks"][data.tasks[2].task_id] = "0" * 64
    record.write_text(json.dumps(stored))
    with pytest.raises(RunMismatchError, match=data.tasks[2].task_id):
        run_agent(data, tmp_path / "subs", options)


def test_a_folder_of_something_else_is_refused(data: TaskData, tmp_path: Path) -> None:
    (tmp_path / "subs").mkdir()
    (tmp_path / "subs" / "run.json").write_text("[]")
    with pytest.raises(RunMismatchError, match="no record of a run"):
        run_agent(data, tmp_path / "subs", RunOptions(command(tmp_path, GOOD)))


def test_a_changed_corpus_is_refused_before_anything_runs(data: TaskData, tmp_path: Path) -> None:
    other = simulate(tmp_path / "data", tasks=1, documents=200).data
    task = load_data(other).tasks[0]
    (other / task.corpus_path).write_bytes(b"changed")
    with pytest.raises(TaskDataError, match="SHA-256"):
        run_agent(other, tmp_path / "subs", RunOptions(command(tmp_path, GOOD)))


def test_two_runs_at_once_in_one_folder_are_refused(data: TaskData, tmp_path: Path) -> None:
    options = RunOptions(command(tmp_path, "import time\ntime.sleep(3)\n" + GOOD), limit=1)
    thread = threading.Thread(target=run_agent, args=(data, tmp_path / "subs", options))
    thread.start()
    for _ in range(100):
        if (tmp_path / "subs" / "run.json").exists():
            break
        time.sleep(0.05)
    with pytest.raises(RunLockedError):
        run_agent(data, tmp_path / "subs", options)
    thread.join()


@pytest.mark.parametrize(
    "options",
    [RunOptions(()), RunOptions(("a",), timeout=0), RunOptions(("a",), jobs=0), RunOptions(("a",), memory=-1)],
)
def test_impossible_options_are_refused(data: TaskData, tmp_path: Path, options: RunOptions) -> None:
    with pytest.raises(ArgumentValueError):
        run_agent(data, tmp_path / "subs", options)


@contextmanager
def runner(data: TaskData, tmp_path: Path, agent: tuple[str, ...], *options: str) -> Iterator[subprocess.Popen[bytes]]:
    """The command in a process of its own, which is ended in any case."""
    line = [sys.executable, "-m", "docassay", "discover", "run", "--data", str(data.root), "-q", *options]
    process = subprocess.Popen([*line, "--command", shlex.join(agent), "--out", str(tmp_path / "subs")])
    try:
        yield process
    finally:
        process.kill()
        process.wait(20)


@linux_only
def test_an_interrupt_ends_every_agent(data: TaskData, tmp_path: Path, marker: str) -> None:
    agent = command(tmp_path, "import time\ntime.sleep(600)", marker)
    with runner(data, tmp_path, agent, "--jobs", "2") as process:
        wait_for(marker, 5)  # the runner, and for each of two tasks a supervisor and an agent
        process.send_signal(signal.SIGINT)
        assert process.wait(20) == 130


@linux_only
def test_a_killed_runner_leaves_no_agent(data: TaskData, tmp_path: Path, marker: str) -> None:
    agent = command(tmp_path, ESCAPED + "time.sleep(600)", marker)
    with runner(data, tmp_path, agent) as process:
        wait_for(marker, 4)  # the runner, the supervisor, the agent, and the child that left it
        process.kill()
        process.wait(20)
    for _ in range(100):
        if not processes_with(marker):
            break
        time.sleep(0.05)
