"""How tables are written: on a terminal and off it, as Markdown, CSV, JSON and LaTeX, whatever they contain."""

from __future__ import annotations

import csv
import io
import json

import pytest
from records_by_hand import pair, steady, timed, trained, weighed

from harness.outcome import Outcome
from harness.records import AnyRecord
from harness.report import layout
from harness.report.tables import render_terminal, tables

LONG = "a reason that does not end, " * 8


def a_run() -> list[AnyRecord]:
    names = [f"implementation{i}" for i in range(9)]
    return [
        weighed("hf:Somebody/A-Model-With-A-Name", 0, status=Outcome.MISSING, reason=LONG, n_texts=0),
        weighed("turkish-10k", 250_123),
        *(pair(a, b, i * 7) for i, a in enumerate(names) for b in names[:i]),
        *(record for name in names for record in timed(name, steady(0.1), peak_memory_bytes=10**8)),
        *timed("fastokens", [[]], outcome=Outcome.CRASH, reason=LONG),
        trained(),
    ]


def test_tables_fit_a_terminal_of_100_columns_and_are_whole_elsewhere() -> None:
    assert max(map(len, render_terminal(a_run(), width=100).splitlines())) <= 100
    names = [f"implementation{i}" for i in range(20)]
    many = [pair(a, b, 1234 if b == names[5] else 0) for i, a in enumerate(names) for b in names[:i]]
    text = render_terminal(many, width=100)
    assert max(map(len, text.splitlines())) <= 100
    assert "P≠" in text
    text = render_terminal(a_run())
    assert LONG.strip() in text
    assert "…" not in text


def test_only_chosen_tables_are_shown_and_no_records_make_none() -> None:
    text = render_terminal(a_run(), names=["compression"])
    assert text.startswith("Compression")
    assert "Speed" not in text
    assert tables([]) == {}
    assert render_terminal([]) == ""


def test_markdown_and_latex_show_cells_literally_each_in_its_row() -> None:
    records = [weighed("m|x_*`<b>\x1b[0m\n", 5, corpus="code"), weighed("50% & #1 {a}", 4, corpus="code")]
    hostile = tables(records)["compression"]
    text = layout.render(hostile, "markdown")
    assert r"m\|x\_\*\`\<b\>" in text
    assert "\x1b" not in text
    assert len([line for line in text.splitlines() if line.startswith("|")]) == 4
    text = layout.render(hostile, "latex")
    assert r"50\% \& \#1 \{a\}" in text
    assert r"\toprule" in text


def test_csv_and_json_hold_raw_values_lone_surrogates_escaped() -> None:
    table = tables(timed("naive", steady(0.1)))["speed"]
    (row,) = csv.DictReader(io.StringIO(layout.render(table, "csv")))
    loaded = json.loads(json.dumps(layout.as_json(table)))
    assert float(row["median"]) == loaded["rows"][0]["median"] == pytest.approx(9.96, rel=0.01)
    assert loaded["rows"][0]["reason"] == ""
    table = tables([weighed("\ud800", 5)])["compression"]
    for written in (layout.render(table, "csv"), str(layout.as_json(table))):
        assert "ud800" in written.encode().decode()
