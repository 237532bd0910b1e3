"""The stage in which two sides of a run differ, by `harness.explain`, which asks them through their processes."""

from __future__ import annotations

from typing import Any

import impls
from harness.check.classes import registered
from harness.check.fuzz.questions import Question, ids_of
from harness.check.fuzz.side_process import SideProcess
from harness.explain import explain, side_of
from harness.explanations import Stage
from impls.core.model.model import Model


class _Refuses(Exception):
    """The side refuses the text."""


def stage_of(a: SideProcess, b: SideProcess, question: Question, model: Model, text: str) -> Stage | None:
    """Return the first stage that differs on `text`, asked as `question` is; None where unknown."""
    sides = [
        side_of(_process_tokenizer(side, question, model), side.name, allow_special=question.allow_special)
        for side in (a, b)
    ]
    try:
        return explain(sides[0], sides[1], text).stage
    except Exception:  # the difference is reported whether it can be explained or not
        return None


def _process_tokenizer(side: SideProcess, question: Question, model: Model) -> impls.Tokenizer:
    """Return a tokenizer whose ids come from the process of `side`, with the name and kind that are known of it."""
    known = None if side.spec.release is not None else registered(side.name)

    class ProcessTokenizer(impls.Tokenizer):
        name = known or side.name
        kind = "third-party" if known is None else impls.get(known).kind
        summary = side.name

        def encode(self, text: str, **_: Any) -> list[int]:
            ids = ids_of(side.ask_one(question, text))
            if ids is None:
                raise _Refuses(text)
            return ids

    return ProcessTokenizer(model)
