"""Counts in files: Parquet with columns `piece` (binary, sorted) and `count` (int64)."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import numpy as np

from impls.core.counts import CountedSource, PieceCounts, added
from impls.core.errors import InvalidFile, InvalidPattern, Missing
from impls.core.text.patterns import resolve
from impls.formats.files import write_atomically

_KEY = b"bpebench"
"""Key of the pattern and the sources, as JSON, in a file's metadata."""
_FORMAT = 1
_ROWS = 1 << 16


def save_counts(counts: PieceCounts, path: Path) -> None:
    """Write sorted counts; the file appears only when it is complete. Raises `Missing` without pyarrow."""
    pyarrow, parquet = _libraries()
    ends = np.concatenate([np.zeros(1, np.int64), counts.ends])
    pieces = pyarrow.Array.from_buffers(
        pyarrow.large_binary(), len(counts), [None, pyarrow.py_buffer(ends), pyarrow.py_buffer(counts.text)]
    )
    about = {"format": _FORMAT, "pattern": list(counts.pattern), "sources": [s._asdict() for s in counts.sources]}
    schema = pyarrow.schema(
        [("piece", pyarrow.large_binary()), ("count", pyarrow.int64())], metadata={_KEY: json.dumps(about)}
    )
    table = pyarrow.Table.from_arrays([pieces, pyarrow.array(counts.counts)], schema=schema)
    content = io.BytesIO()
    parquet.write_table(table, content, compression="zstd", row_group_size=_ROWS)
    write_atomically(path, content.getvalue())


def load_counts(path: Path) -> PieceCounts:
    """Read a file of counts. Raises `InvalidFile` for a file of another kind, a damaged one or an invalid pattern."""
    pyarrow, parquet = _libraries()
    name = str(path)
    try:
        table = parquet.read_table(path)
    except FileNotFoundError:
        raise InvalidFile(name, "no such file") from None
    except (pyarrow.ArrowException, OSError) as error:
        raise InvalidFile(name, f"not a complete file of counts: {error}") from None
    try:
        about = json.loads((table.schema.metadata or {})[_KEY])
        if about["format"] != _FORMAT:
            raise InvalidFile(name, f"has format {about['format']}; this version reads {_FORMAT}")
        pattern = tuple(map(str, about["pattern"]))
        sources = tuple(
            CountedSource(source["name"], source["n_bytes"], source["digest"]) for source in about["sources"]
        )
        pieces = table["piece"].combine_chunks().cast(pyarrow.large_binary())
        counts = table["count"].to_numpy().astype(np.int64, casting="safe")
    except (AttributeError, KeyError, TypeError, ValueError, pyarrow.ArrowException):
        problem = "not a counts file (columns piece and count, and what was counted), or damaged"
        raise InvalidFile(name, f"{problem}; `bpebench train --count-only` writes one") from None
    try:
        resolve(pattern)
    except InvalidPattern as error:
        raise InvalidFile(name, str(error)) from None
    if pieces.null_count or (len(counts) and counts.min() < 1):
        raise InvalidFile(name, "has a missing piece, or a count below 1")
    _, offsets, content = pieces.buffers()
    ends = np.frombuffer(offsets, np.int64)[pieces.offset : pieces.offset + len(pieces) + 1]
    text = np.frombuffer(content, np.uint8) if content is not None else np.zeros(0, np.uint8)
    start = int(ends[0]) if len(ends) else 0
    loaded = PieceCounts(pattern, text[start : int(ends[-1]) if len(ends) else 0], ends[1:] - start, counts, sources)
    _check(loaded, name)
    return loaded


def _check(counts: PieceCounts, name: str) -> None:
    """Raise `InvalidFile` unless the pieces are valid UTF-8, non-empty, sorted and distinct."""
    content, lengths = counts.text.tobytes(), counts.lengths
    try:
        content.decode()
    except UnicodeDecodeError as error:
        raise InvalidFile(name, f"has a piece that is not UTF-8: {error.reason}") from None
    if len(counts) and (lengths.min() < 1 or bool((counts.text[counts.starts] & 0xC0 == 0x80).any())):
        raise InvalidFile(name, "has an empty piece, or one that begins inside a character")
    again = added([counts, counts])
    if len(again) != len(counts) or not np.array_equal(again.ends, counts.ends) or again.text.tobytes() != content:
        raise InvalidFile(name, "its pieces are not sorted, or not distinct")


def _libraries() -> tuple[Any, Any]:
    try:
        import pyarrow
        from pyarrow import parquet
    except ModuleNotFoundError:
        raise Missing("files of counts", "pyarrow") from None
    return pyarrow, parquet
