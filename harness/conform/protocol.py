"""The line protocol between the kit and a target: one JSON object per line, a request and then its answer.

PROTOCOL.md describes it for authors of targets. Reading an answer returns its result or an error, or raises
`MalformedAnswer`, whatever it contains.
"""

from __future__ import annotations

import json
import re
from functools import cache
from typing import Annotated, Any, Generic, Literal, TypeVar

import msgspec

from harness.process.limits import excerpt

Id = Annotated[int, msgspec.Meta(ge=0, le=0xFFFFFFFF)]
Offset = Annotated[int, msgspec.Meta(ge=0)]
Seconds = Annotated[float, msgspec.Meta(ge=0)]
Status = Literal["error", "panic", "out-of-memory"]


class ErrorResult(msgspec.Struct, frozen=True):
    """The error with which a target answers instead of a result."""

    error: str
    """Name of the error's type."""
    message: str = ""
    status: Status = "error"
    """After `panic` and `out-of-memory` the process is no longer trusted."""


class Description(msgspec.Struct, frozen=True):
    """The target's description of itself; every field of its answer may be left out."""

    name: str = ""
    operations: frozenset[str] = frozenset()
    """Operations and options of the target; `encode` and `decode` always."""
    special_tokens: dict[str, Id] = {}
    n_vocab: int | None = None
    info: dict[str, str] = {}


SHAPES: dict[str, Any] = {
    "describe": Description,
    "encode": list[Id],
    "decode": str,
    "decode_bytes": bytes,
    "encode_each": list[list[Id] | ErrorResult],
    "encode_batch": list[list[Id]],
    "encode_array": list[Id],
    "count": int,
    "encode_threads": list[list[Id]],
    "timed_encode": Seconds,
    "timed_decode": Seconds,
    "digests": dict[str, list[int | None]],
    "decoded": list[int | None],
    "held": dict[str, tuple[int, float, int]],
    "python_values": list[str],
    "mixed_threads": list[str],
    "decode_with_offsets": tuple[str, list[Offset]],
    "encode_with_offsets": tuple[list[Id], list[tuple[Offset, Offset]]],
    "decode_stream": list[str],
    "incremental": list[list[tuple[str | None, list[Id], int]]],
    "truncate": str,
    "fits": bool,
    "pieces": list[str],
    "token_bytes": bytes,
    "n_vocab": int,
    "save": None,
    "load": None,
}
"""Operation -> type of its result; `bytes` are sent as base64."""

REQUIRED = frozenset({"encode", "decode"})

T = TypeVar("T")


class MalformedAnswer(Exception):
    """An invalid answer; the message is the reason on one line."""


class _Answer(msgspec.Struct, Generic[T], frozen=True):
    id: int
    result: T | msgspec.UnsetType = msgspec.UNSET
    error: str | None = None
    message: str = ""
    status: Status = "error"


_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")


@cache
def _shape(operation: str) -> Any:
    generic: Any = _Answer
    return generic[SHAPES.get(operation, Any)]


@cache
def _decoder(operation: str) -> msgspec.json.Decoder[_Answer[Any]]:
    return msgspec.json.Decoder(_shape(operation))


_REQUEST = json.JSONEncoder(allow_nan=False, default=sorted)


def request_line(number: int, operation: str, arguments: dict[str, Any]) -> bytes:
    """Return a request as a line; sets become sorted lists, lone surrogates JSON escapes."""
    return _REQUEST.encode({"id": number, "op": operation, **arguments}).encode() + b"\n"


def read_answer(line: bytes, number: int, operation: str) -> Any:
    """Return the result or the error in an answer to request `number`. Raises `MalformedAnswer`."""
    try:
        answer = _decoded(line, operation)
    except (ValueError, RecursionError) as error:
        why = "it is nested too deeply" if isinstance(error, RecursionError) else str(error)
        raise MalformedAnswer(f"{operation}: not an answer: {why}: {excerpt(line)}") from None
    if answer.id != number:
        raise MalformedAnswer(f"answered request {answer.id} where {number} was asked")
    if answer.error is not None:
        return ErrorResult(answer.error, answer.message, answer.status)
    if answer.result is msgspec.UNSET:
        raise MalformedAnswer(f"{operation}: an answer without result and without error: {excerpt(line)}")
    return answer.result


def _decoded(line: bytes, operation: str) -> _Answer[Any]:
    try:
        return _decoder(operation).decode(line)
    except msgspec.DecodeError:
        if not _SURROGATE.search(line):
            raise
    # Python's own reader keeps lone surrogates.
    answer: _Answer[Any] = msgspec.convert(json.loads(line, parse_constant=_no_number), _shape(operation))
    return answer


def _no_number(name: str) -> None:
    raise ValueError(f"{name} is not JSON")
