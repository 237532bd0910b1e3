"""Which stage differs first: special tokens, the text itself, its pieces, their merges, the ids, decoding.

A text runs through the stages in this order, so the first that differs explains the rest. Each function looks at one
stage of two views and gives a verdict, or None where the sides do the same there.
"""

from __future__ import annotations

from harness.explain.piece_stage import pieces_or_merges
from harness.explain.readable import quoted
from harness.explain.text_stage import normalisation
from harness.explain.verdict import Verdict
from harness.explain.views import View, decoded, tell_specials


def first_difference(a: View, b: View) -> Verdict | None:
    """The verdict on two views; None where the sides agree, or both refuse the text."""
    if (a.error or b.error) is not None:
        return _failure(a, b)
    for view in (a, b):
        if view.again is not None:
            first, second = _shown(view.ids), _shown(view.again)
            return Verdict("determinism", f"{view.side.name} gives {first} when asked first, then {second}")
    if a.ids == b.ids:
        return _decoding(a, b)
    return _special_tokens(a, b) or normalisation(a, b) or pieces_or_merges(a, b)


def _shown(ids: list[int], at_most: int = 8) -> str:
    shown = " ".join(map(str, ids[:at_most]))
    return f"[{shown}]" if len(ids) <= at_most else f"[{shown} … ({len(ids)})]"


def _failure(a: View, b: View) -> Verdict | None:
    if a.error is not None and b.error is not None and a.again is b.again is None:
        return None
    told = [
        f"{view.side.name} raises {view.error}" if view.error else f"{view.side.name} gives {len(view.ids)} ids"
        for view in (a, b)
    ]
    return Verdict("failure", "; ".join(told))


def _decoding(a: View, b: View) -> Verdict | None:
    texts = [decoded(view) for view in (a, b)]
    if texts[0] == texts[1]:
        return None
    told = [f"{view.side.name} decodes them to {quoted(text)}" for view, text in zip((a, b), texts, strict=True)]
    return Verdict("decode", f"the ids are the same; {'; '.join(told)}")


def _special_tokens(a: View, b: View) -> Verdict | None:
    if [(found.text, found.offset) for found in a.specials] == [(found.text, found.offset) for found in b.specials]:
        return _lost_beside_special(a, b)
    told = [f"{view.side.name} recognises {', '.join(tell_specials(view)) or 'none'}" for view in (a, b)]
    apart = set(tell_specials(a)) ^ set(tell_specials(b))
    offsets = [found.offset for view in (a, b) for found in view.specials]
    evidence = [f"the id of {one} stands in the ids of one side only" for one in sorted(apart)[:3]]
    byte = len(a.text[: min(offsets)].encode()) if offsets else None
    return Verdict("special tokens", "; ".join(told), evidence=evidence, byte=byte)


def _lost_beside_special(a: View, b: View) -> Verdict | None:
    """The verdict where one side leaves out what the text has right before or behind a special token."""
    for view, other in ((a, b), (b, a)):
        segments, others = _segments(view), _segments(other)
        for k, (segment, kept) in enumerate(zip(segments, others, strict=False)):
            if segment == kept or len(segments) < 2:
                continue
            last = len(segments) - 1
            if k < last and kept.startswith(segment):
                where, special, lost = "before", view.specials[k], kept[len(segment) :]
            elif k > 0 and kept.endswith(segment):
                where, special, lost = "behind", view.specials[k - 1], kept[: len(kept) - len(segment)]
            else:
                break
            what = (
                f"{view.side.name} leaves out {quoted(lost.decode('utf-8', 'replace'))} {where} {quoted(special.text)}"
            )
            return Verdict("special tokens", what, byte=len(view.text[: special.offset].encode()))
    return None


def _segments(view: View) -> list[bytes]:
    """The bytes of the tokens between special tokens; none where some are not known."""
    if view.seen is None or not view.specials:
        return []
    edges = [0]
    for special in view.specials:
        edges += [view.borders[special.index], view.borders[special.index + 1]]
    edges.append(len(view.seen))
    return [view.seen[start:end] for start, end in zip(edges[::2], edges[1::2], strict=True)]
