"""Records on disk: every line whole, nothing lost, any text carried."""

from __future__ import annotations

import os
import subprocess
import sys
from errno import ENOSPC
from pathlib import Path
from unittest.mock import Mock

import pytest
from hypothesis import given
from hypothesis import strategies as st
from refusals import refused

from harness.outcome import Outcome
from harness.records import RECORDS_FILE, RecordError, RecordWriter, Text, Verdict, read_records


def verdict(name: str) -> Verdict:
    return Verdict(implementation=name, model="m", corpus="c", check="round-trip", status=Outcome.RIGHT, n_texts=1)


@given(st.text(st.characters(exclude_categories=())))
def test_any_text_travels_lone_surrogates_included(text: str) -> None:
    wrapped = Text.of(text)
    assert wrapped.text == text
    assert wrapped.escaped.isascii()


def test_what_is_written_is_read_and_a_folder_that_holds_records_is_refused_unless_resumed(tmp_path: Path) -> None:
    with RecordWriter(tmp_path, resume=True) as writer:  # there is nothing yet
        writer.write(verdict("a"), verdict("b"))
    refused(RecordError, "--resume", RecordWriter, tmp_path)
    with RecordWriter(tmp_path, resume=True) as writer:
        writer.write(verdict("c"))
    assert read_records(tmp_path) == [verdict("a"), verdict("b"), verdict("c")]


def test_a_half_written_line_is_skipped_and_later_cut_off(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with RecordWriter(tmp_path) as writer:
        writer.write(verdict("a"), verdict("b"))
    path = tmp_path / RECORDS_FILE
    path.write_bytes(path.read_bytes()[:-10])
    assert read_records(tmp_path) == [verdict("a")]
    assert "line 2 is half-written" in capsys.readouterr().err
    with RecordWriter(tmp_path, resume=True) as writer:
        writer.write(verdict("c"))
    assert read_records(tmp_path) == [verdict("a"), verdict("c")]


def test_a_bad_line_and_a_folder_without_records_are_named(tmp_path: Path) -> None:
    with RecordWriter(tmp_path) as writer:
        writer.write(verdict("a"))
    path = tmp_path / RECORDS_FILE
    path.write_bytes(b"{}\n" + path.read_bytes())
    refused(RecordError, "line 1 is not a record", read_records, tmp_path)
    path.unlink()
    refused(RecordError, r"contains no records\.jsonl", read_records, tmp_path)


def test_a_full_disk_is_said_and_earlier_records_stay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with RecordWriter(tmp_path) as writer:
        writer.write(verdict("a"))
        monkeypatch.setattr("harness.records.store.os.fsync", Mock(side_effect=OSError(ENOSPC, os.strerror(ENOSPC))))
        refused(RecordError, "No space left", writer.write, verdict("b"))
    monkeypatch.undo()
    assert read_records(tmp_path)[0] == verdict("a")


HOLD = """
import sys
from pathlib import Path
from harness.records import RecordWriter
writer = RecordWriter(Path(sys.argv[1]))
print("held", flush=True)
sys.stdin.read()
"""


def test_a_second_writer_is_refused_until_the_first_has_ended_or_was_killed(tmp_path: Path) -> None:
    holder = subprocess.Popen([sys.executable, "-c", HOLD, str(tmp_path)], stdin=-1, stdout=-1, text=True)
    with holder:
        assert holder.stdout.readline() == "held\n"
        for resume in (True, False):
            refused(RecordError, "another process is writing", RecordWriter, tmp_path, resume=resume)
        holder.kill()
    with RecordWriter(tmp_path) as writer:
        writer.write(verdict("a"))
    assert read_records(tmp_path) == [verdict("a")]
