"""A worker process: holds one implementation, verifies it and times it, one call at a time.

`WorkerProcess` is the parent's side: it starts the process, calls functions there and enforces the limits. Any
exception of an implementation, `BaseException` included, is returned as a verdict, and so is the death of the process.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, Concatenate, ParamSpec, TypeVar

import msgspec

from harness.failures import message_of, reason_of, status_of
from harness.measure import placement
from harness.measure.jobs.answers import Wrong
from harness.measure.jobs.opening import Opened, Opening, open_implementation
from harness.measure.protocol import Failed
from harness.outcome import Outcome
from harness.process.limits import without_paths, worker_limits
from harness.process.session import FailedError, functions
from impls import Missing, Unsupported

OPEN_SECONDS = 120.0
"""Limit on importing an implementation and building it on a model."""

Arguments = ParamSpec("Arguments")
Answer = TypeVar("Answer")

_opening: Opening | None = None
"""What this process holds, if it is a worker."""


class WorkerFailed(Exception):
    """A call ended in a verdict instead of an answer; `dead` says whether the worker died too."""

    def __init__(self, failed: Failed, *, dead: bool) -> None:
        self.failed, self.dead = failed, dead
        super().__init__(f"{failed.status}: {failed.reason}")


class WorkerProcess:
    """One worker process. Close it, or use it in a `with` statement."""

    def __init__(
        self,
        *,
        threads: int = 1,
        hash_seed: int = 0,
        memory_limit_bytes: int | None = None,
        temporary: Path | None = None,
    ) -> None:
        """Start the process; `hash_seed` fixes the order of Python's sets, so that a repeated run is the same.

        Its temporary files go to the folder `temporary`, whose owner can remove those of a killed worker.
        """
        environment = os.environ | placement.thread_environment(threads)
        environment["PYTHONHASHSEED"] = str(hash_seed % 2**32)
        environment["PYTHONUNBUFFERED"] = "1"
        if temporary is not None:
            environment |= dict.fromkeys(("TMPDIR", "TEMP", "TMP"), str(temporary))
        self._worker = functions(worker_limits(memory_limit_bytes), environment)
        self.close = self._worker.close

    def open(self, implementation: str, model: str, cores: tuple[int, ...] = (), *, seconds: float) -> Opened:
        """Import an implementation there and, if `model` names a file, build it; see `open_implementation`."""
        return self.call(seconds, _open, implementation, model, cores)

    def ask(
        self,
        seconds: float,
        function: Callable[Concatenate[Opening, Arguments], Answer],
        *arguments: Arguments.args,
        **_: Arguments.kwargs,
    ) -> Answer:
        """Return the result of `function` for the implementation opened there; raise as `call` does."""
        answer: Answer = self.call(seconds, _on_opening, function, *arguments)
        return answer

    def call(
        self, seconds: float, function: Callable[Arguments, Answer], *arguments: Arguments.args, **_: Arguments.kwargs
    ) -> Answer:
        """Return `function(*arguments)`, called there; raise `WorkerFailed` if no answer comes within `seconds`."""
        try:
            answer: Answer | Failed = self._worker.value(_answer, function, *arguments, seconds=seconds)
        except FailedError as error:
            outcome, reason = error.failed.outcome, error.failed.reason
            status: Any = Outcome.CRASH if outcome is Outcome.PROTOCOL else outcome
            raise WorkerFailed(Failed(status=status, reason=reason), dead=True) from None
        if isinstance(answer, Failed):
            raise WorkerFailed(msgspec.structs.replace(answer, reason=without_paths(answer.reason)), dead=False)
        return answer

    def __enter__(self) -> WorkerProcess:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is not None:
            self._worker.kill()
        self.close()


def _answer(function: Callable[..., Any], *arguments: Any) -> Any:
    """Return `function(*arguments)`, or the verdict on the exception that it or verification raised."""
    try:
        return function(*arguments)
    except Wrong as error:
        return error.failed
    except Missing as error:
        return Failed(status=Outcome.MISSING, reason=message_of(error))
    except Unsupported as error:
        return Failed(status=Outcome.REFUSED, reason=error.reason)
    except BaseException as error:  # a Rust panic is not an Exception
        status = status_of(error)
        return Failed(status=status, reason=reason_of(status, type(error).__name__, message_of(error)))


def _open(implementation: str, model: str, cores: tuple[int, ...]) -> Opened:
    global _opening
    _opening = open_implementation(implementation, model, cores)
    return Opened(_opening.implementation.exact, _opening.pinned)


def _on_opening(function: Callable[..., Any], *arguments: Any) -> Any:
    assert _opening is not None, "nothing is open yet"
    return function(_opening, *arguments)
