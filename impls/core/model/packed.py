"""A model packed into one byte string, from which it is restored without parsing each token.

The string is MessagePack: every field but the long ones, the lengths of the tokens in order of id (0 for a gap), the
bytes of all tokens, the ids of the merges (left, right) and of the tokens they make, as uint32.

Numbers are in native byte order: a packed model does not leave the machine. Nothing is checked here: only what `pack`
made of a `Model` may be unpacked. The digest of a model, the same on every machine, is made of the same fields.
"""

from __future__ import annotations

import hashlib
import json
from array import array
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import chain
from struct import Struct
from typing import Any, get_type_hints

import msgspec

from impls.core.model.data import HuggingFaceRules, ModelData

MAPPINGS = ("special_tokens", "added_tokens")
"""Fields of the model that are mappings."""

_ONLY_IF_USED = ("sentencepiece", "whole_token_flags", "decoder")
"""Fields that are part of the digest only if they are used: models without them keep their digest."""


_NAMES = [name for name in ModelData.__dataclass_fields__ if name not in ("tokens", "merges")]
_Head = msgspec.defstruct("_Head", [(name, get_type_hints(ModelData)[name]) for name in _NAMES])


class _Parts(msgspec.Struct, array_like=True):
    head: _Head  # type: ignore[valid-type]
    """All fields but the long ones."""
    notes: list[tuple[str, str]]
    """What was packed with the model."""
    kind: str
    """Type code of the lengths."""
    lengths: memoryview
    blob: memoryview
    merges: memoryview
    results: memoryview


@dataclass(frozen=True)
class PackedModel:
    """The parts of a packed model, and its digest."""

    content: bytes | memoryview
    """The whole byte string."""
    parts: _Parts
    digest: str
    """SHA-256 (hex) of the content: identifies the model on machines of this byte order."""

    @property
    def lengths(self) -> memoryview:
        """Return the length in bytes of each token in order of id, 0 for a gap: unsigned, of one, two or four bytes."""
        return self.parts.lengths.cast(self.parts.kind)  # type: ignore[call-overload, no-any-return]

    @property
    def blob(self) -> memoryview:
        """Return the bytes of all tokens in order of id."""
        return self.parts.blob

    def tokens(self) -> tuple[bytes | None, ...]:
        """Return `Model.tokens`."""
        lengths = self.lengths.tolist()
        codes = {length: f"{length}s" for length in set(lengths)}
        tokens = Struct("=" + "".join(map(codes.__getitem__, lengths))).unpack(self.blob)
        return tuple([token or None for token in tokens]) if 0 in codes else tokens

    def merges(self) -> tuple[tuple[int, int], ...]:
        """Return `Model.merges`."""
        ids = self.parts.merges.cast("I").tolist()
        return tuple(zip(ids[::2], ids[1::2], strict=True))

    def fields(self) -> dict[str, Any]:
        """Return all other fields of the model by name."""
        return msgspec.structs.asdict(self.parts.head)


def _fields(model: ModelData) -> dict[str, Any]:
    return {name: getattr(model, name) for name in _NAMES}


def _plain(value: Any) -> Any:
    """Return a field, or a field of rules, as JSON."""
    if isinstance(value, bytes):
        return value.hex()
    return dict(value) if isinstance(value, Mapping) else asdict(value)


def digest_of(model: ModelData) -> str:
    """Return the SHA-256 (hex) of the content of `model`, the same on every machine."""
    fields = _fields(model) | {name: getattr(model, name) for name in HuggingFaceRules.__dataclass_fields__}
    content = (
        {name: value for name, value in fields.items() if value or name not in _ONLY_IF_USED}
        | dict.fromkeys(("tokens", "merges", "merge_counts"), None)
        | {"id_offset": model.id_offset}
    )
    del content["hugging_face"]
    hasher = hashlib.sha256(json.dumps(content, sort_keys=True, default=_plain).encode())
    for token in model.tokens:
        hasher.update(b"-" if token is None else b"%d:%b" % (len(token), token))
    hasher.update(repr((model.merges, model.merge_counts)).encode())
    return hasher.hexdigest()


def pack(model: ModelData, notes: Sequence[tuple[str, str]] = ()) -> PackedModel:
    """Pack `model`, and notes on it."""
    tokens = [token or b"" for token in model.tokens]
    lengths = list(map(len, tokens))
    kind = kind_of(max(lengths, default=0))
    merges, results = array("I", chain.from_iterable(model.merges)), array("I", model.merge_results)
    return pack_columns(model, notes, (kind, array(kind, lengths), b"".join(tokens), merges, results))


def kind_of(largest: int) -> str:
    """Return the type code of the lengths of tokens, of which this is the largest."""
    return "B" if largest < 1 << 8 else "H" if largest < 1 << 16 else "I"


def pack_columns(
    model: ModelData, notes: Sequence[tuple[str, str]], columns: tuple[str, *tuple[Any, ...]]
) -> PackedModel:
    """Pack the fields of `model` with these columns: `_Parts.kind`, and the buffers of the fields that follow it."""
    kind, *buffers = columns
    content = msgspec.msgpack.encode([_fields(model), list(notes), kind, *map(bytes, buffers)], enc_hook=dict)
    return unpack(content, hashlib.sha256(content).hexdigest())


def unpack(content: bytes | memoryview, sha256: str) -> PackedModel:
    """Return the parts of a byte string made by `pack`, the long ones without a copy; `sha256` is its SHA-256."""
    return PackedModel(content, msgspec.msgpack.decode(content, type=_Parts), sha256)
