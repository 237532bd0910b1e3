"""Streaming decoders that are wrong on purpose, as serving loops have been; each has `push` and `finish`."""

from __future__ import annotations

from collections.abc import Sequence

from impls.interface import Tokenizer


class Planted:
    """Begins a stream over `tokenizer`."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self.tokenizer = tokenizer
        self.ids: list[int] = []
        self.shown = ""

    def push(self, ids: Sequence[int]) -> str:
        self.ids += ids
        text = self.so_far(self.tokenizer.decode(self.ids))
        new, self.shown = text[len(self.shown) :], text
        return new

    def so_far(self, text: str) -> str:
        raise NotImplementedError

    def finish(self) -> str:
        return self.tokenizer.decode(self.ids)[len(self.shown) :]


class EmitsReplacementEarly(Planted):
    """Returns U+FFFD for a character that is only begun."""

    def so_far(self, text: str) -> str:
        return text


class HoldsBackReplacements(Planted):
    """Returns nothing while the text ends in U+FFFD, also where that is certain."""

    def so_far(self, text: str) -> str:
        return self.shown if text.endswith("\ufffd") else text


class HoldsBackOneId(Planted):
    """Is always one id late."""

    def so_far(self, text: str) -> str:
        return self.tokenizer.decode(self.ids[:-1]).rstrip("\ufffd")


class LosesTheEnd(HoldsBackReplacements):
    """Never returns what remains incomplete."""

    def finish(self) -> str:
        return ""


class RepeatsAfterReplacement(Planted):
    """Returns the text since the last id again once a replacement is followed by anything."""

    def so_far(self, text: str) -> str:
        if "\ufffd" in self.shown and not text.endswith("\ufffd"):
            self.shown = self.shown[:-1]
        return text.rstrip("\ufffd") if text.endswith("\ufffd") else text


class DecodesIdById(Planted):
    """Decodes each id alone: cuts characters, and hides the first space of every token."""

    def push(self, ids: Sequence[int]) -> str:
        return "".join(self.tokenizer.decode([i]) for i in ids)

    def finish(self) -> str:
        return ""


class WaitsForThirdByte(Planted):
    """Takes Python's incremental decoder, which waits where a surrogate is begun."""

    def so_far(self, text: str) -> str:
        import codecs

        return codecs.utf_8_decode(self.tokenizer.decode_bytes(self.ids), "replace", False)[0]


WRONG: list[type[Planted]] = [
    EmitsReplacementEarly, HoldsBackReplacements, HoldsBackOneId, LosesTheEnd, RepeatsAfterReplacement, DecodesIdById,
    WaitsForThirdByte,
]  # fmt: skip
