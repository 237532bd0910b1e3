"""The one wire format between us and other processes: one JSON object per line, a request and then its answer.

PROTOCOL.md describes it for authors of targets. Reading an answer returns its result or an error, or raises
`MalformedAnswer`, whatever it contains. A server keeps the pipes to itself: what a library prints goes to standard
error, and its standard input is empty.
"""

from __future__ import annotations

import contextlib
import json
import os
import pickle
import re
import sys
from collections.abc import Callable
from functools import cache
from typing import Any, Generic, NamedTuple, NoReturn, TypeVar

import msgspec

from harness.failures import loading_status, message_of, reason_of
from harness.outcome import Outcome
from harness.process.limits import excerpt, without_paths

CALL = "call"
"""The operation with which a process of ours runs a function; its arguments and its result are pickles (base64)."""
ERROR = "error"
"""The status of an answer with an error after which the process continues."""


class ErrorResult(msgspec.Struct, frozen=True):
    """The error with which a process answers instead of a result."""

    error: str
    """Name of the error's type."""
    message: str = ""
    status: str = ERROR
    """`error`, or the outcome it means."""
    raised: bytes = b""
    """The exception itself, pickled, in an answer to `call`."""


class Failed(NamedTuple):
    """An outcome instead of an answer."""

    outcome: Outcome
    reason: str
    error: str = ""
    """Type of the error that the process answered with; empty if it gave no answer."""
    message: str = ""
    """Message of that error."""
    pickled_error: bytes = b""
    """That error itself, pickled, for a call of a function of ours."""

    @staticmethod
    def by(answer: ErrorResult) -> Failed:
        """Return what an answer with an error means."""
        message = without_paths(answer.message)
        if answer.status == ERROR:
            reason = f"{answer.error}: {message}" if message else answer.error
            return Failed(Outcome.REFUSED, reason, answer.error, message)
        if answer.status not in _BY_ERRORS:
            return Failed(Outcome.PROTOCOL, f"answered with the unknown status {answer.status!r}")
        outcome = Outcome(answer.status)
        return Failed(outcome, reason_of(outcome, answer.error, message), answer.error, message)

    @property
    def kind(self) -> str:
        """Return the type of the error with which it declined, or the outcome."""
        return (self.error if self.outcome is Outcome.REFUSED else "") or self.outcome

    def __str__(self) -> str:
        return self.reason if self.outcome is Outcome.REFUSED else f"{self.outcome}: {self.reason}"

    def result(self) -> NoReturn:
        """Raise the error that a function of ours raised, if it can be raised here, else `FailedError`."""
        raise self.raised or FailedError(self)

    @property
    def raised(self) -> BaseException | None:
        """Return that error, if this process can: only one of ours is sure to be importable here."""
        with contextlib.suppress(Exception):
            error = pickle.loads(self.pickled_error) if self.pickled_error else None
            return error if isinstance(error, BaseException) else None
        return None


_BY_ERRORS = (Outcome.REFUSED, Outcome.MISSING, Outcome.CRASH, Outcome.PANIC, Outcome.OUT_OF_MEMORY)
"""Outcomes that an answer may state."""


class FailedError(Exception):
    """Raised in place of a `Failed`."""

    def __init__(self, failed: Failed) -> None:
        self.failed = failed
        super().__init__(str(failed))


T = TypeVar("T")


class MalformedAnswer(Exception):
    """An invalid answer; the message is the reason on one line."""


class _Answer(msgspec.Struct, Generic[T], frozen=True):
    id: int
    result: T | msgspec.UnsetType = msgspec.UNSET
    error: str | None = None
    message: str = ""
    status: str = ERROR
    raised: bytes = b""


_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")
_REQUEST = json.JSONEncoder(allow_nan=False, default=sorted)


@cache
def _decoder(shape: Any) -> msgspec.json.Decoder[_Answer[Any]]:
    generic: Any = _Answer
    return msgspec.json.Decoder(generic[shape])


def request_line(number: int, operation: str, arguments: dict[str, Any]) -> bytes:
    """Return a request as a line; sets become sorted lists, lone surrogates JSON escapes."""
    request = {"id": number, "op": operation, **arguments}
    return (msgspec.json.encode(request) if operation == CALL else _REQUEST.encode(request).encode()) + b"\n"


def read_answer(line: bytes, number: int, operation: str, shape: Any = Any) -> Any:
    """Return the result, of type `shape`, or the `ErrorResult` in an answer to request `number`.

    Raises `MalformedAnswer`.
    """
    try:
        answer = _decoded(line, shape)
    except (ValueError, RecursionError) as error:
        why = "it is nested too deeply" if isinstance(error, RecursionError) else str(error)
        raise MalformedAnswer(f"{operation}: not an answer: {why}: {excerpt(line)}") from None
    if answer.id != number:
        raise MalformedAnswer(f"answered request {answer.id} instead of {number}")
    if answer.error is not None:
        return ErrorResult(answer.error, answer.message, answer.status, answer.raised)
    if answer.result is msgspec.UNSET:
        raise MalformedAnswer(f"{operation}: an answer without result and without error: {excerpt(line)}")
    return answer.result


def _decoded(line: bytes, shape: Any) -> _Answer[Any]:
    try:
        return _decoder(shape).decode(line)
    except msgspec.DecodeError:
        if not _SURROGATE.search(line):
            raise
    # Python's own reader keeps lone surrogates.
    generic: Any = _Answer
    answer: _Answer[Any] = msgspec.convert(json.loads(line, parse_constant=_no_number), generic[shape])
    return answer


def _no_number(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


# --- the server's side -----------------------------------------------------------------------------------------

_BOOT = (
    "import json, sys; from importlib import import_module; "
    "sys.path += [p for p in json.loads(sys.argv[1]) if p not in sys.path]; "
    "import_module(sys.argv[2]).main(sys.argv[3:])"
)


def python_command(module: str, *arguments: str) -> list[str]:
    """Return the command that runs `main(arguments)` of a module in a fresh interpreter, with our import path.

    Fresh, because a fork would inherit our threads and loaded libraries.
    """
    return [sys.executable, "-P", "-c", _BOOT, json.dumps([path for path in sys.path if path]), module, *arguments]


def serve_lines(reply: Callable[[bytes], bytes]) -> None:
    """Write `reply(line)` and an end of line for each line of standard input, then end this process."""
    replies = os.dup(1)
    os.dup2(2, 1)
    requests = os.fdopen(os.dup(0), "rb")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    server = os.getpid()
    with contextlib.suppress(BrokenPipeError):
        for line in requests:
            left = memoryview(reply(line) + b"\n")
            if os.getpid() != server:
                os._exit(0)  # a fork by the library; only the original process answers
            while left:
                left = left[os.write(replies, left) :]
    sys.stdout.flush()
    os._exit(0)


class _Request(msgspec.Struct, frozen=True):
    """A request of the operation `call`: a function and its arguments, pickled."""

    id: int
    function: bytes


def _call(line: bytes) -> bytes:
    """Answer one request of the operation `call`."""
    request = msgspec.json.decode(line, type=_Request)
    answer: dict[str, Any] = {"id": request.id}
    try:
        function, arguments = pickle.loads(request.function)
        answer["result"] = pickle.dumps(function(*arguments))
    except BaseException as error:  # a Rust panic is not an Exception
        answer |= {"error": type(error).__name__, "message": message_of(error), "status": loading_status(error)}
        with contextlib.suppress(Exception):  # an error that cannot be sent is described
            pickle.loads(raised := pickle.dumps(error))
            answer["raised"] = raised
    return msgspec.json.encode(answer)


def main(arguments: list[str]) -> None:
    """Call functions until the input ends."""
    import warnings

    from impls.formats import PatternAssumed

    warnings.simplefilter("ignore", PatternAssumed)  # the parent has loaded every model itself, and warned
    serve_lines(_call)
