"""Examine one difference: find the smallest text (and model, unless it is a published one) that still shows it.

The stage of the difference is found by `harness.explain`, which queries the sides through their processes.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import Any

import impls
from harness.check.classes import registered
from harness.check.fuzz.findings import DifferingText
from harness.check.fuzz.questions import Answer, Question, ids_of, same
from harness.check.fuzz.side_process import SideProcess
from harness.explain import explain, side_of
from harness.explanations import Stage
from harness.minimize import MAX_TRIALS, Budget, smallest_model, smallest_text
from harness.process.session import Failed
from impls.core.model.model import Model

_MODEL_TRIALS = 600
_TRIALS_OF_A_DEATH = 60
"""Trials when a side dies or hangs: fewer, since each restarts its process."""


def examine(a: SideProcess, b: SideProcess, case: DifferingText, own: Model | None, seconds: float) -> DifferingText:
    """Minimise the difference of `case`; `own` is the model if it may be minimised too, else None."""
    question, text = case.question, case.text
    deadly = any(isinstance(answer, Failed) and answer.outcome.ends_process for answer in case.answers)
    max_trials = _TRIALS_OF_A_DEATH if deadly else MAX_TRIALS

    def ask(question: Question, text: str) -> tuple[Answer, Answer] | None:
        """Return the answers of both sides, queried in parallel, or None if one does not load the model."""
        question = replace(question, texts=[text])
        a.submit([question])
        b.submit([question])
        (of_a,), (of_b,) = a.result(), b.result()
        return (of_a[0], of_b[0]) if isinstance(of_a, list) and isinstance(of_b, list) else None

    def differ(question: Question, text: str) -> bool:
        """Return whether the answers still differ in the same way as at first."""
        answers = ask(question, text)
        if answers is None or same(*answers):
            return False
        return any(isinstance(answer, Failed) for answer in answers) == case.failed

    def smaller(text: str) -> str:
        return smallest_text(text, lambda candidate: differ(question, candidate), Budget(max_trials, seconds))

    if not differ(question, text):
        return replace(case.with_model(own), repeatable=False)
    if question.call != "decode":
        changes: list[dict[str, Any]] = [{"call": "encode"}, {"allow_special": False}]
        for change in changes:
            if (simpler := replace(question, **change)) != question and differ(simpler, text):
                question = simpler
    text = smaller(text)
    if own is not None:

        def holds(model: Model) -> bool:
            return differ(replace(question, model=model), text)

        if holds(own):
            for _ in range(2):
                own = smallest_model(own, holds, Budget(_MODEL_TRIALS, seconds))
                question = replace(question, model=own)
                text = smaller(text)
    answers = ask(question, text)
    assert answers is not None
    return replace(case, question=question, text=text, answers=answers).with_model(own)


def stage_of(a: SideProcess, b: SideProcess, question: Question, model: Model, text: str) -> Stage | None:
    """Return the first stage that differs on `text`, asked as in `question`; None if unknown."""
    special = question.allow_special
    sides = [side_of(_process_tokenizer(of, question, model), of.name, allow_special=special) for of in (a, b)]
    with suppress(Exception):  # the difference is reported whether it can be explained or not
        return explain(sides[0], sides[1], text).stage
    return None


def _process_tokenizer(side: SideProcess, question: Question, model: Model) -> impls.Tokenizer:
    """Return a tokenizer that takes its ids from the process of `side`, with its registered name and kind, if any."""
    known = registered(side.name)

    class ProcessTokenizer(impls.Tokenizer):
        name = known or side.name
        kind = "third-party" if known is None else impls.get(known).kind
        summary = side.name

        def encode(self, text: str, **_: Any) -> list[int]:
            ids = ids_of(side.ask_one(question, text))
            if ids is None:
                raise ValueError(f"{self.name} refuses {text!a}")
            return ids

    return ProcessTokenizer(model)
