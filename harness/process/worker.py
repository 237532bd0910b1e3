"""A process that calls functions for us, so that a library that crashes or hangs ends only this process.

A call and how it ended are one line each: a pickle in base64.
"""

from __future__ import annotations

import base64
import contextlib
import pickle
import warnings
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from harness.failures import describe
from harness.process.child import Child
from harness.process.limits import Limits, Stopped
from harness.process.protocol import python_command, serve_lines


class Reply(NamedTuple):
    """The outcome of a call: the value the function returned, or the exception it raised."""

    value: Any
    error: BaseException | None = None

    def result(self) -> Any:
        """Return the value, or raise the error."""
        if self.error is not None:
            raise self.error
        return self.value


class Worker:
    """One process. Always `close` or `kill` it."""

    def __init__(self, limits: Limits, environment: Mapping[str, str] | None = None, *, echo: bool = False) -> None:
        """Start the process; with `echo` its standard error is copied to ours."""
        self.n_calls = 0
        self.child = Child(python_command("harness.process.worker"), limits, environment, echo=echo)

    def start(self, function: Callable[..., Any], *arguments: Any, seconds: float) -> None:
        """Begin a call with a time limit; `poll` and `result` raise if the process fails."""
        self.n_calls += 1
        with contextlib.suppress(Stopped):
            self.child.send(_encoded((function, arguments)) + b"\n", seconds)

    def flush(self) -> None:
        """Wait until the process has read the call."""
        with contextlib.suppress(Stopped):
            self.child.flush()

    def poll(self) -> Reply | None:
        """Return how the call ended; None while it runs. Raises `Stopped`."""
        line = self.child.poll()
        return None if line is None else _decoded(line)

    def result(self, seconds: float | None = None) -> Any:
        """Wait for the call (`seconds` from now, if given) and return its value. Raises `Stopped`, or its exception."""
        return _decoded(self.child.receive(seconds)).result()

    def call(self, function: Callable[..., Any], *arguments: Any, seconds: float) -> Any:
        """Return `function(*arguments)`. Raises `Stopped`, or the exception of the function."""
        self.start(function, *arguments, seconds=seconds)
        return self.result()


def _encoded(content: Any) -> bytes:
    return base64.b64encode(pickle.dumps(content))


def _decoded(line: bytes) -> Any:
    return pickle.loads(base64.b64decode(line))


def _answer(call: bytes) -> bytes:
    try:
        function, arguments = _decoded(call)
        return _encoded(Reply(function(*arguments)))
    except BaseException as error:  # a Rust panic is not an Exception
        try:
            _decoded(reply := _encoded(Reply(None, error)))
        except Exception:  # an error that cannot be sent is described
            return _encoded(Reply(None, RuntimeError(describe(error))))
        return reply


def main(arguments: list[str]) -> None:
    """Answer calls until the input ends."""
    from impls.formats import PatternAssumed

    warnings.simplefilter("ignore", PatternAssumed)  # the parent has loaded every model itself, and warned
    serve_lines(_answer)
