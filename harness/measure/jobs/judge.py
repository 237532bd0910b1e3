"""Verification before timing: the verdict on an answer, and the smallest text that shows it is wrong.

An implementation that declares itself inexact is judged by its round trip alone. An answer that neither a reference nor
a round trip confirms is `unverified`.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from harness.measure.jobs.answers import (
    Wrong,
    digest,
    digest_of_counts,
    digest_of_texts,
    first_difference,
    join_answers,
    read_ids,
    require_kind,
)
from harness.measure.jobs.decoded import LOST, ModelDecoder, decoding_fault, wrong_text
from harness.measure.jobs.opening import Opening
from harness.measure.jobs.prepared import PreparedJob, streaming, strings
from harness.measure.protocol import Expected
from harness.measure.workloads import DECODING, TEXTS
from harness.minimize import Budget, smallest_sequence
from harness.outcome import Outcome
from harness.records import Counterexample, Text
from impls import BPEError, Model, Tokenizer, get
from impls.core.decoding import round_trip_text
from impls.core.text.text import repair_surrogates

MOST_IDS_SHOWN = 200
_NO_REFERENCE = "no reference did this, or no second one confirms it"


def judge(work: PreparedJob, answers: list[Any], expected: Expected | None) -> tuple[str, int]:
    """Return the digest and number of tokens of all passes' answers; raise `Wrong` unless known to be right."""
    job, tokenizer = work.job, work.tokenizer
    answer = join_answers(job, answers)
    require_kind(job, answer)
    found, n_tokens = digest(job, answer)
    compared = expected is not None and (tokenizer is None or tokenizer.exact or job.task in TEXTS)
    if expected is not None and compared:
        wanted = _expected_digest(work, expected)
        if wanted is None:
            raise Wrong("neither the texts nor the model tell what its ids decode to", status=Outcome.UNVERIFIED)
        if found != wanted:
            raise _difference(work, answer, expected)
    if tokenizer is not None:
        prove(work, tokenizer, answer, expected, compared=compared)
    elif not compared:
        raise Wrong(f"{_NO_REFERENCE}, and nothing else shows it right", status=Outcome.UNVERIFIED)
    return found, n_tokens


def _expected_digest(work: PreparedJob, expected: Expected) -> str | None:
    """Return the expected result of `digest` from the reference's answer; None if that does not determine it."""
    if work.job.task == "count":
        return digest_of_counts(map(len, _reference_ids(expected)))[0]
    if work.job.task in TEXTS:
        return digest_of_texts(_expected_texts(work, expected))
    return expected.digest


def _expected_texts(work: PreparedJob, expected: Expected) -> list[str]:
    return (_truncated_texts if work.job.task == "truncate" else _decoded_texts)(work, expected)


def _truncated_texts(work: PreparedJob, expected: Expected) -> list[str]:
    """Return the longest prefixes of the texts that end within the reference's first ids and, alone, have no more ids.

    For an inexact implementation its own ids count.
    """
    tokenizer, limit = work.tokenizer, work.job.limit_tokens
    assert tokenizer is not None
    decoder = ModelDecoder(tokenizer.model)

    def cut(text: str, ids: list[int]) -> str:
        ids = ids if tokenizer.exact else tokenizer.encode(text, disallowed_special=())
        if len(ids) <= limit:
            return text
        parts = (decoder.decode_bytes(ids[:n]) for n in range(limit, 0, -1))
        whole = (data.decode() for data in parts if data.decode("utf-8", "ignore").encode() == data)
        return next((part for part in whole if len(tokenizer.encode(part, disallowed_special=())) <= limit), "")

    return [cut(text, ids) for text, ids in zip(strings(work.texts), _reference_ids(expected), strict=True)]


def _decoded_texts(work: PreparedJob, expected: Expected) -> list[str]:
    """Return what the reference's ids must decode to.

    That is the text or its normal form; for a lossy model, the text the ids decode to by the model.
    """
    assert work.tokenizer is not None
    model = work.tokenizer.model
    decoder = ModelDecoder(model)
    wanted: list[str] = []
    for text, ids in zip(strings(work.texts), _reference_ids(expected), strict=False):
        back = round_trip_text(model, repair_surrogates(text))
        wanted.append(decoder.decode(ids) if back is None else back)
    return wanted


def _reference_ids(expected: Expected) -> list[list[int]]:
    return read_ids(Path(expected.ids_file))


def prove(work: PreparedJob, tokenizer: Tokenizer, answer: Any, expected: Expected | None, *, compared: bool) -> None:
    """Raise `Wrong` for faults of an answer that its digest does not show, and if nothing confirms it.

    `compared`: its digest equals the reference's, as required of exact implementations. Inexact ones are judged by the
    round trip or, if the model is not expected to have one, by the text the reference's ids decode to.
    """
    decoder = ModelDecoder(tokenizer.model)
    if work.job.task in DECODING:
        assert expected is not None, "its ids were decoded"
        decode = tokenizer.decode if work.job.task == "decode" else streaming(tokenizer)
        for text, ids in zip(work.texts, _reference_ids(expected), strict=True):
            if reason := decoding_fault(decode, decoder, ids):
                raise _misread(text, reason)
        return
    if work.job.task == "truncate":
        if not compared:
            raise Wrong(_NO_REFERENCE, status=Outcome.UNVERIFIED)
        return
    if work.job.task == "count":
        if compared:
            return
        counts, answer = answer, [tokenizer.encode(text, disallowed_special=()) for text in strings(work.texts)]
        for text, ids, n in zip(work.texts, answer, counts, strict=True):
            if len(ids) != n:
                raise Wrong("its count is not its number of ids", candidates=(text,))
    proved = compared or not tokenizer.exact
    for text, row in zip(work.texts, answer, strict=True):
        ids = list(map(int, row))
        came_from = text.decode("utf-8", "surrogatepass")
        if reason := wrong_text(tokenizer, decoder, came_from, ids, tokenizer.decode(ids)):
            raise _misread(text, reason)
        proved = proved and (compared or round_trip_text(tokenizer.model, repair_surrogates(came_from)) is not None)
    if not proved and (expected is None or not _spells_as(decoder, answer, expected)):
        raise Wrong(f"{_NO_REFERENCE}, and a round trip alone does not show it right", status=Outcome.UNVERIFIED)


def _spells_as(decoder: ModelDecoder, answer: Any, expected: Expected) -> bool:
    """Return whether ids that may differ from the reference's decode to the same texts."""
    wanted = _reference_ids(expected)
    return len(wanted) == len(answer) and all(
        decoder.decode(map(int, ids)) == decoder.decode(row) for ids, row in zip(answer, wanted, strict=True)
    )


def _misread(text: bytes, reason: str) -> Wrong:
    lines = text.splitlines(keepends=True)
    shortest = sorted(lines, key=len)[:1000] if len(lines) > 1 else []
    reason = "the ids do not decode to the text they came from" if reason == LOST else reason
    return Wrong(reason, candidates=(*shortest, text))


def _difference(work: PreparedJob, answer: Any, expected: Expected) -> Wrong:
    """Return where an answer whose digest is not the expected one first differs."""
    task, texts, reference = work.job.task, work.texts, expected.reference
    if task == "train":
        return Wrong(_first_merge(answer, expected))
    if task in TEXTS:
        found = zip(texts, _expected_texts(work, expected), answer, strict=False)
        text, wanted, got = next((row for row in found if row[1] != row[2]), (texts[-1], "", ""))
        if task == "truncate":
            return Wrong(f"cuts a text to {len(got):,} characters that is to be cut to {len(wanted):,}")
        return Wrong(f"the ids of {reference} decode to another text", candidates=(text,))
    ids = _reference_ids(expected)
    if task == "count":
        counted = zip(texts, map(len, ids), answer, strict=False)
        text, a, b = next(((text, a, b) for text, a, b in counted if a != b), (texts[-1], 0, 0))
        return Wrong(f"counts {b} tokens where {reference} has {a}", candidates=(text,))
    return other_ids(work, ids, answer, reference)


def other_ids(work: PreparedJob, wanted: Any, answer: Any, reference: str) -> Wrong:
    """Return where ids first differ from the reference's."""
    assert work.tokenizer is not None
    difference = first_difference(work.texts, wanted, answer, work.tokenizer.model.bytes_by_id())
    if difference is None:
        return Wrong(f"the digest of the ids is not that of {reference}")
    counterexample = Counterexample(
        text=Text.of(difference.windows[0].decode("utf-8", "surrogatepass")),
        expected=difference.expected[:MOST_IDS_SHOWN],
        got=difference.got[:MOST_IDS_SHOWN],
        reference=reference,
        note="as met inside the timed text",
    )
    return Wrong(f"other ids than {reference}", candidates=difference.windows, counterexample=counterexample)


def _first_merge(model: Model, expected: Expected) -> str:
    wanted = [tuple(pair) for pair in _reference_ids(expected)]
    got = [tuple(pair) for pair in model.merges]
    if got == wanted:
        return f"the merges are those of {expected.reference}, the token table is another"
    for rank, (a, b) in enumerate(zip(wanted, got, strict=False)):
        if a != b:
            return f"merge {rank} joins {b}; {expected.reference} joins {a}"
    return f"{len(got)} merges; {expected.reference} has {len(wanted)}"


def answer_of(tokenizer: Tokenizer, text: str) -> list[int] | str:
    """Return the ids of a text, or the error that encoding it raises."""
    try:
        return [int(i) for i in tokenizer.encode(text, disallowed_special=())]
    except (BPEError, ValueError, TypeError, RuntimeError) as error:
        return f"{type(error).__name__}: {error}"


def shrink(opening: Opening, candidates: tuple[bytes, ...], reference: str, seconds: float) -> Counterexample | None:
    """Call `smallest_counterexample` for the tokenizer that the worker holds and a reference given by name."""
    assert opening.tokenizer is not None
    assert opening.model is not None
    return smallest_counterexample(candidates, opening.tokenizer, get(reference)(opening.model), seconds)


def smallest_counterexample(
    candidates: tuple[bytes, ...], tokenizer: Tokenizer, reference: Tokenizer, seconds: float
) -> Counterexample | None:
    """Return the smallest text found within `seconds` whose ids differ or do not decode to it, or None."""
    decoder = ModelDecoder(tokenizer.model)

    def differs(text: str) -> bool:
        got = answer_of(tokenizer, text)
        if got != answer_of(reference, text):
            return True
        return isinstance(got, list) and not _round_trips(tokenizer, decoder, text, got)

    budget = Budget(sys.maxsize, seconds)
    for content in candidates:
        text = content.decode("utf-8", "surrogatepass")
        if budget.exhausted:
            return None
        if not differs(text):
            continue
        text = smallest_sequence(text, lambda shorter: bool(shorter) and differs(shorter), budget)
        got, expected = answer_of(tokenizer, text), answer_of(reference, text)
        notes = [f"{name} {value}" for name, value in (("got", got), ("expected", expected)) if isinstance(value, str)]
        if got == expected:
            notes.append("the ids are right and do not decode as they must")
        return Counterexample(
            text=Text.of(text),
            expected=expected[:MOST_IDS_SHOWN] if isinstance(expected, list) else None,
            got=got[:MOST_IDS_SHOWN] if isinstance(got, list) else None,
            reference=reference.name,
            note="; ".join(notes),
        )
    return None


def _round_trips(tokenizer: Tokenizer, decoder: ModelDecoder, text: str, ids: list[int]) -> bool:
    try:
        return not wrong_text(tokenizer, decoder, text, ids, tokenizer.decode(ids))
    except (BPEError, LookupError, ValueError, TypeError):
        return False
