"""A process of ours that calls functions, so that a library that crashes or hangs ends only it."""

from __future__ import annotations

import contextlib
import pickle
import warnings
from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from harness.failures import describe
from harness.process.child import Child
from harness.process.limits import Limits, Stopped
from harness.process.protocol import Protocol, python_command


class Call(msgspec.Struct):
    """Call a function that both processes can import."""

    task: bytes
    """The function and its arguments, pickled."""


class Returned(msgspec.Struct, tag="returned"):
    """What the function returned, pickled."""

    value: bytes


class Raised(msgspec.Struct, tag="raised"):
    """What the function raised, pickled."""

    error: bytes


_PROTOCOL = Protocol[Call, Returned | Raised](Call, Returned | Raised)


class Worker:
    """One process. Always `close` or `kill` it."""

    def __init__(self, limits: Limits, environment: Mapping[str, str] | None = None, *, echo: bool = False) -> None:
        """Start it; with `echo` its standard error is copied to ours."""
        self.n_calls = 0
        self.child = Child(python_command("harness.process.worker"), limits, environment, echo=echo)

    def start(self, function: Callable[..., Any], *arguments: Any, seconds: float) -> None:
        """Begin a call that may take so long; `poll` and `result` raise what is wrong with the process."""
        self.n_calls += 1
        with contextlib.suppress(Stopped):
            self.child.send(_PROTOCOL.request_line(Call(pickle.dumps((function, arguments)))), seconds)

    def flush(self) -> None:
        """Wait until the process has read the call."""
        with contextlib.suppress(Stopped):
            self.child.flush()

    def poll(self) -> Returned | Raised | None:
        """Return how the call ended; None while it runs. Raises `Stopped`."""
        line = self.child.poll()
        return None if line is None else _PROTOCOL.reply(line)

    def result(self, seconds: float | None = None) -> Any:
        """Wait for the call (`seconds` from now, where given) and return its value. Raises `Stopped`, or its error."""
        return value_of(_PROTOCOL.reply(self.child.receive(seconds)))

    def call(self, function: Callable[..., Any], *arguments: Any, seconds: float) -> Any:
        """Return `function(*arguments)`. Raises `Stopped`, or what the function raises."""
        self.start(function, *arguments, seconds=seconds)
        return self.result()


def value_of(reply: Returned | Raised) -> Any:
    """Return the value of a call, or raise its error."""
    if isinstance(reply, Raised):
        raise pickle.loads(reply.error)
    return pickle.loads(reply.value)


def _answer(request: Call) -> Returned | Raised:
    function, arguments = pickle.loads(request.task)
    return Returned(pickle.dumps(function(*arguments)))


def _failure(error: BaseException) -> Raised:
    try:
        content = pickle.dumps(error)
        pickle.loads(content)
    except Exception:  # an error that cannot be sent is described
        content = pickle.dumps(RuntimeError(describe(error)))
    return Raised(content)


def main(arguments: list[str]) -> None:
    """Answer calls until the input ends."""
    from impls.formats import PatternAssumed

    warnings.simplefilter("ignore", PatternAssumed)  # the parent has loaded every model itself, and warned
    _PROTOCOL.serve(_answer, _failure)
