"""Special tokens: text that looks like one is text, or refused, unless it was allowed; allowed, it is its one id."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from harness.conform.case import Case, Judgement
from harness.conform.checks.over_texts import over_texts
from harness.conform.reference import Answer, Refused
from harness.conform.verdicts import Counterexample, Verdict

_MOST_SPECIALS = 8


def special_tokens(case: Case) -> Verdict:
    """Without being asked, the text of a special token gives no special id; with `allowed_special` it does."""
    specials = sorted(case.reference.model.special_tokens, key=lambda name: (len(name), name))[:_MOST_SPECIALS]
    if not specials:
        return Verdict(status="not run", reason="the model has no special tokens")
    refusals = 0

    def judge(text: str, answer: Answer) -> Judgement:
        nonlocal refusals
        if isinstance(answer, Refused) and not answer.fatal:
            refusals += 1  # what the reference does unless told otherwise
            return "right"
        return case.agrees(text, answer)

    around = [text for name in specials for text in (name, f"a{name}b", f"{name}{name}", f" {name} ", name[:-1])]
    verdict = over_texts(case, around, judge)
    if verdict.status == "failed":
        return verdict
    verdict.reason = "refuses special text unless told what to do" if refusals else "reads special text as text"
    if not case.subject.offers("allowed_special"):
        verdict.reason += "; takes no allowed_special"
        return verdict
    return _by_the_rules(case, specials, around) or verdict


def _by_the_rules(case: Case, specials: Sequence[str], texts: Sequence[str]) -> Verdict | None:
    """What is wrong where the target is told which specials to allow or to refuse."""
    rules: list[tuple[Any, Any]] = [("all", []), ([], []), (specials[:1], []), ([], "all"), ([], specials[:1])]
    for text in texts:
        for allowed, disallowed in rules:
            expected = case.reference.encode(text, allowed, disallowed)
            got = case.subject.ids(text, allowed_special=allowed, disallowed_special=disallowed)
            both_refuse = isinstance(expected, Refused) and isinstance(got, Refused) and not got.fatal
            if got != expected and not both_refuse:
                return Verdict(
                    status="failed",
                    stage="special tokens",
                    reason=f"with allowed_special={allowed!r}, disallowed_special={disallowed!r}",
                    counterexample=Counterexample.of(text, expected=expected, got=got),
                    n_failed=1,
                )
    return None
