"""Files of records: one JSON object per line, written by one process at a time, and the machine's facts beside them.

On reading, an incomplete last line is skipped with a warning; on resuming, it is removed.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import msgspec
from filelock import FileLock, Timeout

from harness.records.comparisons import Agreement, Disagreement, NotCompared
from harness.records.schema import Compression, Measurement, Trained, Verdict
from impls.formats.files import write_atomically

AnyRecord = Verdict | Agreement | NotCompared | Measurement | Compression | Trained | Disagreement
RECORDS_FILE = "records.jsonl"
MACHINE_FILE = "machine.json"


class RecordError(Exception):
    """A records file or folder that cannot be used; the message says what to do."""


R = TypeVar("R")

_encoder = msgspec.json.Encoder()
_decoder = msgspec.json.Decoder(AnyRecord)


def encode_record(record: AnyRecord) -> bytes:
    """Encode a record as one line, newline included."""
    return _encoder.encode(record) + b"\n"


def read_records(folder: Path) -> list[AnyRecord]:
    """Return every record of a run; an incomplete last line is skipped with a warning, other bad lines are errors."""
    path = folder / RECORDS_FILE
    if not path.is_file():
        raise RecordError(f"{folder}: contains no {RECORDS_FILE}; run `bpebench run` first, or name another folder")
    return read_lines(path)


def read_lines(path: Path) -> list[AnyRecord]:
    """Return every record of a file; an incomplete last line is skipped with a warning, other bad lines are errors."""
    lines = path.read_bytes().split(b"\n")
    records: list[AnyRecord] = []
    for number, line in enumerate(lines, 1):
        try:
            records += [_decoder.decode(line)] if line else []
        except msgspec.DecodeError as error:
            if number < len(lines):
                raise RecordError(f"{path}: line {number} is not a record: {error}") from None
            print(f"{path}: line {number} is half-written; skipped", file=sys.stderr)
    return records


class RecordWriter:
    """Appends records to a run's folder, each line flushed to disk as it is written.

    While it is open no other can write the same file: a second one raises `RecordError`. The system releases the lock
    of a process that dies, however it dies.
    """

    def __init__(self, folder: Path, *, resume: bool = False, file: str = RECORDS_FILE) -> None:
        """Open `file` of `folder`, which must hold no records unless `resume` is set."""
        path = self._path = folder / file
        folder.mkdir(parents=True, exist_ok=True)
        self._lock = FileLock(folder / f".{file}.lock")
        try:
            self._lock.acquire(timeout=0)
        except Timeout:
            raise RecordError(
                f"{folder}: another process is writing {file} there; wait for its end, or use another --out"
            ) from None
        try:
            if not resume and path.exists() and path.stat().st_size:
                advice = "continue a run with --resume, delete the folder to overwrite it, or use another --out"
                raise RecordError(f"{folder}: already holds records; {advice}")
            if resume and path.exists():
                _cut_half_written_line(path)
            self._file = path.open("ab", buffering=0)
        except BaseException:
            self._lock.release()
            raise

    def write(self, *records: AnyRecord) -> None:
        """Append `records`; they are on disk when this returns. Raise `RecordError` for a full disk."""
        left = memoryview(b"".join(map(encode_record, records)))
        try:
            while left:
                left = left[self._file.write(left) :]
            os.fsync(self._file.fileno())
        except OSError as error:
            kept = "what was written before is kept: make room, then run it again (a run with --resume)"
            raise RecordError(f"{self._path}: cannot write: {error.strerror}; {kept}") from None

    def close(self) -> None:
        """Close the file and release its lock."""
        self._file.close()
        self._lock.release()

    def __enter__(self) -> RecordWriter:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _cut_half_written_line(path: Path) -> None:
    content = path.read_bytes()
    n_complete = content.rfind(b"\n") + 1
    if n_complete != len(content):
        with path.open("r+b") as file:
            file.truncate(n_complete)


def of_kind(records: Iterable[object], kind: type[R]) -> Iterator[R]:
    """Return the records of one kind, in order."""
    return (record for record in records if isinstance(record, kind))


def write_machine(folder: Path, facts: dict[str, Any]) -> None:
    """Write the machine facts of the records of `folder`, atomically."""
    write_atomically(folder / MACHINE_FILE, msgspec.json.format(msgspec.json.encode(facts), indent=2) + b"\n")


def read_machine(folder: Path) -> dict[str, Any]:
    """Return what `write_machine` wrote, or an empty dict if there is no file; raise `RecordError` if it is damaged."""
    path = folder / MACHINE_FILE
    try:
        content = path.read_bytes()
    except (OSError, ValueError):  # a path with a null character is a ValueError
        return {}
    try:
        return msgspec.json.decode(content, type=dict[str, Any])
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise RecordError(f"{path}: is damaged: {error}; restore it, or delete it to continue without it") from None
