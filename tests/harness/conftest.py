"""What several tests of the harness share: a package index of their own, the command line, pools without processes."""

from collections.abc import Callable, Sequence
from typing import Any

import pytest
from command_line import bpebench
from package_index import index, stand_in

__all__ = ["bpebench", "here", "index", "stand_in"]


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch) -> None:
    """Do in this process what a pool's processes do: what is made of their answers is the same, and sooner known."""

    def run(
        _: Any, function: Callable[..., Any], tasks: Sequence[tuple[Any, ...]],
        done: Callable[[int], None] = lambda index: None, **options: Any,
    ) -> list[Any]:  # fmt: skip
        answers = []
        for number, task in enumerate(tasks):
            answers.append(function(*task))
            done(number)
        return answers

    monkeypatch.setattr("harness.process.pool.Pool.run", run)
