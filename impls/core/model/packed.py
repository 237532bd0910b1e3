"""A model packed into one byte string, from which it is restored without parsing each token.

    8 bytes      length of the header
    header       JSON: every field but the long ones, and the size in bytes of each of these
    lengths      of the tokens in order of id, 0 for a gap
    tokens       the bytes of all tokens in order of id
    merges       (left id, right id), uint32

Numbers are in native byte order: a packed model does not leave the machine. Nothing is checked here: only what `pack`
made of a `Model` may be unpacked. The digest of a model, the same on every machine, is made of the same fields.
"""

from __future__ import annotations

import hashlib
import json
import sys
from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from struct import Struct
from typing import Any

from impls.core.model.data import ModelData
from impls.core.text.sentencepiece_rules import SentencePieceRules

MAPPINGS = ("special_tokens", "added_tokens", "whole_token_flags")
"""Fields of the model that are mappings."""

_LONG = ("lengths", "tokens", "merges")
_HEAD_BYTES = 8
_ONLY_IF_USED = ("sentencepiece", "whole_token_flags", "decoder")
"""Fields that are part of the digest only if they are used: models without them keep their digest."""


@dataclass(frozen=True)
class PackedModel:
    """The long fields of a packed model, and its digest."""

    content: bytes | memoryview
    """The whole byte string."""
    head: dict[str, Any]
    """Fields by name; `parts` has the sizes of the long ones in bytes, `kind` the type code of the lengths."""
    parts: dict[str, memoryview]
    digest: str
    """SHA-256 (hex) of the content: identifies the model on machines of this byte order."""

    @property
    def lengths(self) -> memoryview:
        """Return the length in bytes of each token in order of id, 0 for a gap: unsigned, of one, two or four bytes."""
        return self.parts["lengths"].cast(self.head["kind"])

    @property
    def blob(self) -> memoryview:
        """Return the bytes of all tokens in order of id."""
        return self.parts["tokens"]

    @property
    def notes(self) -> list[list[str]]:
        """Return what was packed besides the model."""
        notes: list[list[str]] = self.head.get("notes", [])
        return notes

    def tokens(self) -> tuple[bytes | None, ...]:
        """Return `Model.tokens`."""
        lengths = self.lengths.tolist()
        codes = {length: f"{length}s" for length in set(lengths)}
        tokens = Struct("=" + "".join(map(codes.__getitem__, lengths))).unpack(self.blob)
        return tuple([token or None for token in tokens]) if 0 in codes else tokens

    def merges(self) -> tuple[tuple[int, int], ...]:
        """Return `Model.merges`."""
        ids = self.parts["merges"].cast("I").tolist()
        return tuple(zip(ids[::2], ids[1::2], strict=True))

    def fields(self) -> dict[str, Any]:
        """Return all other fields of the model by name."""
        fields = {name: value for name, value in self.head.items() if name not in ("parts", "kind", "notes")}
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
    parts = [
        array(kind, lengths).tobytes(),
        b"".join([token for token in model.tokens if token is not None]),
        array("I", chain.from_iterable(model.merges)).tobytes(),
    ]
    about = {"kind": kind, "parts": [len(part) for part in parts]} | ({"notes": list(notes)} if notes else {})
    head = json.dumps(_head(model) | about).encode()
    content = b"".join([len(head).to_bytes(_HEAD_BYTES, sys.byteorder), head, *parts])
    return unpack(content, hashlib.sha256(content).hexdigest())


def unpack(content: bytes | memoryview, sha256: str) -> PackedModel:
    """Return the parts of a byte string made by `pack`, without a copy; `sha256` is its SHA-256 (hex)."""
    view = memoryview(content)
    at = _HEAD_BYTES + int.from_bytes(view[:_HEAD_BYTES], sys.byteorder)
    head = json.loads(bytes(view[_HEAD_BYTES:at]))
    parts: dict[str, memoryview] = {}
    for name, n_bytes in zip(_LONG, head["parts"], strict=True):
        parts[name] = view[at : at + n_bytes]
        at += n_bytes
    return PackedModel(content, head, parts, sha256)
