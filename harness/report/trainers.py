"""Tables of trainers: which learn the same merges, where two tie rules diverge, and what that changes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from harness.records import FirstDifference, MergeChoice, Text, TrainerAgreement, Verdict, of_kind
from harness.report import wording
from harness.report.correctness import CLASS_MARK, training_verdicts
from harness.report.table import Column, Row, Table, frame_of

_PAIR_KEYS = [
    "corpus", "a", "b", "rule_a", "rule_b", "class", "conditions", "status", "fault", "n_merges_a", "n_merges_b",
    "step", "merge_a", "merge_b", "count_a", "count_b", "is_tie", "n_only_a", "n_only_b", "only_a", "only_b",
    "n_tokens_a", "n_tokens_b", "n_counted_bytes", "counted_on",
]  # fmt: skip


def trainer_agreements(records: Iterable[object]) -> list[TrainerAgreement]:
    """Return the last record of each pair, its rules and corpus, in order of first appearance."""
    found = {(t.corpus, t.a, t.b, t.rule_a, t.rule_b): t for t in of_kind(records, TrainerAgreement)}
    return list(found.values())


def trainer_matrix_table(records: Sequence[object]) -> Table:
    """Return a triangle for each corpus: every trainer against every one before it, and the rules it follows."""
    together: dict[tuple[str, str, str], list[TrainerAgreement]] = {}
    for found in trainer_agreements(records):
        together.setdefault((found.corpus, found.a, found.b), []).append(found)
    verdicts = training_verdicts(records)
    names = list(dict.fromkeys(v.implementation for v in verdicts))
    rows = []
    for corpus in dict.fromkeys(v.corpus for v in verdicts):
        for i, name in enumerate(names):
            row: Row = {"corpus": corpus, "number": i + 1, "trainer": name}
            for j, other in enumerate(names[:-1]):
                some = together.get((corpus, other, name)) or together.get((corpus, name, other))
                row[f"vs {other}"] = _cell(some) if j < i else ""
            row["rules"] = _followed([v for v in verdicts if (v.implementation, v.corpus) == (name, corpus)])
            rows.append(row)
    columns = (
        Column("number", "", lambda n: f"{n}", right=True),
        Column("trainer", "trainer"),
        *(Column(f"vs {name}", f"{j + 1}") for j, name in enumerate(names[:-1])),
        Column("rules", "trains by", elastic=True),
    )
    note = (
        "Compared by a rule both follow (P: provably equal, = the same merges in the same order, ≠ a fault), else each "
        "by its own (D: expected to differ, with the number of the first merge that does)."
    )
    return Table(
        name="trainers",
        title="Trainers: do two of them learn the same merges?",
        frame=frame_of(rows, ["corpus", "number", "trainer", *(f"vs {name}" for name in names[:-1]), "rules"]),
        note=note,
        columns=columns,
        group_by="corpus",
    )


def _cell(some: Sequence[TrainerAgreement] | None) -> str:
    if not some:
        return "n/a"
    steps = [found.first_difference.step for found in some if found.first_difference is not None]
    mark = CLASS_MARK[some[0].agreement_class]
    return f"{mark} ≠{min(steps):,}" if steps else f"{mark} ="


def _followed(verdicts: Sequence[Verdict]) -> str:
    """Return the rules a trainer followed, or why there is none."""
    followed = [v.model for v in verdicts if v.status == "ok"]
    failed = [f"{v.status} ({v.model}): {v.reason}" for v in verdicts if v.status not in ("ok", "unsupported")]
    if followed:
        rules = "every rule" if len(followed) == len(verdicts) > 1 else "; ".join(followed)
        return " · ".join([rules, *failed])
    return " · ".join(dict.fromkeys(f"{v.status}: {v.reason}" for v in verdicts))


def trainer_pairs_table(records: Iterable[object]) -> Table:
    """Return every pair by every rule both follow, or each by its own: faults first, then what differs."""
    rows = [_row(found) for found in trainer_agreements(records)]
    rows.sort(key=lambda row: (not row["fault"], row["status"] == "equal"))
    return _table("trainer-pairs", "Trainers, pair by pair", rows)


def trainer_differences_table(records: Iterable[object]) -> Table:
    """Return the pairs that differ: where first, in how many tokens, and the effect on a text."""
    rows = [_row(found) for found in trainer_agreements(records) if found.first_difference is not None]
    return _table("trainer-differences", "Trainers: where their merges part, and what it changes", rows)


def _table(name: str, title: str, rows: Sequence[Row]) -> Table:
    shown = [
        row | {
            "one": _who(row["a"], row["rule_a"]), "other": _who(row["b"], row["rule_b"]),
            "merges": _merges(row), "only": _only(row), "tokens": _tokens(row),
        }
        for row in rows
    ]  # fmt: skip
    columns = (
        Column("one", "one", elastic=True),
        Column("other", "other", elastic=True),
        Column("step", "first", wording.count, right=True),
        Column("merges", "merge of the one · of the other", elastic=True),
        Column("only", "tokens only there", elastic=True),
        Column("tokens", "text takes", right=True),
        *((Column("fault", "fault", elastic=True),) if any(row["fault"] for row in rows) else ()),
    )
    on = next((row["counted_on"] for row in rows), "held-out")
    return Table(
        name=name,
        title=title,
        frame=frame_of(shown, [*_PAIR_KEYS, "one", "other", "merges", "only", "tokens"]),
        note="“first” is the number of the first merge that differs; = marks a tie there: both pairs occurred equally "
        "often. “tokens only there” counts the tokens one of the two has learned alone. “text takes” is how many "
        + ("tokens a text kept from training" if on == "held-out" else "tokens the same text")
        + " takes under either.",
        columns=columns,
        group_by="corpus",
    )


def _row(found: TrainerAgreement) -> Row:
    first = found.first_difference
    return {
        "corpus": found.corpus, "a": found.a, "b": found.b, "rule_a": found.rule_a, "rule_b": found.rule_b,
        "class": found.agreement_class, "conditions": found.conditions, "fault": found.fault,
        "status": "equal" if first is None else "differs", "n_merges_a": found.n_merges_a,
        "n_merges_b": found.n_merges_b, "n_only_a": found.n_only_a, "n_only_b": found.n_only_b,
        "only_a": _texts(found.only_a), "only_b": _texts(found.only_b), "n_tokens_a": found.n_tokens_a,
        "n_tokens_b": found.n_tokens_b, "n_counted_bytes": found.n_counted_bytes, "counted_on": found.counted_on,
        **_first(first),
    }  # fmt: skip


def _first(first: FirstDifference | None) -> Row:
    if first is None:
        return {}
    return {
        "step": first.step, "is_tie": first.is_tie, "merge_a": _choice(first.a), "merge_b": _choice(first.b),
        "count_a": None if first.a is None else first.a.count, "count_b": None if first.b is None else first.b.count,
    }  # fmt: skip


def _choice(choice: MergeChoice | None) -> str:
    return "ended" if choice is None else f"'{choice.left.text}'+'{choice.right.text}'"


def _texts(texts: Sequence[Text]) -> str:
    return " ".join(f"'{text.text}'" for text in texts)


def _who(trainer: str, rule: str) -> str:
    return f"{trainer} ({rule})"


def _merges(row: Row) -> str:
    if row.get("step") is None:
        return wording.ABSENT
    one, other = (
        row[f"merge_{side}"] + (f" ×{row[f'count_{side}']:,}" if row[f"count_{side}"] is not None else "")
        for side in "ab"
    )
    return f"{one} {'=' if row['is_tie'] else '·'} {other}"


def _only(row: Row) -> str:
    if row["status"] == "equal":
        return wording.ABSENT
    some = f": {row['only_a']} · {row['only_b']}" if row["only_a"] or row["only_b"] else ""
    return f"{row['n_only_a']:,} · {row['n_only_b']:,}{some}"


def _tokens(row: Row) -> str:
    if row["n_tokens_a"] == row["n_tokens_b"]:
        return f"{row['n_tokens_a']:,}"
    return f"{row['n_tokens_a']:,} · {row['n_tokens_b']:,}"
