"""Sides of a fuzzing run that answer in this process: as many as two are started in every run, and seldom matter."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import pytest
from module_folders import found_in

import impls
from harness.check.fuzz import questions, side_process
from harness.process.session import Answer

TARGETS = Path(__file__).resolve().parent / "fuzz_targets"


class SessionHere:
    """Calls functions as a session with a process does, with that process's own loaded tokenizers."""

    is_running = True

    def __init__(self) -> None:
        self.kept: dict[str, impls.Tokenizer] = {}

    def call(self, function: Callable[..., Any], *arguments: Any, seconds: float) -> Answer:
        questions._kept = self.kept
        return Answer(function(*arguments))

    def begin_call(self, function: Callable[..., Any], *arguments: Any, seconds: float) -> None:
        self.asked = function, arguments

    def wait(self) -> Answer:
        function, arguments = self.asked
        return self.call(function, *arguments, seconds=0)

    def kill(self) -> None:
        pass


@pytest.fixture(scope="session")
def sides_here() -> Callable[[], AbstractContextManager[None]]:
    """A context in which sides answer in this process."""

    @contextmanager
    def patched() -> Iterator[None]:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(side_process, "functions", lambda **_: SessionHere())
            yield

    return patched


@pytest.fixture(autouse=True, scope="module")
def targets() -> Iterator[None]:
    """They are found here and by processes."""
    with found_in(TARGETS.parents[3], TARGETS):
        yield
