"""Special tokens: text that spells one is text, or refused, unless allowed; allowed, it is its single id."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any

from harness.conform.adapter import ANY_OPTION
from harness.conform.case import Case, Judgement
from harness.conform.checks.bad_input import AFTER_BAD_INPUT
from harness.conform.checks.over_texts import over_texts
from harness.conform.reference import Answer, Refusal
from harness.conform.verdicts import CheckVerdict, FailingInput

_MOST_SPECIALS = 64
_MOST_BESIDE = 3
"""How many, the shortest and the longest among them, are put beside every class of character."""
_BESIDE = (
    "a", "A", "é", "中", "1", "٣", " ", "  ", "\n", "\r\n", "\t", "\u00a0", "\u3000", ".", "<", "|", ">", "_", "'s",
    "\u0301", "\u200d", "\u200b", "\ufeff", "👍", "▁", "Ġ", "\x00",
)  # fmt: skip


def special_tokens(case: Case) -> CheckVerdict:
    """Check that the text of a special token gives its special id with `allowed_special` and only then."""
    names = sorted(case.reference.model.special_tokens, key=lambda name: (len(name), name))
    if not names:
        return CheckVerdict(status="not asked", reason="the model has no special tokens")
    specials = [*names[: _MOST_SPECIALS - 1], names[-1]] if len(names) > _MOST_SPECIALS else names
    refusals = 0

    def judge(text: str, answer: Answer) -> Judgement:
        nonlocal refusals
        if isinstance(answer, Refusal) and not answer.fatal and any(name in text for name in names):
            refusals += 1  # the default behaviour of the reference
            return "right"
        return case.agrees(text, answer)

    around = list(dict.fromkeys(texts_around(specials)))
    verdict = over_texts(case, around, judge)
    if verdict.status == "failed":
        if verdict.stage in ("normalisation", "pieces", "vocabulary", "refusal"):
            verdict.stage = _stage_of(case, verdict)
        return verdict
    verdict.reason = "refuses special text by default" if refusals else "reads special text as text"
    if not case.client.offers("allowed_special") or not _heeds_options(case, specials[0]):
        verdict.reason += "; takes no allowed_special"
        return verdict
    return _by_the_rules(case, specials, around) or verdict


def texts_around(specials: Sequence[str]) -> Iterator[str]:
    """Yield each special token alone, doubled, cut and in capitals; a few beside every class of character."""
    beside = list(dict.fromkeys([*specials[: _MOST_BESIDE - 1], specials[-1]]))
    for name in specials:
        yield from (name, f"a{name}b", f"{name}{name}", f" {name} ", name[:-1], name[1:], name.upper(), name.title())
    for name in beside:
        for character in _BESIDE:
            yield from (character + name, name + character, character + name + character)
            yield from (f"x{character}{name}{character}y", f"{name}{character}{name}")
        for n in range(1, len(name)):
            yield from (f"a {name[:n]}", f"{name}{name[:n]}", f"{name[n:]}b", f"{name[:n]}{name}")
    for one, other in product(beside, repeat=2):
        yield from (one + other, f"{one} {other}", f"{one}{other}{one}", f"a{one}{other}b")


def _heeds_options(case: Case, name: str) -> bool:
    """Whether a target that takes any keyword argument heeds these."""
    if not case.client.offers(ANY_OPTION):
        return True
    plain, allowed = case.client.ids(name), case.client.ids(name, allowed_special="all", disallowed_special=[])
    return not isinstance(allowed, Refusal) and plain != allowed


def _stage_of(case: Case, verdict: CheckVerdict) -> Any:
    """Return `special tokens` where a text is right once the characters of special tokens in it are replaced."""
    example = verdict.counterexample
    if example is None or example.text is None:
        return verdict.stage
    text = example.text.text
    other = "".join("." if character in "<|>[]" else character for character in text)
    right = other != text and case.agrees(other, case.client.ids(other)) == "right"
    return "special tokens" if right else verdict.stage


def _by_the_rules(case: Case, specials: Sequence[str], texts: Sequence[str]) -> CheckVerdict | None:
    """Return a failure with the shortest text that is wrong where special tokens are allowed or refused by option."""
    first = list(specials[:1])
    rules: list[tuple[Any, Any]] = [("all", []), ([], []), (first, []), ([], "all"), ([], first)]
    for text in sorted(texts, key=len):
        for allowed, disallowed in rules:
            expected = case.reference.encode(text, allowed, disallowed)
            got = case.client.ids(text, allowed_special=allowed, disallowed_special=disallowed)
            both_refuse = isinstance(expected, Refusal) and isinstance(got, Refusal) and not got.fatal
            if got != expected and not both_refuse:
                case.client.fresh()
                options = {"allowed_special": allowed, "disallowed_special": disallowed}
                alone = case.client.ids(text, **options) == expected
                return CheckVerdict(
                    status="failed",
                    stage="bad input" if alone else "special tokens",
                    reason=AFTER_BAD_INPUT if alone else ", ".join(f"{k}={v!r}" for k, v in options.items()),
                    counterexample=FailingInput.of(text, expected=expected, got=got),
                    n_failed=1,
                )
    return None
