"""Other calls for the same ids: batches, arrays, counts, threads. Each is compared with the target's single calls."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from harness.check.shrink_long import smallest_long_text
from harness.conform.case import Case
from harness.conform.checks.encoding import texts_for
from harness.conform.checks.sizes import past_64k
from harness.conform.reference import Refusal
from harness.conform.verdicts import CheckVerdict, FailingInput, Stage
from harness.conform.wording import expression

THREADS = 8
_THREAD_ROUNDS = 3
_FRESH_STARTS = 2
_DECODED = 200
_TEXTS = 300
_SHOWN_BESIDE = 8
_BATCH_SIZES = tuple((1 << power) + more for power in range(1, 13) for more in (-1, 0, 1))

Many = Callable[[list[str]], Any]
"""Encodes several texts in one call."""


def _sample(case: Case) -> dict[str, list[int]]:
    """Return texts the target encodes one by one with its ids, special tokens and long texts among them."""
    texts = texts_for(case)
    texts = [*texts[:: max(1, len(texts) // _TEXTS)], *_with_specials(case), *past_64k(case)]
    answers = zip(texts, case.client.ids_of_all(texts), strict=True)
    return {text: answer for text, answer in answers if not isinstance(answer, Refusal)}


def _with_specials(case: Case) -> list[str]:
    names = sorted(case.reference.model.special_tokens, key=len)[:2]
    return [text for name in names for text in (name, f"a {name} b", name + name, name[:-1])]


def batch(case: Case) -> CheckVerdict:
    """Check that `encode_batch` gives the ids of `encode`, also for an empty batch and a repeated text."""
    if not case.client.offers("encode_batch"):
        return CheckVerdict(status="not offered", reason="it has no encode_batch")
    alone = _sample(case)

    def many(texts: list[str]) -> Any:
        return case.client.ask("encode_batch", texts=texts)

    texts = list(alone)
    lists = [[], texts[:1], texts, texts[::-1], [texts[0]] * 3, sorted(texts, key=len)]
    short = sorted(texts, key=len)[: len(texts) // 2]
    for n_texts in _BATCH_SIZES:
        if not case.affordable(n_texts * len(short[-1])):
            break
        lists.append((short * (n_texts // len(short) + 1))[:n_texts])
    return _compare("batch", many, lists, alone) or CheckVerdict(status="passed", n_inputs=sum(map(len, lists)))


def array(case: Case) -> CheckVerdict:
    """Check that `encode_array` gives the ids of `encode`."""
    if not case.client.offers("encode_array"):
        return CheckVerdict(status="not offered", reason="it has no encode_array")
    alone = _sample(case)
    for text, expected in alone.items():
        got = case.client.ask("encode_array", text=text)
        if got != expected:
            return CheckVerdict(
                status="failed", stage="batch", reason="the array holds other ids than the list", n_failed=1,
                counterexample=FailingInput.of(text, expected=expected, got=got),
            )  # fmt: skip
    return CheckVerdict(status="passed", n_inputs=len(alone))


def count(case: Case) -> CheckVerdict:
    """Check that `count` gives the number of ids of `encode`, also for long texts."""
    if not case.client.offers("count"):
        return CheckVerdict(status="not offered", reason="it has no count")
    alone = _sample(case)
    for text, ids in alone.items():
        got = case.client.ask("count", text=text)
        if isinstance(got, Refusal) and any(name in text for name in case.reference.model.special_tokens):
            continue  # it reads special text by a rule of its own
        if got != len(ids):
            return _miscounted(case, text, len(ids), got)
    return CheckVerdict(status="passed", n_inputs=len(alone))


def _miscounted(case: Case, text: str, n_ids: int, got: Any) -> CheckVerdict:
    """Return the failure of a wrong count, its text shrunk."""

    def wrong(candidate: str) -> bool:
        ids = case.client.ids(candidate)
        return not isinstance(ids, Refusal) and case.client.ask("count", text=candidate) != len(ids)

    if wrong(text):
        text = smallest_long_text(text, wrong)
        ids = case.client.ids(text)
        n_ids, got = 0 if isinstance(ids, Refusal) else len(ids), case.client.ask("count", text=text)
    return CheckVerdict(
        status="failed", stage="batch", reason="the count is not the number of ids", n_failed=1,
        counterexample=FailingInput.of(text, expected=n_ids, got=got),
    )  # fmt: skip


def threads(case: Case) -> CheckVerdict:
    """Check that many threads over one object give each text the ids that one thread gives."""
    if not case.client.offers("encode_threads"):
        return CheckVerdict(status="not offered", reason="threads are only tested on a Python object")
    alone = _sample(case)

    def many(texts: list[str]) -> Any:
        return case.client.ask("encode_threads", texts=texts, threads=THREADS)

    short = sorted(alone, key=len)[1:9]
    lists = [list(alone), short * 20] * _THREAD_ROUNDS
    if found := _compare("threads", many, lists, alone) or _first_use(case, many, short, alone):
        return found
    n_inputs = sum(map(len, lists)) + _FRESH_STARTS * len(short)
    for by in filter(case.client.offers, ("encode_array", "encode_batch")):

        def many_by(texts: list[str], by: str = by) -> Any:
            return case.client.ask("encode_threads", texts=texts, threads=THREADS, by=by)

        if found := _compare("threads", many_by, lists[:2], alone):
            found.reason = f"{by}: {found.reason}"
            return found
        n_inputs += sum(map(len, lists[:2]))
    if case.client.offers("decode_threads"):
        found, n_decoded = _decoded_in_threads(case, alone)
        n_inputs += n_decoded
    return found or CheckVerdict(status="passed", n_inputs=n_inputs)


def _first_use(case: Case, many: Many, texts: list[str], alone: dict[str, list[int]]) -> CheckVerdict | None:
    """Return a failure if the first calls of a fresh process, from many threads at once, give wrong ids."""
    for _ in range(_FRESH_STARTS):
        case.client.fresh()
        answers = many(texts)
        at = _wrong_at(answers, texts, alone)
        if at is None:
            continue
        got = answers[at] if at < len(texts) else str(answers)
        text = texts[min(at, len(texts) - 1)]
        reason = f"on {THREADS} threads that make the first calls of a process, {expression(text)} gets other ids"
        stage: Stage = "threads"
        case.client.fresh()
        if _wrong_at(case.client.ask("encode_threads", texts=texts, threads=1), texts, alone) is not None:
            stage, reason = "cache", f"among the first calls of a process {expression(text)} gets other ids"
        return CheckVerdict(
            status="failed", stage=stage, reason=reason, n_failed=1,
            counterexample=FailingInput.of(text, expected=alone[text], got=got),
        )  # fmt: skip
    return None


def _decoded_in_threads(case: Case, alone: dict[str, list[int]]) -> tuple[CheckVerdict | None, int]:
    """Return a failure of decoding on many threads, or None with the number of lists of ids decoded."""
    lists = [alone[text] for text in sorted(alone, key=len) if alone[text]][:_DECODED]
    texts = [case.client.decode(ids) for ids in lists]
    for _ in range(_THREAD_ROUNDS):
        got = case.client.ask("decode_threads", lists=lists, threads=THREADS)
        if got == texts:
            continue
        whole = isinstance(got, list) and len(got) == len(texts)
        at = next(k for k, text in enumerate(texts) if got[k] != text) if whole else 0
        shown = expression(got[at]) if whole and isinstance(got[at], str) else str(got)
        reason = f"on {THREADS} threads ids decode to another text than alone"
        example = FailingInput.of(ids=lists[at], expected=expression(str(texts[at])), got=shown)
        return CheckVerdict(status="failed", stage="threads", reason=reason, counterexample=example, n_failed=1), 0
    return None, _THREAD_ROUNDS * len(lists)


def _compare(stage: Stage, many: Many, lists: Sequence[list[str]], alone: dict[str, list[int]]) -> CheckVerdict | None:
    for texts in lists:
        answers = many(texts)
        if _wrong_at(answers, texts, alone) is not None:
            return _smallest(stage, many, texts, alone)
    return None


def _wrong_at(answers: Any, texts: Sequence[str], alone: dict[str, list[int]]) -> int | None:
    """Return the index of the first text with wrong ids; the number of texts where the answer is invalid."""
    if not isinstance(answers, list) or len(answers) != len(texts):
        return len(texts)
    return next((k for k, (text, ids) in enumerate(zip(texts, answers, strict=True)) if ids != alone[text]), None)


def _smallest(stage: Stage, many: Many, texts: list[str], alone: dict[str, list[int]]) -> CheckVerdict:
    """Return a failure with the fewest texts found that go wrong together, tried from the shortest."""
    found = texts
    apart = sorted(dict.fromkeys(texts), key=len)
    distinct = [text for text in apart if alone[text]][:4] or apart
    for n in range(len(distinct) + 1):
        candidate = distinct[:n]
        if _wrong_at(many(candidate), candidate, alone) is not None:
            found = candidate
            break
    answers = many(found)
    at = _wrong_at(answers, found, alone)
    if at is None:  # intermittent
        return CheckVerdict(
            status="failed", stage=stage, reason=f"{len(texts):,} texts go wrong together, not every time", n_failed=1
        )
    where = "in a batch" if stage == "batch" else f"on {THREADS} threads"
    if at == len(found):
        got = f"{len(answers)} lists of ids" if isinstance(answers, list) else str(answers)
        example = FailingInput.of(None, after=tuple(found), expected=f"{len(found)} lists of ids", got=got)
        return CheckVerdict(
            status="failed",
            stage=stage,
            reason=f"{where} of {len(found)} texts: {got}",
            counterexample=example,
            n_failed=1,
        )
    text = found[at]
    others = tuple(found[:at] + found[at + 1 :])[:_SHOWN_BESIDE]
    return CheckVerdict(
        status="failed",
        stage=stage,
        reason=f"{where}, beside {len(found) - 1} more, {expression(text)} gets other ids than alone",
        counterexample=FailingInput.of(text, after=others, expected=alone[text], got=answers[at]),
        n_failed=1,
    )
