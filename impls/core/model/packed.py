"""A model packed into one byte string, from which it is restored without parsing each token.

    8 bytes      length of the header
    header       JSON: every field but the long ones, and the size in bytes of each of these
    lengths      of the tokens in order of id, 0 for a gap
    tokens       the bytes of all tokens in order of id
    merges       (left id, right id), uint32
    counts       of merges, int64

Numbers are in native byte order: a packed model does not leave the machine. Nothing is checked here: only what `pack`
made of a `Model` may be unpacked.
"""

from __future__ import annotations

import hashlib
import json
import sys
from array import array
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import chain
from struct import Struct
from typing import TYPE_CHECKING, Any

from impls.core.text.sentencepiece_rules import SentencePieceRules

if TYPE_CHECKING:
    from impls.core.model.model import Model

_LONG = ("lengths", "tokens", "merges", "counts")
_HEAD_BYTES = 8


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
        """Length in bytes of each token in order of id, 0 for a gap: unsigned integers of one, two or four bytes."""
        return self.parts["lengths"].cast(self.head["kind"])

    @property
    def blob(self) -> memoryview:
        """The bytes of all tokens in order of id."""
        return self.parts["tokens"]

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
        fields = {name: value for name, value in self.head.items() if name not in ("parts", "kind", "has_counts")}
        rules = fields["sentencepiece"]
        if rules is not None:
            fields["sentencepiece"] = SentencePieceRules(**rules | {"charsmap": bytes.fromhex(rules["charsmap"])})
        counts = tuple(self.parts["counts"].cast("q").tolist())
        return fields | {
            "pattern": tuple(fields["pattern"]),
            "whole_token_flags": {text: tuple(flags) for text, flags in fields["whole_token_flags"].items()},
            "merge_counts": counts if self.head["has_counts"] else None,
        }


def pack(model: Model) -> PackedModel:
    """Pack `model`; raise OverflowError where the count of a merge has more than 63 bits."""
    lengths = [0 if token is None else len(token) for token in model.tokens]
    kind = _narrowest(lengths)
    parts = {
        "lengths": array(kind, lengths).tobytes(),
        "tokens": b"".join([token for token in model.tokens if token is not None]),
        "merges": array("I", chain.from_iterable(model.merges)).tobytes(),
        "counts": array("q", model.merge_counts or ()).tobytes(),
    }
    head = {
        name: getattr(model, name)
        for name in model.__dataclass_fields__
        if name not in ("tokens", "merges", "merge_counts")
    }
    rules = None
    if model.sentencepiece is not None:
        rules = asdict(model.sentencepiece)
        rules["charsmap"] = rules["charsmap"].hex()
    head |= {
        "special_tokens": dict(model.special_tokens),
        "added_tokens": dict(model.added_tokens),
        "whole_token_flags": dict(model.whole_token_flags),
        "sentencepiece": rules,
        "has_counts": model.merge_counts is not None,
        "kind": kind,
        "parts": [len(parts[name]) for name in _LONG],
    }
    written = json.dumps(head).encode()
    content = b"".join([len(written).to_bytes(_HEAD_BYTES, sys.byteorder), written, *(parts[name] for name in _LONG)])
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


def _narrowest(numbers: Sequence[int]) -> str:
    """Return the smallest type code of `array` that holds all `numbers`."""
    largest = max(numbers, default=0)
    return "B" if largest < 1 << 8 else "H" if largest < 1 << 16 else "I"
