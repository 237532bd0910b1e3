"""Imports run one way: down from the interface, and no module imports itself through others, not even for a type."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

import impls

ROOT = Path(impls.__file__).parents[1]
PAGES = ("naive", "greedy", "wordcount", "priority", "bytelevel", "backtracking")
BELOW = {
    "impls": ["impls"],
    "impls.core": ["impls.core"],
    "impls.core.text": ["impls.core.text", "impls.core.errors", "impls.core.arguments"],
    "impls.core.pattern": ["impls.core.text", "impls.core.pattern"],
    "impls.core.model": ["impls.core.text", "impls.core.model", "impls.core.errors", "impls.core.arguments"],
    "impls.operations": ["impls.core", "impls.operations"],
    "impls.interface": ["impls.core", "impls.operations"],
    "impls.learner": ["impls.core"],
    "impls.formats": ["impls.core", "impls.formats"],
    **{f"impls.{page}": ["impls.core", "impls.operations", "impls.interface", "impls.learner"] for page in PAGES},
    "impls.compiled": ["impls.core", "impls.operations", "impls.interface", "impls.naive", "impls.compiled"],
}
"""Room -> the rooms that its modules import from."""


def imported(tree: ast.AST, modules: Collection[str]) -> Iterator[str]:
    """The modules of this project that a tree imports, those for type checking included."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module:
            found = [f"{node.module}.{name.name}" for name in node.names]
            yield from (name if name in modules else node.module for name in found)
        elif isinstance(node, ast.Import):
            yield from (name.name for name in node.names)


@cache
def graph() -> dict[str, set[str]]:
    paths = {}
    for path in sorted(path for top in ("impls", "harness", "bpebench") for path in (ROOT / top).rglob("*.py")):
        parts = path.relative_to(ROOT).with_suffix("").parts
        paths[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return {name: set(imported(ast.parse(path.read_text("utf-8")), paths)) & {*paths} for name, path in paths.items()}


def is_in(name: str, room: str) -> bool:
    return name == room or name.startswith(f"{room}.")


def test_no_module_imports_itself_through_others() -> None:
    assert "impls.core.model" in graph()["impls.formats"]
    TopologicalSorter(graph()).prepare()  # raises CycleError


@pytest.mark.parametrize("room", BELOW)
def test_a_room_imports_only_from_those_below(room: str) -> None:
    modules = [name for name in graph() if is_in(name, room)]
    assert modules
    upwards = [(n, used) for n in modules for used in graph()[n] if not any(is_in(used, b) for b in BELOW[room])]
    assert not upwards
