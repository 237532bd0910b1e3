"""Files of records: one JSON object a line.

A half-written last line is skipped with a warning on reading and cut off on resuming.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TypeVar

import msgspec

from harness.records.schema import AnyRecord

RECORDS_FILE = "records.jsonl"
COUNTEREXAMPLES_FILE = "counterexamples.jsonl"
MACHINE_FILE = "machine.json"


class RecordError(Exception):
    """A records file or folder that cannot be used; the message says what to do."""


R = TypeVar("R")

_encoder = msgspec.json.Encoder()
_decoder = msgspec.json.Decoder(AnyRecord)


def encode_record(record: AnyRecord) -> bytes:
    """One line, with its newline."""
    return _encoder.encode(record) + b"\n"


def read_records(folder: Path) -> list[AnyRecord]:
    """Every record of a run; a half-written last line is skipped with a warning, any other bad line is an error."""
    path = folder / RECORDS_FILE
    if not path.is_file():
        raise RecordError(f"{folder}: holds no {RECORDS_FILE}; run `bpebench run` first, or name another folder")
    return read_lines(path)


def read_lines(path: Path) -> list[AnyRecord]:
    """Every record of a file; a half-written last line is skipped with a warning, any other bad line is an error."""
    lines = path.read_bytes().split(b"\n")
    records: list[AnyRecord] = []
    for number, line in enumerate(lines, 1):
        if not line:
            continue
        try:
            records.append(_decoder.decode(line))
        except msgspec.DecodeError as error:
            if number == len(lines):
                print(f"{path}: line {number} is half-written; skipped", file=sys.stderr)
                continue
            raise RecordError(f"{path}: line {number} is not a record: {error}") from None
    return records


class RecordWriter:
    """Appends records to a run's folder, each line flushed to disk as it is written."""

    def __init__(self, folder: Path, *, resume: bool = False, file: str = RECORDS_FILE) -> None:
        self.folder = folder
        path = folder / file
        if path.exists() and path.stat().st_size and not resume:
            raise RecordError(f"{folder}: already holds records; pass --resume to go on, or another --out")
        folder.mkdir(parents=True, exist_ok=True)
        if resume and path.exists():
            _cut_half_written_line(path)
        self._file = path.open("ab", buffering=0)

    def write(self, *records: AnyRecord) -> None:
        """Append `records`; they are on disk when this returns. Raises `RecordError` where the disk takes no more."""
        left = memoryview(b"".join(map(encode_record, records)))
        try:
            while left:
                left = left[self._file.write(left) :]
            os.fsync(self._file.fileno())
        except OSError as error:
            raise RecordError(
                f"{self.folder}: cannot write: {error.strerror}; what was written before is kept: make room, then "
                "go on with --resume"
            ) from None

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def __enter__(self) -> RecordWriter:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _cut_half_written_line(path: Path) -> None:
    content = path.read_bytes()
    whole = content.rfind(b"\n") + 1
    if whole != len(content):
        with path.open("r+b") as file:
            file.truncate(whole)


def of_kind(records: Iterable[object], kind: type[R]) -> Iterator[R]:
    """The records of one kind, in order."""
    return (record for record in records if isinstance(record, kind))
