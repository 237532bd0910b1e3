"""The summary at the end of a tour of the suite: its findings, and the most important tables."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import replace

from harness.printable import printable
from harness.report import layout
from harness.report.headlines import headlines
from harness.report.tables import compression, overview, speed

WIDTH = 100


def render_summary(records: Sequence[object]) -> str:
    """Return at most about 60 lines of at most 100 columns; every table of the run is `render_terminal`'s."""
    rows = speed.speed_rows(records)
    every = compression.compression_table(records)
    turkish = [row for row in every.rows if row["corpus"] == compression.HELD_OUT]
    training = speed.training_table(rows)
    shown = [overview.overview_table(records, rows), replace(every, rows=turkish), replace(training, note="")]
    lines = (f"{headline.text}." for headline in headlines(records))
    parts = [
        "\n".join(textwrap.fill(printable(line), WIDTH, initial_indent="· ", subsequent_indent="  ") for line in lines),
        *(layout.render(table, "text", width=WIDTH).rstrip() for table in shown if table.rows),
    ]
    return "\n\n".join(filter(None, parts))
