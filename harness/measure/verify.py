"""Verification before timing: the verdict on an answer, and the smallest text that shows it wrong.

Runs in worker processes. An implementation that declares itself inexact is judged by its round trip alone; an answer
that neither a reference nor a round trip shows to be right is `unverified`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from time import monotonic
from typing import Any

from harness.decoded import LOST, ModelDecoder, misread, wrong_text
from harness.measure.answers import NotIds, first_difference, read_ids, require_arrays, require_lists
from harness.measure.protocol import Expected, Failed, Job
from harness.measure.tasks import (
    ARRAYS,
    PreparedJob,
    decoded_texts,
    digest,
    digest_of_model,
    expected_digest,
    join_answers,
    strings,
)
from harness.measure.workloads import ENCODING
from harness.records import Counterexample, Text
from impls import BPEError, Tokenizer
from impls.core.round_trip import comes_back_as
from impls.core.text.text import repair_surrogates

MOST_IDS_SHOWN = 200
_NO_REFERENCE = "no reference did this, or two of them differ"


def judge(
    job: Job, work: PreparedJob, answers: Sequence[Any], tokenizer: Tokenizer | None, expected: Expected | None
) -> tuple[str, int] | Failed:
    """Return the digest and number of tokens of all passes' answers, or why they are not known to be right."""
    try:
        answer = join_answers(job, answers)
        _require_kind(job, answer)
        found, n_tokens = digest(job, answer)
    except NotIds as error:
        return Failed(status="mismatch", reason=str(error))
    exact = tokenizer is None or tokenizer.exact
    compared = expected is not None and (exact or job.task == "decode")
    if expected is not None and compared:
        wanted = expected_digest(job, work.texts, expected, None if tokenizer is None else tokenizer.model)
        if wanted is None:
            return Failed(status="unverified", reason="neither the texts nor the model tell what its ids decode to")
        if found != wanted:
            return explain_mismatch(job, work.texts, answer, tokenizer, expected)
    wrong = None if tokenizer is None else _unproven(job, work.texts, answer, tokenizer, expected, compared=compared)
    if tokenizer is None and not compared:
        wrong = Failed(status="unverified", reason=f"{_NO_REFERENCE}, and nothing else shows it right")
    return wrong or (found, n_tokens)


def _require_kind(job: Job, answer: Any) -> None:
    """Raise `NotIds` for an answer of another type than the task asks for: making it is different work."""
    if job.task in ARRAYS:
        require_arrays(answer)
    elif job.task in ENCODING:
        require_lists(answer)
    elif job.task in ("count", "decode"):
        kind = int if job.task == "count" else str
        others = {type(one).__name__ for one in answer if type(one) is not kind}
        if others:
            raise NotIds(f"{', '.join(sorted(others))} in place of {kind.__name__}")


def _unproven(
    job: Job, texts: list[bytes], answer: Any, tokenizer: Tokenizer, expected: Expected | None, *, compared: bool
) -> Failed | None:
    """Return what is wrong with an answer beyond its digest, or that nothing shows it right; None for a right answer.

    `compared`: its digest equals the reference's, which exact implementations need. Inexact ones are judged by the
    round trip or, where the model is not expected to have one, by the text the reference's ids decode to.
    """
    decoder = ModelDecoder(tokenizer.model)
    if job.task == "decode":
        rows = [] if expected is None else read_ids(Path(expected.ids_file))
        reasons = (misread(tokenizer, decoder, ids) for ids in rows)
        return next((_misread(text, reason) for text, reason in zip(texts, reasons, strict=True) if reason), None)
    if job.task == "count":
        if compared:
            return None
        rows = [tokenizer.encode(text, disallowed_special=()) for text in strings(texts)]
        differing = (text for text, ids, n in zip(texts, rows, answer, strict=True) if len(ids) != n)
        if (text := next(differing, None)) is not None:
            return Failed(status="mismatch", reason="its count is not its number of ids", candidates=(text,))
        answer = rows
    proved = compared or not tokenizer.exact
    for text, row in zip(texts, answer, strict=True):
        ids = list(map(int, row))
        came_from = text.decode("utf-8", "surrogatepass")
        if reason := wrong_text(tokenizer, decoder, came_from, ids, tokenizer.decode(ids)):
            return _misread(text, reason)
        proved = proved and (compared or comes_back_as(tokenizer.model, repair_surrogates(came_from)) is not None)
    if proved or (expected is not None and _spells_as(decoder, answer, expected)):
        return None
    return Failed(status="unverified", reason=f"{_NO_REFERENCE}, and a round trip alone does not show it right")


def _spells_as(decoder: ModelDecoder, answer: Any, expected: Expected) -> bool:
    """Return whether ids that may differ from the reference's decode to the same texts."""
    wanted = read_ids(Path(expected.ids_file))
    return (
        decoder.is_known
        and len(wanted) == len(answer)
        and all(decoder.decode(map(int, ids)) == decoder.decode(row) for ids, row in zip(answer, wanted, strict=True))
    )


def _misread(text: bytes, reason: str) -> Failed:
    reason = "the ids do not decode to the text they came from" if reason == LOST else reason
    return Failed(status="mismatch", reason=reason, candidates=(*_lines(text), text))


def _lines(text: bytes) -> Iterator[bytes]:
    lines = text.splitlines(keepends=True)
    if len(lines) > 1:
        yield from sorted(lines, key=len)[:1000]


def explain_mismatch(
    job: Job, texts: list[bytes], answer: Any, tokenizer: Tokenizer | None, expected: Expected
) -> Failed:
    """Return the mismatch of an answer whose digest is not the expected one, with the first difference."""
    reference = expected.reference
    if job.task == "train":
        return Failed(status="mismatch", reason=_first_merge(answer, expected))
    if job.task == "decode":
        wanted = (tokenizer and decoded_texts(texts, expected, tokenizer.model)) or []
        differing = (text for text, a, b in zip(texts, wanted, answer, strict=False) if a != b)
        text = next(differing, texts[-1])
        return Failed(status="mismatch", reason=f"the ids of {reference} decode to another text", candidates=(text,))
    ids = read_ids(Path(expected.ids_file))
    if job.task == "count":
        counted = zip(texts, map(len, ids), answer, strict=False)
        text, a, b = next(((text, a, b) for text, a, b in counted if a != b), (texts[-1], 0, 0))
        reason = f"counts {b} tokens where {reference} has {a}"
        return Failed(status="mismatch", reason=reason, candidates=(text,))
    return mismatch(texts, ids, answer, tokenizer, reference)


def mismatch(texts: list[bytes], wanted: Any, answer: Any, tokenizer: Tokenizer | None, reference: str) -> Failed:
    """Return the mismatch of ids that differ from the reference's."""
    assert tokenizer is not None
    difference = first_difference(texts, wanted, answer, tokenizer.model.bytes_by_id())
    if difference is None:
        return Failed(status="mismatch", reason=f"the digest of the ids is not that of {reference}")
    return Failed(
        status="mismatch",
        reason=f"other ids than {reference}",
        candidates=difference.windows,
        counterexample=Counterexample(
            text=Text.of(difference.windows[0].decode("utf-8", "surrogatepass")),
            expected=difference.expected[:MOST_IDS_SHOWN],
            got=difference.got[:MOST_IDS_SHOWN],
            reference=reference,
            note="as met inside the timed text",
        ),
    )


def _first_merge(model: Any, expected: Expected) -> str:
    wanted = [tuple(pair) for pair in read_ids(Path(expected.ids_file))]
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


def smallest_counterexample(
    candidates: tuple[bytes, ...], tokenizer: Tokenizer, reference: Tokenizer, seconds: float
) -> Counterexample | None:
    """Return the smallest text found within `seconds` whose ids differ or do not decode to it, None without one."""

    decoder = ModelDecoder(tokenizer.model)

    def differs(text: str) -> bool:
        got = answer_of(tokenizer, text)
        if got != answer_of(reference, text):
            return True
        return isinstance(got, list) and not _round_trips(tokenizer, decoder, text, got)

    deadline = monotonic() + seconds
    for content in candidates:
        text = content.decode("utf-8", "surrogatepass")
        if monotonic() > deadline:
            return None
        if not differs(text):
            continue
        text = shrink(text, differs, deadline)
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


def shrink(text: str, differs: Callable[[str], bool], deadline: float) -> str:
    """Remove ever smaller stretches of `text` while it still differs (Zeller and Hildebrandt 2002, ddmin)."""
    size = max(1, len(text) // 2)
    while True:
        start = 0
        removed = False
        while start < len(text):
            if monotonic() > deadline:
                return text
            shorter = text[:start] + text[start + size :]
            if shorter and differs(shorter):
                text, removed = shorter, True
            else:
                start += size
        if size == 1 and not removed:
            return text
        size = max(1, size // 2)


def reference_digest(job: Job, answer: Any) -> tuple[str, int, list[Any]]:
    """Return the digest, the number of tokens and the rows to keep of the reference's answer."""
    if job.task == "train":
        return digest_of_model(answer), len(answer.merges), [list(pair) for pair in answer.merges]
    found, n_tokens = digest(job, answer)
    return found, n_tokens, answer
