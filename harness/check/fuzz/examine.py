"""One difference examined: the smallest text, and the smallest model if it is our own, that still show it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from harness.check.classes import Relation
from harness.check.fuzz.findings import Found
from harness.check.fuzz.minimal_model import smallest_model
from harness.check.fuzz.questions import Answer, Failure, Question, same
from harness.check.fuzz.side_process import SideProcess
from harness.check.shrink import MAX_TRIALS, Budget, smallest_text
from harness.check.shrink_long import SHORT_ENOUGH, smallest_long_text
from impls.core.model.model import Model

_MODEL_TRIALS = 600
_TRIALS_OF_A_DEATH = 60
"""Fewer, as a side that dies or hangs is restarted after each trial that shows it."""


@dataclass(frozen=True, slots=True)
class DifferingText:
    """A text two sides answered differently, and how it was asked."""

    question: Question
    name: str
    text: str
    answers: tuple[Answer, Answer]
    failed: bool
    """Whether one of the sides did not encode it at all; shrinking preserves that."""
    origin: str


class _Pair:
    """The two sides, asked in parallel."""

    def __init__(self, a: SideProcess, b: SideProcess, failed: bool) -> None:
        self._a, self._b, self._failed = a, b, failed

    def ask(self, question: Question, text: str) -> tuple[Answer, Answer] | None:
        """Return both answers, or None where a side does not load the model."""
        question = replace(question, texts=[text])
        self._a.submit([question])
        self._b.submit([question])
        (a,), (b,) = self._a.result(), self._b.result()
        return (a[0], b[0]) if isinstance(a, list) and isinstance(b, list) else None

    def differ(self, question: Question, text: str) -> bool:
        """Whether the answers differ in the way they did at first."""
        answers = self.ask(question, text)
        if answers is None or same(*answers):
            return False
        return any(isinstance(answer, Failure) for answer in answers) == self._failed


def examine(
    a: SideProcess,
    b: SideProcess,
    case: DifferingText,
    own: Model | None,
    relation_on: Callable[[Model], Relation],
    seconds: float,
) -> Found:
    """Shrink the difference of `case`; `own` is the model where it may be shrunk too.

    On a smaller model the sides must owe each other the same agreement.
    """
    pair = _Pair(a, b, case.failed)
    question, text = case.question, case.text
    if not pair.differ(question, text):
        return replace(unshrunk(a, b, case, own), repeatable=False)
    for simpler in (
        ()
        if question.call == "decode"
        else (replace(question, call="encode"), replace(question, call="encode", allow_special=False))
    ):
        if simpler != question and pair.differ(simpler, text):
            question = simpler
    deadly = any(
        isinstance(answer, Failure) and answer.kind in ("crash", "timeout", "out-of-memory") for answer in case.answers
    )
    max_trials = _TRIALS_OF_A_DEATH if deadly else MAX_TRIALS
    if len(text) > SHORT_ENOUGH and not deadly:
        text = smallest_long_text(text, lambda candidate: pair.differ(question, candidate), max_seconds=seconds)
    else:
        text = smallest_text(text, lambda candidate: pair.differ(question, candidate), max_trials, seconds)
    if own is not None:
        must_agree = relation_on(own).must_agree

        def holds(model: Model) -> bool:
            if relation_on(model).must_agree is not must_agree:
                return False
            return pair.differ(replace(question, model=model), text)

        if holds(own):
            own = smallest_model(own, holds, Budget(_MODEL_TRIALS, seconds))
            question = replace(question, model=own)
            if len(text) <= SHORT_ENOUGH:
                text = smallest_text(text, lambda candidate: pair.differ(question, candidate), max_trials, seconds)
            own = smallest_model(own, holds, Budget(_MODEL_TRIALS, seconds))
            question = replace(question, model=own)
    answers = pair.ask(question, text)
    assert answers is not None
    found = unshrunk(a, b, case, own)
    return replace(
        found,
        text=text,
        answer_a=answers[0],
        answer_b=answers[1],
        call=question.call,
        allow_special=question.allow_special,
    )


def unshrunk(a: SideProcess, b: SideProcess, case: DifferingText, own: Model | None) -> Found:
    """Return the difference of `case` unshrunk. Only the last part of the model's path is kept."""
    return Found(
        a=a.name,
        b=b.name,
        model_name="" if own is not None else Path(case.name).name,
        model=own,
        text=case.text,
        answer_a=case.answers[0],
        answer_b=case.answers[1],
        call=case.question.call,
        allow_special=case.question.allow_special,
        origin=case.origin,
    )
