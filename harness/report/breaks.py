"""The table of breaks: implementation by generated family, with an exponent or a verdict in each cell."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from harness.data.generated import FAMILIES
from harness.measure.samples import is_growth
from harness.measure.scaling import family_of
from harness.records import Measurement, Status, of_kind
from harness.report import scaling, wording
from harness.report.table import Column, Row, Table, frame_of

WORDS: dict[Status, str] = {
    "ok": "ok",
    "panic": "panic",
    "crash": "crash",
    "unsupported": "refuses",
    "mismatch": "wrong",
    "unverified": "unverified",
    "out-of-memory": "memory",
    "timeout": "time",
}
"""The word in a cell for each verdict."""
_CANNOT_RUN = ("unsupported", "missing")


def breaks_table(records: Sequence[object]) -> Table:
    """Return one row for each model and implementation, one column for each family with any measurement."""
    cells = _grown(records)
    for key, word in _run(records).items():
        if word != "ok" or key not in cells:
            cells[key] = word  # a failure outweighs the shorter texts before it
    known = list(FAMILIES)
    families = sorted(
        {family for _, _, family in cells}, key=lambda name: known.index(name) if name in known else len(known)
    )
    rows: list[Row] = []
    met = dict.fromkeys((m.model, m.implementation) for m in _of_generated(records))
    for model, implementation in (key for key in met if any(cell[:2] == key for cell in cells)):
        row: Row = {"model": model, "implementation": implementation, "kind": wording.kind_of(implementation)}
        rows.append(row | {family: cells.get((model, implementation, family), "") for family in families})
    legend = ", ".join(f"{number} {family}" for number, family in enumerate(families, 1))
    said = ", ".join(
        f"{word}: {wording.STATUS_MEANS[status]}"
        for status, word in WORDS.items()
        if word in cells.values() and status not in ("unsupported", "ok")
    )
    left_out = sorted(_cannot_run(records))
    note = [
        "A figure is the exponent of time over length (1 linear, 2 quadratic), ≥ its lower bound where a length ran "
        "into the time limit; a word is how it ended before the longest text. Lengths and reasons stand with "
        "the exponents and the failures.",
        f"{legend}.",
        *([f"{said}."] if said else []),
        *([f"Cannot run the model, and so not there: {', '.join(left_out)}."] if left_out else []),
    ]
    return Table(
        name="breaks",
        title="Where they break: texts that real text never is",
        frame=frame_of(rows, ["model", "implementation", "kind", *families]),
        note="\n".join(note),
        columns=(
            Column("implementation", "implementation"),
            *(Column(family, f"{number}", right=True) for number, family in enumerate(families, 1)),
        ),
        group_by="model",
    )


def _grown(records: Sequence[object]) -> dict[tuple[str, str, str], str]:
    """Map (model, implementation, family) -> the result of the measurements of growth."""
    opened = _opened(records)
    cells = {}
    for row in scaling.scaling_rows(records):
        if (row["model"], row["implementation"]) in opened:
            cells[row["model"], row["implementation"], row["family"]] = _cell(row)
    return cells


def _cell(row: Row) -> str:
    if row.get("bound") is not None:
        return f"≥{row['bound']:.1f}"
    if row["end"] is not None and (row["end"] != "timeout" or row.get("exponent") is None):
        return WORDS.get(row["end"], str(row["end"]))
    return f"{row['exponent']:.2f}"


def _run(records: Sequence[object]) -> dict[tuple[str, str, str], str]:
    """Return the verdicts of runs over generated texts."""
    opened = _opened(records)
    cells: dict[tuple[str, str, str], str] = {}
    for m in _of_generated(records):
        key = (m.model, m.implementation, family_of(m))
        if not is_growth(m.workload) and (m.model, m.implementation) in opened and cells.get(key, "ok") == "ok":
            cells[key] = WORDS.get(m.status, m.status)
    return cells


def _of_generated(records: Iterable[object]) -> list[Measurement]:
    return [m for m in of_kind(records, Measurement) if m.corpus.startswith("gen/") and m.task.startswith("encode")]


def _opened(records: Iterable[object]) -> set[tuple[str, str]]:
    """Return the (model, implementation) pairs that can be built, whether or not they then encoded a text."""
    return {
        (m.model, m.implementation)
        for m in of_kind(records, Measurement)
        if m.status not in _CANNOT_RUN or (m.status == "unsupported" and m.full_bytes)
    }


def _cannot_run(records: Iterable[object]) -> set[str]:
    records = list(records)
    able = {name for _, name in _opened(records)}
    return {m.implementation for m in _of_generated(records)} - able
