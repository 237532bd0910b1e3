"""hypothesis strategies: the structure of a text and of a list of merges.

hypothesis makes a few hundred examples a second, too few for a search. So it draws *structures*, trees of families,
literals, repeats and case changes, and each is filled in many times by the fast generators of `families`.
It only generates: `harness.check.shrink`, which knows both sides, minimises.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, TypeVar

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from harness.check.fuzz import alphabets
from harness.check.fuzz.families import Family

T = TypeVar("T")

_MOST_CHARACTERS = 4_000
_CHANGES: dict[str, Callable[[str], str]] = {
    "upper": str.upper,
    "lower": str.lower,
    "title": str.title,
    "swapcase": str.swapcase,
    "reversed": lambda text: text[::-1],
    "doubled": lambda text: "".join(character * 2 for character in text),
}


@dataclass(frozen=True, slots=True)
class Structure:
    """A node of a text's structure: `kind` says how its parts become text."""

    kind: str
    """'family', 'literal', 'join', 'repeat' or 'change'."""
    what: str = ""
    """Name of the family, the literal text, what joins the parts, or the change."""
    times: int = 1
    parts: tuple[Structure, ...] = ()

    def fill(self, families: Mapping[str, Family], chance: random.Random) -> str:
        """Return a text of this structure."""
        if self.kind == "family":
            return families[self.what](chance)
        if self.kind == "literal":
            return self.what
        text = self.what.join([part.fill(families, chance) for part in self.parts]) if self.kind == "join" else ""
        if self.kind == "repeat":
            text = self.parts[0].fill(families, chance) * self.times
        elif self.kind == "change":
            text = _CHANGES[self.what](self.parts[0].fill(families, chance))
        return text[:_MOST_CHARACTERS]


@cache
def _text_of_category(category: str) -> st.SearchStrategy[str]:
    characters = alphabets.of_category(category)
    one = st.integers(0, len(characters) - 1).map(characters.__getitem__)
    return st.lists(one, min_size=1, max_size=6).map("".join)


def structures(families: Mapping[str, Family]) -> st.SearchStrategy[Structure]:
    """Return a strategy of trees over `families` and literal text of one or several general categories."""
    of_category = st.sampled_from(alphabets.CATEGORIES).flatmap(_text_of_category)
    anything = st.text(st.characters(codec="utf-8"), min_size=1, max_size=12)
    literal = (of_category | anything).map(lambda text: Structure("literal", text))
    leaf = st.sampled_from(sorted(families)).map(lambda name: Structure("family", name)) | literal
    joints = st.sampled_from(("", "", " ", "\n", "'", "1", "\r\n", "\u200d", "  "))

    def inner(children: st.SearchStrategy[Structure]) -> st.SearchStrategy[Structure]:
        several = st.lists(children, min_size=2, max_size=4).map(tuple)
        return (
            st.builds(lambda what, parts: Structure("join", what, parts=parts), joints, several)
            | st.builds(lambda n, part: Structure("repeat", times=n, parts=(part,)), st.integers(2, 40), children)
            | st.builds(
                lambda what, part: Structure("change", what, parts=(part,)), st.sampled_from(sorted(_CHANGES)), children
            )
        )

    return st.recursive(leaf, inner, max_leaves=8)


@dataclass(frozen=True, slots=True)
class MergeList:
    """A recipe for a list of merges: pairs by index into the symbols made so far, and irregularities."""

    n_letters: int
    pairs: tuple[tuple[int, int], ...]
    """Each taken modulo the number of symbols."""
    moves: tuple[tuple[int, int], ...] = ()
    """Ranks that are swapped: the list is then not monotone."""
    repeated: tuple[int, ...] = ()
    """Ranks listed a second time at the end."""
    extra: tuple[tuple[int, ...], ...] = ()
    """Tokens no merge makes, as indices of letters."""


def merge_lists() -> st.SearchStrategy[MergeList]:
    """Return a strategy of lists of merges, a third of them irregular."""
    index = st.integers(0, 30)
    pair = st.tuples(index, index)
    seldom: dict[str, Any] = {
        "moves": st.just(()) | st.just(()) | st.lists(pair, min_size=1, max_size=3).map(tuple),
        "repeated": st.just(()) | st.just(()) | st.just(()) | st.lists(index, min_size=1, max_size=2).map(tuple),
        "extra": st.just(()) | st.just(()) | st.just(()) | st.lists(
            st.lists(st.integers(0, 3), min_size=2, max_size=5).map(tuple), min_size=1, max_size=2).map(tuple),
    }  # fmt: skip
    return st.builds(
        MergeList, n_letters=st.integers(1, 5), pairs=st.lists(pair, min_size=1, max_size=14).map(tuple), **seldom
    )


def draw(strategy: st.SearchStrategy[T], n: int, seed_value: int) -> list[T]:
    """Draw up to `n` examples, the same for the same seed (and the same releases of Python and hypothesis)."""
    drawn: list[T] = []

    @seed(seed_value)
    @settings(
        max_examples=n,
        database=None,
        deadline=None,
        phases=(Phase.generate,),
        suppress_health_check=list(HealthCheck),
    )
    @given(strategy)
    def collect(example: T) -> None:
        drawn.append(example)

    collect()
    return drawn[:n]
