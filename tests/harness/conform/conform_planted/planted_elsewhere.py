"""Wrong tokenizers whose fault is not in the ids of a text encoded once and alone, but elsewhere.

Decoding, sizes, special tokens, types, state, threads, volume, time: each class has one fault and says what it is.
"""

from __future__ import annotations

import codecs
import unicodedata
from typing import Any

import numpy as np
from planted_bugs import Full, Right, model

# --- decoding ------------------------------------------------------------------------------------------------


class DropsCutCharacter(Right):
    """An incremental decoder that is never finalised: an incomplete character at the end is lost."""

    def decode(self, ids: list[int]) -> str:
        return codecs.getincrementaldecoder("utf-8")("replace").decode(self.tokenizer.decode_bytes(ids))


class RemembersBySum(Right):
    """Caches decoded texts by the number and sum of their ids, which another order shares."""

    def __init__(self) -> None:
        super().__init__()
        self.decoded: dict[tuple[int, int], str] = {}

    def decode(self, ids: list[int]) -> str:
        key = (len(ids), sum(ids))
        if key not in self.decoded:
            self.decoded[key] = super().decode(ids)
        return self.decoded[key]


class EndsRepetition(Right):
    """Takes eight equal ids in a row for a model that stutters, and drops the rest of them."""

    def decode(self, ids: list[int]) -> str:
        kept: list[int] = []
        for i in ids:
            if kept[-8:] != [i] * 8:
                kept.append(i)
        return super().decode(kept)


class ReplacesEachByte(Right):
    """One U+FFFD for each bad byte, where the first bytes of one character should be one U+FFFD together."""

    def decode(self, ids: list[int]) -> str:
        data = self.tokenizer.decode_bytes(ids).decode("utf-8", "surrogateescape")
        return "".join("\ufffd" if "\udc80" <= c <= "\udcff" else c for c in data)


class UsesUpTheIds(Right):
    """Decodes by taking the ids out of the caller's list."""

    def decode(self, ids: list[int]) -> str:
        text = super().decode(ids)
        while ids:
            ids.pop()
        return text


# --- sizes ---------------------------------------------------------------------------------------------------


class MultipleOf4096(Right):
    """A full last buffer is taken for an empty one: where the bytes are a multiple of 4096 an id is missing."""

    def encode(self, text: str) -> list[int]:
        ids = super().encode(text)
        return ids[:-1] if text and len(text.encode("utf-8", "replace")) % 4096 == 0 else ids


class SixteenBitLength(Right):
    """Stores the number of characters in 16 bits, so that 65,536 of them are 0."""

    def encode(self, text: str) -> list[int]:
        return [] if text and len(text) % 65_536 == 0 else super().encode(text)


class CutsCharactersAtBlocks(Right):
    """Reads UTF-8 in blocks of 4096 bytes, and a character across the border becomes U+FFFD."""

    def encode(self, text: str) -> list[int]:
        data = text.encode("utf-8", "replace")
        blocks = (data[at : at + 4096].decode("utf-8", "replace") for at in range(0, len(data), 4096))
        return super().encode("".join(blocks))


class VectorTail(Right):
    """32 bytes at a time, wrong where the last lane of the last vector is not ASCII."""

    def encode(self, text: str) -> list[int]:
        data = text.encode("utf-8", "replace")
        if data and len(data) % 32 == 0 and data[-1] >= 0x80:
            return super().encode(text[:-1]) + [model().id_by_token[bytes([byte])] for byte in text[-1].encode()]
        return super().encode(text)


class ComposesLongTexts(Right):
    """A separate path for more than 5,000 characters, which normalises."""

    def encode(self, text: str) -> list[int]:
        return super().encode(unicodedata.normalize("NFC", text) if len(text) > 5_000 else text)


# --- special tokens ------------------------------------------------------------------------------------------


class SwallowsSpace(Right):
    """A space before an allowed special token is lost; takes its options as `**kwargs`."""

    def encode(self, text: str, **kwargs: Any) -> list[int]:
        kwargs.setdefault("disallowed_special", ())
        if kwargs.get("allowed_special"):
            for name in model().special_tokens:
                text = text.replace(f" {name}", name)
        return self.tokenizer.encode(text, **kwargs)


class HoldsBackPrefix(Right):
    """Waits for the rest of a special token at the end of a text, which never comes."""

    def encode(self, text: str) -> list[int]:
        for name in model().special_tokens:
            for n in range(len(name) - 1, 2, -1):
                if text.endswith(name[:n]):
                    return super().encode(text[:-n])
        return super().encode(text)


class AnyCase(Full):
    """Recognises allowed special tokens in capitals as well."""

    def encode(self, text: str, allowed_special: Any = (), disallowed_special: Any = ()) -> list[int]:
        for name in model().special_tokens if allowed_special else ():
            text = text.replace(name.upper(), name)
        return super().encode(text, allowed_special, disallowed_special)


class BatchReadsSpecials(Full):
    """A batch reads the text of a special token as the special token."""

    def encode_batch(self, texts: list[str]) -> list[list[int]]:
        return [self.tokenizer.encode(text, allowed_special="all") for text in texts]


# --- types ---------------------------------------------------------------------------------------------------


class NumpyIds(Right):
    """Ids are 64-bit integers of numpy."""

    def encode(self, text: str) -> list[int]:
        return list(np.asarray(super().encode(text), dtype=np.int64))


class FalseForZero(Right):
    """The first two ids are False and True."""

    def encode(self, text: str) -> list[int]:
        return [bool(i) if i < 2 else i for i in super().encode(text)]


class FloatIds(Right):
    """Ids are floats that equal ints."""

    def encode(self, text: str) -> list[int]:
        return [float(i) for i in super().encode(text)]  # type: ignore[misc]


class StringIds(Right):
    """Ids are strings."""

    def encode(self, text: str) -> list[int]:
        return [str(i) for i in super().encode(text)]  # type: ignore[misc]


class FloatArray(Full):
    """The array of ids holds floats."""

    def encode_array(self, text: str) -> Any:
        return super().encode_array(text).astype(np.float64)
