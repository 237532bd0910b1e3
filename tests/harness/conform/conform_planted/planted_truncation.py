"""Tokenizers that cut texts or count up to a limit with a planted bug."""

from __future__ import annotations

from typing import Any

from planted_bugs import Full, Right


class CutsInsideACharacter(Full):
    """The first ids are decoded as they are: U+FFFD where a character is cut."""

    def truncate(self, text: str, n_tokens: int) -> str:
        return self.decode(self.encode(text)[:n_tokens])


class OneTokenTooMany(Full):
    """The limit itself is taken for the last place of the list."""

    def truncate(self, text: str, n_tokens: int, *, side="right", whole="token") -> str:
        return super().truncate(text, n_tokens + 1, side=side, whole=whole)


class OneTokenTooFew(Full):
    """A text that fits exactly is cut."""

    def truncate(self, text: str, n_tokens: int, *, side="right", whole="token") -> str:
        return super().truncate(text, max(0, n_tokens - 1), side=side, whole=whole)


class OneCharacterTooMany(Full):
    """With a cut character the whole one before it is dropped."""

    def truncate(self, text: str, n_tokens: int, *, whole="token") -> str:
        cut = super().truncate(text, n_tokens, whole=whole)
        return cut if cut == text or whole != "character" else cut[:-1]


class CutsByCharacters(Full):
    """Four characters a token."""

    def truncate(self, text: str, n_tokens: int) -> str:
        return text if self.fits(text, n_tokens) else text[: 4 * n_tokens]


class NeverEncodesTheBeginning(Full):
    """The first ids without a cut character, the text of which may have more ids of its own."""

    def truncate(self, text: str, n_tokens: int, *, whole="character") -> str:
        ids = self.encode(text)
        if len(ids) <= n_tokens or whole != "character":
            return super().truncate(text, n_tokens, whole=whole)
        return self.decode_bytes(ids[:n_tokens]).decode("utf-8", "ignore")


class NeverEncodesTheEnd(Full):
    """The last ids likewise."""

    def truncate(self, text: str, n_tokens: int, *, side="right", whole="token") -> str:
        ids = self.encode(text)
        if len(ids) <= n_tokens or (side, whole) != ("left", "character"):
            return super().truncate(text, n_tokens, side=side, whole=whole)
        return self.decode_bytes(ids[len(ids) - n_tokens :]).decode("utf-8", "ignore")


class LeftIsRight(Full):
    """The option is accepted, and ignored."""

    def truncate(self, text: str, n_tokens: int, *, side="right", whole="token") -> str:
        return super().truncate(text, n_tokens, whole=whole)


class WordsAtSpaces(Full):
    """A word is what stands between two spaces."""

    def truncate(self, text: str, n_tokens: int, *, whole="token") -> str:
        cut = super().truncate(text, n_tokens, whole="token" if whole == "token" else "character")
        return cut if whole != "word" or cut == text else cut[: cut.rfind(" ") + 1]


class ReadsAHead(Full):
    """Of a long text a head is encoded, of which the last piece is cut."""

    def truncate(self, text: str, n_tokens: int, *, whole="token") -> str:
        head = text[: 8 * n_tokens + 8]
        return text if self.fits(text, n_tokens) else super().truncate(head, n_tokens, whole=whole)


class RefusesZero(Full):
    """No token at all is an error."""

    def truncate(self, text: str, n_tokens: int) -> str:
        if not n_tokens:
            raise ValueError("n_tokens must be positive")
        return super().truncate(text, n_tokens)


class FitsOneMore(Full):
    """One more than the limit is let through."""

    def fits(self, text: str, n_tokens: int) -> bool:
        return super().fits(text, n_tokens + 1)


class StopsAtTheLimit(Full):
    """A text of more than the limit counts as one of the limit."""

    def count(self, text: str, at_most: int | None = None) -> int:
        return min(self.tokenizer.count(text), at_most if at_most is not None else len(text.encode()))


class NeverStops(Full):
    """All ids are counted whatever the limit."""

    def count(self, text: str, at_most: int | None = None) -> int:
        return self.tokenizer.count(text)


class OnlyFits(Right):
    """One of the three operations, and right."""

    def fits(self, text: str, n_tokens: int) -> bool:
        return self.tokenizer.fits(text, n_tokens)


class OfAnotherKind(Right):
    """A method of the same name for something else, as of `transformers`."""

    def truncate(self, ids: list[int]) -> Any:
        return ids
