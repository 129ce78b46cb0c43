"""Runs every command and snippet of the README and of docs/, and compares what they print with what the page shows.

The form of the pages is described in CONTRIBUTING.md, "Documentation that runs".
"""

from __future__ import annotations

import doctest
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]
PAGES = [REPOSITORY / "README.md", *sorted((REPOSITORY / "docs").rglob("*.md"))]
SECONDS = 300
LOOSE = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE

FENCE = re.compile(
    r"^(?P<fence>```+)(?P<language>[\w-]*)[^\n]*\n(?P<body>.*?)^(?P=fence)\s*$", re.MULTILINE | re.DOTALL
)
NOT_RUN = re.compile(r"<!--\s*not run:\s*(?P<reason>\S.*?)\s*-->\s*\Z", re.S)


@dataclass(frozen=True, slots=True)
class Block:
    """One fenced block: its language, its text, the line it starts at, and why it is not run, if so."""

    language: str
    body: str
    line: int
    not_run: str | None


@dataclass(frozen=True, slots=True)
class Command:
    """One command of a console block, and the output shown below it; None where none is shown."""

    text: str
    output: str | None


def blocks(page: str) -> Iterator[Block]:
    for match in FENCE.finditer(page):
        mark = NOT_RUN.search(page[: match.start()])
        line = page.count("\n", 0, match.start()) + 1
        yield Block(match["language"], match["body"], line, mark["reason"] if mark else None)


def commands(body: str) -> Iterator[Command]:
    """The commands of a console block: lines after `$ `, continued by `> `, then what they print."""
    for part in re.split(r"^\$ ", body, flags=re.MULTILINE)[1:]:
        lines = part.splitlines()
        count = 1
        while count < len(lines) and lines[count].startswith("> "):
            count += 1
        text = "\n".join([lines[0], *(line[2:] for line in lines[1:count])])
        output = "\n".join(lines[count:]).rstrip()
        yield Command(text, output + "\n" if output else None)


@pytest.fixture
def workplace(tmp_path: Path) -> Path:
    """A folder that looks like the root of a clone, so that commands stand as written and leave nothing behind."""
    for entry in REPOSITORY.iterdir():
        if not entry.name.startswith("."):
            (tmp_path / entry.name).symlink_to(entry)
    return tmp_path


def environment() -> dict[str, str]:
    """The environment of a person with this package installed, a plain terminal 100 columns wide and no keys."""
    kept = {name: value for name, value in os.environ.items() if not name.endswith(("_API_KEY", "_TOKEN"))}
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"
    return {**kept, "PATH": path, "COLUMNS": "100", "NO_COLOR": "1", "TERM": "dumb"}


def run_command(command: Command, folder: Path, where: str) -> None:
    """Run one command; it must succeed, and print what is shown if anything is."""
    done = subprocess.run(
        ["bash", "-c", command.text],
        cwd=folder,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    assert done.returncode == 0, f"{where}: `{command.text}` ended with {done.returncode}:\n{done.stdout}"
    if command.output is not None:
        example = doctest.Example(command.text, command.output)
        checker = doctest.OutputChecker()
        if not checker.check_output(command.output, done.stdout, LOOSE):
            pytest.fail(f"{where}: `{command.text}`\n" + checker.output_difference(example, done.stdout, LOOSE))


def run_python(block: Block, names: dict[str, Any], where: str) -> None:
    """Run a snippet: as a doctest where it has prompts, else as a script. Names last through the page."""
    if ">>> " not in block.body:
        exec(compile(block.body, where, "exec"), names)
        return
    test = doctest.DocTestParser().get_doctest(block.body, names, where, where, block.line)
    report: list[str] = []
    runner = doctest.DocTestRunner(optionflags=LOOSE)
    runner.run(test, out=report.append, clear_globs=False)
    names.update(test.globs)
    assert runner.failures == 0, "".join(report)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_page(page: Path, workplace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(workplace)
    names: dict[str, Any] = {"__name__": "__main__"}
    for block in blocks(page.read_text(encoding="utf-8")):
        where = f"{page.relative_to(REPOSITORY)}:{block.line}"
        if block.not_run is not None:
            continue
        assert block.language not in {"bash", "sh", "shell"}, f"{where}: write `console`, or say why it is not run"
        if block.language == "console":
            for command in commands(block.body):
                run_command(command, workplace, where)
        elif block.language == "python":
            run_python(block, names, where)


def test_the_reader_of_pages() -> None:
    page = (
        "```console\n$ echo a \\\n> b\na b\n$ true\n```\n"
        "<!-- not run: it needs a key -->\n```console\n$ false\n```\n```python\nx = 1\n```\n"
    )
    first, second, third = blocks(page)
    assert list(commands(first.body)) == [Command("echo a \\\nb", "a b\n"), Command("true", None)]
    assert (second.not_run, third.language, third.not_run) == ("it needs a key", "python", None)
    assert (first.line, second.line) == (1, 8)


def test_a_wrong_page_fails(tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match="ended with 3"):
        run_command(Command("exit 3", None), tmp_path, "page")
    with pytest.raises(pytest.fail.Exception, match="Expected"):
        run_command(Command("echo one", "two\n"), tmp_path, "page")
    with pytest.raises(AssertionError, match="Failed example"):
        run_python(Block("python", ">>> 1 + 1\n3\n", 1, None), {}, "page")


def test_links_lead_somewhere() -> None:
    """Links between files of the repository point at files that are there."""
    for page in [*PAGES, REPOSITORY / "CONTRIBUTING.md", REPOSITORY / "CHANGELOG.md"]:
        for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
            if "://" not in target:
                assert (page.parent / target).exists(), f"{page.name} links to {target}, which is not there"
