"""The summary at the end of a tour of the suite: its findings, and the most important tables."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from harness.printable import printable
from harness.report import layout, wording
from harness.report.headlines import headlines
from harness.report.table import Row, Table, grouped
from harness.report.tables import compression, correctness, overview, speed

WIDTH = 100
_TRAINERS_NAMED = 4


def render_summary(records: Sequence[object]) -> str:
    """Return at most about 60 lines of at most 100 columns; every table of the run is `render_terminal`'s."""
    rows = speed.speed_rows(records)
    turkish = compression.turkish_table(records, compression.DEFAULT_PRICE_PER_MILLION)
    shown = [table for table in (turkish, overview.overview_table(records, rows)) if table.rows]
    parts = [
        "\n".join(_wrapped(f"{headline.text}.", "· ") for headline in headlines(records, rows)),
        _section("Agreement", _agreement(records)),
        *(layout.render(_held_out(table), "text", width=WIDTH).rstrip() for table in shown),
        _section("Training, MB/s", _training(rows)),
    ]
    return "\n\n".join(part for part in parts if part)


def _section(title: str, lines: Sequence[str]) -> str:
    return "\n".join([title, "=" * len(title), "", *lines]) if lines else ""


def _wrapped(line: str, mark: str = "") -> str:
    return textwrap.fill(printable(line), WIDTH, initial_indent=mark, subsequent_indent=" " * len(mark))


def _held_out(table: Table) -> Table:
    """Return the rows of held-out text, if the run has them, without the note on texts that were not counted."""
    if table.name != "turkish":
        return table
    held_out = [row for row in table.rows if row["text"] == compression.HELD_OUT]
    return replace(table, rows=held_out or table.rows, note=table.note.partition("\n")[0])


def _agreement(records: Sequence[object]) -> list[str]:
    """Return one line for each model."""
    by_model = grouped(correctness.pair_rows(records), lambda pair: str(pair["model"]))
    return [_wrapped(_agreement_line(model, pairs)) for model, pairs in by_model.items()]


def _agreement_line(model: str, pairs: Sequence[Row]) -> str:
    owed = [pair for pair in pairs if pair["class"] != "expected to differ"]
    faulty = [f"{pair['a']} and {pair['b']}" for pair in owed if pair["status"] == "differs"]
    without = sum(pair["n_not_compared"] > 0 for pair in owed)
    equal = sum(pair["status"] == "equal" for pair in owed)
    texts = max((pair["n_texts"] for pair in owed), default=0)
    said = f"{model}: {equal} of {len(owed)} pairs give the same ids on up to {texts:,} texts"
    said += f"; these do not: {', '.join(faulty)}" if faulty else ""
    said += f"; {without} not compared on every text" if without else ""
    others = [pair for pair in pairs if pair["class"] == "expected to differ" and pair["n_differing_texts"]]
    counts = Counter(name for pair in others for name in (pair["a"], pair["b"]))
    most = min(counts, key=lambda name: (-counts[name], name), default=None)
    return said + (f"; {most} differs, as it should" if most is not None else "")


def _training(rows: Sequence[Row]) -> list[str]:
    """Return one line for each training workload: the speed of each trainer, the fastest first."""
    timed = [row for row in rows if row["task"] == "train" and row["median"] is not None]
    by_workload = grouped(timed, lambda row: str(row["workload"]))
    width = max(map(len, by_workload), default=0)
    return [
        f"{name:<{width}}  "
        + ", ".join(f"{row['implementation']} {wording.figure(row['median'])}" for row in some[:_TRAINERS_NAMED])
        for name, some in by_workload.items()
    ]
