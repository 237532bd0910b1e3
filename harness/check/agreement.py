"""Check that every implementation round-trips and that every pair agrees, over models and corpora."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from typing import Any

import impls
from harness.check.classes import relation
from harness.check.tasks import CorpusOutcome, Key, differing_text, encode_corpus
from harness.data import load_model
from harness.outcome import Outcome
from harness.process.pool import Pool
from harness.process.session import Failed
from harness.records import Agreement, NotCompared, Verdict
from harness.targets.published import published_file
from harness.targets.spec import PUBLISHED
from impls.core.errors import plural

_PAIRS_NAMED = 3
_LONGEST_EXAMPLE = 60


Cell = tuple[str, str, str]
"""Implementation, model and corpus."""


@dataclass(frozen=True, slots=True)
class CheckPlan:
    """What to check: every implementation on every model and corpus."""

    implementations: Sequence[str]
    models: Sequence[str]
    corpora: Sequence[str]
    split: str | None = None
    max_bytes: int = 200_000
    """UTF-8 bytes of each corpus that are encoded."""

    @property
    def cells(self) -> list[Cell]:
        """Return every combination to encode, grouped by model and implementation."""
        return [(i, m, c) for m in self.models for i in self.implementations for c in self.corpora]


@dataclass(frozen=True)
class CheckResult:
    """The result of a check: verdicts, agreements, pairs that were not compared, and faults."""

    verdicts: list[Verdict]
    agreements: list[Agreement]
    not_compared: list[NotCompared]
    faults: list[str]

    @property
    def summary(self) -> str:
        """Say on one line what a check without faults has and has not shown."""
        owed = [pair for pair in self.agreements if pair.agreement_class != "expected to differ"]
        pairs = sorted({f"{pair.a} and {pair.b}" for pair in self.not_compared})
        summary = "no fault; no pair that must agree was compared"
        if owed:
            n_bytes = min(pair.n_bytes for pair in owed)
            scope = "all compared pairs that must agree do" if pairs else "all pairs that must agree do"
            summary = f"{scope} ({plural(len(owed), 'comparison')}, the smallest on {n_bytes:,} bytes)"
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
    with Pool() as pool:
        tasks = [(*cell, plan.split, plan.max_bytes) for cell in cells]
        answers = pool.run(encode_corpus, tasks, lambda index: progress(" · ".join(cells[index])))
        outcomes = {cell: _outcome(cell, answer) for cell, answer in zip(cells, answers, strict=True)}
        compared = list(_compared(plan, outcomes))
        agreements = [pair for pair, *_ in compared if isinstance(pair, Agreement)]
        differing = {(pair.a, pair.b, pair.model): (pair, keys[0]) for pair, _, keys in reversed(compared) if keys}
        texts = [(*names, pair.corpus, plan.split, key) for names, (pair, key) in differing.items()]
        examples = pool.run(differing_text, texts, lambda i: progress(f"counterexample {' · '.join(texts[i][:2])}"))
        for (pair, _), example in zip(differing.values(), examples, strict=True):
            pair.counterexample = None if isinstance(example, Failed) else example
    not_compared = [pair for pair, *_ in compared if isinstance(pair, NotCompared)]
    verdicts = [outcome.verdict for outcome in outcomes.values()]
    faults = [*_faults_of_pairs([pair for pair, must_agree, _ in compared if must_agree]), *_faults_of_one(verdicts)]
    if verdicts and not any(v.n_texts for v in verdicts):
        faults.append("nothing was checked: no implementation could be run")
    elif not agreements:
        faults.append("nothing was compared: no two implementations encoded the same text")
    return CheckResult(verdicts, agreements, not_compared, faults)


def _outcome(cell: Cell, answer: CorpusOutcome | Failed) -> CorpusOutcome:
    """Return the answer; if its worker died, a verdict that says so."""
    if not isinstance(answer, Failed):
        return answer
    i, model, corpus = cell
    verdict = Verdict(implementation=i, model=model, corpus=corpus, check="load", status=answer.outcome)
    verdict.reason = answer.reason
    return CorpusOutcome(verdict)


def _compared(plan: CheckPlan, outcomes: dict[Cell, CorpusOutcome]) -> Iterator[tuple[Any, bool, list[Key]]]:
    """Yield the comparison of every pair on every model and corpus, whether both ran and must agree, differing texts.

    The comparison is an `Agreement` or a `NotCompared`; texts that both encoded to different ids are in corpus order.
    """
    for model in plan.models:
        is_sentencepiece = load_model(model).sentencepiece is not None
        for (a, b), corpus in product(combinations(plan.implementations, 2), plan.corpora):
            names: dict[str, Any] = {"a": a, "b": b, "model": model, "corpus": corpus}
            x, y = outcomes[a, model, corpus], outcomes[b, model, corpus]
            try:
                kind = relation(a, b, sentencepiece=is_sentencepiece)
            except impls.BPEError as error:  # one of them cannot be imported
                yield NotCompared(**names, reason=_why_not_run(x) or _why_not_run(y) or str(error)), False, []
                continue
            owed: dict[str, Any] = {"agreement_class": kind.agreement_class, "conditions": kind.conditions}
            if reason := _why_not_run(x) or _why_not_run(y):
                cannot = x.verdict.status.did_not_run or y.verdict.status.did_not_run
                yield NotCompared(**names, **({} if cannot else owed), reason=reason), False, []
            elif texts := x.digests.keys() & y.digests.keys():
                pair = Agreement(**names, **owed, n_texts=len(texts), n_bytes=sum(n for _, n in texts))
                keys = sorted(key for key in texts if x.digests[key] != y.digests[key])
                pair.n_differing_texts = len(keys)
                yield pair, kind.must_agree, keys
            else:
                yield NotCompared(**names, **owed, reason="both encoded no common text"), kind.must_agree, []


def _faults_of_pairs(compared: Sequence[Agreement | NotCompared]) -> Iterator[str]:
    for pair in compared:
        where = f"on {pair.model}, {pair.corpus}"
        if isinstance(pair, NotCompared):
            yield f"{pair.a} and {pair.b} were not compared {where}: {pair.reason}"
        elif pair.n_differing_texts:
            n_texts = f"{pair.n_differing_texts} of {pair.n_texts} texts"
            yield f"{pair.a} and {pair.b} differ {where}: {n_texts}{explaining_command(pair)}"


def _faults_of_one(verdicts: Sequence[Verdict]) -> Iterator[str]:
    for v in verdicts:
        where = f"{v.implementation} on {v.model}, {v.corpus}"
        if v.status == Outcome.RIGHT and not v.n_texts:
            yield f"{where}: nothing was checked: there is no text"
        elif v.status is not Outcome.RIGHT and not v.status.did_not_run:
            yield f"{where}: {v.status}: {v.reason}"


def _why_not_run(outcome: CorpusOutcome) -> str:
    """Say why an implementation cannot be compared: it did not run, or failed on every text. Empty if it can."""
    v = outcome.verdict
    return "" if outcome.digests or v.status == Outcome.RIGHT else f"{v.implementation}: {v.status}: {v.reason}"


def explaining_command(agreement: Agreement) -> str:
    """Return a text the pair differs on, with the command that explains it; only the beginning of a long text."""
    if agreement.counterexample is None:
        return ""
    text = agreement.counterexample.text.escaped
    if len(text) > _LONGEST_EXAMPLE:
        return f", e.g. '{text[:_LONGEST_EXAMPLE]}…' (whole: --json)"
    published = published_file(agreement.model)
    sides = shlex.join(str(published) if side == PUBLISHED else side for side in (agreement.a, agreement.b))
    return f"; why: bpebench explain {sides} -m {shlex.quote(agreement.model)} --escaped {shlex.quote(text)}"
