"""A tokenizer of a model in steps, each a function that a mutant replaces."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Literal, TypeVar, get_args

from impls.core.model.model import Model
from impls.core.text.patterns import Splitter
from impls.core.text.text import special_matcher
from impls.priority import Priority

T = TypeVar("T")
Kind = Literal["special tokens", "normalisation", "pieces", "merges", "cache", "decode"]
KINDS: tuple[Kind, ...] = get_args(Kind)
"""The steps, in the order in which a text passes through them."""
Split = Callable[[str], list[str]]
Merge = Callable[[str], list[int]]
MergeAll = Callable[[list[str]], list[int]]
Merged = tuple[int, int] | None
"""The rank and the id of a merge."""


@dataclass(frozen=True, slots=True)
class Steps:
    """A tokenizer in steps."""

    segments: Callable[[str, tuple[str, ...]], list[str | int]]
    """A text and the special tokens allowed -> ordinary texts and ids."""
    normal: Callable[[str], str]
    split: Split
    merged: Callable[[list[str]], list[int]]
    """The pieces of a segment -> its ids."""
    decode: Callable[[Sequence[int]], str]

    def ids(self, text: str, allowed: tuple[str, ...]) -> list[int]:
        """Return the ids of a text."""
        ids: list[int] = []
        for part in self.segments(text, allowed):
            ids += [part] if isinstance(part, int) else self.merged(self.split(self.normal(part)))
        return ids


@dataclass(frozen=True, slots=True)
class Mutant:
    """A wrong tokenizer."""

    kind: Kind
    name: str
    steps: Steps


def right_steps(model: Model) -> Steps:
    """Return the steps of the right tokenizer, which remember what they have answered."""
    return Steps(
        segments=segments(model, lambda allowed: allowed),
        normal=model.normalize,
        split=remembering(Splitter(model.pattern).split),
        merged=each(remembering(merger(model))),
        decode=decoder(model, lambda data: data.decode("utf-8", "replace")),
    )


def remembering(function: Callable[[str], list[T]]) -> Callable[[str], list[T]]:
    """Return a function that remembers all its answers."""
    known: dict[str, list[T]] = {}

    def remembered(text: str) -> list[T]:
        if text not in known:
            known[text] = function(text)
        return known[text]

    return remembered


def each(merge: Merge) -> Callable[[list[str]], list[int]]:
    """Return a function that merges each of some pieces."""
    return lambda pieces: list(chain.from_iterable(map(merge, pieces)))


def segments(
    model: Model,
    recognised: Callable[[tuple[str, ...]], Iterable[str]],
    fits: Callable[[str, int, int], tuple[int, int] | None] = lambda text, start, end: (start, end),
    shift: int = 0,
) -> Callable[[str, tuple[str, ...]], list[str | int]]:
    """Return a cut at the longest of the tokens recognised; `fits` may move or refuse a match."""
    ids = {**model.whole_token_ids, **{name.lower(): i for name, i in model.whole_token_ids.items()}}

    def cut(text: str, allowed: tuple[str, ...]) -> list[str | int]:
        names = frozenset([*recognised(allowed), *model.added_tokens])
        parts: list[str | int] = []
        at = 0
        for match in special_matcher(names).finditer(text) if names else ():
            if place := fits(text, *match.span()):
                parts += [text[at : max(at, place[0])], ids[match[0]] + shift]
                at = place[1]
        return [part for part in [*parts, text[at:]] if part != ""]

    return cut


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


def decoder(model: Model, read: Callable[[bytes], str]) -> Callable[[Sequence[int]], str]:
    """Return a function that reads the joined bytes of ids."""
    by_id = model.bytes_by_id()
    return lambda ids: read(b"".join(map(by_id.__getitem__, ids)))
