"""Encoders with offsets that have a planted bug each."""

from __future__ import annotations

from typing import Any

from planted_bugs import Right


class Spans(Right):
    """The fault is in `spans`, of the right ones in code points and in bytes."""

    def encode_with_offsets(self, text: str) -> Any:
        ids, spans = self.tokenizer.encode_with_offsets(text, disallowed_special=())
        places = self.tokenizer.encode_with_offsets(text, disallowed_special=(), unit="byte")[1]
        return ids, self.spans(text, spans.tolist(), places.tolist())

    def spans(self, text: str, spans: Any, places: Any) -> Any:
        return spans


class BytesForCodePoints(Spans):
    """Counts bytes."""

    def spans(self, text: str, spans: Any, places: Any) -> Any:
        return places


class Utf16ForCodePoints(Spans):
    """Counts UTF-16 units, which is off by one after an emoji."""

    def spans(self, text: str, spans: Any, places: Any) -> Any:
        return self.tokenizer.encode_with_offsets(text, disallowed_special=(), unit="utf16")[1]


class StartsAfterACutCharacter(Spans):
    """A token that begins inside a character starts at the next one."""

    def spans(self, text: str, spans: Any, places: Any) -> Any:
        return [[self.character(text, start), end] for (start, _), (_, end) in zip(places, spans, strict=True)]

    def character(self, text: str, byte: int) -> int:
        return next(k for k in range(len(text) + 1) if len(text[:k].encode("utf-8", "surrogatepass")) >= byte)


class EndsBeforeACutCharacter(Spans):
    """A token that ends inside a character ends before it."""

    def spans(self, text: str, spans: Any, places: Any) -> Any:
        data = text.encode("utf-8", "surrogatepass") + b" "
        cut = [data[end] & 0xC0 == 0x80 for _, end in places]
        return [[start, end - inside] for (start, end), inside in zip(spans, cut, strict=True)]


class StartsOnly(Spans):
    """Gives one number a token."""

    def spans(self, text: str, spans: Any, places: Any) -> Any:
        return spans[:-1]


class OtherIds(Spans):
    """Gives the ids of the text without its last character, where that is a space."""

    def encode_with_offsets(self, text: str) -> Any:
        return super().encode_with_offsets(text.removesuffix(" "))
