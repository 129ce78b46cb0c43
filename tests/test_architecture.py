"""Holds the shape of the house: who imports whom, what is public, what an import costs, what the tree may say."""

from __future__ import annotations

import ast
import importlib
import json
import re
import runpy
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from graphlib import TopologicalSorter
from pathlib import Path

import click
import pytest

import docassay
from docassay.cli import cli

REPOSITORY = Path(__file__).resolve().parents[1]
SOURCE = REPOSITORY / "src"

# Imports may go from a room to one of a lower floor, or to another on the same floor where MAY_MEET says so.
FLOORS = {
    "version": 0,
    "errors": 0,
    "core": 1,
    "examples": 1,
    "extraction": 2,
    "discovery": 2,
    "docassay": 2.5,
    "models": 3,
    "providers": 3,
    "runs": 3,
    "executors": 3,
    "pipelines": 4,
    "report": 5,
    "cli": 6,
    "examples.__main__": 6,
    "examples.agents": 6,
    "__main__": 7,
}
SEPARATE_FLOORS = {1, 2}

LIGHT = {"numpy", "scipy", "orjson", "docassay"}
HEAVY = {
    "anyio",
    "duckdb",
    "fsspec",
    "httpx",
    "huggingface_hub",
    "jinja2",
    "jsonschema",
    "matplotlib",
    "modal",
    "numpy",
    "openai",
    "orjson",
    "pandas",
    "pebble",
    "polars",
    "pyarrow",
    "pydantic",
    "pypdfium2",
    "ray",
    "rich",
    "s3fs",
    "scipy",
    "starlette",
    "uvicorn",
}


@dataclass(frozen=True, slots=True)
class Import:
    """One import statement's target, seen from `module` at `line`; `name` is None for `import module`."""

    module: str
    line: int
    target: str
    name: str | None

    def __str__(self) -> str:
        return f"{self.module}:{self.line} imports {self.name or ''} from {self.target}"


def source_files() -> list[Path]:
    return sorted((SOURCE / "docassay").rglob("*.py"))


def module_name(path: Path) -> str:
    parts = path.relative_to(SOURCE).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def is_module(name: str) -> bool:
    path = SOURCE.joinpath(*name.split("."))
    return path.with_suffix(".py").is_file() or (path / "__init__.py").is_file()


def imports_of(path: Path) -> Iterator[Import]:
    """The imports of docassay's own modules, also those inside functions and under TYPE_CHECKING."""
    module = module_name(path)
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield Import(module, node.lineno, alias.name, None)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{module}:{node.lineno}: a relative import; write the whole name"
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                whole = (node.module or "").startswith("docassay") and is_module(inner)
                yield Import(module, node.lineno, inner if whole else node.module or "", None if whole else alias.name)


def own_imports() -> list[Import]:
    found = [edge for path in source_files() for edge in imports_of(path) if edge.target.split(".")[0] == "docassay"]
    assert found
    return found


def room(module: str) -> str:
    """The part of the house a module belongs to; programs among the examples are a part of their own."""
    parts = module.split(".")
    if parts[1:2] == ["examples"] and len(parts) > 2:
        return f"examples.{parts[2]}"
    return parts[1] if len(parts) > 1 else module


def test_every_room_has_its_floor() -> None:
    rooms = {room(module_name(path)) for path in source_files()}
    assert rooms <= set(FLOORS)


def test_imports_run_one_way() -> None:
    steps_back = [
        str(edge)
        for edge in own_imports()
        if room(edge.module) != room(edge.target) and room(edge.module) != "docassay" and not may(edge)
    ]
    assert steps_back == []


def may(edge: Import) -> bool:
    """Whether a module may import another of a different room."""
    here, there = FLOORS[room(edge.module)], FLOORS[room(edge.target)]
    return there < here or (there == here and here not in SEPARATE_FLOORS)


def test_the_public_package_imports_nothing_but_its_version() -> None:
    """Its names are for type checkers, and for the first use of each."""
    tree = ast.parse((SOURCE / "docassay" / "__init__.py").read_text(encoding="utf-8"))
    imported = {node.module for node in tree.body if isinstance(node, ast.ImportFrom)}
    assert imported == {"__future__", "typing", "docassay.version"}
    assert {name for name in docassay.__all__ if not hasattr(docassay, name)} == set()


def test_rooms_never_import_in_a_circle() -> None:
    graph: dict[str, set[str]] = {}
    for edge in own_imports():
        if room(edge.module) not in (room(edge.target), "docassay"):
            graph.setdefault(room(edge.module), set()).add(room(edge.target))
    assert list(TopologicalSorter(graph).static_order())


def test_no_private_name_crosses_modules() -> None:
    crossing = [str(edge) for edge in own_imports() if edge.name and is_private(edge.name)]
    crossing += [f"{module_name(path)}: {use}" for path in source_files() for use in private_attributes(path)]
    assert crossing == []


def is_private(name: str) -> bool:
    return name.startswith("_") and not name.startswith("__")


def private_attributes(path: Path) -> Iterator[str]:
    """Private attributes taken from an imported module of our own, such as `values._cache`."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    modules = {
        edge.target.rsplit(".", 1)[-1] for edge in imports_of(path) if edge.name is None and is_module(edge.target)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and is_private(node.attr) and ast.unparse(node.value) in modules:
            yield f"{ast.unparse(node)} at line {node.lineno}"


def test_public_names_equal_all() -> None:
    """The package offers what `__all__` says, each name where it is looked for, and no other."""
    assert set(dir(docassay)) == set(docassay.__all__)
    assert all(getattr(docassay, name) for name in docassay.__all__)
    with pytest.raises(AttributeError, match="no attribute 'scores'"):
        docassay.scores  # noqa: B018


def test_what_other_modules_import_is_public() -> None:
    """Where a module says what is public, nobody imports another name from it, and it says nothing twice."""
    public = {module_name(path): declared_all(ast.parse(path.read_text(encoding="utf-8"))) for path in source_files()}
    assert all(len(names) == len(set(names)) for names in public.values() if names)
    imported = ((edge, public.get(edge.target)) for edge in own_imports() if edge.name)
    assert [str(edge) for edge, names in imported if names is not None and edge.name not in names] == []


def declared_all(tree: ast.Module) -> list[str] | None:
    for node in tree.body:
        if isinstance(node, ast.Assign) and any(isinstance(t, ast.Name) and t.id == "__all__" for t in node.targets):
            value = ast.literal_eval(node.value)
            assert isinstance(value, list)
            return value
    return None


def test_modules_open_with_a_sentence() -> None:
    without = [
        module_name(path) for path in source_files() if not ast.get_docstring(ast.parse(path.read_text("utf-8")))
    ]
    assert without == []


def modules_after(code: str) -> set[str]:
    """The top-level modules that a new interpreter has loaded after running `code`, beyond those it starts with."""
    report = "\nimport sys, json\nprint('\\n' + json.dumps(sorted({name.split('.')[0] for name in sys.modules})))"
    command = [sys.executable, "-I", "-c", code + report]
    output = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120).stdout
    return set(json.loads(output.splitlines()[-1]))


def test_scoring_one_pair_loads_little() -> None:
    code = (
        "import docassay\n"
        "schema = {'type': 'object', 'properties': {'rows': {'type': 'array', 'items': {'type': 'object'}}}}\n"
        "document = {'rows': [{'a': '1', 'b': [1, 2]}, {'a': '2024-01-31'}]}\n"
        "assert docassay.score(document, document, schema).accuracy == 1\n"
    )
    loaded = modules_after(code) - set(sys.stdlib_module_names) - modules_after("")
    assert {name for name in loaded if not name.startswith("_")} <= LIGHT


def test_help_loads_nothing_heavy() -> None:
    code = (
        "import sys\nfrom docassay.cli import cli\nsys.argv = ['docassay']\ncli.main(['--help'], standalone_mode=False)"
    )
    assert modules_after(code) & HEAVY == set()


def test_no_command_loads_anything_heavy_before_it_runs() -> None:
    code = (
        "import click\nfrom docassay.cli import cli\n"
        "def walk(command):\n"
        "    context = click.Context(command)\n"
        "    command.get_help(context)\n"
        "    for name in getattr(command, 'verbs', ()):\n"
        "        walk(command.get_command(context, name))\n"
        "walk(cli)\n"
    )
    assert modules_after(code) & HEAVY == set()


def commands() -> Iterator[tuple[str, click.Command]]:
    """Every command with the words that call it, as the page of commands lists them."""
    walk = runpy.run_path(str(REPOSITORY / "tools" / "cli_reference.py"))["commands"]
    yield from walk("docassay", cli)


def test_every_command_and_option_has_help_and_every_verb_an_example() -> None:
    for name, command in commands():
        assert command.help, f"{name} has no help"
        for parameter in command.params:
            if isinstance(parameter, click.Option):
                assert parameter.help, f"{name} {parameter.opts} has no help"
        if not isinstance(command, click.Group):
            assert "docassay " in command.help, f"the help of {name} shows no example"


def test_the_page_of_commands_is_what_the_commands_say() -> None:
    made = subprocess.run(
        [sys.executable, str(REPOSITORY / "tools" / "cli_reference.py")], capture_output=True, text=True, check=True
    ).stdout
    written = (REPOSITORY / "docs" / "cli.md").read_text(encoding="utf-8")
    assert made == written, "docs/cli.md is not what the commands say; run: make docs"


def test_lazy_groups_tell_the_truth() -> None:
    for name, command in commands():
        assert name == "docassay" or command.name == name.rsplit(" ", 1)[1]


def test_the_changelog_holds_the_version() -> None:
    changelog = (REPOSITORY / "CHANGELOG.md").read_text(encoding="utf-8")
    released = re.findall(r"^## (\d+\.\d+\.\d+)", changelog, flags=re.MULTILINE)
    assert released[0] == docassay.__version__


def test_the_package_says_it_is_typed() -> None:
    assert (Path(docassay.__file__).parent / "py.typed").is_file()


def test_every_module_imports() -> None:
    for path in source_files():
        if path.name != "__main__.py":
            importlib.import_module(module_name(path))


# Spelled in pieces, so that this file does not hold them itself.
FORBIDDEN = re.compile("|".join(("/(work|farm" + ")/", "pypi[.]" + "org", "python" + "hosted", "npm" + "js[.]")))


def tracked_files() -> list[Path]:
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=REPOSITORY, capture_output=True, text=True, check=False)
    if listed.returncode != 0:
        pytest.skip("not a git checkout: there is no list of what belongs to the tree")
    return [REPOSITORY / name for name in listed.stdout.split("\0") if name]


def test_the_tree_names_no_machine_and_no_registry() -> None:
    found = [
        f"{path.relative_to(REPOSITORY)}: {match.group()}"
        for path in tracked_files()
        if path.is_file() and (match := FORBIDDEN.search(path.read_text(encoding="utf-8", errors="ignore")))
    ]
    assert found == []
