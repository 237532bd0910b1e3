"""Both sides as shown: pieces and tokens around the first difference, and the merge steps of the piece it is in."""

from __future__ import annotations

from bisect import bisect_left, bisect_right

from harness.explain.algorithms import ALGORITHMS
from harness.explain.merging import derivation
from harness.explain.observations import Observation, decoded, describe_specials
from harness.explain.probing import MAX_TOKENS, needed_cuts
from harness.explain.readable import readable
from harness.explain.rewriting import rewriting
from harness.explain.stage_difference import StageDifference
from harness.explanations import Piece, SideSummary, Token

_PIECES_AROUND = 6
_TOKENS_SHOWN = 400
"""Tokens of one piece."""


def summarise(observation: Observation, other: Observation, difference: StageDifference | None) -> SideSummary:
    """Summarise what `observation` made of the text, to be shown beside `other`."""
    found = SideSummary(
        name=observation.side.name,
        about=observation.side.about,
        error=observation.error,
        ids=observation.ids,
        special=describe_specials(observation),
        decoded=None if observation.error is not None and not observation.ids else readable(decoded(observation)),
    )
    if observation.seen is not None:
        found.seen = readable(observation.seen)
        change = rewriting(observation.text, observation.declared or observation.seen.decode("utf-8", "replace"))
        found.rewriting = "" if change is None else change.what
    byte = difference.byte if difference is not None else None
    if difference is not None and byte is not None and observation.pieces_from not in ("told", "pattern"):
        if difference.stage in ("pieces", "unicode version"):
            _infer_cuts(observation, other, byte)
        elif other.cuts is not None and observation.borders:
            observation.cuts = sorted(set(other.cuts) & set(observation.borders))
            observation.pieces_from = "inferred"
    _add_pieces(found, observation, byte)
    if difference is not None and byte is not None:
        _add_steps(found, observation, other, byte)
    return found


def _infer_cuts(observation: Observation, other: Observation, byte: int) -> None:
    """Add the cuts the ids need to those that are known, for a side that hides its pieces."""
    rules = observation.side.rules or other.side.rules
    if rules is None or not observation.borders or observation.seen is None:
        return
    common = sorted(
        set(observation.cuts or ()) | (set(other.cuts or ()) & set(observation.borders)) | {0, len(observation.seen)}
    )
    k = bisect_right(common, byte)
    start, end = common[max(0, k - 2)], common[min(k + 1, len(common) - 1)]
    cuts = needed_cuts(observation, rules, observation.side.algorithm or "leftmost", start, end)
    if cuts is None:
        return
    known = {cut for cut in common if cut not in range(start + 1, end)}
    observation.cuts = sorted(known | set(cuts))
    observation.pieces_from = "inferred"


def _add_pieces(found: SideSummary, observation: Observation, byte: int | None) -> None:
    if not observation.borders or observation.seen is None:
        found.pieces_from = "unknown"
        return
    cuts = (
        observation.cuts if observation.cuts is not None and len(observation.cuts) > 1 else [0, len(observation.seen)]
    )
    found.pieces_from = observation.pieces_from if observation.cuts is not None else "unknown"
    n_pieces = len(cuts) - 1
    at = 0 if byte is None else min(max(0, bisect_right(cuts, byte) - 1), n_pieces - 1)
    first, last = max(0, at - _PIECES_AROUND), min(n_pieces, at + _PIECES_AROUND + 1)
    if byte is None:
        last = min(n_pieces, 4 * _PIECES_AROUND)
    special_starts = {observation.borders[special.index] for special in observation.specials}
    for k in range(first, last):
        start, end = cuts[k], cuts[k + 1]
        found.pieces.append(
            Piece(
                text=readable(observation.seen[start:end]),
                start=start,
                end=end,
                tokens=_tokens(observation, start, end),
                special=start in special_starts,
                differs=byte is not None and start <= byte < end,
            )
        )
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
    found.steps = derived.steps
    found.steps_give_its_ids = derived.reproduced
    if derived.algorithm is None:
        found.way = "no known merge algorithm gives these ids"
    else:
        found.way = ALGORITHMS[derived.algorithm]
