"""Summarise both sides: pieces and tokens around the first difference, and the merge steps of its piece."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from itertools import pairwise

from harness.explain.algorithms import ALGORITHMS
from harness.explain.merging import derivation
from harness.explain.observations import Observation, StageDifference, decoded
from harness.explain.probing import MAX_TOKENS, needed_cuts
from harness.explain.text_stage import rewriting
from harness.explanations import Piece, SideSummary, Token
from harness.printable import readable

_PIECES_AROUND = 6
_TOKENS_SHOWN = 400
"""Most tokens shown of one piece."""


def summarise(observation: Observation, other: Observation, difference: StageDifference | None) -> SideSummary:
    """Summarise `observation`, to be shown beside `other`."""
    found = SideSummary(
        name=observation.name,
        about=observation.side.about,
        error=observation.error,
        ids=observation.ids,
        special=list(map(str, observation.specials)),
        decoded=None if observation.error is not None and not observation.ids else readable(decoded(observation)),
    )
    if observation.seen is not None:
        found.seen = readable(observation.seen)
        change = rewriting(observation.text, observation.declared or observation.spelled)
        found.rewriting = "" if change is None else change.what
    byte = None if difference is None else difference.byte
    if difference is not None and byte is not None and observation.pieces_from not in ("reported", "pattern"):
        if difference.stage in ("pieces", "unicode version"):
            _infer_cuts(observation, other, byte)
        elif other.cuts is not None and observation.borders:
            observation.cuts = sorted(set(other.cuts) & set(observation.borders))
            observation.pieces_from = "inferred"
    _add_pieces(found, observation, byte)
    if byte is not None:
        _add_steps(found, observation, other, byte)
    return found


def _infer_cuts(observation: Observation, other: Observation, byte: int) -> None:
    """Add the cuts that the ids require to those that are known, for a side that hides its pieces."""
    rules = observation.side.rules or other.side.rules
    if rules is None or observation.seen is None:
        return
    shared = set(other.cuts or ()) & set(observation.borders)
    common = sorted({0, len(observation.seen), *shared, *(observation.cuts or ())})
    k = bisect_right(common, byte)
    start, end = common[max(0, k - 2)], common[min(k + 1, len(common) - 1)]
    cuts = needed_cuts(observation, rules, observation.side.algorithm or "leftmost", start, end)
    if cuts is not None:
        observation.cuts = sorted({*cuts, *(cut for cut in common if cut not in range(start + 1, end))})
        observation.pieces_from = "inferred"


def _add_pieces(found: SideSummary, observation: Observation, byte: int | None) -> None:
    if observation.seen is None:
        found.pieces_from = "unknown"
        return
    found.pieces_from = observation.pieces_from if observation.cuts is not None else "unknown"
    cuts = observation.cuts or []
    if len(cuts) < 2:
        cuts = [0, len(observation.seen)]
    n_pieces = len(cuts) - 1
    first, last = 0, 4 * _PIECES_AROUND
    if byte is not None:
        at = min(max(0, bisect_right(cuts, byte) - 1), n_pieces - 1)
        first, last = max(0, at - _PIECES_AROUND), at + _PIECES_AROUND + 1
    special_starts = {observation.borders[special.index] for special in observation.specials}
    found.pieces = [
        Piece(
            text=readable(observation.seen[start:end]),
            start=start,
            end=end,
            tokens=_tokens(observation, start, end),
            special=start in special_starts,
            differs=byte is not None and start <= byte < end,
        )
        for start, end in list(pairwise(cuts))[first:last]
    ]
    found.pieces_left_out = n_pieces - len(found.pieces)


def _tokens(observation: Observation, start: int, end: int) -> tuple[Token, ...]:
    borders = observation.borders
    first, last = bisect_left(borders, start), bisect_left(borders, end)
    return tuple(
        Token(id=observation.ids[k], text=readable(observation.tokens[k] or b""), start=borders[k], end=borders[k + 1])
        for k in range(first, min(last, first + _TOKENS_SHOWN))
    )


def _add_steps(found: SideSummary, observation: Observation, other: Observation, byte: int) -> None:
    span = observation.piece_at(byte)
    if span is None and observation.cuts is None and other.cuts is not None:
        span = other.piece_at(byte)
    if span is None or observation.seen is None or span[1] - span[0] > MAX_TOKENS * 4:
        return
    derived = derivation(observation, other, span)
    if derived is None:
        return
    found.steps, found.steps_give_its_ids = derived.steps, derived.algorithm is not None
    none = "no known merge algorithm gives these ids"
    found.way = none if derived.algorithm is None else ALGORITHMS[derived.algorithm]
