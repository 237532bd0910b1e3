"""Names that hold control characters and marks of direction, at every border: nothing in them acts."""

from __future__ import annotations

import csv
import io
import json
import sys
from pathlib import Path
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from records_by_hand import pair, steady, timed, weighed

from harness.printable import printable, printable_json, printable_values
from harness.progress import progress
from harness.records import AnyRecord, RecordWriter
from harness.report.layout import Format, render
from harness.report.tables import tables

NAME = "evil\x1b[31m\x07\x00\n\r\x7f\x85\x9b2J\u202egnp\u2066\u2028<b>[/dim]"
ACTING = set("\x1b\x07\x00\r\x7f\x85\x9b\u202e\u2066\u2028")


def hostile_records() -> list[AnyRecord]:
    return [
        *timed(NAME, steady(0.1), f"encode/{NAME}/c", model=NAME, corpus=NAME),
        *timed("naive", steady(0.2), f"encode/{NAME}/c", model=NAME, corpus=NAME),
        *timed("priority", [[]], f"encode/{NAME}/c", "crash", model=NAME, corpus=NAME, reason=NAME),
        weighed(NAME, 100, NAME), weighed("m", 90, NAME), pair(NAME, "naive", corpus=NAME),
    ]  # fmt: skip


@given(st.text())
def test_what_is_printable_is_one_line_of_printable_characters(text: str) -> None:
    assert printable(text).isprintable()
    assert printable(printable(text)) == printable(text)


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_escaped_json_reads_as_the_same_value_and_holds_nothing_that_acts(text: str) -> None:
    document = printable_json(json.dumps({"name": text}, ensure_ascii=False, indent=2))
    assert json.loads(document) == {"name": text}
    assert document.replace("\n", "").isprintable()


def test_values_are_made_printable_wherever_they_are() -> None:
    assert printable_values({"a": ["\x1b", {"b": ("\x07", 1, None)}]}) == {"a": ["\\x1b", {"b": ["\\x07", 1, None]}]}


@pytest.mark.parametrize("format", get_args(Format))
def test_no_table_holds_a_character_that_acts(format: Any) -> None:
    for table in tables(hostile_records()).values():
        written = render(table, format)
        assert not ACTING & set(written), table.name
        if format == "csv":
            assert len(list(csv.reader(io.StringIO(written)))) == len(table.rows) + 1
            assert len(written.splitlines()) == len(table.rows) + 1


def test_no_verb_prints_a_character_that_acts(bpebench: Any, tmp_path: Path) -> None:
    with RecordWriter(tmp_path / "run") as writer:
        writer.write(*hostile_records())
    file = tmp_path / (NAME.replace("\x00", "").replace("/", "") + ".txt")
    file.write_text("aa aa\n")
    for line in (
        "report RUN", "report RUN --table ranking", "report RUN --json", "report RUN --format csv",
        "evaluate -m gpt2 -c FILE", "evaluate -m gpt2 -c FILE --json",
        "train -c FILE --vocab-size 257 --out FILE.json", "sweep -c FILE --held-out FILE --vocab-sizes 257 -m gpt2",
    ):  # fmt: skip
        given = [word.replace("RUN", str(tmp_path / "run")).replace("FILE", str(file)) for word in line.split()]
        ended = bpebench(*given)
        assert ended.status == 0, ended.err
        assert not ACTING & set(ended.out + ended.err), line


def test_an_error_names_what_is_wrong_on_one_line(bpebench: Any) -> None:
    for line in (
        "NAME", "encode a -m NAME", "encode a -e NAME -m gpt2", "list NAME", "report NAME", "convert gpt2 x --to NAME",
        "fetch NAME", "train -c NAME", "train --name NAME", "train --vocab-size NAME",
    ):  # fmt: skip
        name = NAME.replace("\x00", "") if line.startswith("report") else NAME
        ended = bpebench(*(name if word == "NAME" else word for word in line.split()))
        assert (ended.status, ended.out) == (2, "")
        assert not ACTING & set(ended.err)
        assert "evil" in ended.err.splitlines()[-1], line


def test_progress_shows_names_escaped(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    with progress(NAME) as bar:
        bar.note(NAME)
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    with progress(NAME, 1) as bar:
        bar.advance(1, NAME)
        bar.note(NAME)
    shown = capsys.readouterr().err
    assert "\x1b[31m" not in shown
    assert not set("\x07\x00\x9b\u202e") & set(shown)
    assert "[/dim]" in shown


def test_without_rich_progress_is_lines(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    monkeypatch.setitem(sys.modules, "rich", None)
    with progress("counting", 2) as bar:
        bar.advance()
        bar.note("half")
    assert capsys.readouterr().err == "counting …\nhalf\n"
