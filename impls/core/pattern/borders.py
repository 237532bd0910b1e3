"""An automaton that cuts at every place that no token crosses, for alphabets of characters.

A merge joins two neighbours to a token, so no merge crosses two characters that are adjacent in no token. Characters
are grouped in coarse classes (blocks of code points, ASCII one by one), which finds fewer such places but never wrong
ones. Knows tokens as texts; must not know models.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np

from impls.core.pattern.classes import N_CODE_POINTS, paged
from impls.core.pattern.steps import CUT, FLAG_BITS, MATCH_BEFORE, RESUME
from impls.core.pattern.tables import SplitTables

_BLOCKS = "80 250 2580 2581 2582 2600 3000 3040 3100 3400 A000 AC00 D800 F900 FB00 FE00 FF00 10000 1F000 20000"
_BLOCK_STARTS = sorted([*range(0x80), *range(0x300, 0x2500, 0x100), *(int(code, 16) for code in _BLOCKS.split())])
"""First code points of the classes; U+2581, SentencePiece's mark for a space, is a separate class."""


def border_tables(text: str, ends: Any, known: Collection[str], *, unknown_stay_together: bool) -> SplitTables:
    """Build the automaton that cuts between two characters whose classes are neighbours in no token.

    The tokens are in `text`, one after another, and end at `ends`, integers of shape (n_tokens,).

    Characters not `known` are a separate class, in no token; two of them in a row are cut unless
    `unknown_stay_together`.
    """
    starts = np.array(_BLOCK_STARTS)
    unknown = len(starts)
    class_of = np.full(N_CODE_POINTS, unknown, np.uint8)
    codes = np.fromiter(map(ord, known), np.int64, len(known))
    class_of[codes] = np.searchsorted(starts, codes, "right") - 1
    together = np.zeros((unknown + 1, unknown + 1), bool)
    together[unknown, unknown] = unknown_stay_together
    classes = class_of[np.frombuffer(text.encode("utf-32-le"), np.uint32)]
    goes_on = np.ones(len(classes), bool)
    goes_on[np.asarray(ends, np.int64) - 1] = False
    before = np.flatnonzero(goes_on)
    together[classes[before], classes[before + 1]] = True
    # Merge classes with the same neighbours.
    first_of: dict[bytes, int] = {}
    firsts = [first_of.setdefault(row.tobytes(), of) for of, row in enumerate(np.hstack((together, together.T)))]
    kept = list(first_of.values())
    class_of, together = np.searchsorted(kept, firsts).astype(np.uint8)[class_of], together[np.ix_(kept, kept)]
    # State 0 is the start, and state 1 + k follows a character of class k.
    n = len(together)
    following = ((np.arange(n) + 1) * (n + 1)) << FLAG_BITS
    transitions = np.empty((n + 1, n + 1), np.int32)
    transitions[0, :n], transitions[0, n] = following, RESUME
    transitions[1:, :n] = following + np.where(together, 0, CUT | MATCH_BEFORE)
    transitions[1:, n] = CUT
    pages, page_classes = paged(class_of)
    return SplitTables(transitions.ravel(), class_of[:128].copy(), pages, page_classes, n)
