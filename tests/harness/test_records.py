"""Records on disk: every line whole, nothing lost, any text carried."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.outcome import Outcome
from harness.records import (
    RECORDS_FILE,
    Measurement,
    Pass,
    RecordError,
    RecordWriter,
    Text,
    Verdict,
    encode_record,
    read_records,
)


def verdict(name: str) -> Verdict:
    return Verdict(implementation=name, model="m", corpus="c", check="round-trip", status=Outcome.RIGHT, n_texts=1)


@given(st.text(st.characters(exclude_categories=())))
def test_any_text_travels_lone_surrogates_included(text: str) -> None:
    wrapped = Text.of(text)
    assert wrapped.text == text
    assert wrapped.escaped.isascii()


def test_what_is_written_is_read(tmp_path: Path) -> None:
    with RecordWriter(tmp_path) as writer:
        writer.write(verdict("a"), verdict("b"))
    assert read_records(tmp_path) == [verdict("a"), verdict("b")]


def test_a_folder_that_holds_records_is_refused_unless_resumed(tmp_path: Path) -> None:
    with RecordWriter(tmp_path) as writer:
        writer.write(verdict("a"))
    with pytest.raises(RecordError, match="--resume"):
        RecordWriter(tmp_path)
    with RecordWriter(tmp_path, resume=True) as writer:
        writer.write(verdict("b"))
    assert len(read_records(tmp_path)) == 2


def test_a_half_written_last_line_is_skipped_with_a_warning(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with RecordWriter(tmp_path) as writer:
        writer.write(verdict("a"), verdict("b"))
    path = tmp_path / RECORDS_FILE
    path.write_bytes(path.read_bytes()[:-10])
    assert read_records(tmp_path) == [verdict("a")]
    assert "line 2 is half-written" in capsys.readouterr().err


def test_resuming_cuts_the_half_written_line_off(tmp_path: Path) -> None:
    with RecordWriter(tmp_path) as writer:
        writer.write(verdict("a"), verdict("b"))
    path = tmp_path / RECORDS_FILE
    path.write_bytes(path.read_bytes()[:-10])
    with RecordWriter(tmp_path, resume=True) as writer:
        writer.write(verdict("c"))
    assert read_records(tmp_path) == [verdict("a"), verdict("c")]


def test_a_bad_line_in_the_middle_is_named(tmp_path: Path) -> None:
    with RecordWriter(tmp_path) as writer:
        writer.write(verdict("a"))
    path = tmp_path / RECORDS_FILE
    path.write_bytes(b"{}\n" + path.read_bytes())
    with pytest.raises(RecordError, match="line 1 is not a record"):
        read_records(tmp_path)


@pytest.mark.parametrize("field", ["n_tokens", "n_calls", "limit_seconds"])
@pytest.mark.parametrize("number", ["1" + 400 * "0", "-1" + 30 * "0", "1e400", "1e200", "NaN", "Infinity"])
def test_a_number_too_large_to_calculate_with_is_no_record(tmp_path: Path, field: str, number: str) -> None:
    line = encode_record(measured(0, 1.0)).replace(b"{", f'{{"{field}":{number},'.encode(), 1)
    (tmp_path / RECORDS_FILE).write_bytes(encode_record(verdict("a")) + line)
    with pytest.raises(RecordError, match="line 2 is not a record: "):
        read_records(tmp_path)


def test_a_sample_too_large_to_calculate_with_is_no_record(tmp_path: Path) -> None:
    for number in ("1" + 400 * "0", "1e200", "NaN"):
        line = encode_record(measured(0, 1.0)).replace(b"[1.0]", f"[1.0,{number}]".encode())
        (tmp_path / RECORDS_FILE).write_bytes(line)
        with pytest.raises(RecordError, match="line 1 is not a record: "):
            read_records(tmp_path)


def test_a_folder_without_records_is_named(tmp_path: Path) -> None:
    with pytest.raises(RecordError, match=r"holds no records\.jsonl"):
        read_records(tmp_path)


def test_a_full_disk_is_said_and_earlier_records_stay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with RecordWriter(tmp_path) as writer:
        writer.write(verdict("a"))

        def full(_: int) -> None:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

        monkeypatch.setattr("harness.records.store.os.fsync", full)
        with pytest.raises(RecordError, match="No space left"):
            writer.write(verdict("b"))
    monkeypatch.undo()
    assert read_records(tmp_path)[0] == verdict("a")


def test_a_second_writer_of_one_folder_is_refused_until_the_first_has_ended(tmp_path: Path) -> None:
    with RecordWriter(tmp_path) as writer:
        writer.write(verdict("a"))
        for resume in (True, False):
            with pytest.raises(RecordError, match=r"another process is writing|already holds"):
                RecordWriter(tmp_path, resume=resume)
        writer.write(verdict("b"))
    with RecordWriter(tmp_path, resume=True) as writer:
        writer.write(verdict("c"))
    assert read_records(tmp_path) == [verdict("a"), verdict("b"), verdict("c")]


def test_a_folder_that_holds_no_records_yet_is_refused_to_a_second_writer_too(tmp_path: Path) -> None:
    with RecordWriter(tmp_path), pytest.raises(RecordError, match="another process is writing"):
        RecordWriter(tmp_path)


HOLD = """
import sys
from pathlib import Path
from harness.records import RecordWriter
writer = RecordWriter(Path(sys.argv[1]))
print("held", flush=True)
sys.stdin.read()
"""


def test_a_killed_writer_keeps_nobody_out(tmp_path: Path) -> None:
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    with holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        with pytest.raises(RecordError, match="another process is writing"):
            RecordWriter(tmp_path)
        holder.kill()
    with RecordWriter(tmp_path) as writer:
        writer.write(verdict("a"))
    assert read_records(tmp_path) == [verdict("a")]


def measured(number: int, seconds: float) -> Measurement:
    return Measurement(
        workload="w", implementation="i", task="encode", model="m", corpus="c", outcome=Outcome.RIGHT, opening=number,
        passes=[Pass(0, False, 1, [1], [seconds], [seconds])],
    )  # fmt: skip


def test_records_of_one_key_are_named_and_the_last_counts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = [measured(0, 1.0), verdict("a"), measured(1, 2.0), measured(0, 3.0), verdict("a"), verdict("b")]
    (tmp_path / RECORDS_FILE).write_bytes(b"".join(map(encode_record, lines)))
    assert read_records(tmp_path) == [measured(0, 3.0), verdict("a"), measured(1, 2.0), verdict("b")]
    warning = capsys.readouterr().err
    assert "2 records are there twice" in warning
    assert "lines 1 and 4 (w, i, 0, 0)" in warning
    assert "lines 2 and 5 (verdict, round-trip, a, m, c)" in warning
