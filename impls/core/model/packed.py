"""A model packed into one byte string, from which it is restored without parsing each token.

The string is MessagePack: every field but the long ones, the lengths of the tokens in order of id (0 for a gap), the
bytes of all tokens, and the ids of the merges (left, right) as uint32.

Numbers are in native byte order: a packed model does not leave the machine. Nothing is checked here: only what `pack`
made of a `Model` may be unpacked. The digest of a model, the same on every machine, is made of the same fields.
"""

from __future__ import annotations

import hashlib
import json
from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from struct import Struct
from typing import Any

import msgspec

from impls.core.model.data import ModelData
from impls.core.text.sentencepiece_rules import SentencePieceRules

MAPPINGS = ("special_tokens", "added_tokens", "whole_token_flags")
"""Fields of the model that are mappings."""

_ONLY_IF_USED = ("sentencepiece", "whole_token_flags", "decoder")
"""Fields that are part of the digest only if they are used: models without them keep their digest."""


class _Parts(msgspec.Struct, array_like=True):
    head: dict[str, Any]
    """Fields by name, as JSON values."""
    notes: list[tuple[str, str]]
    kind: str
    """Type code of the lengths."""
    lengths: memoryview
    blob: memoryview
    merges: memoryview


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

    @property
    def notes(self) -> list[tuple[str, str]]:
        """Return what was packed besides the model."""
        return self.parts.notes

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
        fields = dict(self.parts.head)
        if (rules := fields["sentencepiece"]) is not None:
            fields["sentencepiece"] = SentencePieceRules(**rules | {"charsmap": bytes.fromhex(rules["charsmap"])})
        if (counts := fields["merge_counts"]) is not None:
            fields["merge_counts"] = tuple(counts)
        flags = {text: tuple(flags) for text, flags in fields["whole_token_flags"].items()}
        return fields | {"pattern": tuple(fields["pattern"]), "whole_token_flags": flags}


def _head(model: ModelData) -> dict[str, Any]:
    """Return the fields of `model` except tokens and merges, as JSON values."""
    head = {name: getattr(model, name) for name in model.__dataclass_fields__ if name not in ("tokens", "merges")}
    head |= {name: dict(head[name]) for name in MAPPINGS}
    if (rules := model.sentencepiece) is not None:
        head["sentencepiece"] = {name: getattr(rules, name) for name in rules.__dataclass_fields__} | {
            "charsmap": rules.charsmap.hex()
        }
    return head


def digest_of(model: ModelData) -> str:
    """Return the SHA-256 (hex) of the content of `model`, the same on every machine."""
    content = (
        {name: value for name, value in _head(model).items() if value or name not in _ONLY_IF_USED}
        | dict.fromkeys(("tokens", "merges", "merge_counts"), None)
        | {"id_offset": model.id_offset}
    )
    hasher = hashlib.sha256(json.dumps(content, sort_keys=True).encode())
    for token in model.tokens:
        hasher.update(b"-" if token is None else b"%d:%b" % (len(token), token))
    hasher.update(repr((model.merges, model.merge_counts)).encode())
    return hasher.hexdigest()


def pack(model: ModelData, notes: Sequence[tuple[str, str]] = ()) -> PackedModel:
    """Pack `model`, and notes on it."""
    lengths = [0 if token is None else len(token) for token in model.tokens]
    largest = max(lengths, default=0)
    kind = "B" if largest < 1 << 8 else "H" if largest < 1 << 16 else "I"
    blob = b"".join([token for token in model.tokens if token is not None])
    merges = array("I", chain.from_iterable(model.merges)).tobytes()
    content = msgspec.msgpack.encode([_head(model), list(notes), kind, array(kind, lengths).tobytes(), blob, merges])
    return unpack(content, hashlib.sha256(content).hexdigest())


def unpack(content: bytes | memoryview, sha256: str) -> PackedModel:
    """Return the parts of a byte string made by `pack`, the long ones without a copy; `sha256` is its SHA-256."""
    return PackedModel(content, msgspec.msgpack.decode(content, type=_Parts), sha256)
