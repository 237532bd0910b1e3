"""The reference algorithm, and the examples in the docstrings of the implementations."""

from __future__ import annotations

import doctest
from importlib import import_module

import pytest

import impls


@pytest.mark.parametrize("module", ["impls", "impls.core.text.text", "impls.core.training"])
def test_the_examples_in_the_docstrings_hold(module: str) -> None:
    results = doctest.testmod(import_module(module))
    assert results.attempted > 0
    assert results.failed == 0


@pytest.mark.parametrize("name", ["naive", "greedy", "wordcount", "priority", "bytelevel", "backtracking"])
def test_a_pure_implementation_introduces_itself_and_imports_none_of_its_siblings(name: str) -> None:
    implementation = impls.get(name)
    assert (implementation.name, implementation.kind) == (name, "pure")
    assert implementation.summary
    assert implementation.__doc__
    module = import_module(f"impls.{name}")
    used = {value.__module__ for value in vars(module).values() if hasattr(value, "__module__")}
    own = {home for home in used if home and home.startswith("impls.") and not home.startswith("impls.core.")}
    beside = {"priority": {"impls.learner"}, "backtracking": {"impls.operations.growing_piece"}}.get(name, set())
    assert own <= {f"impls.{name}", "impls.interface"} | beside
