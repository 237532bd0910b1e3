"""Tables of correctness: agreement of every pair, counterexamples and round trips."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from harness.records import Agreement, AgreementClass, Counterexample, Measurement, NotCompared, Verdict, of_kind
from harness.report import wording
from harness.report.table import Column, Row, Table, frame_of, plain_rows

CLASS_MARK: dict[AgreementClass, str] = {
    "provably equal": "P",
    "equal under conditions": "C",
    "expected to differ": "D",
}
NOT_COMPARED = "not compared"
NOT_CHECKED = "not checked"
"""Status of an implementation that loads and was given no text."""
_MANY = 12
"""From more implementations than this the matrix leaves out how many texts differ."""
COUNTEREXAMPLE_KEYS = ("text", "text_base64", "reference", "expected", "got", "note")


def verdicts(records: Iterable[object]) -> list[Verdict]:
    """Return the last verdict of each implementation, model, corpus and check, in order of first appearance.

    Verdicts on trainers have their own tables.
    """
    found = {(v.implementation, v.model, v.corpus, v.check): v for v in of_kind(records, Verdict) if v.check != "train"}
    return list(found.values())


def training_verdicts(records: Iterable[object]) -> list[Verdict]:
    """Return the last verdict of each trainer, rule and corpus."""
    found = {(v.implementation, v.model, v.corpus): v for v in of_kind(records, Verdict) if v.check == "train"}
    return list(found.values())


def agreements(records: Iterable[object]) -> list[Agreement]:
    """Return the last record of each pair, model and corpus, in order of first appearance."""
    return list({(a.a, a.b, a.model, a.corpus): a for a in of_kind(records, Agreement)}.values())


def not_compared(records: Iterable[object]) -> list[NotCompared]:
    """Return pairs that both ran and were compared in no record, by pair, model and corpus."""
    records = list(records)
    compared = {(a.a, a.b, a.model, a.corpus) for a in of_kind(records, Agreement)}
    found = {(n.a, n.b, n.model, n.corpus): n for n in of_kind(records, NotCompared) if n.agreement_class is not None}
    return [pair for key, pair in found.items() if key not in compared]


def counterexample_fields(example: Counterexample | None) -> Row:
    """Return a counterexample as cells of a frame."""
    if example is None:
        return {}
    return {
        "text": example.text.escaped, "text_base64": example.text.base64, "reference": example.reference,
        "expected": example.expected, "got": example.got, "note": example.note,
    }  # fmt: skip


def pairs_table(records: Iterable[object]) -> Table:
    """Return every pair on every model: class, condition, how much was compared and how much differs.

    Counts are over all corpora. A pair that ran and was compared on no corpus is `not compared`.
    """
    records = list(records)
    together: dict[tuple[str, str, str], list[Agreement]] = {}
    for found in agreements(records):
        together.setdefault((found.model, found.a, found.b), []).append(found)
    rows = [_pair_row(key, some) for key, some in together.items()]
    without = {(pair.model, pair.a, pair.b): pair for pair in not_compared(records)}
    rows += [
        {
            "model": pair.model, "a": pair.a, "b": pair.b, "class": pair.agreement_class,
            "conditions": pair.conditions, "n_corpora": 0, "n_texts": 0, "n_differing_texts": 0,
            "differing_piece_share": None, "status": NOT_COMPARED,
        }
        for key, pair in without.items() if key not in together
    ]  # fmt: skip
    keys = [
        "model", "a", "b", "class", "conditions", "status", "n_corpora", "n_texts", "n_differing_texts",
        "differing_piece_share", *COUNTEREXAMPLE_KEYS,
    ]  # fmt: skip
    columns = (
        Column("model", "model"), Column("a", "one"), Column("b", "other"), Column("class", "class"),
        Column("n_texts", "texts", wording.count, right=True),
        Column("n_differing_texts", "differing", wording.count, right=True),
        Column("differing_piece_share", "pieces", wording.percent, right=True),
        Column("conditions", "conditions", elastic=True),
    )  # fmt: skip
    return Table(
        name="agreement-pairs",
        title="Agreement, pair by pair",
        frame=frame_of(rows, keys),
        note="“pieces” is the share of pieces, weighted by occurrence, whose ids differ.",
        columns=columns,
    )


def _pair_row(key: tuple[str, str, str], some: Sequence[Agreement]) -> Row:
    """Sum up the records of a model and pair."""
    model, a, b = key
    differing = sum(found.n_differing_texts for found in some)
    shares = [(found.differing_piece_share, found.n_bytes) for found in some if found.differing_piece_share is not None]
    weight = sum(n_bytes for _, n_bytes in shares)
    example = next((found.counterexample for found in some if found.counterexample is not None), None)
    return {
        "model": model, "a": a, "b": b, "class": some[0].agreement_class, "conditions": some[0].conditions,
        "n_corpora": len(some), "n_texts": sum(found.n_texts for found in some), "n_differing_texts": differing,
        "differing_piece_share": sum(share * n for share, n in shares) / weight if weight else None,
        "status": "differs" if differing else "equal", **counterexample_fields(example),
    }  # fmt: skip


def _cell(row: Row | None) -> str:
    if row is None or row["status"] == NOT_COMPARED:
        return "n/a"
    mark = CLASS_MARK[row["class"]]
    if row["status"] == "equal":
        return f"{mark} ="
    return f"{mark} ≠{wording.count(row['n_differing_texts'])}"


def _short_cell(cell: str) -> str:
    """Return a cell without its count, so that a wide matrix still fits."""
    return "–" if cell == "n/a" else cell.replace(" ", "").rstrip("0123456789,")


def implementations_in_order(records: Sequence[object]) -> list[str]:
    """Return every implementation in the records, in the order of the check."""
    names = dict.fromkeys(v.implementation for v in verdicts(records))
    for found in agreements(records):
        names.update(dict.fromkeys((found.a, found.b)))
    return list(names)


def matrix_table(records: Sequence[object]) -> Table:
    """Return a triangle for each model: every implementation against every one before it."""
    pairs = plain_rows(pairs_table(records).frame)
    by_pair = {(row["model"], frozenset((row["a"], row["b"]))): row for row in pairs}
    names = implementations_in_order(records)
    models = list(dict.fromkeys([*(row["model"] for row in pairs), *(v.model for v in verdicts(records))]))
    rows = []
    for model in models if len(names) > 1 else []:
        for i, name in enumerate(names):
            row: Row = {"model": model, "number": i + 1, "implementation": name}
            for j, other in enumerate(names[:-1]):
                found = by_pair.get((model, frozenset((name, other))))
                row[f"vs {other}"] = _cell(found) if j < i else ""
            rows.append(row)
    many = len(names) > _MANY
    columns = (
        Column("number", "", lambda n: f"{n}", right=True),
        Column("implementation", "implementation"),
        *(Column(f"vs {name}", f"{j + 1}", _short_cell if many else wording.text) for j, name in enumerate(names[:-1])),
    )
    absent = [
        f"{v.implementation} on {v.model}: {v.status}: {wording.text(v.reason)}"
        for v in verdicts(records)
        if v.status in ("unsupported", "missing") or (v.status != "ok" and v.check == "load")
    ]
    note = (
        f"= equal on every text, ≠ differs{'' if many else ' on so many texts'}. P provably equal (≠ is a fault), "
        f"C equal under conditions, D expected to differ, {'–' if many else 'n/a'} not compared."
    )
    return Table(
        name="agreement",
        title="Agreement: do two implementations give the same ids?",
        frame=frame_of(rows, ["model", "number", "implementation", *(f"vs {name}" for name in names[:-1])]),
        note="\n".join(
            [note, *_shares(pairs), *_without_evidence(records), *(f"n/a: {line}" for line in dict.fromkeys(absent))]
        ),
        columns=columns,
        group_by="model",
    )


def _without_evidence(records: Sequence[object]) -> list[str]:
    """Return a line for each pair that ran and was not compared."""
    return [
        f"Not compared: {pair.a} and {pair.b} on {pair.model}, {pair.corpus}: {pair.reason}."
        for pair in not_compared(records)
    ]


def _shares(pairs: Sequence[Row]) -> list[str]:
    """Return a line for each pair expected to differ: how often it does."""
    return [
        f"{row['a']} and {row['b']} on {row['model']}: {wording.percent(row['differing_piece_share'])} of pieces "
        "differ, weighted by occurrence."
        for row in pairs
        if row["differing_piece_share"] is not None
    ]


def counterexamples_table(records: Iterable[object]) -> Table:
    """Return the smallest text found for each pair and each failure."""
    found: list[tuple[str, str, str, Counterexample | None]] = [
        *((f"{a.a}, {a.b}", a.model, a.agreement_class, a.counterexample) for a in agreements(records)),
        *((v.implementation, v.model, f"{v.check}: {v.status}", v.counterexample) for v in verdicts(records)),
        *(
            (m.implementation, m.model, f"{m.task}: {m.status}", m.counterexample)
            for m in of_kind(records, Measurement)
        ),
    ]
    rows = [
        {"who": who, "model": model, "class": label} | counterexample_fields(example)
        for who, model, label, example in found
        if example is not None
    ]
    once: dict[tuple[object, ...], Row] = {}
    for row in rows:
        answers = frozenset((str(row["expected"]), str(row["got"])))
        first = once.setdefault((row["model"], row["class"], row["text_base64"], answers), row | {"n_alike": 0})
        first["n_alike"] += 1
    columns = (
        Column("who", "who"), Column("n_alike", "alike", wording.count, right=True), Column("model", "model"),
        Column("class", "class"),
        Column("text", "text", lambda value: f"'{_shortened(wording.text(value))}'", elastic=True),
        Column("expected", "one (reference)", wording.ids, elastic=True),
        Column("got", "other", wording.ids, elastic=True),
        *((Column("note", "note", elastic=True),) if any(row["note"] for row in rows) else ()),
    )  # fmt: skip
    return Table(
        name="counterexamples",
        title="Counterexamples: the smallest texts found that show it",
        note="“alike” counts the pairs or workloads with the very same text and answers.",
        frame=frame_of(list(once.values()), ["who", "n_alike", "model", "class", *COUNTEREXAMPLE_KEYS]),
        columns=columns,
    )


def _shortened(escaped: str, at_most: int = 120) -> str:
    return escaped if len(escaped) <= at_most else f"{escaped[:at_most]}… ({len(escaped):,} characters)"


def round_trip_table(records: Iterable[object]) -> Table:
    """Return one row for each implementation and outcome of the round trip, over all models and corpora."""
    together: dict[tuple[str, str, str, str], list[Verdict]] = {}
    for v in verdicts(records):
        status = v.status if v.n_texts or v.status != "ok" else NOT_CHECKED
        together.setdefault((v.implementation, status, v.reason, v.round_trip), []).append(v)
    rows: list[Row] = [
        {
            "implementation": implementation, "status": status, "reason": reason, "round_trip": promised,
            "models": ", ".join(dict.fromkeys(v.model for v in some)), "n_models": len({v.model for v in some}),
            "n_corpora": len({v.corpus for v in some}), "n_texts": sum(v.n_texts for v in some),
            "n_bytes": sum(v.n_bytes for v in some),
        }
        for (implementation, status, reason, promised), some in together.items()
    ]  # fmt: skip
    columns = (
        Column("implementation", "implementation"), Column("status", "verdict"),
        *((Column("round_trip", "round trip of the model"),) if any(row["round_trip"] for row in rows) else ()),
        Column("n_corpora", "corpora", wording.count, right=True),
        Column("n_texts", "texts", wording.count, right=True),
        Column("n_bytes", "text", wording.size, right=True),
        Column("models", "models", elastic=True),
        *((Column("reason", "reason", elastic=True),) if any(row["reason"] for row in rows) else ()),
    )  # fmt: skip
    keys = ["implementation", "status", "n_corpora", "n_texts", "n_bytes", "n_models", "models", "reason"]
    keys += ["round_trip"] if any(row["round_trip"] for row in rows) else []
    return Table(
        name="round-trip",
        title="Round trip: does every text come back from its ids?",
        frame=frame_of(rows, keys),
        columns=columns,
    )
