"""The automaton as flat arrays for the scanning kernel."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from impls.core.pattern.automaton import compile_pattern
from impls.core.pattern.classes import paged
from impls.core.pattern.steps import CUT, FLAG_BITS, MATCH_BEFORE, RESUME
from impls.core.pattern.syntax import NotExpressible
from impls.core.text.stages import DROPS_MATCHES, DROPS_REST, without_gaps


@dataclass(frozen=True, slots=True)
class SplitTables:
    """The tables of the scanning kernel. A row is a state; rows are `stride` entries apart."""

    transitions: np.ndarray
    """int32 of shape (n_states * stride,): the next row's first entry << 3 | flags."""
    ascii_classes: np.ndarray
    """uint8 of shape (128,)."""
    pages: np.ndarray
    """Page of each 64 code points: uint16 of shape (0x4400,)."""
    page_classes: np.ndarray
    """uint8 of shape (n_pages * 64,)."""
    end: int
    """Class of the end of the text."""
    has_gaps: bool = False
    """Whether the text between matches is a piece too, which the transitions do not cover."""

    @property
    def rows(self) -> np.ndarray:
        """Return the transitions by state and class."""
        return self.transitions.reshape(-1, self.end + 1)

    def class_of(self, character: str) -> int:
        """Return the class of a character."""
        return int(self.classes_of(character)[0])

    def classes_of(self, text: str) -> np.ndarray:
        """Return the class of each character of a text: uint8 of shape (n_characters,)."""
        if text.isascii():
            return np.frombuffer(text.encode().translate(2 * self.ascii_classes.tobytes()), np.uint8)
        codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)
        return self.page_classes.take((self.pages.take(codes >> 6).astype(np.uint32) << 6) + (codes & 63))


def split_tables(pattern: str) -> SplitTables:
    """Return the tables of one split stage; raise `NotExpressible`."""
    matched = without_gaps(pattern)
    automaton = compile_pattern(matched)
    steps = np.array(automaton.steps, np.int32)
    following, ends = steps[:, :, 0], steps[:, :, 1]
    rows = (following * (automaton.end + 1)) << FLAG_BITS
    # Where a match ends and nothing follows, the piece ends: the character is read from the start.
    cut = np.where(following[0] < 0, RESUME | CUT, rows[0] | CUT | MATCH_BEFORE)
    cut[automaton.end] = CUT
    transitions = np.where(following < 0, np.where(ends, cut, RESUME), rows | ends * MATCH_BEFORE)
    pages, page_classes = paged(automaton.class_of)
    ascii_classes = automaton.class_of[:128].copy()
    return SplitTables(transitions.ravel(), ascii_classes, pages, page_classes, automaton.end, matched != pattern)


def stage_tables(stage: str, tables_of: Callable[[str], SplitTables] = split_tables) -> SplitTables:
    """Return the tables of a model's split stage; raise `NotExpressible`, also if the stage drops text."""
    tables = None if stage.startswith(DROPS_MATCHES) else tables_of(stage.removeprefix(DROPS_REST))
    if tables is None or (stage.startswith(DROPS_REST) and not covers_all(tables)):
        raise NotExpressible("text is dropped")
    return tables


def covers_all(stage: SplitTables) -> bool:
    """Return True if the pattern certainly covers all text: it matches every character, whatever follows."""
    pages = np.delete(stage.pages, np.s_[0xD800 >> 6 : 0xE000 >> 6])  # texts that are split have no surrogates
    classes = np.union1d(stage.ascii_classes, stage.page_classes.reshape(-1, 64)[np.unique(pages)])
    first = stage.rows[0, classes]
    if stage.has_gaps or (first & (CUT | RESUME)).any():
        return stage.has_gaps
    after = stage.rows[(first >> FLAG_BITS) // stage.rows.shape[1]][:, [*classes, stage.end]]
    return bool((after & (CUT | MATCH_BEFORE)).all())


def certain_cuts(stage: SplitTables) -> tuple[np.ndarray, np.ndarray]:
    """Return which pairs of classes the stage separates, and between which it passes a cut: bools of shape (n_classes,
    n_classes).

    Separated: in each state after the first character, an attempt to match ends there both before the second character
    and at the end of the text, or fails before both and resumes at the same earlier match. So no match continues beyond
    the cut, and a text may be split in two parts there, whatever the context. If text between matches is a piece too,
    all matches must end there, and the first character must begin a match, so that it is in no gap.

    Passed: in each of these states a match ends at the end of the text, and the second character either is cut off or
    leads where it leads from the start, after which every character finds a match.
    """
    rows, end = stage.rows, stage.end
    separated, passed = np.zeros((2, end, end), bool)
    fresh = rows[0, :end] >> FLAG_BITS
    always_matched = (rows & (MATCH_BEFORE | CUT) != 0).all(axis=1)
    begins = (rows[0, :end] & RESUME == 0) & always_matched[fresh // rows.shape[1]]
    for before in range(end):
        # Resuming at the last match reads the character again, from another of these states.
        entries = rows[:, before]
        states = (entries[entries & RESUME == 0] >> FLAG_BITS) // rows.shape[1]
        after = rows[np.flatnonzero(np.bincount(states))]  # `np.unique` would import masked arrays, for 10 ms
        ends, flags = after[:, end] & CUT != 0, after[:, :end] & (CUT | RESUME)
        if stage.has_gaps and (not ends.all() or rows[0, before] & RESUME):
            continue
        separated[before] = ends.any() & (flags == np.where(ends, CUT, RESUME)[:, None]).all(axis=0)
        if len(after) and ends.all() and not stage.has_gaps:
            same = (flags == 0) & (after[:, :end] >> FLAG_BITS == fresh)
            passed[before] = begins & ((flags == CUT) | same).all(axis=0)
    return separated, passed


def cuts_outside(stage: SplitTables, kept_whole: Iterable[str]) -> np.ndarray | None:
    """Return `certain_cuts` as bits, int64 by class of the first character, except inside the texts of `kept_whole`.

    None if there are no cuts, or more classes than an int64 has bits.
    """
    cuts = certain_cuts(stage)[0] & (not stage.has_gaps)
    for text in kept_whole:
        for before, after in pairwise(map(stage.class_of, text)):
            cuts[before, after] = False
    if not cuts.any() or stage.end > 64:
        return None
    return cuts.astype(np.int64) @ (np.int64(1) << np.arange(cuts.shape[1]))


class PairCuts:
    """Pairs of characters between which a text may be cut and its parts split separately, whatever surrounds them.

    A stage *separates* two characters if it cuts between them in every text in which they are adjacent, and its pieces
    before the cut are the same if the text ends there. It *passes* a cut between them if, after the second character,
    it is in the same state as in a text that begins with it: the cut is then the only new one. Each stage cuts the
    pieces of the one before, so a text may be cut where some stage separates and all before it pass the cut; without
    stages every cut is passed.
    """

    def __init__(self, stages: Sequence[SplitTables]) -> None:
        self.stages = tuple(stages)
        self._cuts = [(stage, *certain_cuts(stage)) for stage in self.stages]

    def separates(self, before: str, after: str) -> bool | None:
        """Return whether a text may be cut between two characters; None if all stages only pass the cut."""
        for stage, separated, passed in self._cuts:
            pair = stage.class_of(before), stage.class_of(after)
            if separated[pair]:
                return True
            if not passed[pair]:
                return False
        return None

    def last(self, text: str) -> int:
        """Return the last place at which a text may be cut, or 0."""
        places = range(len(text) - 1, 0, -1) if any(separated.any() for _, separated, _ in self._cuts) else ()
        return next((place for place in places if self.separates(text[place - 1], text[place])), 0)
