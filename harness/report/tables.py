"""Every table of a run, made from its records, and which of them a terminal shows."""

from __future__ import annotations

from collections.abc import Sequence

from harness.report import (
    breaks,
    compression,
    correctness,
    failures,
    layout,
    long_runs,
    overview,
    resources,
    round_trips,
    scaling,
    speed,
    trainers,
    training,
)
from harness.report.compression import DEFAULT_PRICE_PER_MILLION
from harness.report.table import Column, Row, Table

__all__ = [
    "DEFAULT_PRICE_PER_MILLION",
    "Column",
    "Table",
    "render_check",
    "render_terminal",
    "render_trainers",
    "tables",
]


def tables(
    records: Sequence[object],
    price_per_million: float = DEFAULT_PRICE_PER_MILLION,
    speed_rows: Sequence[Row] | None = None,
) -> dict[str, Table]:
    """Return every table that has rows, by name, the Turkish comparison first. Prices are per million tokens.

    `speed_rows` are those of `speed.speed_rows`, if computed already.
    """
    rows = speed.speed_rows(records) if speed_rows is None else speed_rows
    every = (
        compression.turkish_table(records, price_per_million),
        overview.overview_table(records, rows),
        correctness.matrix_table(records),
        correctness.pairs_table(records),
        correctness.counterexamples_table(records),
        correctness.round_trip_table(records),
        speed.ranking_table(records),
        speed.speed_table(rows, speed.noise_floor(records)),
        long_runs.sustained_table(records),
        long_runs.long_text_table(records),
        long_runs.text_memory_table(records),
        compression.compression_table(records),
        training.training_table(rows),
        training.trained_table(records),
        training.learned_table(records),
        trainers.trainer_matrix_table(records),
        trainers.trainer_differences_table(records),
        trainers.trainer_pairs_table(records),
        resources.memory_table(rows),
        breaks.breaks_table(records),
        scaling.scaling_table(records),
        failures.failures_table(records),
    )
    known = round_trips.recorded(records)
    return {table.name: round_trips.with_round_trips(table, known) for table in every if len(table.frame)}


_ONLY_ELSEWHERE = ("agreement-pairs", "trainer-pairs")
"""Tables not shown on a terminal: the matrix shows the same, and the page and the files hold every pair."""


def render_terminal(
    records: Sequence[object],
    *,
    price_per_million: float = DEFAULT_PRICE_PER_MILLION,
    width: int | None = None,
    names: Sequence[str] = (),
) -> str:
    """Return the tables (only those of `names`, where given) as text; `width` is None outside a terminal."""
    found = tables(records, price_per_million)
    chosen = names or [name for name in found if name not in _ONLY_ELSEWHERE]
    return "\n".join(layout.render(found[name], "text", width=width) for name in chosen if name in found)


def render_check(records: Sequence[object], width: int | None = None) -> str:
    """Return what `check` shows: agreement, counterexamples, round trips."""
    every = (
        correctness.matrix_table(records),
        correctness.counterexamples_table(records),
        correctness.round_trip_table(records),
    )
    known = round_trips.recorded(records)
    shown = [round_trips.with_round_trips(table, known) for table in every if len(table.frame)]
    return "\n".join(layout.render(table, "text", width=width) for table in shown)


def render_trainers(records: Sequence[object], width: int | None = None) -> str:
    """Return what `check --trainers` shows: the matrix, and where pairs differ."""
    every = (trainers.trainer_matrix_table(records), trainers.trainer_differences_table(records))
    return "\n".join(layout.render(table, "text", width=width) for table in every if len(table.frame))
