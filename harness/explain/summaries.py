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
    if byte is not None and observation.pieces_from == "unknown" and other.cuts is not None and observation.borders:
        observation.cuts = sorted(set(other.cuts) & set(observation.borders))
    _add_pieces(found, observation, byte)
    if byte is not None:
        _add_steps(found, observation, other, byte)
    return found


def _add_pieces(found: SideSummary, observation: Observation, byte: int | None) -> None:
    if observation.seen is None:
        return
    found.pieces_from = observation.pieces_from
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
    if span is None or observation.seen is None or span[1] - span[0] > _LONGEST_PIECE:
        return
    derived = derivation(observation, other, span)
    if derived is None:
        return
    found.steps, found.steps_give_its_ids = derived.steps, derived.algorithm is not None
    none = "no known merge algorithm gives these ids"
    found.way = none if derived.algorithm is None else ALGORITHMS[derived.algorithm]
