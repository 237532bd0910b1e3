"""Imports run one way: no module of `impls` imports itself through others, not even inside a function or for a type."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator
from graphlib import TopologicalSorter
from pathlib import Path

import impls

ROOT = Path(impls.__file__).parents[1]


def imported(tree: ast.AST, modules: Collection[str]) -> Iterator[str]:
    """The `modules` a tree imports, those for type checking included."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.ImportFrom) and node.module:
            found = [f"{node.module}.{name.name}" for name in node.names]
            yield from (name if name in modules else node.module for name in found)
        elif isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        else:
            yield from imported(node, modules)


def test_no_module_imports_itself_through_others() -> None:
    paths = {}
    for path in sorted((ROOT / "impls").rglob("*.py")):
        parts = path.relative_to(ROOT).with_suffix("").parts
        paths[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    graph = {
        name: set(imported(ast.parse(path.read_text("utf-8")), paths)) & paths.keys() for name, path in paths.items()
    }
    assert "impls.core.model" in graph["impls.formats"]
    TopologicalSorter(graph).prepare()  # raises CycleError
