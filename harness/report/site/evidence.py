"""What the records prove about ids: for each implementation and vocabulary, on how much text, or what disproves it.

Counts never exceed what was compared: for each corpus only the longest text counts, once, whatever was timed on it, and
only runs of the newest recorded version of an implementation.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from harness.records import Agreement, Counterexample, Disagreement, Measurement, of_kind
from harness.report import wording
from harness.report.run import Run
from harness.report.site.versions import date_of, package_of, release_order, version_of
from harness.report.table import grouped

REFERENCES = ("tiktoken", "priority", "naive")
"""If one of these differs from another implementation, the failure counts against the other one."""
_FAULTS = ("mismatch", "crash", "panic", "timeout", "out-of-memory")
_SELECTION = "mixed"
"""A corpus made of parts of the others, so that its text is not added to theirs."""


@dataclass(frozen=True, slots=True)
class Failure:
    """One way in which an implementation failed on a vocabulary."""

    status: str
    reason: str
    example: Counterexample | None = None


@dataclass(slots=True)
class Evidence:
    """What was verified for one implementation on one vocabulary."""

    implementation: str
    model: str
    version: str | None
    exact: bool = True
    """False if the implementation declares that its ids differ."""
    bytes_by_corpus: dict[str, int] = field(default_factory=dict)
    strings_by_corpus: dict[str, int] = field(default_factory=dict)
    """For each corpus the largest number of texts given in calls of their own."""
    compared_with: dict[str, None] = field(default_factory=dict)
    runs: dict[str, str] = field(default_factory=dict)
    """Run -> its date."""
    failures: dict[tuple[str, str], Failure] = field(default_factory=dict)

    def credit(self, run: Run, corpus: str, n_bytes: int, n_texts: int, other: str) -> None:
        """Count a text on which the ids equal those of `other`."""
        part = corpus if corpus.startswith("gen/") else corpus.partition("/")[0]
        self.bytes_by_corpus[part] = max(n_bytes, self.bytes_by_corpus.get(part, 0))
        self.strings_by_corpus[part] = max(n_texts, self.strings_by_corpus.get(part, 0))
        self.compared_with[other] = None
        self.runs[run.folder.name] = date_of(run)

    def fail(self, status: str, reason: str, example: Counterexample | None = None) -> None:
        """Keep one failure of each kind, the first with an example."""
        known = self.failures.get((status, reason))
        if known is None or known.example is None:
            self.failures[status, reason] = Failure(status, reason, example)

    @property
    def n_bytes(self) -> int:
        """Return the bytes of text whose ids were verified."""
        return _total(self.bytes_by_corpus)

    @property
    def n_strings(self) -> int:
        """Return the number of texts."""
        return _total(self.strings_by_corpus)

    @property
    def date(self) -> str:
        """Return the date of the latest counted run."""
        return max(self.runs.values(), default="")

    @property
    def wrong(self) -> Failure | None:
        """Return a failure that shows wrong ids, preferably with its text; None if there is none."""
        found = [failure for failure in self.failures.values() if failure.status == "mismatch"]
        return min(found, key=lambda failure: failure.example is None, default=None)

    @property
    def verdict(self) -> str:
        """Return `exact`, `wrong ids`, `other ids by design`, or `not verified`."""
        if self.wrong is not None:
            return "wrong ids"
        return "other ids by design" if not self.exact else "exact" if self.n_bytes else "not verified"

    @property
    def said(self) -> str:
        """Return the text of a badge after `ids`."""
        if self.verdict == "exact":
            return f"verified on {wording.size(self.n_bytes)}, {wording.counted(self.n_strings, 'string')}, {self.date}"
        example = self.wrong.example if self.wrong is not None else None
        return self.verdict if example is None else f"wrong on {wording.quoted(example.text.escaped, 24)}"


def _total(by_corpus: dict[str, int]) -> int:
    others = sum(n for corpus, n in by_corpus.items() if corpus != _SELECTION)
    return max(others, by_corpus.get(_SELECTION, 0))


class _Gathered:
    """Evidence by implementation and vocabulary, of the newest recorded version of each implementation."""

    def __init__(self, runs: Sequence[Run]) -> None:
        self.found: dict[tuple[str, str], Evidence] = {}
        self.newest: dict[str, str | None] = {}
        for run in runs:
            for name in _judged(run):
                found = (version_of(run, name), self.newest.get(name))
                self.newest[name] = max(found, key=lambda version: release_order(version or ""))

    def of(self, implementation: str, model: str) -> Evidence:
        """Return the evidence of an implementation on a vocabulary, empty at first."""
        version = self.newest.get(implementation)
        return self.found.setdefault((implementation, model), Evidence(implementation, model, version))

    def is_current(self, run: Run, implementation: str) -> bool:
        """Return whether the run has the newest recorded version."""
        return self.newest.get(implementation) == version_of(run, implementation)

    def both(self, run: Run, one: str, other: str, model: str, corpus: str, n_bytes: int, n_texts: int) -> None:
        """Count a text on which two implementations gave the same ids, for both."""
        for name, against in ((one, other), (other, one)):
            if self.is_current(run, name):
                self.of(name, model).credit(run, corpus, n_bytes, n_texts, against)


def _judged(run: Run) -> set[str]:
    """Return the implementations whose ids the run compared."""
    timed = [m for m in of_kind(run.records, Measurement) if m.status == "ok"]
    pairs = [{pair.a, pair.b} for pair in of_kind(run.records, Agreement)]
    return {m.implementation for m in timed}.union({m.reference for m in timed}, *pairs) - {""}


def evidence(runs: Sequence[Run], disagreements: Iterable[Disagreement] = ()) -> list[Evidence]:
    """Return what was verified, by implementation and vocabulary, in order of their names."""
    gathered = _Gathered(runs)
    for run in runs:
        for m in of_kind(run.records, Measurement):
            if m.task.startswith("encode") and m.copy == 0 and gathered.is_current(run, m.implementation):
                _take(gathered, run, m)
        for pair in of_kind(run.records, Agreement):
            if pair.agreement_class == "expected to differ":
                continue
            if not pair.n_differing_texts:
                gathered.both(run, pair.a, pair.b, pair.model, pair.corpus, pair.n_bytes, pair.n_texts)
            else:
                for name, other in blamed(pair.a, pair.b):
                    if gathered.is_current(run, name):
                        reason = f"other ids than {other}"
                        gathered.of(name, pair.model).fail("mismatch", reason, pair.counterexample)
    for found in disagreements:
        _take_disagreement(gathered, found)
    kept = (e for e in gathered.found.values() if e.n_bytes or e.failures or not e.exact)
    return sorted(kept, key=lambda e: (e.implementation, e.model))


def _take(gathered: _Gathered, run: Run, m: Measurement) -> None:
    if m.status == "ok" and not m.exact:
        gathered.of(m.implementation, m.model).exact = False
    elif m.status == "ok" and m.reference not in ("", m.implementation):
        gathered.both(run, m.implementation, m.reference, m.model, m.corpus, m.n_bytes, m.n_texts)
    elif m.status in _FAULTS:
        gathered.of(m.implementation, m.model).fail(m.status, m.reason, m.counterexample)


def _take_disagreement(gathered: _Gathered, found: Disagreement) -> None:
    if found.difference not in ("fault", "failure") or found.holds != "differs" or not found.model:
        return
    for name, other in blamed(found.a, found.b):
        recorded = found.versions.get(package_of(name))
        if name in gathered.newest and recorded in (None, gathered.newest[name]):
            failed = name in found.failures
            reason = found.failures[name] if failed else f"other ids than {other}"
            gathered.of(name, found.model).fail("crash" if failed else "mismatch", reason, found.counterexample)


def blamed(a: str, b: str) -> Iterator[tuple[str, str]]:
    """Yield each side that a difference counts against, with the other side: not a reference, unless both are."""
    sides = [(name, other) for name, other in ((a, b), (b, a)) if name not in REFERENCES]
    yield from sides or [(a, b), (b, a)]


def slug_of(found: Evidence) -> str:
    """Return the name of a badge's file, which is also its anchor on the page."""
    parts = (re.sub(r"[^A-Za-z0-9._]+", "-", part).strip("-.") for part in (found.implementation, found.model))
    return "-".join(part or "x" for part in parts)


def summary(found: Iterable[Evidence]) -> list[dict[str, Any]]:
    """Return one row for each implementation over all vocabularies: the exact ones first, by how much was verified."""
    rows: list[dict[str, Any]] = []
    for name, some in grouped(found, lambda one: one.implementation).items():
        wrong = next((one for one in some if one.wrong is not None), None)
        verdict = min((one.verdict for one in some), key=_ORDER.index)
        example = wrong.wrong.example if wrong is not None and wrong.wrong is not None else None
        others = {f.status: f.reason for one in some for f in one.failures.values() if f.status != "mismatch"}
        rows.append(
            {
                "name": name, "version": some[0].version, "verdict": verdict,
                "n_bytes": sum(one.n_bytes for one in some), "n_strings": sum(one.n_strings for one in some),
                "n_models": sum(one.n_bytes > 0 for one in some),
                "text": None if example is None else example.text.escaped,
                "others": "; ".join(f"{status}: {_shortened(reason)}" for status, reason in others.items()),
            }
        )  # fmt: skip
    return sorted(rows, key=lambda row: (row["verdict"] != "exact", _ORDER.index(row["verdict"]), -row["n_bytes"]))


_ORDER = ("wrong ids", "other ids by design", "exact", "not verified")
"""Verdicts in order: the first that holds for any vocabulary is the implementation's."""
_LONGEST_REASON = 90


def _shortened(reason: str) -> str:
    return reason if len(reason) <= _LONGEST_REASON else f"{reason[:_LONGEST_REASON]}…"
