"""Both sides as they are shown: pieces and tokens around the first difference, and the steps of the piece in it."""

from __future__ import annotations

from bisect import bisect_left, bisect_right

from harness.explain.merging import derivation
from harness.explain.probing import MAX_TOKENS, needed_cuts
from harness.explain.readable import readable
from harness.explain.rewriting import rewriting
from harness.explain.verdict import Verdict
from harness.explain.views import View, decoded, tell_specials
from harness.explain.ways import WAYS
from harness.explanations import Account, Piece, Token

_PIECES_AROUND = 6
_TOKENS_SHOWN = 400
"""Of one piece."""


def account(view: View, other: View, verdict: Verdict | None) -> Account:
    """What `view` made of the text, for showing beside `other`."""
    found = Account(
        name=view.side.name,
        about=view.side.about,
        error=view.error,
        ids=view.ids,
        special=tell_specials(view),
        decoded=None if view.error is not None and not view.ids else readable(decoded(view)),
    )
    if view.seen is not None:
        found.seen = readable(view.seen)
        change = rewriting(view.text, view.declared or view.seen.decode("utf-8", "replace"))
        found.rewriting = "" if change is None else change.what
    byte = verdict.byte if verdict is not None else None
    if verdict is not None and byte is not None and view.pieces_from not in ("told", "pattern"):
        if verdict.stage in ("pieces", "unicode version"):
            _infer_cuts(view, other, byte)
        elif other.cuts is not None and view.borders:
            view.cuts = sorted(set(other.cuts) & set(view.borders))
            view.pieces_from = "inferred"
    _add_pieces(found, view, byte)
    if verdict is not None and byte is not None:
        _add_steps(found, view, other, byte)
    return found


def _infer_cuts(view: View, other: View, byte: int) -> None:
    """Where the side hides its pieces, the cuts its ids need, besides those that are known."""
    rules = view.side.rules or other.side.rules
    if rules is None or not view.borders or view.seen is None:
        return
    common = sorted(set(view.cuts or ()) | (set(other.cuts or ()) & set(view.borders)) | {0, len(view.seen)})
    k = bisect_right(common, byte)
    start, end = common[max(0, k - 2)], common[min(k + 1, len(common) - 1)]
    cuts = needed_cuts(view, rules, view.side.way or "leftmost", start, end)
    if cuts is None:
        return
    known = {cut for cut in common if cut not in range(start + 1, end)}
    view.cuts = sorted(known | set(cuts))
    view.pieces_from = "inferred"


def _add_pieces(found: Account, view: View, byte: int | None) -> None:
    if not view.borders or view.seen is None:
        found.pieces_from = "unknown"
        return
    cuts = view.cuts if view.cuts is not None and len(view.cuts) > 1 else [0, len(view.seen)]
    found.pieces_from = view.pieces_from if view.cuts is not None else "unknown"
    n_pieces = len(cuts) - 1
    at = 0 if byte is None else min(max(0, bisect_right(cuts, byte) - 1), n_pieces - 1)
    first, last = max(0, at - _PIECES_AROUND), min(n_pieces, at + _PIECES_AROUND + 1)
    if byte is None:
        last = min(n_pieces, 4 * _PIECES_AROUND)
    special_starts = {view.borders[special.index] for special in view.specials}
    for k in range(first, last):
        start, end = cuts[k], cuts[k + 1]
        found.pieces.append(
            Piece(
                text=readable(view.seen[start:end]),
                start=start,
                end=end,
                tokens=_tokens(view, start, end),
                special=start in special_starts,
                differs=byte is not None and start <= byte < end,
            )
        )
    found.pieces_left_out = n_pieces - len(found.pieces)


def _tokens(view: View, start: int, end: int) -> tuple[Token, ...]:
    borders = view.borders
    first, last = bisect_left(borders, start), bisect_left(borders, end)
    return tuple(
        Token(id=view.ids[k], text=readable(view.tokens[k] or b""), start=borders[k], end=borders[k + 1])
        for k in range(first, min(last, first + _TOKENS_SHOWN))
    )


def _add_steps(found: Account, view: View, other: View, byte: int) -> None:
    span = view.piece_at(byte)
    if span is None and view.cuts is None and other.cuts is not None:
        span = other.piece_at(byte)
    if span is None or view.seen is None or span[1] - span[0] > MAX_TOKENS * 4:
        return
    derived = derivation(view, other, span)
    if derived is None:
        return
    found.steps = derived.steps
    found.steps_give_its_ids = derived.reproduced
    if derived.way is None:
        found.way = "no way of merging known here gives these ids"
    else:
        found.way = WAYS[derived.way]
