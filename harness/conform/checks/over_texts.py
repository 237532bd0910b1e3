"""What most checks do: get the ids of many texts, judge each, and shrink a wrong one."""

from __future__ import annotations

from collections.abc import Sequence

from harness.conform.case import Case, Judge
from harness.conform.reference import Answer
from harness.conform.verdicts import CheckVerdict
from harness.conform.wording import expression

_KEPT_EXCEPTIONS = 20
_SHORTEST_OF = 50
_BRIEF = 3_000
_SHORT = 12


def _size(text: str) -> tuple[bool, bool, int, int]:
    """Return a sort key: short texts first, then those with a short expression."""
    return len(text) > _BRIEF, len(text) > _SHORT, len(expression(text)), len(text)


def over_texts(case: Case, texts: Sequence[str], judge: Judge) -> CheckVerdict:
    """Return the verdict of `judge` on as many texts as the check's time allows; without a text none passes."""
    if not texts:
        return CheckVerdict(status="not asked", reason="there is no text to judge by")
    wrong: list[tuple[str, Answer]] = []
    excused: list[str] = []
    n_inputs = 0
    for text, answer in zip(texts, case.client.ids_of_all(texts), strict=False):
        n_inputs += 1
        judgement = judge(text, answer)
        if judgement == "wrong":
            wrong.append((text, answer))
        elif judgement == "excused":
            excused.append(text)
        if case.out_of_time:
            break
    part = "" if n_inputs == len(texts) else f"stopped by the clock after {n_inputs:,} of {len(texts):,} texts"
    if wrong:
        text, answer = min(wrong[:_SHORTEST_OF], key=lambda pair: _size(pair[0]))
        located, example = case.explain(text, answer, judge)
        return CheckVerdict(
            status="failed", reason=located.reason, stage=located.stage, counterexample=example,
            n_inputs=n_inputs, n_failed=len(wrong),
        )  # fmt: skip
    if 2 * n_inputs < len(texts):
        return CheckVerdict(status="not asked", reason=f"{part}, all of them right; give it more --check-seconds")
    kept = [expression(text) for text in sorted(excused, key=len)[:_KEPT_EXCEPTIONS]]
    if not excused:
        return CheckVerdict(status="passed", reason=part, n_inputs=n_inputs)
    reason = f"on {len(excused):,} of {n_inputs:,} texts both fall short, in the same way" + (part and f"; {part}")
    return CheckVerdict(status="same as reference", reason=reason, n_inputs=n_inputs, exceptions=kept)
