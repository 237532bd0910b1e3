"""Which stage differs first: special tokens, the text itself, its pieces, their merges, the ids, decoding.

A text passes through the stages in this order, so the first that differs explains the rest. Each function compares one
stage of two observations and returns the difference, or None where the sides agree there.
"""

from __future__ import annotations

from harness.explain.observations import Observation, decoded, describe_specials
from harness.explain.piece_stage import pieces_or_merges
from harness.explain.readable import quoted
from harness.explain.stage_difference import StageDifference
from harness.explain.text_stage import normalisation

_IDS_SHOWN = 8


def first_difference(a: Observation, b: Observation) -> StageDifference | None:
    """Return the first difference of two observations; None where the sides agree, or both refuse the text."""
    if (a.error or b.error) is not None:
        return _failure(a, b)
    for observation in (a, b):
        if observation.again is not None:
            first, second = _shown(observation.ids), _shown(observation.again)
            return StageDifference(
                "determinism", f"{observation.side.name} gives {first} when asked first, then {second}"
            )
    if a.ids == b.ids:
        return _decoding(a, b)
    return _special_tokens(a, b) or normalisation(a, b) or pieces_or_merges(a, b)


def _shown(ids: list[int]) -> str:
    shown = " ".join(map(str, ids[:_IDS_SHOWN]))
    return f"[{shown}]" if len(ids) <= _IDS_SHOWN else f"[{shown} … ({len(ids)})]"


def _failure(a: Observation, b: Observation) -> StageDifference | None:
    if a.error is not None and b.error is not None and a.again is b.again is None:
        return None
    shown = [
        f"{observation.side.name} raises {observation.error}"
        if observation.error
        else f"{observation.side.name} gives {len(observation.ids)} ids"
        for observation in (a, b)
    ]
    return StageDifference("failure", "; ".join(shown))


def _decoding(a: Observation, b: Observation) -> StageDifference | None:
    texts = [decoded(observation) for observation in (a, b)]
    if texts[0] == texts[1]:
        return None
    shown = [
        f"{observation.side.name} decodes them to {quoted(text)}"
        for observation, text in zip((a, b), texts, strict=True)
    ]
    return StageDifference("decode", f"the ids are the same; {'; '.join(shown)}")


def _special_tokens(a: Observation, b: Observation) -> StageDifference | None:
    if [(found.text, found.offset) for found in a.specials] == [(found.text, found.offset) for found in b.specials]:
        return _lost_beside_special(a, b)
    shown = [
        f"{observation.side.name} recognises {', '.join(describe_specials(observation)) or 'none'}"
        for observation in (a, b)
    ]
    apart = set(describe_specials(a)) ^ set(describe_specials(b))
    offsets = [found.offset for observation in (a, b) for found in observation.specials]
    evidence = [f"the id of {one} is in the ids of one side only" for one in sorted(apart)[:3]]
    byte = len(a.text[: min(offsets)].encode()) if offsets else None
    return StageDifference("special tokens", "; ".join(shown), evidence=evidence, byte=byte)


def _lost_beside_special(a: Observation, b: Observation) -> StageDifference | None:
    """Return the difference where one side drops the text right before or after a special token."""
    for observation, other in ((a, b), (b, a)):
        segments, others = _segments(observation), _segments(other)
        for k, (segment, kept) in enumerate(zip(segments, others, strict=False)):
            if segment == kept or len(segments) < 2:
                continue
            last = len(segments) - 1
            if k < last and kept.startswith(segment):
                where, special, lost = "before", observation.specials[k], kept[len(segment) :]
            elif k > 0 and kept.endswith(segment):
                where, special, lost = "after", observation.specials[k - 1], kept[: len(kept) - len(segment)]
            else:
                break
            text = quoted(lost.decode("utf-8", "replace"))
            what = f"{observation.side.name} leaves out {text} {where} {quoted(special.text)}"
            return StageDifference("special tokens", what, byte=len(observation.text[: special.offset].encode()))
    return None


def _segments(observation: Observation) -> list[bytes]:
    """Return the bytes of the tokens between special tokens; none where some are not known."""
    if observation.seen is None or not observation.specials:
        return []
    edges = [0]
    for special in observation.specials:
        edges += [observation.borders[special.index], observation.borders[special.index + 1]]
    edges.append(len(observation.seen))
    return [observation.seen[start:end] for start, end in zip(edges[::2], edges[1::2], strict=True)]
