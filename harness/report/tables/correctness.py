"""Tables of correctness: agreement of every pair, counterexamples, round trips, and all failures."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from harness.grouping import grouped
from harness.outcome import Outcome
from harness.records import Agreement, AgreementClass, Counterexample, Measurement, NotCompared, Verdict, of_kind
from harness.report import wording
from harness.report.table import Column, Row, Table, declared, latest, table_of
from harness.targets.spec import PUBLISHED

_MARK: dict[AgreementClass, str] = {"provably equal": "P", "equal under conditions": "C", "expected to differ": "D"}
NOT_COMPARED = "not compared"
NOT_CHECKED = "not checked"
"""Status of an implementation that loads but was given no text."""
_MANY = 12
"""With more implementations than this, the matrix leaves out how many texts differ."""


def verdicts(records: Iterable[object]) -> list[Verdict]:
    """Return the last verdict of each implementation, model, corpus and check."""
    return latest(records, Verdict, "implementation", "model", "corpus", "check")


def agreements(records: Iterable[object]) -> list[Agreement]:
    """Return the last record of each pair, model and corpus, in order of first appearance."""
    return latest(records, Agreement, "a", "b", "model", "corpus")


def not_compared(records: Sequence[object]) -> list[NotCompared]:
    """Return pairs that both can run but were compared in no record, by pair, model and corpus."""
    compared = {(a.a, a.b, a.model, a.corpus) for a in agreements(records)}
    owed = (n for n in of_kind(records, NotCompared) if n.agreement_class is not None)
    pairs = latest(owed, NotCompared, "a", "b", "model", "corpus")
    return [pair for pair in pairs if (pair.a, pair.b, pair.model, pair.corpus) not in compared]


def _counterexample(example: Counterexample | None) -> Row:
    """Return the table cells of a counterexample."""
    if example is None:
        return dict.fromkeys(("text", "text_base64", "reference", "expected", "got", "note"))
    return {
        "text": example.text.escaped, "text_base64": example.text.base64, "reference": example.reference,
        "expected": example.expected, "got": example.got, "note": example.note,
    }  # fmt: skip


def pair_rows(records: Sequence[object]) -> list[Row]:
    """Return a row for every pair on every model, with the counts over all corpora.

    A pair that was compared on no corpus is `not compared`; `n_not_compared` counts corpora.
    """

    def identity(pair: Agreement | NotCompared) -> tuple[str, str, str]:
        return pair.model, pair.a, pair.b

    compared, without = grouped(agreements(records), identity), grouped(not_compared(records), identity)
    rows: list[Row] = []
    for key in {**compared, **without}:
        some = compared.get(key, [])
        n_differing = sum(pair.n_differing_texts for pair in some)
        rows.append(
            {
                "model": key[0], "a": key[1], "b": key[2], "class": (some or without[key])[0].agreement_class,
                "status": "differs" if n_differing else "equal" if some else NOT_COMPARED,
                "n_not_compared": len(without.get(key, [])),
                "n_texts": sum(pair.n_texts for pair in some), "n_differing_texts": n_differing,
            }
        )  # fmt: skip
    return rows


def matrix_table(records: Sequence[object]) -> Table:
    """Return a triangle for each model: every implementation, by number, against every one before it."""
    pairs = pair_rows(records)
    every = verdicts(records)
    of_pairs = (name for pair in agreements(records) for name in (pair.a, pair.b))
    names = list(dict.fromkeys([*(v.implementation for v in every), *of_pairs]))
    models = dict.fromkeys([*(row["model"] for row in pairs), *(v.model for v in every)])
    many = len(names) > _MANY
    rows: list[Row] = []
    for model in models if len(names) > 1 else []:
        cells = {frozenset((row["a"], row["b"])): _cell(row) for row in pairs if row["model"] == model}
        for i, name in enumerate(names):
            before = {f"vs {other}": cells.get(frozenset((name, other)), "n/a") for other in names[:i]}
            after = {f"vs {other}": "" for other in names[i:-1]}
            rows.append({"model": model, "number": i + 1, "implementation": name} | before | after)
    write = _short_cell if many else wording.text
    columns = [Column("number", "#", str, right=True), Column("implementation", "implementation")]
    columns += [Column(f"vs {name}", f"{number}", write) for number, name in enumerate(names[:-1], 1)]
    absent = [
        f"n/a: {v.implementation} on {v.model}: {v.status}: {wording.text(v.reason)}"
        for v in every
        if v.status in (Outcome.REFUSED, Outcome.MISSING) or (v.status != Outcome.RIGHT and v.check == "load")
    ]
    lines = [f"Not compared: {n.a} and {n.b} on {n.model}, {n.corpus}: {n.reason}." for n in not_compared(records)]
    lines += dict.fromkeys(absent)
    return table_of(
        "agreement",
        rows,
        columns,
        on_how_many="" if many else " on the number of texts shown",
        absent="–" if many else "n/a",
        published=f" {PUBLISHED}: the model's file, read by the library it belongs to." if PUBLISHED in names else "",
        pairs="".join(f"\n{line}" for line in lines),
    )


def _cell(row: Row) -> str:
    if row["status"] == NOT_COMPARED:
        return "n/a"
    mark = _MARK[row["class"]]
    return f"{mark} =" if row["status"] == "equal" else f"{mark} ≠{wording.count(row['n_differing_texts'])}"


def _short_cell(cell: str) -> str:
    """Return a cell without its count, so that a wide matrix fits."""
    return "–" if cell == "n/a" else cell.replace(" ", "").rstrip("0123456789,")


def _judged(records: Sequence[object]) -> Iterator[tuple[Measurement | Verdict, Outcome, str, str]]:
    """Yield the records of one implementation, with the outcome, the task or check, and the place."""
    yield from ((m, m.outcome, m.task, m.workload) for m in of_kind(records, Measurement))
    yield from ((v, v.status, v.check, f"{v.check} {v.model}/{v.corpus}") for v in verdicts(records))


def counterexample_rows(records: Sequence[object]) -> list[Row]:
    """Return the smallest text found for each pair and each failure."""
    cases: list[tuple[Agreement | Verdict | Measurement, str, str]] = [
        *((pair, f"{pair.a}, {pair.b}", pair.agreement_class) for pair in agreements(records)),
        *((record, record.implementation, f"{what}: {outcome}") for record, outcome, what, _ in _judged(records)),
    ]
    rows = [
        {"implementations": names, "n_cases": 0, "model": record.model, "class": label}
        | _counterexample(record.counterexample)
        for record, names, label in cases
        if record.counterexample is not None
    ]

    def key(row: Row) -> tuple[object, ...]:
        return row["model"], row["class"], row["text_base64"], frozenset((str(row["expected"]), str(row["got"])))

    return [some[0] | {"n_cases": len(some)} for some in grouped(rows, key).values()]


def round_trip_rows(records: Iterable[object]) -> list[Row]:
    """Return one row for each implementation and outcome of the round trip, over all models and corpora."""

    def key(v: Verdict) -> tuple[str, str, str, str]:
        status = NOT_CHECKED if v.status is Outcome.RIGHT and not v.n_texts else v.status
        return v.implementation, status, v.reason, v.round_trip

    return [
        {
            "implementation": implementation, "status": status, "n_corpora": len({v.corpus for v in some}),
            "n_texts": sum(v.n_texts for v in some), "n_bytes": sum(v.n_bytes for v in some),
            "n_models": len({v.model for v in some}), "models": ", ".join(dict.fromkeys(v.model for v in some)),
            "reason": reason, "round_trip": round_trip,
        }
        for (implementation, status, reason, round_trip), some in grouped(verdicts(records), key).items()
    ]  # fmt: skip


def failures_table(records: Sequence[object]) -> Table:
    """Return everything that is not ok by its reason, with where it happened and its first counterexample."""
    failed = [case for case in _judged(records) if case[1] is not Outcome.RIGHT]
    rows: list[Row] = []
    for key, some in grouped(failed, lambda case: (case[0].implementation, case[1], case[0].reason)).items():
        places = {place: record.counterexample for record, _, _, place in some}
        rows.append(
            dict(zip(("implementation", "status", "reason"), key, strict=True))
            | {"n_places": len(places), "where": ", ".join(places)}
            | _counterexample(next(filter(None, places.values()), None))
        )
    met = {row["status"] for row in rows}
    means = declared()["failures"]["meanings"]
    meanings = (f"{status}: {meaning}" for status, meaning in means.items() if status in met)
    return table_of("failures", rows, meanings=" · ".join(meanings))
