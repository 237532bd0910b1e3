"""All tables of a run, made from its records, and as text."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from functools import cache

from harness.records import Trained
from harness.report import layout, round_trips
from harness.report.table import Row, Table, latest, table_of
from harness.report.tables import compression, correctness, growth, overview, speed


def tables(
    records: Sequence[object],
    speed_rows: Sequence[Row] | None = None,
    names: Collection[str] = (),
    whole_run: Sequence[object] | None = None,
) -> dict[str, Table]:
    """Return every table that has rows (limited to `names`, if given), by name.

    `speed_rows` are those of `speed.speed_rows`, if computed already. `whole_run` has
    all records of the run if `records` are chosen from it: what may be claimed depends on the noise of the whole run.
    """
    timed = cache(lambda: speed.speed_rows(records) if speed_rows is None else speed_rows)
    makers: dict[str, Callable[[], Table]] = {
        "overview": lambda: overview.overview_table(records, timed()),
        "agreement": lambda: correctness.matrix_table(records),
        "counterexamples": lambda: table_of("counterexamples", correctness.counterexample_rows(records)),
        "round-trip": lambda: table_of("round-trip", correctness.round_trip_rows(records)),
        "ranking": lambda: speed.ranking_table(records, speed.noise_floor(records if whole_run is None else whole_run)),
        "speed": lambda: speed.speed_table(timed()),
        "compression": lambda: compression.compression_table(records),
        "training": lambda: speed.training_table(timed()),
        "trained": lambda: table_of("trained", _trained_rows(records)),
        "memory": lambda: table_of("memory", speed.memory_rows(timed())),
        "scaling": lambda: growth.scaling_table(records),
        "failures": lambda: correctness.failures_table(records),
    }
    known = round_trips.recorded(records)
    found = {name: make() for name, make in makers.items() if not names or name in names}
    return {name: round_trips.with_round_trips(table, known) for name, table in found.items() if table.rows}


def _trained_rows(records: Iterable[object]) -> list[Row]:
    """Return the vocabularies trained in this run: merges, bytes of text, seconds."""
    same = ("model", "implementation", "corpus", "vocab_size", "ties", "n_merges", "n_bytes", "seconds")
    learned = latest(records, Trained, "model", "implementation")
    return [{key: getattr(record, key) for key in same} for record in learned]


def render_terminal(records: Sequence[object], *, width: int | None = None, names: Sequence[str] = ()) -> str:
    """Return the tables (only those of `names`, if given) as text; `width` is None outside a terminal."""
    return render_all(tables(records, names=names).values(), width)


def render_all(found: Iterable[Table], width: int | None) -> str:
    """Return the given tables as text, like `render_terminal`."""
    return "\n".join(layout.render(table, "text", width=width) for table in found)


def render_check(records: Sequence[object], width: int | None = None) -> str:
    """Return the output of `check`: agreement, counterexamples, round trips."""
    return render_terminal(records, width=width, names=("agreement", "counterexamples", "round-trip"))
