"""Summarise both sides: pieces and tokens around the first difference, and the merge steps of its piece."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from itertools import pairwise

from harness.explain.algorithms import ALGORITHMS
from harness.explain.merging import derivation
from harness.explain.observations import Observation, StageDifference, decoded
from harness.explain.text_stage import rewriting
from harness.explanations import Piece, SideSummary, Token
from harness.printable import readable

_PIECES_AROUND = 6
_LONGEST_PIECE = 800
"""Most bytes of a piece whose steps are shown."""
_TOKENS_SHOWN = 400
"""Most tokens shown of one piece."""


def summarise(observation: Observation, other: Observation, difference: StageDifference | None) -> SideSummary:
    """Summarise `observation`, to be shown beside `other`."""
    summary = SideSummary(
        name=observation.name,
        about=observation.side.about,
        error=observation.error,
        ids=observation.ids,
        special=list(map(str, observation.specials)),
        decoded=None if observation.error is not None and not observation.ids else readable(decoded(observation)),
    )
    byte = None if difference is None else difference.byte
    if byte is not None and observation.pieces_from == "unknown" and other.cuts is not None and observation.borders:
        observation.cuts = sorted(set(other.cuts) & set(observation.borders))
    if observation.seen is not None:
        change = rewriting(observation.text, observation.declared or observation.spelled)
        summary.seen, summary.rewriting = readable(observation.seen), "" if change is None else change.what
        _add_pieces(summary, observation, observation.seen, byte)
        if byte is not None:
            _add_steps(summary, observation, other, byte)
    return summary


def _add_pieces(summary: SideSummary, observation: Observation, seen: bytes, byte: int | None) -> None:
    summary.pieces_from = observation.pieces_from
    cuts = observation.cuts if observation.cuts and len(observation.cuts) > 1 else [0, len(seen)]
    spans = list(pairwise(cuts))
    first, last = 0, 4 * _PIECES_AROUND
    if byte is not None:
        at = min(max(0, bisect_right(cuts, byte) - 1), len(spans) - 1)
        first, last = max(0, at - _PIECES_AROUND), at + _PIECES_AROUND + 1
    special_starts = {observation.borders[special.index] for special in observation.specials}
    summary.pieces = [
        Piece(
            text=readable(seen[start:end]),
            start=start,
            end=end,
            tokens=_tokens(observation, start, end),
            special=start in special_starts,
            differs=byte is not None and start <= byte < end,
        )
        for start, end in spans[first:last]
    ]
    summary.pieces_left_out = len(spans) - len(summary.pieces)


def _tokens(observation: Observation, start: int, end: int) -> tuple[Token, ...]:
    borders = observation.borders
    first, last = bisect_left(borders, start), bisect_left(borders, end)
    return tuple(
        Token(id=observation.ids[k], text=readable(observation.tokens[k] or b""), start=borders[k], end=borders[k + 1])
        for k in range(first, min(last, first + _TOKENS_SHOWN))
    )


def _add_steps(summary: SideSummary, observation: Observation, other: Observation, byte: int) -> None:
    span = (observation if observation.cuts is not None else other).piece_at(byte)
    derived = None if span is None or span[1] - span[0] > _LONGEST_PIECE else derivation(observation, other, span)
    if derived is None:
        return
    summary.steps, summary.steps_give_its_ids = derived.steps, derived.algorithm is not None
    none = "no known merge algorithm gives these ids"
    summary.way = none if derived.algorithm is None else ALGORITHMS[derived.algorithm]
