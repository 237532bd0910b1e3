"""Between which two characters a text may be cut and its parts split alone, whatever surrounds these characters.

A stage *separates* two characters where it cuts between them in every text that holds them side by side, and where its
pieces before are the same if the text ends there. It *passes* a cut between them where, after the second,
it is in the state in which a text that begins with the second would be: the cut is then the only one that is new. Each
stage cuts the pieces of the one before, so a text may be cut where some stage separates and all before it pass the cut.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from impls.core.pattern.steps import CUT, FLAG_BITS, MATCH_BEFORE, RESUME
from impls.core.pattern.tables import SplitTables, certain_cuts, states_after


class PairCuts:
    """Answers for the stages of one pattern; without stages every cut is passed."""

    def __init__(self, stages: Sequence[SplitTables]) -> None:
        self.stages = tuple(stages)
        self._separated = [certain_cuts(stage) for stage in self.stages]
        self._passed = [_passed(stage) for stage in self.stages]

    def separates(self, before: str, after: str) -> bool | None:
        """Return whether a text may be cut between two characters; None where all stages only pass the cut."""
        for stage, separated, passed in zip(self.stages, self._separated, self._passed, strict=True):
            pair = stage.class_of(before), stage.class_of(after)
            if separated[pair]:
                return True
            if not passed[pair]:
                return False
        return None


def _passed(stage: SplitTables) -> np.ndarray:
    """Return between which classes the stage passes a cut: bool of shape (n_classes, n_classes)."""
    rows, found = stage.rows, np.zeros((stage.end, stage.end), bool)
    if stage.has_gaps:
        return found
    fresh = rows[0, : stage.end]
    states = fresh >> FLAG_BITS
    matched = (rows & (MATCH_BEFORE | CUT) != 0).all(axis=1)
    begins = (fresh & RESUME == 0) & matched[states // rows.shape[1]]
    for before in range(stage.end):
        after = rows[sorted(states_after(rows, [before]))]
        if len(after) and (after[:, stage.end] & CUT).all():
            entries = after[:, : stage.end]
            cut = entries & (CUT | RESUME) == CUT
            same = (entries & (CUT | RESUME) == 0) & (entries >> FLAG_BITS == states)
            found[before] = begins & (cut | same).all(axis=0)
    return found
