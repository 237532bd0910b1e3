"""Tables of training: the vocabularies of a run, which trainers learn the same merges, and where they diverge."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from harness.outcome import Outcome
from harness.records import FirstDifference, MergeChoice, Text, Trained, TrainerAgreement, Verdict
from harness.report import wording
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
from harness.report.tables.correctness import CLASS_MARK, training_verdicts
from harness.training.vocabulary_curve import plateau

_TOKENS_SHOWN = 20


def trained(records: Iterable[object]) -> list[Trained]:
    """Return the vocabularies learned in a run, one for each model and implementation."""
    return latest(records, Trained, "model", "implementation")


def trained_rows(records: Iterable[object]) -> list[Row]:
    """Return the vocabularies trained in this run: merges, bytes of text, seconds."""
    same = ("model", "implementation", "corpus", "vocab_size", "ties", "n_merges", "n_bytes", "seconds")
    return [
        {key: getattr(t, key) for key in same} | {"plateau_merge": plateau(t.merge_counts), "digest": t.digest}
        for t in trained(records)
    ]


def learned_table(records: Iterable[object]) -> Table:
    """Return the first tokens each vocabulary of this run learned, how often each pair occurred, and the plateau."""
    every = {f"{t.model} {t.implementation}": t for t in trained(records)}
    rows = [
        {
            "vocabulary": name, "model": t.model, "implementation": t.implementation, "merge": i, "token": token.text,
            "count": t.merge_counts[i] if i < len(t.merge_counts) else None,
        }
        for name, t in every.items()
        for i, token in enumerate(t.first_tokens[:_TOKENS_SHOWN])
    ]  # fmt: skip
    return table_of("learned", rows, group_title={name: _learned_title(t) for name, t in every.items()})


def _learned_title(t: Trained) -> str:
    title = f"{t.model}: {t.n_merges:,} merges by {t.implementation} from {wording.size(t.n_bytes)}"
    flat = plateau(t.merge_counts)
    return title if flat is None else f"{title}; plateau after merge {flat:,} (≤ {t.merge_counts[flat]:,} times)"


def _agreements(records: Iterable[object]) -> list[TrainerAgreement]:
    """Return the last record of each pair, its rules and corpus, in order of first appearance."""
    return latest(records, TrainerAgreement, "corpus", "a", "b", "rule_a", "rule_b")


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
    mark = CLASS_MARK[some[0].agreement_class]
    return f"{mark} ≠{min(steps):,}" if steps else f"{mark} ="


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


def pairs_table(records: Iterable[object]) -> Table:
    """Return every pair by every rule both follow, or each by its own: faults first, then differences."""
    found = sorted(_agreements(records), key=lambda pair: (not pair.fault, pair.first_difference is None))
    return _table("trainer-pairs", found)


def differences_table(records: Iterable[object]) -> Table:
    """Return the pairs that differ: the first difference, the number of differing tokens, and the effect on a text."""
    found = [pair for pair in _agreements(records) if pair.first_difference is not None]
    return _table("trainer-differences", found)


def _table(name: str, pairs: Sequence[TrainerAgreement]) -> Table:
    texts = {"training": "tokens the same text", "held-out": "tokens a text kept from training"}
    counted_on = {pair.counted_on for pair in pairs}
    tokens = texts.get(counted_on.pop(), "tokens a text") if len(counted_on) == 1 else "tokens a text"
    return table_of(name, [_row(pair) for pair in pairs], tokens=tokens)


def _row(found: TrainerAgreement) -> Row:
    first = found.first_difference
    row = {
        "corpus": found.corpus, "a": found.a, "b": found.b, "rule_a": found.rule_a, "rule_b": found.rule_b,
        "class": found.agreement_class, "conditions": found.conditions,
        "status": "equal" if first is None else "differs", "fault": found.fault, "n_merges_a": found.n_merges_a,
        "n_merges_b": found.n_merges_b, **_first(first), "n_only_a": found.n_only_a, "n_only_b": found.n_only_b,
        "only_a": _texts(found.only_a), "only_b": _texts(found.only_b), "n_tokens_a": found.n_tokens_a,
        "n_tokens_b": found.n_tokens_b, "n_counted_bytes": found.n_counted_bytes, "counted_on": found.counted_on,
    }  # fmt: skip
    tokens = dict.fromkeys(f"{n:,}" for n in (found.n_tokens_a, found.n_tokens_b))
    return row | {
        "one": f"{found.a} ({found.rule_a})", "other": f"{found.b} ({found.rule_b})",
        "merges": _merges(first), "only": _only(row), "tokens": " · ".join(tokens),
    }  # fmt: skip


def _first(first: FirstDifference | None) -> Row:
    if first is None:
        return dict.fromkeys(("step", "merge_a", "merge_b", "count_a", "count_b", "is_tie"))
    return {
        "step": first.step, "merge_a": _choice(first.a), "merge_b": _choice(first.b),
        "count_a": first.a and first.a.count, "count_b": first.b and first.b.count, "is_tie": first.is_tie,
    }  # fmt: skip


def _choice(choice: MergeChoice | None) -> str:
    return "ended" if choice is None else f"'{choice.left.text}'+'{choice.right.text}'"


def _texts(texts: Sequence[Text]) -> str:
    return " ".join(f"'{text.text}'" for text in texts)


def _merges(first: FirstDifference | None) -> str:
    if first is None:
        return wording.ABSENT
    one, other = (
        _choice(choice) + ("" if choice is None or choice.count is None else f" ×{choice.count:,}")
        for choice in (first.a, first.b)
    )
    return f"{one} {'=' if first.is_tie else '·'} {other}"


def _only(row: Row) -> str:
    if row["status"] == "equal":
        return wording.ABSENT
    some = f": {row['only_a']} · {row['only_b']}" if row["only_a"] or row["only_b"] else ""
    return f"{row['n_only_a']:,} · {row['n_only_b']:,}{some}"
