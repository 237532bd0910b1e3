"""All tables of a run, made from its records, and as text."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import asdict

from harness.records import Trained
from harness.report import layout, round_trips
from harness.report.table import Row, Table, latest, table_of
from harness.report.tables import compression, correctness, growth, overview, speed


def tables(
    records: Sequence[object], speed_rows: Sequence[Row] | None = None, whole_run: Sequence[object] | None = None
) -> dict[str, Table]:
    """Return every table that has rows, by name.

    `speed_rows` are those of `speed.speed_rows`, if computed already. `whole_run` has
    all records of the run if `records` are chosen from it: what may be claimed depends on the noise of the whole run.
    """
    timed = speed.speed_rows(records) if speed_rows is None else speed_rows
    every = (
        overview.overview_table(records, timed),
        correctness.matrix_table(records),
        table_of("counterexamples", correctness.counterexample_rows(records)),
        table_of("round-trip", correctness.round_trip_rows(records)),
        speed.ranking_table(records, speed.noise_floor(records if whole_run is None else whole_run)),
        speed.speed_table(timed),
        compression.compression_table(records),
        speed.training_table(timed),
        table_of("trained", [asdict(record) for record in latest(records, Trained, "model", "implementation")]),
        table_of("memory", speed.memory_rows(timed)),
        growth.scaling_table(records),
        correctness.failures_table(records),
    )
    known = round_trips.recorded(records)
    return {table.name: round_trips.with_round_trips(table, known) for table in every if table.rows}


def render_terminal(records: Sequence[object], *, width: int | None = None, names: Sequence[str] = ()) -> str:
    """Return the tables (only those of `names`, if given) as text; `width` is None outside a terminal."""
    chosen = (table for name, table in tables(records).items() if not names or name in names)
    return "\n".join(layout.render(table, "text", width=width) for table in chosen)
