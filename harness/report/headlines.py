"""The sentences that summarise a run, each with its figure, and the screen a tour ends on."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from harness.measure.comparison import ranking
from harness.measure.summary import summaries
from harness.measure.workloads import ENCODING
from harness.printable import printable
from harness.records import Measurement, of_kind
from harness.report import layout
from harness.report.tables import compression, correctness, overview, speed
from harness.report.wording import figure, interval
from impls.core.errors import plural

WIDTH = 100
_YARDSTICK = "tiktoken"


class Headline(NamedTuple):
    """A sentence, and the figure in it."""

    id: str
    """What it is about, by which a README chooses it: `speed`, `own`, `agreement`, …"""
    figure: str
    text: str


def headlines(records: Sequence[object]) -> list[Headline]:
    """Return the headlines these records support, the most important first."""
    return [*_speed(records, speed.noise_floor(records)), *_agreement(records), *_turkish(records)]


def _speed(records: Sequence[object], floor: float | None) -> Iterator[Headline]:
    """Yield the headline on encoding new text, without workloads that are too noisy to cite."""
    measured = [m for m in of_kind(records, Measurement) if m.task in ENCODING and m.state == "new text"]
    noisy = {workload.name for workload in summaries(measured) if workload.is_noisy}
    cited = [m for m in measured if m.workload not in noisy]
    leading = [ranked.name for ranked in ranking(cited)[0][:1]]
    # What the others did not do, or not right, does not count between these two.
    both = [measured for measured in cited if measured.implementation in (*leading, _YARDSTICK)]
    rows = speed.ranking_table(both, floor).rows
    yard = next((row for row in rows if row["implementation"] == _YARDSTICK), None)
    if yard is None or yard is rows[0]:
        return
    best, shown = rows[0]["implementation"], f"{figure(yard['times_best'])} ×"
    workloads = ranking(both)[1]
    mean = f"geometric mean over {plural(len(workloads), 'workload')}: {speed.workload_names(workloads)}"
    if yard["claimed"]:
        bounds = f"(95 % {interval(yard['low'], yard['high'])}, {mean})"
        text = f"{best} is {shown} as fast as {_YARDSTICK} on new text {bounds}"
    elif floor is None:
        text = f"{best} is about {shown} as fast as {_YARDSTICK} ({mean}); not confirmed"
        text += ", as this profile does not measure its noise: use --profile default"
    else:
        shown, text = "≈", f"{best} and {_YARDSTICK} are ≈ equally fast ({mean})"
    yield Headline("speed", shown, text)


def _agreement(records: Sequence[object]) -> Iterator[Headline]:
    owed = [pair for pair in correctness.pair_rows(records) if pair["class"] != "expected to differ"]
    if not owed:
        return
    texts = max(pair["n_texts"] for pair in owed)
    without = sum(pair["n_not_compared"] > 0 for pair in owed)
    faulty = [f"{pair['a']} and {pair['b']}" for pair in owed if pair["status"] == "differs"]
    shown = f"{sum(pair['status'] == 'equal' for pair in owed):,} of {len(owed):,}"
    text = f"{shown} pairs of implementations that should agree give identical ids, on up to {texts:,} texts under "
    text += plural(len({pair["model"] for pair in owed}), "vocabulary", "vocabularies")
    text += f"; these do not: {', '.join(dict.fromkeys(faulty))}" if faulty else ""
    yield Headline("agreement", shown, text + (f"; not compared on every text: {without:,}" if without else ""))


def _turkish(records: Sequence[object]) -> Iterator[Headline]:
    texts = {compression.PARAGRAPH: "A Turkish paragraph", compression.HELD_OUT: "Turkish held out from training"}
    for corpus, what in texts.items():
        rows = [row for row in compression.compression_table(records).rows if row["corpus"] == corpus]
        worst = max(rows, key=lambda row: row["over_fewest"] or 0, default=None)
        best = next((row for row in rows if worst and row["n_bytes"] == worst["n_bytes"]), None)
        if worst is not None and best is not None and worst["over_fewest"] and best is not worst:
            shown = f"{figure(worst['over_fewest'])} ×"
            than = f"under {worst['model']} ({worst['vocab_size']:,} tokens) as under {best['model']}"
            yield Headline("turkish", shown, f"{what} takes {shown} as many tokens {than} ({best['vocab_size']:,})")
            return


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
