"""Compare what trainers learn: every pair by a rule both follow, or else each by its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import msgspec

from harness.check.agreement import Checked
from harness.check.trainer_tasks import (
    RULES,
    Merge,
    TrainerOutcome,
    counts_of_pairs,
    describe_difference,
    differ_in_ties_only,
    rules_to_compare,
    train,
    verdict_on,
)
from harness.common_prefix import common_prefix_length
from harness.outcome import Outcome
from harness.process.pool import run_tasks
from harness.process.session import Failed
from harness.records import FirstDifference, MergeChoice, NotCompared, Text, TrainerAgreement

N_EXAMPLES = 5
_FINE = (Outcome.RIGHT, Outcome.REFUSED, Outcome.MISSING)

Outcomes = dict[tuple[str, str, str], TrainerOutcome]
"""By trainer, rule and corpus."""


@dataclass(frozen=True, slots=True)
class TrainerPlan:
    """Which trainers learn from which corpora."""

    trainers: Sequence[str]
    corpora: Sequence[str]
    max_merges: int
    max_bytes: int
    """UTF-8 bytes of each corpus to train on, and as many to count."""

    @property
    def cells(self) -> list[tuple[str, str, str]]:
        """Return (trainer, rule, corpus) of every training."""
        return [(t, rule, c) for c in self.corpora for t in self.trainers for rule in RULES]


TrainerResult = Checked[TrainerAgreement]


def check_trainers(plan: TrainerPlan, progress: Callable[[str], None] = lambda what: None) -> TrainerResult:
    """Train, compare every pair, and find out whether each first difference was a tie.

    A fault is a pair that differs under one rule, a pair that differs without a tie though its rules differ only in
    ties, a trainer that fails, or no comparable pair at all.
    """
    cells = plan.cells
    answers = run_tasks(
        train,
        [(*cell, plan.max_merges, plan.max_bytes) for cell in cells],
        lambda index: progress(" · ".join(cells[index])),
    )
    outcomes = {
        cell: TrainerOutcome(verdict_on(*cell, answer.outcome, answer.reason)) if isinstance(answer, Failed) else answer
        for cell, answer in zip(cells, answers, strict=True)
    }
    compared = [found for corpus in plan.corpora for found in _compared(plan, corpus, outcomes)]
    agreements = [found for found in compared if isinstance(found, TrainerAgreement)]
    not_compared = [found for found in compared if isinstance(found, NotCompared)]
    _count_first_differences(plan, agreements, outcomes)
    for found in agreements:
        found.fault = _fault(found)
    verdicts = [outcome.verdict for outcome in outcomes.values()]
    faults = [f"{found.a} and {found.b} on {found.corpus}: {found.fault}" for found in agreements if found.fault]
    faults += [
        f"{v.implementation} by the rule '{v.model}' on {v.corpus}: {v.status}: {v.reason}"
        for v in verdicts
        if v.status not in _FINE
    ]
    if not agreements:
        faults.append("nothing was compared: no two trainers learned a merge from the same text")
    return TrainerResult(verdicts, agreements, not_compared, faults)


def _compared(plan: TrainerPlan, corpus: str, outcomes: Outcomes) -> Iterator[TrainerAgreement | NotCompared]:
    followed = {
        trainer: [rule for rule in RULES if outcomes[trainer, rule, corpus].verdict.status == Outcome.RIGHT]
        for trainer in plan.trainers
    }
    for a, b in combinations(plan.trainers, 2):
        rules = rules_to_compare(followed[a], followed[b])
        if not rules:
            idle = next(trainer for trainer in (a, b) if not followed[trainer])
            yield NotCompared(
                a=a, b=b, model="", corpus=corpus, reason=f"{idle} learned nothing from this text by any of the rules"
            )
        for rule_a, rule_b in rules:
            yield _compare((a, rule_a), (b, rule_b), corpus, plan.max_merges, outcomes)


def _compare(
    one: tuple[str, str], other: tuple[str, str], corpus: str, max_merges: int, outcomes: Outcomes
) -> TrainerAgreement | NotCompared:
    """Compare two trainers, each by its rule; counts at their first difference are filled in later."""
    x, y = outcomes[*one, corpus], outcomes[*other, corpus]
    if not (x.merges or y.merges):
        return NotCompared(a=one[0], b=other[0], model=one[1], corpus=corpus, reason="neither learned a merge")
    only_a, only_b = (_learned_only(first, second) for first, second in ((x, y), (y, x)))
    return TrainerAgreement(
        a=one[0],
        b=other[0],
        rule_a=one[1],
        rule_b=other[1],
        corpus=corpus,
        agreement_class="provably equal" if one[1] == other[1] else "expected to differ",
        conditions=describe_difference(one[1], other[1]),
        max_merges=max_merges,
        n_bytes=x.verdict.n_bytes,
        n_merges_a=len(x.merges),
        n_merges_b=len(y.merges),
        first_difference=_first_difference(x.merges, y.merges),
        n_only_a=len(only_a),
        n_only_b=len(only_b),
        only_a=list(map(readable, only_a[:N_EXAMPLES])),
        only_b=list(map(readable, only_b[:N_EXAMPLES])),
        n_tokens_a=x.n_tokens,
        n_tokens_b=y.n_tokens,
        n_counted_bytes=x.n_counted_bytes,
        counted_on=x.counted_on,
    )


def _learned_only(one: TrainerOutcome, other: TrainerOutcome) -> list[bytes]:
    """Return the tokens only `one` learned, in the order learned."""
    theirs = {left + right for left, right in other.merges}
    return [token for token in dict.fromkeys(left + right for left, right in one.merges) if token not in theirs]


def readable(token: bytes) -> Text:
    """Return a token as text, bytes that are not UTF-8 as escapes."""
    return Text.of(token.decode("utf-8", "backslashreplace"))


def _first_difference(one: Sequence[Merge], other: Sequence[Merge]) -> FirstDifference | None:
    if one == other:
        return None
    step = common_prefix_length(one, other)
    merged = [merges[step] if step < len(merges) else None for merges in (one, other)]
    a, b = (None if pair is None else MergeChoice(readable(pair[0]), readable(pair[1])) for pair in merged)
    return FirstDifference(step=step + 1, a=a, b=b)


def _count_first_differences(plan: TrainerPlan, agreements: Sequence[TrainerAgreement], outcomes: Outcomes) -> None:
    """Add how often both pairs occurred at the first difference, by each trainer's counts, and whether it was a tie."""
    differing = [(found, found.first_difference) for found in agreements if found.first_difference is not None]
    tasks = []
    for found, first in differing:
        at = first.step - 1
        lists = [
            outcomes[found.a, found.rule_a, found.corpus].merges,
            outcomes[found.b, found.rule_b, found.corpus].merges,
        ]
        pairs = [merge for merges in lists for merge in merges[at : at + 1]]
        tasks += [(rule, found.corpus, plan.max_bytes, lists[0][:at], pairs) for rule in (found.rule_a, found.rule_b)]
    counted = iter(run_tasks(counts_of_pairs, tasks))
    for (found, first), as_a, as_b in zip(differing, counted, counted, strict=True):
        if isinstance(as_a, Failed) or isinstance(as_b, Failed):
            continue
        found.first_difference = msgspec.structs.replace(
            first,
            a=None if first.a is None else msgspec.structs.replace(first.a, count=as_a[0]),
            b=None if first.b is None else msgspec.structs.replace(first.b, count=as_b[-1]),
            is_tie=first.a is not None and first.b is not None and len({*as_a, *as_b}) == 1,
        )


def _fault(found: TrainerAgreement) -> str:
    """Say why a difference is a fault; empty if it is not."""
    first = found.first_difference
    if first is None:
        return ""
    where = f"first at merge {first.step}: {describe_choice(first.a)} and {describe_choice(first.b)}"
    if found.rule_a == found.rule_b:
        return f"they differ under one rule, '{found.rule_a}', {where}"
    if differ_in_ties_only(found.rule_a, found.rule_b) and not first.is_tie:
        return f"their rules differ only in ties, but they differ where there is none, {where}"
    return ""


def describe_choice(choice: MergeChoice | None) -> str:
    """Describe a merge with its count: `'h'+'e' (10 times)`."""
    if choice is None:
        return "the end"
    times = "" if choice.count is None else f" ({choice.count:,} times)"
    return f"'{choice.left.escaped}'+'{choice.right.escaped}'{times}"
