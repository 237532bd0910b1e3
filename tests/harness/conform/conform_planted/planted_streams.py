"""Decoders of streams with a planted bug, each as some serving loop has had it."""

from __future__ import annotations

from typing import Any

from planted_bugs import Right


class Stream:
    """Decodes all ids so far at every push; the fault is in `settled` or `finish`."""

    def __init__(self, tokenizer: Right) -> None:
        self.tokenizer = tokenizer
        self.ids: list[int] = []
        self.shown = 0

    def settled(self, text: str) -> str:
        return text

    def push(self, ids: list[int]) -> str:
        self.ids += ids
        new = self.settled(self.tokenizer.decode(self.ids))[self.shown :]
        self.shown += len(new)
        return new

    def finish(self) -> str:
        return self.tokenizer.decode(self.ids)[self.shown :]


class Streaming(Right):
    stream: Any = Stream

    def decoder(self) -> Any:
        return self.stream(self)


class ReplacesEarly(Streaming):
    """U+FFFD for a character that is only begun, which stays in the text."""


class HoldsReplacementsBack(Streaming):
    """A text that ends in U+FFFD waits for more, though it may be certain."""

    class stream(Stream):  # noqa: N801
        def settled(self, text: str) -> str:
            return text.rstrip("\ufffd")


class HoldsWordsBack(Streaming):
    """A word waits for the space after it."""

    class stream(Stream):  # noqa: N801
        def settled(self, text: str) -> str:
            return text[: max(text.rfind(" "), self.shown)]


class LosesTheEnd(Streaming):
    """What is incomplete at the end is never returned."""

    class stream(Stream):  # noqa: N801
        def __init__(self, tokenizer: Right) -> None:
            self.push = tokenizer.tokenizer.decoder().push

        def finish(self) -> str:
            return ""


class DecodesEachPush(Streaming):
    """The ids of each push are decoded alone, which cuts characters."""

    class stream(Stream):  # noqa: N801
        def push(self, ids: list[int]) -> str:
            return self.tokenizer.decode(ids)

        def finish(self) -> str:
            return ""


class RepeatsAfterReplacement(Streaming):
    """A replacement at the end of a push is returned again with what follows it."""

    class stream(Stream):  # noqa: N801
        def __init__(self, tokenizer: Right) -> None:
            self.inner = tokenizer.tokenizer.decoder()
            self.repeated = ""

        def push(self, ids: list[int]) -> str:
            text = self.inner.push(ids)
            repeated, self.repeated = self.repeated, "\ufffd" if text.endswith("\ufffd") else ""
            return repeated + text if text else ""

        def finish(self) -> str:
            return self.inner.finish()
