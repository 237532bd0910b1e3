"""Right before fast: the verdict on an answer, and the smallest text that shows where it is wrong.

Runs in worker processes. An implementation that declares itself inexact is judged by its round trip alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from time import monotonic
from typing import Any

from harness.measure.answers import NotIds, first_difference, read_ids
from harness.measure.protocol import Expected, Failed, Job
from harness.measure.tasks import Work, digest, digest_of_model, expected_digest, joined, lost_text, strings
from harness.measure.workloads import ENCODING
from harness.records import Counterexample, Text
from impls import BPEError, Tokenizer
from impls.text import repair_surrogates

MOST_IDS_SHOWN = 200


def judge(
    job: Job, work: Work, answers: Sequence[Any], tokenizer: Tokenizer | None, expected: Expected | None
) -> tuple[str, int] | Failed:
    """Digest and number of tokens of the right answers of all passes, or the mismatch."""
    try:
        answer = joined(job, answers)
        found, n_tokens = digest(job, answer)
    except NotIds as error:
        return Failed(status="mismatch", reason=str(error))
    exact = tokenizer is None or tokenizer.exact
    if expected is not None and (exact or job.task == "decode"):
        wanted = expected_digest(job, work.texts, expected)
        if found != wanted:
            return explained(job, work.texts, answer, tokenizer, expected)
    if job.task in ENCODING and tokenizer is not None and tokenizer.model.lossy is None:
        lost = lost_text(work.texts, answer, tokenizer)
        if lost is not None:
            return Failed(
                status="mismatch",
                reason="the ids do not decode to the text they came from",
                candidates=(*_halves(lost), lost),
            )
    return found, n_tokens


def _halves(text: bytes) -> Iterator[bytes]:
    lines = text.splitlines(keepends=True)
    if len(lines) > 1:
        yield from sorted(lines, key=len)[:1000]


def explained(job: Job, texts: list[bytes], answer: Any, tokenizer: Tokenizer | None, expected: Expected) -> Failed:
    """The mismatch of an answer whose digest is not the expected one, with the place where it parts."""
    reference = expected.reference
    if job.task == "train":
        return Failed(status="mismatch", reason=_first_merge(answer, expected))
    if job.task == "decode":
        wanted = [repair_surrogates(text) for text in strings(texts)]
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
    """The mismatch of ids that are not those of `reference`."""
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
    """The ids of a text, or the error it ends in."""
    try:
        return [int(i) for i in tokenizer.encode(text, disallowed_special=())]
    except (BPEError, ValueError, TypeError, RuntimeError) as error:
        return f"{type(error).__name__}: {error}"


def smallest_counterexample(
    candidates: tuple[bytes, ...], tokenizer: Tokenizer, reference: Tokenizer, seconds: float
) -> Counterexample | None:
    """The smallest text found within `seconds` on which ids differ or do not decode to the text."""

    def differs(text: str) -> bool:
        got = answer_of(tokenizer, text)
        if got != answer_of(reference, text):
            return True
        return isinstance(got, list) and tokenizer.model.lossy is None and not _comes_back(tokenizer, text, got)

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
            notes.append("the ids are right but do not decode to the text")
        return Counterexample(
            text=Text.of(text),
            expected=expected[:MOST_IDS_SHOWN] if isinstance(expected, list) else None,
            got=got[:MOST_IDS_SHOWN] if isinstance(got, list) else None,
            reference=reference.name,
            note="; ".join(notes),
        )
    return None


def _comes_back(tokenizer: Tokenizer, text: str, ids: list[int]) -> bool:
    try:
        return tokenizer.decode_bytes(ids) == repair_surrogates(text).encode()
    except BPEError:
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
    """Digest, number of tokens, and rows to keep, of the reference's answer."""
    if job.task == "train":
        return digest_of_model(answer), len(answer.merges), [list(pair) for pair in answer.merges]
    found, n_tokens = digest(job, answer)
    return found, n_tokens, answer
