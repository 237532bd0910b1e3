"""What may be asked of a target over the protocol, and the type of each answer; PROTOCOL.md describes them."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec

from harness.process.limits import NotStarted
from harness.process.protocol import ErrorResult
from harness.process.session import Answer, Session
from harness.targets.spec import NotLoadable

Id = Annotated[int, msgspec.Meta(ge=0, le=0xFFFFFFFF)]
Offset = Annotated[int, msgspec.Meta(ge=0)]
Seconds = Annotated[float, msgspec.Meta(ge=0)]


class Description(msgspec.Struct, frozen=True):
    """The target's description of itself; every field of its answer may be left out."""

    name: str = ""
    operations: frozenset[str] = frozenset()
    """Operations and options of the target; `encode` and `decode` always."""
    special_tokens: dict[str, Id] = {}
    n_vocab: int | None = None
    time_exponent: float = 1.0
    """It declares that encoding one piece of n symbols takes O(n ** time_exponent * log n)."""


SHAPES: dict[str, Any] = {
    "describe": Description,
    "encode": list[Id],
    "decode": str,
    "decode_bytes": bytes,
    "encode_each": list[list[Id] | ErrorResult],
    "encode_batch": list[list[Id]],
    "encode_array": list[Id],
    "count": int,
    "timed_encode": Seconds,
    "timed_decode": Seconds,
    "timed_encode_batch": Seconds,
    "digests": dict[str, list[int | None]],
    "decoded": list[int | None],
    "held": dict[str, tuple[int, float, int]],
    "python_values": list[str],
    "decode_with_offsets": tuple[str, list[Offset]],
    "encode_with_offsets": tuple[list[Id], list[tuple[Offset, Offset]]],
    "decode_stream": list[str],
    "incremental": list[list[tuple[str | None, list[Id], int]]],
    "truncate": str,
    "fits": bool,
    "pieces": list[str],
    "token_bytes": bytes,
}
"""Operation -> type of its result; `bytes` are sent as base64."""


def described(session: Session) -> Description:
    """Start the process of a target and return its description, which it need not give. Raises `NotLoadable`."""
    try:
        answer = session.ask("describe", seconds=session.limits.start_seconds, shape=Description)
    except NotStarted as error:
        raise NotLoadable(str(error)) from None
    description = Description()
    if isinstance(answer, Answer):
        description = answer.value
    elif answer.error == NotLoadable.__name__:
        session.close()
        raise NotLoadable(answer.message)
    elif answer.outcome.ends_process:
        raise NotLoadable(f"it does not start: {answer}")
    return msgspec.structs.replace(description, operations=description.operations | {"encode", "decode"})
