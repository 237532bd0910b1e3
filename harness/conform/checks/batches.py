"""Other ways to the same ids: batches, arrays, threads. Each is held against the target's own single calls."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from harness.conform.case import Case
from harness.conform.checks.encoding import texts_for
from harness.conform.reference import Refused
from harness.conform.verdicts import Counterexample, Stage, Verdict
from harness.conform.wording import expression

THREADS = 8
_THREAD_ROUNDS = 3
_TEXTS = 300
_SHOWN_BESIDE = 8

Many = Callable[[list[str]], Any]
"""Ids of several texts in one call."""


def _sample(case: Case) -> dict[str, list[int]]:
    """Texts the target encodes one by one, with its ids."""
    texts = texts_for(case)
    texts = texts[:: max(1, len(texts) // _TEXTS)]
    answers = zip(texts, case.subject.ids_of_all(texts), strict=True)
    return {text: answer for text, answer in answers if not isinstance(answer, Refused)}


def batch(case: Case) -> Verdict:
    """`encode_batch` gives each text what `encode` gives it; an empty batch and a repeated text too."""
    if not case.subject.offers("encode_batch"):
        return Verdict(status="not offered", reason="it has no encode_batch")
    alone = _sample(case)

    def many(texts: list[str]) -> Any:
        return case.subject.ask("encode_batch", texts=texts)

    texts = list(alone)
    lists = [[], texts[:1], texts, texts[::-1], [texts[0]] * 3, sorted(texts, key=len)]
    return _compare("batch", many, lists, alone) or Verdict(status="passed", n_inputs=sum(map(len, lists)))


def array(case: Case) -> Verdict:
    """`encode_array` holds what `encode` lists."""
    if not case.subject.offers("encode_array"):
        return Verdict(status="not offered", reason="it has no encode_array")
    alone = _sample(case)
    for text, expected in alone.items():
        got = case.subject.ask("encode_array", text=text)
        if got != expected:
            return Verdict(
                status="failed", stage="batch", reason="the array holds other ids than the list", n_failed=1,
                counterexample=Counterexample.of(text, expected=expected, got=got),
            )  # fmt: skip
    return Verdict(status="passed", n_inputs=len(alone))


def threads(case: Case) -> Verdict:
    """Many threads over one object give each text what one thread gives it."""
    if not case.subject.offers("encode_threads"):
        return Verdict(status="not offered", reason="threads are only asked of a Python object")
    alone = _sample(case)

    def many(texts: list[str]) -> Any:
        return case.subject.ask("encode_threads", texts=texts, threads=THREADS)

    short = sorted(alone, key=len)[1:9]
    lists = [list(alone), short * 20] * _THREAD_ROUNDS
    return _compare("threads", many, lists, alone) or Verdict(status="passed", n_inputs=sum(map(len, lists)))


def _compare(stage: Stage, many: Many, lists: Sequence[list[str]], alone: dict[str, list[int]]) -> Verdict | None:
    for texts in lists:
        answers = many(texts)
        if _wrong_at(answers, texts, alone) is not None:
            return _smallest(stage, many, texts, alone)
    return None


def _wrong_at(answers: Any, texts: Sequence[str], alone: dict[str, list[int]]) -> int | None:
    """The first text whose ids are not its own; the number of texts where the answer is none at all."""
    if not isinstance(answers, list) or len(answers) != len(texts):
        return len(texts)
    return next((k for k, (text, ids) in enumerate(zip(texts, answers, strict=True)) if ids != alone[text]), None)


def _smallest(stage: Stage, many: Many, texts: list[str], alone: dict[str, list[int]]) -> Verdict:
    """The fewest texts found that go wrong together, begun with the shortest."""
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
    if at is None:  # it comes and goes
        return Verdict(
            status="failed", stage=stage, reason=f"{len(texts):,} texts go wrong together, not every time", n_failed=1
        )
    told = "in a batch" if stage == "batch" else f"on {THREADS} threads"
    if at == len(found):
        got = f"{len(answers)} lists of ids" if isinstance(answers, list) else str(answers)
        example = Counterexample.of(None, after=tuple(found), expected=f"{len(found)} lists of ids", got=got)
        return Verdict(
            status="failed",
            stage=stage,
            reason=f"{told} of {len(found)} texts: {got}",
            counterexample=example,
            n_failed=1,
        )
    text = found[at]
    others = tuple(found[:at] + found[at + 1 :])[:_SHOWN_BESIDE]
    return Verdict(
        status="failed",
        stage=stage,
        reason=f"{told}, beside {len(found) - 1} more, {expression(text)} gets other ids than alone",
        counterexample=Counterexample.of(text, after=others, expected=alone[text], got=answers[at]),
        n_failed=1,
    )
