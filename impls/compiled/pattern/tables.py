"""The automaton as flat arrays for the scanning kernel."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from impls.compiled.pattern.automaton import Automaton, compile_pattern
from impls.compiled.pattern.classes import paged
from impls.compiled.pattern.steps import CUT, FLAG_BITS, MATCH_BEFORE, RESUME
from impls.compiled.pattern.syntax import NotExpressible


@dataclass(frozen=True, slots=True)
class SplitTables:
    """What the scanning kernel walks. A row is a state; rows are `stride` entries apart."""

    transitions: np.ndarray
    """int32 of shape (n_states * stride,): the next row's first entry << 3 | flags."""
    ascii_classes: np.ndarray
    """uint8 of shape (128,)."""
    pages: np.ndarray
    """uint16 of shape (0x4400,): page of each 64 code points."""
    page_classes: np.ndarray
    """uint8 of shape (n_pages * 64,)."""
    end: int
    """Class of the end of the text."""


def split_tables(pattern: str) -> SplitTables:
    """The tables of one split stage; raises `NotExpressible`."""
    return _flatten(compile_pattern(pattern))


def _flatten(automaton: Automaton) -> SplitTables:
    stride = automaton.end + 1
    transitions = np.empty((len(automaton.steps), stride), np.int32)
    start = automaton.steps[0]
    for state, row in enumerate(automaton.steps):
        for of, (following, matched) in enumerate(row):
            if following >= 0:
                entry = (following * stride) << FLAG_BITS | (MATCH_BEFORE if matched else 0)
            elif not matched:
                entry = RESUME
            elif of == automaton.end:
                entry = CUT
            else:
                again, empty = start[of]
                if empty:
                    raise NotExpressible("the pattern matches the empty text")
                entry = RESUME | CUT if again < 0 else (again * stride) << FLAG_BITS | CUT | MATCH_BEFORE
            transitions[state, of] = entry
    pages, page_classes = paged(automaton.class_of)
    return SplitTables(transitions.ravel(), automaton.class_of[:128].copy(), pages, page_classes, automaton.end)


def cuts_at_line_breaks(tables: SplitTables) -> bool:
    """Whether a line break between two ASCII letters or digits is a piece of its own, whatever stands around.

    Then a text may be encoded in two parts that meet behind such a line break.
    """
    stride = tables.end + 1
    newline = int(tables.ascii_classes[10])
    words = {int(tables.ascii_classes[code]) for code in range(128) if chr(code).isalnum()}
    rows = tables.transitions.reshape(-1, stride)
    after_word = {int(entry) >> FLAG_BITS for row in rows for entry in row[list(words)].tolist() if not entry & RESUME}
    # Going back to the last match reads the line break again, from another of these states.
    breaks = {entry for start in after_word if not (entry := int(rows[start // stride, newline])) & RESUME}
    if not all(entry & CUT for entry in breaks):
        return False
    behind = rows[[(entry >> FLAG_BITS) // stride for entry in breaks]]
    return bool((behind[:, [*words, tables.end]] & CUT).all())
