"""A tokenizer of a model in steps, each a function that a mutant replaces."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal, get_args

from impls.core.model.model import Model
from impls.core.text.patterns import Splitter
from impls.core.text.text import special_matcher
from impls.priority import Priority

Kind = Literal["special tokens", "normalisation", "pieces", "merges", "cache", "decode"]
KINDS: tuple[Kind, ...] = get_args(Kind)
"""The steps, in the order in which a text passes through them."""
Change = Callable[[str], str]
Fits = Callable[[str, int, int], tuple[int, int] | None]
"""A text and where a special token stands in it -> what of the text becomes its id, or None."""
Split = Callable[[str], Sequence[str]]
Merge = Callable[[str], Sequence[int]]
Decode = Callable[[Sequence[int]], str]
Merged = tuple[int, int] | None
"""The rank and the id of a merge."""


@dataclass(frozen=True, slots=True)
class Steps:
    """A tokenizer in steps."""

    model: Model
    normal: Change
    split: Split
    merge: Merge
    """A piece -> its ids."""
    decode: Decode
    recognised: Callable[[Collection[str]], Collection[str]] = set
    """The special tokens allowed -> those looked for."""
    fits: Fits = lambda text, start, end: (start, end)

    def ids(self, text: str, allowed: Collection[str] = ()) -> list[int]:
        """Return the ids of a text."""
        ids: list[int] = []
        names = frozenset([*self.recognised(allowed), *self.model.added_tokens])
        at = 0
        for match in special_matcher(names).finditer(text) if names else ():
            if place := self.fits(text, *match.span()):
                ids += [*self._ordinary(text[at : place[0]]), self.model.whole_token_ids[match[0]]]
                at = place[1]
        return ids + self._ordinary(text[at:])

    def _ordinary(self, text: str) -> list[int]:
        return [i for piece in self.split(self.normal(text)) for i in self.merge(piece)] if text else []


@dataclass(frozen=True, slots=True)
class Mutant:
    """A wrong tokenizer."""

    kind: Kind
    name: str
    steps: Steps


def right_steps(model: Model) -> Steps:
    """Return the steps of the right tokenizer, which remember what they have answered."""
    split, merge = cache(Splitter(model.pattern).split), cache(merger(model))
    return Steps(model, model.normalize, split, merge, decoder(model, lambda data: data.decode("utf-8", "replace")))


class _Merger(Priority):
    """`priority` with the merge of any two neighbours changed by a function."""

    def __init__(self, model: Model, change: Callable[[Merged], Merged]) -> None:
        super().__init__(model)
        merge_of = model.merge_of
        self._merge_of = lambda left, right: change(merge_of(left, right))


def merger(model: Model, change: Callable[[Merged], Merged] = lambda merged: merged, *, whole: bool = True) -> Merge:
    """Return a function from a piece to its ids; without `whole`, a piece that is a token is merged too."""
    priority = _Merger(model, change)

    def merge(piece: str) -> list[int]:
        i = model.whole_piece(piece) if whole else None
        return priority.encode_piece(piece) if i is None else [i]

    return merge


def decoder(model: Model, read: Callable[[bytes], str]) -> Decode:
    """Return a function that reads the joined bytes of ids."""
    by_id = model.bytes_by_id()
    return lambda ids: read(b"".join(map(by_id.__getitem__, ids)))
