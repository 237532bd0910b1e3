"""The judge: the only place that decides whether ids, a round trip, counts or merges are right.

Verbs differ only in the texts they send. An exact implementation must give the ids of a reference; one that declares
itself inexact is judged by its round trip alone. An answer that nothing independent confirms is `unverified`.

The ids of a text do not test a decoder: one that caches texts by their ids, or returns the last encoded text, would
pass too. Reordered ids are new to it, and their text follows from the model alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from harness.outcome import Outcome
from harness.round_trip import round_trip_text
from impls import Model, Tokenizer, UnknownId
from impls.core.text.text import repair_surrogates
from impls.operations.decoding import decode
from impls.operations.stream_rules import stream_rules

LOST = "the ids do not decode to the text they came from"
MISREAD = "its ids in another order do not decode to what the model has for them"
_CONTINUING = frozenset(bytes([byte]) for byte in range(0x80, 0xC0))


Ids = Any
"""Ids of one text: a list, or an array."""


def reordered(model: Model, ids: Sequence[int]) -> list[int]:
    """Return the second half of `ids` before the first, cut where a character begins; `ids` twice if unchanged.

    >>> model = Model(tokens=tuple(bytes([byte]) for byte in range(256)))
    >>> reordered(model, [97, 195, 169, 98]), reordered(model, [97])
    ([98, 97, 195, 169], [97, 97])
    """
    tokens = stream_rules(model).bytes_by_id
    half = range(len(ids) // 2, len(ids))
    middle = next((k for k in half if tokens.get(ids[k], b"")[:1] not in _CONTINUING), 0)
    other = [*ids[middle:], *ids[:middle]]
    return other if other != list(ids) else [*ids, *ids]


class Encoded(NamedTuple):
    """What an implementation gave for one text."""

    text: str
    ids: Ids
    back: str | None = None
    """What it decodes the ids to; None if it was not asked."""
    other: str | None = None
    """What it decodes the ids in another order to (`reordered`)."""

    @staticmethod
    def by(tokenizer: Tokenizer, text: str, ids: Sequence[int]) -> Encoded:
        """Ask `tokenizer` to decode `ids`, its ids of `text`, as they are and in another order."""
        ids, model = list(map(int, ids)), tokenizer.model
        return Encoded(text, ids, tokenizer.decode(ids), tokenizer.decode(reordered(model, ids)) if ids else "")


class Judgement(NamedTuple):
    """The outcome, and where it was decided."""

    outcome: Outcome
    reason: str = ""
    number: int = 0
    """Number of the text on which it was decided."""
    expected: Ids | None = None
    """The reference's ids of that text; None where not they decided."""


RIGHT = Judgement(Outcome.RIGHT)
_UNCONFIRMED = "no reference answers, or no second one confirms it, and a round trip alone does not prove it right"


def judge(
    answers: Sequence[Encoded], reference: Sequence[Ids] | None, model: Model, *, exact: bool = True
) -> Judgement:
    """Return whether `answers` are right under `model`; `reference` holds the ids each text must have, if known."""
    if reference is not None and len(reference) != len(answers):
        return Judgement(Outcome.MISMATCH, f"{len(answers)} answers to {len(reference)} texts")
    confirmed = True
    for index, answer in enumerate(answers):
        wanted = None if reference is None else reference[index]
        if wanted is not None and exact and not _are_equal(answer.ids, wanted):
            return Judgement(Outcome.MISMATCH, "different ids than the reference", index, _listed(wanted))
        if reason := _misread(answer, model):
            return Judgement(Outcome.MISMATCH, reason, index)
        if not exact:
            restored = answer.back is not None and round_trip_text(model, repair_surrogates(answer.text)) is not None
            confirmed = confirmed and (restored or _spell_alike(model, _listed(answer.ids), wanted))
    if (exact and reference is None) or not confirmed:
        return Judgement(Outcome.UNVERIFIED, _UNCONFIRMED)
    return RIGHT


def _listed(ids: Ids) -> list[int]:
    """Return ids as a list; those of an array as its own method does, which is faster."""
    return ids.tolist() if isinstance(ids, np.ndarray) else list(ids)


def _are_equal(a: Ids, b: Ids) -> bool:
    """Return whether ids are the same; two arrays are compared without making lists."""
    if isinstance(a, np.ndarray) and isinstance(b, np.ndarray):
        return np.array_equal(a, b)
    return _listed(a) == _listed(b)


def _misread(answer: Encoded, model: Model) -> str:
    """Say what is wrong with the decoding of an answer; empty if nothing is, or nothing was decoded."""
    if answer.back is None and answer.other is None:
        return ""
    ids = _listed(answer.ids)
    try:
        if answer.back is not None:
            wanted = round_trip_text(model, repair_surrogates(answer.text))
            if answer.back != (decode(model, ids) if wanted is None else wanted):
                return LOST
        if answer.other is not None and ids and answer.other != decode(model, reordered(model, ids)):
            return MISREAD
    except UnknownId as error:
        return f"not ids of the model: {error}"
    return ""


def _spell_alike(model: Model, ids: Sequence[int], wanted: Ids | None) -> bool:
    """Return whether ids that may differ from the reference's decode to the same text."""
    return wanted is not None and decode(model, ids) == decode(model, _listed(wanted))


def judge_counts(counts: Sequence[int], reference: Sequence[Ids] | None, *, exact: bool = True) -> Judgement:
    """Return whether the numbers of tokens of texts are right; of ids that may differ no reference tells the number."""
    if reference is None or not exact:
        return Judgement(Outcome.UNVERIFIED, _UNCONFIRMED)
    if len(counts) != len(reference):
        return Judgement(Outcome.MISMATCH, f"{len(counts)} answers to {len(reference)} texts")
    for index, (count, ids) in enumerate(zip(counts, reference, strict=True)):
        if count != len(ids):
            return Judgement(Outcome.MISMATCH, f"counts {count} tokens where the reference has {len(ids)}", index, ids)
    return RIGHT


def judge_merges(model: Model, reference: Model | None) -> Judgement:
    """Return whether a trained model has the merges and tokens that the reference learned."""
    if reference is None:
        return Judgement(Outcome.UNVERIFIED, _UNCONFIRMED)
    for rank, (wanted, got) in enumerate(zip(reference.merges, model.merges, strict=False)):
        if tuple(wanted) != tuple(got):
            return Judgement(Outcome.MISMATCH, f"merge {rank} joins {got}; the reference joins {wanted}", rank)
    if len(model.merges) != len(reference.merges):
        reason = f"{len(model.merges)} merges; the reference has {len(reference.merges)}"
        return Judgement(Outcome.MISMATCH, reason, min(len(model.merges), len(reference.merges)))
    if model.tokens != reference.tokens:
        return Judgement(Outcome.MISMATCH, "the merges are those of the reference, but the token table differs")
    return RIGHT


class NotIds(Exception):
    """Raised for an answer of another type than the task requires, since producing it is different work."""


def packed_answers(task: str, answers: list[Any]) -> list[bytes]:
    """Return the ids of each text as uint32; raise `NotIds` for another type.

    For `count` these are the counts, for `decode` the texts in UTF-8.
    """
    if task == "decode":
        _ensure(answers, str, "str")
        return [text.encode("utf-8", "surrogatepass") for text in answers]
    if task == "count":
        _ensure(answers, int, "int")
        return [packed(answers)]
    if task == "encode-batch":
        _ensure(answers, list, "a list of lists of ids")
        answers = [row for rows in answers for row in rows]
    kind = np.ndarray if task == "encode-array" else list
    _ensure(answers, kind, f"{'an array' if kind is np.ndarray else 'a list'} of ids")
    for row in answers if kind is list else ():
        _ensure(row, int, "int in a list")
    return [packed(row) for row in answers]


def _ensure(entries: list[Any], kind: type, what: str) -> None:
    """Raise `NotIds` for entries of other types than `kind`: objects that compare equal to it are not it."""
    if others := set(map(type, entries)) - {kind}:
        raise NotIds(f"{', '.join(sorted(other.__name__ for other in others))} in place of {what}")


def packed(row: Any) -> bytes:
    """Return ids as little-endian uint32; raise `NotIds` for anything else."""
    array = np.asarray(row)
    if array.ndim != 1 or (len(array) and array.dtype.kind not in "iu"):
        raise NotIds(f"an answer of {array.dtype} and shape {array.shape}, not of ids")
    if len(array) and (array.min() < 0 or array.max() > 0xFFFFFFFF):
        raise NotIds("an answer with ids out of range")
    return array.astype("<u4").tobytes()


def unpacked(ids: bytes) -> np.ndarray:
    """Return packed ids as an array."""
    return np.frombuffer(ids, dtype="<u4")
