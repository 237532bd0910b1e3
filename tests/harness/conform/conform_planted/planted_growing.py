"""Wrong ways of following a text that grows and of decoding a stream, as serving stacks have had them."""

from __future__ import annotations

from copy import copy
from typing import Any

from planted_bugs import Right, found_by
from planted_calls import DIED, raising

# --- texts that grow -----------------------------------------------------------------------------------------


class Grown:
    """Keeps the text and its ids; the fault is in one of the methods."""

    def __init__(self, tokenizer: Right) -> None:
        self.tokenizer = tokenizer
        self.text, self.ids = "", []

    @property
    def n_stable(self) -> int:
        return 0

    def append(self, text: str) -> None:
        self.text += text
        self.ids = self.tokenizer.encode(self.text)

    def replace(self, start: int, stop: int, text: str) -> None:
        self.text = self.text[:start] + text + self.text[stop:]
        self.ids = self.tokenizer.encode(self.text)

    def copy(self) -> Any:
        other = copy(self)
        other.ids = list(self.ids)
        return other


class Growing(Right):
    grown: Any = Grown

    def incremental(self) -> Any:
        return self.grown(self)


@found_by("incremental", "incremental", "after append the ids are not those of the text", 16)
class OverlapsByTokens(Growing):
    """The text of the last two tokens is encoded again with what is appended."""

    class grown(Grown):  # noqa: N801
        def append(self, text: str) -> None:
            kept = self.ids[:-2]
            while kept and "\ufffd" in self.tokenizer.decode(kept):
                kept.pop()
            begin = len(self.tokenizer.decode(kept))
            self.text += text
            self.ids = kept + self.tokenizer.encode(self.text[begin:])


@found_by("incremental", "incremental", "after append the ids are not those of the text", 16)
class CutsAfterTheLastSpace(Growing):
    """What follows the last space is encoded again with what is appended."""

    class grown(Grown):  # noqa: N801
        def append(self, text: str) -> None:
            begin = self.text.rfind(" ") + 1
            self.ids = self.tokenizer.encode(self.text[:begin])
            self.text += text
            self.ids += self.tokenizer.encode(self.text[begin:])


@found_by("incremental", "incremental", "ids are called stable, but appending", 16)
class AllButOneIsStable(Growing):
    """Every id but the last one is called stable."""

    class grown(Grown):  # noqa: N801
        @property
        def n_stable(self) -> int:
            return max(0, len(self.ids) - 1)


@found_by("incremental", "incremental", "on a copy the ids are not those of the text", 16)
class CopiesShareIds(Growing):
    """A copy has the same list of ids, to which words are added in place."""

    class grown(Grown):  # noqa: N801
        def append(self, text: str) -> None:
            self.text += text
            self.ids[:] = self.tokenizer.encode(self.text)

        def copy(self) -> Any:
            return copy(self)


@found_by("incremental", "incremental", "after replace the ids are not those of the text", 16)
class EditsBytes(Growing):
    """The places of an edit are taken for bytes."""

    class grown(Grown):  # noqa: N801
        def replace(self, start: int, stop: int, text: str) -> None:
            data = self.text.encode("utf-8", "surrogatepass")
            edited = data[:start] + text.encode("utf-8", "surrogatepass") + data[stop:]
            self.text = edited.decode("utf-8", "replace")
            self.ids = self.tokenizer.encode(self.text)


@found_by("incremental", "incremental")
class DeletionsDoNothing(Growing):
    """Replacing by nothing changes the text and not the ids."""

    class grown(Grown):  # noqa: N801
        def replace(self, start: int, stop: int, text: str) -> None:
            ids = self.ids
            super().replace(start, stop, text)
            self.ids = self.ids if text else ids


@found_by("incremental", "incremental")
class AppendingNothingCuts(Growing):
    """Appending nothing loses an id."""

    class grown(Grown):  # noqa: N801
        def append(self, text: str) -> None:
            super().append(text)
            self.ids = self.ids if text else self.ids[:-1]


@found_by("incremental", "incremental")
class GrowsPast4096(Growing):
    """Past 4,096 characters only what is appended is encoded."""

    class grown(Grown):  # noqa: N801
        def append(self, text: str) -> None:
            before, is_long = self.ids, len(self.text) > 4096
            super().append(text)
            self.ids = before + self.tokenizer.encode(text) if is_long else self.ids


@found_by("python-values", "values")
class GrownShareATail(Growing):
    """The text appended last waits in the tokenizer, where another growing text finds it."""

    waiting: Any = None

    class grown(Grown):  # noqa: N801
        def append(self, text: str) -> None:
            super().append(text)
            other, self.tokenizer.waiting = self.tokenizer.waiting, self
            if other is not None and other is not self and other.text:
                self.ids = self.tokenizer.encode(self.text + other.text[-1])


for name, method, finding in (
    ("ReplacingDies", {"replace": raising(DIED)}, ("incremental", "process")),
    ("CopyingFails", {"copy": raising(AttributeError("bug"))}, ("incremental", "refusal")),
):
    found_by(*finding)(type(name, (Growing,), {"grown": type("Grown", (Grown,), method)}))


class Forgets(Growing):
    """Right, but with nothing beyond `append` and `ids`."""

    class grown:  # noqa: N801
        def __init__(self, tokenizer: Right) -> None:
            self.encode, self.whole, self.ids = tokenizer.encode, "", []

        def append(self, text: str) -> None:
            self.whole += text
            self.ids = self.encode(self.whole)


# --- streams --------------------------------------------------------------------------------------------------


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


@found_by("streaming-decode", "decode", "further ids may change", 4)
class ReplacesEarly(Streaming):
    """U+FFFD for a character that is only begun, which stays in the text."""


@found_by("streaming-decode", "decode", "holds back", 4)
class HoldsReplacementsBack(Streaming):
    """A text that ends in U+FFFD waits for more, though it may be certain."""

    class stream(Stream):  # noqa: N801
        def settled(self, text: str) -> str:
            return text.rstrip("\ufffd")


@found_by("streaming-decode", "decode", "finish does not return", 4)
class LosesTheEnd(Streaming):
    """What is incomplete at the end is never returned."""

    class stream(Stream):  # noqa: N801
        def __init__(self, tokenizer: Right) -> None:
            self.push = tokenizer.tokenizer.decoder().push

        def finish(self) -> str:
            return ""


@found_by("streaming-decode", "decode", "the text differs from that of `decode`", 4)
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
