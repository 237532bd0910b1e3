"""Round trip and agreement of every pair of implementations, over models and corpora."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations

import impls
from harness.check.classes import Relation, relation
from harness.check.tasks import (
    CorpusOutcome,
    Key,
    differing_piece_share,
    differing_text,
    encode_corpus,
    has_sentencepiece_rules,
    irregularities_of,
)
from harness.process.pool import WorkerDied, run_tasks
from harness.records import Agreement, NotCompared, TrainerAgreement, Verdict

SLOW = {"naive": 10, "sentencepiece": 2}
"""Implementation -> how many times less text it gets for being slow; the others get that slice as well as their own."""
_LEAST_BYTES = 4
"""No slice is smaller: any character fits."""
_DID_NOT_RUN = ("unsupported", "missing")
_PAIRS_NAMED = 3
_LONGEST_EXAMPLE = 60


def _slowness(implementation: str) -> int:
    return SLOW.get(implementation, 1)


def _is_fast(implementation: str) -> bool:
    try:
        return impls.get(implementation).kind != "pure" and implementation not in SLOW
    except Exception:  # its worker reports why it cannot be loaded
        return False


@dataclass(frozen=True, slots=True)
class CheckPlan:
    """What to check: every implementation on every model and corpus."""

    implementations: Sequence[str]
    models: Sequence[str]
    corpora: Sequence[str]
    split: str | None = None
    max_bytes: int = 200_000
    """UTF-8 bytes of each corpus given to a pure implementation."""
    fast_factor: int = 1
    """How many times more text all others get, so that pairs of fast ones are compared on millions of ids."""

    def bytes_for(self, implementation: str) -> int:
        """Return how many bytes of a corpus this implementation is given."""
        fast_factor = self.fast_factor if _is_fast(implementation) else 1
        return max(_LEAST_BYTES, self.max_bytes * fast_factor // _slowness(implementation))

    @property
    def slices(self) -> tuple[int, ...]:
        """The sizes in bytes of the slices of a corpus given to the implementations."""
        return tuple(sorted(set(map(self.bytes_for, self.implementations))))

    @property
    def cells(self) -> list[tuple[str, str, str]]:
        """(implementation, model, corpus), grouped by model and implementation."""
        return [(i, m, c) for m in self.models for i in self.implementations for c in self.corpora]


@dataclass(frozen=True, slots=True)
class CheckResult:
    """The verdicts and agreements of a check, the pairs that were not compared, and the faults."""

    verdicts: list[Verdict]
    agreements: list[Agreement]
    not_compared: list[NotCompared]
    faults: list[str]

    @property
    def summary(self) -> str:
        """What a check without faults has shown and what not, on one line."""
        if not (self.agreements or self.not_compared):
            return "no fault; there were no two to compare"
        return summary_of(self.agreements, self.not_compared)


def summary_of(compared: Sequence[Agreement | TrainerAgreement], not_compared: Sequence[NotCompared]) -> str:
    """Summarise comparisons without a fault and pairs that were not compared."""
    owed = [found.n_bytes for found in compared if found.agreement_class != "expected to differ"]
    pairs = sorted({f"{found.a} and {found.b}" for found in not_compared})
    summary = "no fault; no two were compared that must agree"
    if owed:
        scope = "what was compared agrees where it must" if pairs else "everything that must agree agrees"
        summary = f"{scope} ({len(owed):,} comparisons, the smallest on {min(owed):,} bytes)"
    if not pairs:
        return summary
    more = f" and {len(pairs) - _PAIRS_NAMED:,} more pairs" if len(pairs) > _PAIRS_NAMED else ""
    return f"{summary}; not compared on everything: {', '.join(pairs[:_PAIRS_NAMED])}{more}"


def check(plan: CheckPlan, progress: Callable[[str], None] = lambda what: None) -> CheckResult:
    """Run the plan; `progress(what)` is called as each cell, then each differing pair, is done.

    A fault is a failed verdict, a difference between two implementations that must agree, a cell in which nothing was
    encoded, or two that both ran but could not be compared.
    """
    cells = plan.cells
    arguments = [(i, m, c, plan.split, plan.bytes_for(i), plan.slices) for i, m, c in cells]
    answers = run_tasks(encode_corpus, arguments, lambda index: progress(" · ".join(cells[index])))
    outcomes = {
        cell: died(answer) if isinstance(answer, WorkerDied) else answer
        for cell, answer in zip(cells, answers, strict=True)
    }
    verdicts = [verdict_of(cell, outcome) for cell, outcome in outcomes.items()]
    agreements, not_compared, faults = _agreements(plan, outcomes, progress)
    for v in verdicts:
        if v.status == "ok" and not v.n_texts:
            faults.append(f"{v.implementation} on {v.model}, {v.corpus}: nothing was checked: there is no text")
        elif v.status not in ("ok", *_DID_NOT_RUN):
            faults.append(f"{v.implementation} on {v.model}, {v.corpus}: {v.status}: {v.reason}")
    if verdicts and not any(v.n_texts for v in verdicts):
        faults.append("nothing was checked: no implementation could be run")
    elif not_compared and not agreements:
        faults.append("nothing was compared: no two implementations encoded the same text")
    return CheckResult(verdicts, agreements, not_compared, faults)


def died(answer: WorkerDied) -> CorpusOutcome:
    """Return the outcome of a cell whose worker died."""
    return CorpusOutcome(status=answer.status, reason=str(answer))


def verdict_of(cell: tuple[str, str, str], outcome: CorpusOutcome) -> Verdict:
    """Return the record of one cell: implementation, model, corpus."""
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
    plan: CheckPlan, outcomes: dict[tuple[str, str, str], CorpusOutcome], progress: Callable[[str], None]
) -> tuple[list[Agreement], list[NotCompared], list[str]]:
    irregular = run_tasks(irregularities_of, [(model,) for model in plan.models])
    with_rules = run_tasks(has_sentencepiece_rules, [(model,) for model in plan.models])
    agreements: list[Agreement] = []
    not_compared: list[NotCompared] = []
    relations: dict[tuple[str, str, str], Relation] = {}
    for model, known, ruled in zip(plan.models, irregular, with_rules, strict=True):
        irregularities = () if isinstance(known, WorkerDied) else known
        for a, b in combinations(plan.implementations, 2):
            for corpus in plan.corpora:
                x, y = outcomes[a, model, corpus], outcomes[b, model, corpus]
                if reason := _why_not_run(a, x) or _why_not_run(b, y):
                    not_compared.append(NotCompared(a=a, b=b, model=model, corpus=corpus, reason=reason))
                    continue
                kind = relations.setdefault((a, b, model), relation(a, b, irregularities, sentencepiece=ruled is True))
                found = _compare((a, b, model, corpus), x, y, kind)
                if isinstance(found, Agreement):
                    agreements.append(found)
                else:
                    not_compared.append(found)
    _add_counterexamples(plan, agreements, outcomes, progress)
    faults: list[str] = []
    for agreement in agreements:
        if agreement.n_differing_texts and relations[agreement.a, agreement.b, agreement.model].must_agree:
            faults.append(
                f"{agreement.a} and {agreement.b} differ on {agreement.model}, {agreement.corpus}: "
                f"{agreement.n_differing_texts} of {agreement.n_texts} texts{_example(agreement)}"
            )
    faults += [
        f"{pair.a} and {pair.b} were not compared on {pair.model}, {pair.corpus}: {pair.reason}"
        for pair in not_compared
        if (pair.a, pair.b, pair.model) in relations and relations[pair.a, pair.b, pair.model].must_agree
    ]
    return agreements, not_compared, faults


def _why_not_run(implementation: str, outcome: CorpusOutcome) -> str:
    """Say why an implementation cannot be compared, where it did not run or failed on every text; else empty."""
    return "" if outcome.digests or outcome.status == "ok" else f"{implementation}: {outcome.status}: {outcome.reason}"


def _in_common(x: CorpusOutcome, y: CorpusOutcome) -> list[Key]:
    """Return the texts both encoded, in order of the corpus."""
    return sorted(x.digests.keys() & y.digests.keys())


def _differing(x: CorpusOutcome, y: CorpusOutcome) -> list[Key]:
    return [key for key in _in_common(x, y) if x.digests[key] != y.digests[key]]


def _compare(
    cell: tuple[str, str, str, str], x: CorpusOutcome, y: CorpusOutcome, kind: Relation
) -> Agreement | NotCompared:
    a, b, model, corpus = cell
    texts = _in_common(x, y)
    if not texts:
        return NotCompared(
            a=a,
            b=b,
            model=model,
            corpus=corpus,
            reason="no text that both encoded",
            agreement_class=kind.agreement_class,
            conditions=kind.conditions,
        )
    return Agreement(
        a=a,
        b=b,
        model=model,
        corpus=corpus,
        agreement_class=kind.agreement_class,
        conditions=kind.conditions,
        n_texts=len(texts),
        n_bytes=sum(n_bytes for _, n_bytes in texts),
        n_differing_texts=len(_differing(x, y)),
    )


def _add_counterexamples(
    plan: CheckPlan,
    agreements: list[Agreement],
    outcomes: dict[tuple[str, str, str], CorpusOutcome],
    progress: Callable[[str], None],
) -> None:
    """Add one counterexample for each pair and model that differs, and for greedy against priority how often."""
    differing = [found for found in agreements if found.n_differing_texts]
    first_of_pair = list({(f.a, f.b, f.model): f for f in reversed(differing)}.values())
    tasks = []
    for found in first_of_pair:
        x, y = (outcomes[name, found.model, found.corpus] for name in (found.a, found.b))
        tasks.append((found.a, found.b, found.model, found.corpus, plan.split, _differing(x, y)[0]))
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


def _example(agreement: Agreement) -> str:
    """Return the text a pair differs on, with the command that explains why where it is short, else its beginning."""
    if agreement.counterexample is None:
        return ""
    text = agreement.counterexample.text.escaped
    if len(text) > _LONGEST_EXAMPLE:
        return f", e.g. '{text[:_LONGEST_EXAMPLE]}…' (whole: --json)"
    sides = f"{shlex.quote(agreement.a)} {shlex.quote(agreement.b)}"
    return f"; why: bpebench explain {sides} -m {shlex.quote(agreement.model)} --escaped {shlex.quote(text)}"
