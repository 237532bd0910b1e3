"""Round trip and agreement of every pair of implementations, over models and corpora."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations

import impls
from harness.check.classes import Relation, relation
from harness.check.tasks import (
    Outcome,
    differing_piece_share,
    differing_text,
    encode_corpus,
    has_sentencepiece_rules,
    irregularities_of,
)
from harness.check.workers import WorkerDied, run_tasks
from harness.records import Agreement, Verdict

SLOW = {"naive": 10, "sentencepiece": 2}
"""How many times less text a slow implementation is given; pairs are compared on the texts both encoded."""


def _slowness(implementation: str) -> int:
    return SLOW.get(implementation, 1)


def _is_fast(implementation: str) -> bool:
    try:
        return impls.get(implementation).kind != "pure" and implementation not in SLOW
    except Exception:  # one that cannot be loaded gets its verdict from its worker
        return False


@dataclass(frozen=True, slots=True)
class CheckPlan:
    """What to check: every implementation on every model and corpus."""

    implementations: Sequence[str]
    models: Sequence[str]
    corpora: Sequence[str]
    split: str | None = None
    max_bytes: int = 200_000
    """UTF-8 bytes taken of each corpus by a pure implementation."""
    fast_factor: int = 1
    """How many times more text all others are given: pairs of fast ones are compared on millions of ids."""

    def bytes_for(self, implementation: str) -> int:
        """How much of a corpus this implementation is given."""
        return max(
            1, self.max_bytes * (self.fast_factor if _is_fast(implementation) else 1) // _slowness(implementation)
        )

    @property
    def cells(self) -> list[tuple[str, str, str]]:
        """(implementation, model, corpus); cells of one implementation and model stand together."""
        return [(i, m, c) for m in self.models for i in self.implementations for c in self.corpora]


@dataclass(frozen=True, slots=True)
class CheckResult:
    """The verdicts and agreements of a check, and what of them is a fault."""

    verdicts: list[Verdict]
    agreements: list[Agreement]
    faults: list[str]


def check(plan: CheckPlan, progress: Callable[[str], None] = lambda what: None) -> CheckResult:
    """Run the plan; `progress(what)` is called as each cell, then each differing pair, is done."""
    cells = plan.cells
    arguments = [(i, m, c, plan.split, plan.bytes_for(i)) for i, m, c in cells]
    answers = run_tasks(encode_corpus, arguments, lambda index: progress(" · ".join(cells[index])))
    outcomes = {
        cell: died(answer) if isinstance(answer, WorkerDied) else answer
        for cell, answer in zip(cells, answers, strict=True)
    }
    verdicts = [verdict_of(cell, outcome) for cell, outcome in outcomes.items()]
    agreements, faults = _agreements(plan, outcomes, progress)
    faults += [
        f"{v.implementation} on {v.model}, {v.corpus}: {v.status}: {v.reason}"
        for v in verdicts
        if v.status not in ("ok", "unsupported", "missing")
    ]
    if verdicts and not any(v.n_texts for v in verdicts):
        faults.append("nothing was checked: no implementation could be run")
    return CheckResult(verdicts, agreements, faults)


def died(answer: WorkerDied) -> Outcome:
    """What a cell whose worker died comes to."""
    return Outcome(status="crash", reason=str(answer))


def verdict_of(cell: tuple[str, str, str], outcome: Outcome) -> Verdict:
    """The record of one cell: implementation, model, corpus."""
    implementation, model, corpus = cell
    return Verdict(
        implementation=implementation,
        model=model,
        corpus=corpus,
        check="round-trip" if outcome.n_texts else "load",
        status=outcome.status,
        reason=outcome.reason,
        n_texts=outcome.n_texts,
        n_bytes=outcome.n_bytes,
        counterexample=outcome.counterexample,
        round_trip=outcome.round_trip,
    )


def _agreements(
    plan: CheckPlan, outcomes: dict[tuple[str, str, str], Outcome], progress: Callable[[str], None]
) -> tuple[list[Agreement], list[str]]:
    irregular = run_tasks(irregularities_of, [(model,) for model in plan.models])
    with_rules = run_tasks(has_sentencepiece_rules, [(model,) for model in plan.models])
    agreements: list[Agreement] = []
    relations: dict[tuple[str, str, str], Relation] = {}
    for model, known, ruled in zip(plan.models, irregular, with_rules, strict=True):
        irregularities = () if isinstance(known, WorkerDied) else known
        for a, b in combinations(plan.implementations, 2):
            for corpus in plan.corpora:
                x, y = outcomes[a, model, corpus], outcomes[b, model, corpus]
                if x.digests and y.digests:
                    kind = relations.setdefault(
                        (a, b, model), relation(a, b, irregularities, sentencepiece=ruled is True)
                    )
                    agreements.append(_compare((a, b, model, corpus), x, y, kind))
    _explain(plan, agreements, outcomes, progress)
    faults: list[str] = []
    for found in agreements:
        if found.n_differing_texts and relations[found.a, found.b, found.model].must_agree:
            example = "" if found.counterexample is None else f", e.g. '{_short(found.counterexample.text.escaped)}'"
            faults.append(
                f"{found.a} and {found.b} differ on {found.model}, {found.corpus}: "
                f"{found.n_differing_texts} of {found.n_texts} texts{example}"
            )
    return agreements, faults


def _differing(x: Outcome, y: Outcome) -> Iterable[int]:
    both = zip(x.digests, y.digests, strict=False)
    return (index for index, (one, other) in enumerate(both) if one and other and one != other)


def _compare(cell: tuple[str, str, str, str], x: Outcome, y: Outcome, kind: Relation) -> Agreement:
    a, b, model, corpus = cell
    return Agreement(
        a=a,
        b=b,
        model=model,
        corpus=corpus,
        agreement_class=kind.agreement_class,
        conditions=kind.conditions,
        n_texts=sum(1 for one, other in zip(x.digests, y.digests, strict=False) if one and other),
        n_bytes=min(x.n_bytes, y.n_bytes),
        n_differing_texts=sum(1 for _ in _differing(x, y)),
    )


def _explain(
    plan: CheckPlan,
    agreements: list[Agreement],
    outcomes: dict[tuple[str, str, str], Outcome],
    progress: Callable[[str], None],
) -> None:
    """One counterexample for each pair and model that differs; how often, for a pair expected to."""
    differing = [found for found in agreements if found.n_differing_texts]
    first_of_pair = list({(f.a, f.b, f.model): f for f in reversed(differing)}.values())
    tasks = []
    for found in first_of_pair:
        x, y = (outcomes[name, found.model, found.corpus] for name in (found.a, found.b))
        max_bytes = max(plan.bytes_for(found.a), plan.bytes_for(found.b))
        tasks.append((found.a, found.b, found.model, found.corpus, plan.split, max_bytes, next(iter(_differing(x, y)))))
    examples = run_tasks(
        differing_text,
        tasks,
        lambda i: progress(f"counterexample {first_of_pair[i].a} · {first_of_pair[i].b}"),
    )
    for found, example in zip(first_of_pair, examples, strict=True):
        found.counterexample = None if isinstance(example, WorkerDied) else example
    measured = [
        found
        for found in differing
        if found.agreement_class == "expected to differ" and {found.a, found.b} == {"greedy", "priority"}
    ]
    shares = run_tasks(
        differing_piece_share,
        [(f.a, f.b, f.model, f.corpus, plan.split, min(map(plan.bytes_for, (f.a, f.b)))) for f in measured],
    )
    for found, share in zip(measured, shares, strict=True):
        found.differing_piece_share = None if isinstance(share, WorkerDied) else share


def _short(text: str, at_most: int = 60) -> str:
    return text if len(text) <= at_most else f"{text[:at_most]}…"
