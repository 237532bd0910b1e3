"""How tables are written: on a terminal and off it, as Markdown, CSV, JSON and LaTeX, whatever they contain."""

from __future__ import annotations

import csv
import io
import json

import pytest
from records_by_hand import pair, steady, timed, trained, weighed

from harness.outcome import Outcome
from harness.records import AnyRecord, Verdict
from harness.report import layout
from harness.report.table import Table
from harness.report.tables import render_check, render_terminal, tables

LONG = "a reason that goes on and on, " * 8


def a_run() -> list[AnyRecord]:
    names = [
        "naive",
        "wordcount",
        "priority",
        "bytelevel",
        "backtracking",
        "greedy",
        "tiktoken",
        "tokenizers",
        "sentencepiece",
    ]
    return [
        weighed("hf:Somebody/A-Model-With-A-Name", 0, status=Outcome.MISSING, reason=LONG, n_texts=0),
        weighed("turkish-10k", 250_123),
        *(pair(a, b, i * 7) for i, a in enumerate(names) for b in names[:i]),
        *(record for name in names for record in timed(name, steady(0.1), peak_memory_bytes=10**8)),
        *timed("fastokens", [[]], outcome=Outcome.CRASH, reason=LONG),
        Verdict(
            implementation="naive", model="m", corpus="samples", check="round-trip", status=Outcome.CRASH, reason=LONG
        ),
        trained(),
    ]


def test_every_table_fits_a_terminal_of_100_columns() -> None:
    lines = render_terminal(a_run(), width=100).splitlines()
    assert max(map(len, lines)) <= 100


def test_nothing_is_cut_or_wrapped_where_there_is_no_terminal() -> None:
    text = render_terminal(a_run())
    assert LONG.strip() in text
    assert "…" not in text


def test_only_chosen_tables_are_shown() -> None:
    text = render_terminal(a_run(), names=["compression"])
    assert text.startswith("Compression")
    assert "Speed" not in text


def hostile() -> Table:
    records = [weighed("m|x_*`<b>\x1b[0m\n", 5, corpus="code"), weighed("50% & #1 {a}", 4, corpus="code")]
    return tables(records)["compression"]


def test_markdown_keeps_cells_in_their_row_and_shows_them_literally() -> None:
    text = layout.render(hostile(), "markdown")
    assert r"m\|x\_\*\`\<b\>" in text
    assert "\x1b" not in text
    body = [line for line in text.splitlines() if line.startswith("|")]
    assert len(body) == 4


def test_csv_and_json_hold_raw_values() -> None:
    records = [*timed("naive", steady(0.1))]
    table = tables(records)["speed"]
    (row,) = csv.DictReader(io.StringIO(layout.render(table, "csv")))
    loaded = json.loads(layout.render(table, "json"))
    assert float(row["median"]) == loaded["rows"][0]["median"] == pytest.approx(9.96, rel=0.01)
    assert loaded["rows"][0]["reason"] == ""


def test_csv_and_json_take_lone_surrogates() -> None:
    table = tables([weighed("\ud800", 5)])["compression"]
    for format in ("csv", "json"):
        assert "ud800" in layout.render(table, format).encode().decode()


def test_latex_escapes_what_latex_would_read() -> None:
    text = layout.render(hostile(), "latex")
    assert r"50\% \& \#1 \{a\}" in text
    assert r"\toprule" in text


def test_no_records_make_no_tables() -> None:
    assert tables([]) == {}
    assert render_terminal([]) == ""


def test_a_matrix_of_twenty_implementations_fits_a_terminal_too() -> None:
    names = [f"implementation{i}" for i in range(20)]
    records = [pair(a, b, 1234 if b == names[5] else 0) for i, a in enumerate(names) for b in names[:i]]
    text = render_check(records, width=100)
    assert max(map(len, text.splitlines())) <= 100
    assert "P≠" in text
