"""Tokenizers of texts that grow, with a planted bug each, as serving stacks have had them."""

from __future__ import annotations

from copy import copy
from typing import Any

from planted_bugs import Right


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


class CutsAfterTheLastSpace(Growing):
    """What follows the last space is encoded again with what is appended."""

    class grown(Grown):  # noqa: N801
        def append(self, text: str) -> None:
            begin = self.text.rfind(" ") + 1
            self.ids = self.tokenizer.encode(self.text[:begin])
            self.text += text
            self.ids += self.tokenizer.encode(self.text[begin:])


class CutsBeforeTheLastSpace(Growing):
    """The last space and what follows it are encoded again, which is right only after a letter."""

    class grown(Grown):  # noqa: N801
        def append(self, text: str) -> None:
            begin = max(0, self.text.rfind(" "))
            self.ids = self.tokenizer.encode(self.text[:begin])
            self.text += text
            self.ids += self.tokenizer.encode(self.text[begin:])


class AllIsStable(Growing):
    """Every id is called stable."""

    class grown(Grown):  # noqa: N801
        @property
        def n_stable(self) -> int:
            return len(self.ids)


class AllButOneIsStable(Growing):
    """Every id but the last one is called stable."""

    class grown(Grown):  # noqa: N801
        @property
        def n_stable(self) -> int:
            return max(0, len(self.ids) - 1)


class CopiesShareIds(Growing):
    """A copy has the same list of ids, to which words are added in place."""

    class grown(Grown):  # noqa: N801
        def append(self, text: str) -> None:
            self.text += text
            self.ids[:] = self.tokenizer.encode(self.text)

        def copy(self) -> Any:
            return copy(self)


class EditsBytes(Growing):
    """The places of an edit are taken for bytes."""

    class grown(Grown):  # noqa: N801
        def replace(self, start: int, stop: int, text: str) -> None:
            data = self.text.encode("utf-8", "surrogatepass")
            edited = data[:start] + text.encode("utf-8", "surrogatepass") + data[stop:]
            self.text = edited.decode("utf-8", "replace")
            self.ids = self.tokenizer.encode(self.text)


class Forgets(Growing):
    """Right, but with nothing beyond `append` and `ids`."""

    class grown:  # noqa: N801
        def __init__(self, tokenizer: Right) -> None:
            self.encode, self.whole, self.ids = tokenizer.encode, "", []

        def append(self, text: str) -> None:
            self.whole += text
            self.ids = self.encode(self.whole)
