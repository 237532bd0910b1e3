"""Wrong offsets, and wrong ways of cutting a text or counting up to a limit."""

from __future__ import annotations

import re
from typing import Any

from planted_bugs import Full, Right, found_by

# --- offsets --------------------------------------------------------------------------------------------------


class Spans(Right):
    """The fault is in `spans`, of the right ones in code points and in bytes."""

    def encode_with_offsets(self, text: str) -> Any:
        ids, spans = self.tokenizer.encode_with_offsets(text, disallowed_special=())
        places = self.tokenizer.encode_with_offsets(text, disallowed_special=(), unit="byte")[1]
        return ids, self.spans(text, spans.tolist(), places.tolist())

    def spans(self, text: str, spans: Any, places: Any) -> Any:
        return spans


@found_by("offsets", "offsets", "the token", 4)
class Utf16ForCodePoints(Spans):
    """Counts UTF-16 units, which is off by one after an emoji."""

    def spans(self, text: str, spans: Any, places: Any) -> Any:
        return self.tokenizer.encode_with_offsets(text, disallowed_special=(), unit="utf16")[1]


@found_by("offsets", "offsets", "the token", 4)
class StartsAfterACutCharacter(Spans):
    """A token that begins inside a character starts at the next one."""

    def spans(self, text: str, spans: Any, places: Any) -> Any:
        return [[self.character(text, start), end] for (start, _), (_, end) in zip(places, spans, strict=True)]

    def character(self, text: str, byte: int) -> int:
        return next(k for k in range(len(text) + 1) if len(text[:k].encode("utf-8", "surrogatepass")) >= byte)


@found_by("offsets", "offsets", "the token", 4)
class EndsBeforeACutCharacter(Spans):
    """A token that ends inside a character ends before it."""

    def spans(self, text: str, spans: Any, places: Any) -> Any:
        data = text.encode("utf-8", "surrogatepass") + b" "
        cut = [data[end] & 0xC0 == 0x80 for _, end in places]
        return [[start, end - inside] for (start, end), inside in zip(spans, cut, strict=True)]


@found_by("offsets", "offsets", "0 spans for 1 ids", 4)
class StartsOnly(Spans):
    """Gives one number a token."""

    def spans(self, text: str, spans: Any, places: Any) -> Any:
        return spans[:-1]


@found_by("offsets", "offsets", "the ids are not those of encode", 4)
class OtherIds(Spans):
    """Gives the ids of the text without its last character, where that is a space."""

    def encode_with_offsets(self, text: str) -> Any:
        return super().encode_with_offsets(text.removesuffix(" "))


@found_by("offsets", "offsets")
class OffsetsReadSpecials(Full):
    """`encode_with_offsets` reads the text of a special token as the special token."""

    def encode_with_offsets(self, text: str) -> Any:
        return self.tokenizer.encode_with_offsets(text, allowed_special="all")


# --- what vendors' wrappers do --------------------------------------------------------------------------------


@found_by("lengths", "pieces", "its wrapper cuts a text at 400,000 characters and encodes the parts")
class WrapperOfBlocks(Right):
    """Cuts a text into blocks, as the wrappers of Llama 3 and Qwen do."""

    parts = re.compile(r"[\s\S]{1,400000}")

    def encode(self, text: str) -> list[int]:
        return [i for part in self.parts.findall(text) for i in Right.encode(self, part)]


@found_by("lengths", "pieces", "its wrapper cuts a text in runs of 25,000 and encodes the parts")
class WrapperOfRuns(WrapperOfBlocks):
    """Cuts long runs of white space and of other characters, as they do."""

    parts = re.compile(r"(?:\s{1,25000}(?!\s)|\S{1,25000}(?!\S))+|\s{25000}|\S{25000}")


# --- cutting a text -------------------------------------------------------------------------------------------


@found_by("truncate", "truncation", "is not a beginning of the text", 40)
class CutsInsideACharacter(Full):
    """The first ids are decoded as they are: U+FFFD where a character is cut."""

    def truncate(self, text: str, n_tokens: int) -> str:
        return self.decode(self.encode(text)[:n_tokens])


@found_by("truncate", "truncation", "ids when it is encoded alone", 40)
class OneTokenTooMany(Full):
    """The limit itself is taken for the last place of the list."""

    def truncate(self, text: str, n_tokens: int, *, side="right", whole="token") -> str:
        return super().truncate(text, n_tokens + 1, side=side, whole=whole)


@found_by("truncate", "truncation", "cuts a text of", 40)
class OneTokenTooFew(Full):
    """A text that fits exactly is cut."""

    def truncate(self, text: str, n_tokens: int, *, side="right", whole="token") -> str:
        return super().truncate(text, max(0, n_tokens - 1), side=side, whole=whole)


@found_by("truncate", "truncation", "cuts off 1 characters more", 40)
class OneCharacterTooMany(Full):
    """With a cut character the whole one before it is dropped."""

    def truncate(self, text: str, n_tokens: int, *, whole="token") -> str:
        cut = super().truncate(text, n_tokens, whole=whole)
        return cut if cut == text or whole != "character" else cut[:-1]


@found_by("truncate", "truncation", "ids when it is encoded alone", 40)
class NeverEncodesTheEnd(Full):
    """The last ids likewise."""

    def truncate(self, text: str, n_tokens: int, *, side="right", whole="token") -> str:
        ids = self.encode(text)
        if len(ids) <= n_tokens or (side, whole) != ("left", "character"):
            return super().truncate(text, n_tokens, side=side, whole=whole)
        return self.decode_bytes(ids[len(ids) - n_tokens :]).decode("utf-8", "ignore")


@found_by("truncate", "truncation", "is not an end of the text", 40)
class LeftIsRight(Full):
    """The option is accepted, and ignored."""

    def truncate(self, text: str, n_tokens: int, *, side="right", whole="token") -> str:
        return super().truncate(text, n_tokens, whole=whole)


@found_by("truncate", "truncation", "characters more than it must", 40)
class WordsAtSpaces(Full):
    """A word is what stands between two spaces."""

    def truncate(self, text: str, n_tokens: int, *, whole="token") -> str:
        cut = super().truncate(text, n_tokens, whole="token" if whole == "token" else "character")
        return cut if whole != "word" or cut == text else cut[: cut.rfind(" ") + 1]


@found_by("truncate", "truncation", "is refused: ValueError", 40)
class RefusesZero(Full):
    """No token at all is an error."""

    def truncate(self, text: str, n_tokens: int) -> str:
        if not n_tokens:
            raise ValueError("n_tokens must be positive")
        return super().truncate(text, n_tokens)


@found_by("truncate", "truncation", "says True", 40)
class FitsOneMore(Full):
    """One more than the limit is let through."""

    def fits(self, text: str, n_tokens: int) -> bool:
        return super().fits(text, n_tokens + 1)


@found_by("truncate", "truncation", "says 0", 40)
class StopsAtTheLimit(Full):
    """A text of more than the limit counts as one of the limit."""

    def count(self, text: str, at_most: int | None = None) -> int:
        return min(self.tokenizer.count(text), at_most if at_most is not None else len(text.encode()))


@found_by("truncate", "truncation", "says", 40)
class NeverStops(Full):
    """All ids are counted whatever the limit."""

    def count(self, text: str, at_most: int | None = None) -> int:
        return self.tokenizer.count(text)


@found_by("truncate", "truncation")
class LimitOf31Bits(Full):
    """A limit is kept in 31 bits."""

    def fits(self, text: str, n_tokens: int) -> bool:
        return super().fits(text, n_tokens & 0x7FFFFFFF)


class OnlyFits(Right):
    """One of the three operations, and right."""

    def fits(self, text: str, n_tokens: int) -> bool:
        return self.tokenizer.fits(text, n_tokens)
