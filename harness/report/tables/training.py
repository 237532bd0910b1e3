"""Tables of training: the vocabularies of a run, which trainers learn the same merges, and where they diverge."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from harness.outcome import Outcome
from harness.records import Text, Trained, TrainerAgreement, Verdict
from harness.report.table import (
    Column,
    Row,
    Table,
    grouped,
    latest,
    table_of,
    triangle,
    triangle_columns,
)
from harness.report.tables.correctness import training_verdicts


def trained_rows(records: Iterable[object]) -> list[Row]:
    """Return the vocabularies trained in this run: merges, bytes of text, seconds."""
    same = ("model", "implementation", "corpus", "vocab_size", "ties", "n_merges", "n_bytes", "seconds")
    learned = latest(records, Trained, "model", "implementation")
    return [{key: getattr(record, key) for key in same} for record in learned]


def _agreements(records: Iterable[object]) -> list[TrainerAgreement]:
    """Return the last record of each pair, rule and corpus, in order of first appearance."""
    return latest(records, TrainerAgreement, "corpus", "a", "b", "rule")


def matrix_table(records: Sequence[object]) -> Table:
    """Return a triangle for each corpus: every trainer against every one before it, and the rules it follows."""
    verdicts = training_verdicts(records)
    names = list(dict.fromkeys(v.implementation for v in verdicts))
    pairs = grouped(_agreements(records), lambda found: (found.corpus, frozenset((found.a, found.b))))
    rules = grouped(verdicts, lambda v: (v.corpus, v.implementation))
    rows: list[Row] = []
    for corpus in dict.fromkeys(v.corpus for v in verdicts):
        cells = {pair: _cell(some) for (where, pair), some in pairs.items() if where == corpus}
        rows += [
            {"corpus": corpus} | row | {"rules": _followed(rules.get((corpus, row["trainer"]), []))}
            for row in triangle("trainer", names, cells)
        ]
    return table_of("trainers", rows, (*triangle_columns("trainer", names), Column("rules", "trains by", elastic=True)))


def _cell(some: Sequence[TrainerAgreement]) -> str:
    steps = [found.first_difference.step for found in some if found.first_difference is not None]
    return f"≠{min(steps):,}" if steps else "="


def _followed(verdicts: Sequence[Verdict]) -> str:
    """Return the rules a trainer follows, or why there are none."""
    followed = [v.model for v in verdicts if v.status == Outcome.RIGHT]
    if not followed:
        return " · ".join(dict.fromkeys(f"{v.status}: {v.reason}" for v in verdicts))
    failed = [
        f"{v.status} ({v.model}): {v.reason}" for v in verdicts if v.status not in (Outcome.RIGHT, Outcome.REFUSED)
    ]
    rules = "every rule" if len(followed) == len(verdicts) > 1 else "; ".join(followed)
    return " · ".join([rules, *failed])


def differences_table(records: Iterable[object]) -> Table:
    """Return the pairs that differ under one rule, with the first merge of each that does."""
    rows = [
        {
            "corpus": found.corpus, "a": found.a, "b": found.b, "rule": found.rule, "step": first.step,
            "merge_a": _merge(first.a), "merge_b": _merge(first.b),
        }
        for found in _agreements(records)
        if (first := found.first_difference) is not None
    ]  # fmt: skip
    return table_of("trainer-differences", rows)


def _merge(parts: Sequence[Text]) -> str:
    return "+".join(f"'{part.text}'" for part in parts) or "ended"
