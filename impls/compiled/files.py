"""Encodes a text file to a file of ids, which is read and written in bounded steps and renamed when complete."""

from __future__ import annotations

import codecs
import stat
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Unpack

import numpy as np

from impls.core.arguments import Special
from impls.core.errors import InvalidFile
from impls.interface import Tokenizer
from impls.operations.certain_cuts import cuts_around, pairs_of

STEP_BYTES = 1 << 24
"""Approximate amount of text that is encoded at once; a step ends where the pattern certainly cuts."""


def encode_file(
    tokenizer: Tokenizer,
    source: Path,
    target: Path,
    progress: Callable[[int, int], None] | None,
    **special: Unpack[Special],
) -> int:
    """Write the ids of a UTF-8 file to `target`, uint16 if every id fits, else uint32 (`.npy`, or raw numbers for
    `.bin`); return how many.

    The file is one text; memory stays bounded if it has certain places to cut (`impls.operations.certain_cuts`).
    `progress` gets (bytes done, total bytes). Raises `InvalidFile` for invalid UTF-8, with its offset, and for a source
    that is not a regular file or shrinks meanwhile.
    """
    model = tokenizer.model
    kind: np.dtype[np.unsignedinteger] = np.dtype(np.uint16 if model.vocab_size <= 1 << 16 else np.uint32)
    cuts = cuts_around(tokenizer, frozenset(model.whole_token_ids))
    cut = None if pairs_of(tokenizer).changes_beginning else cuts.last
    if target.suffix not in (".npy", ".bin"):
        raise InvalidFile(str(target), "ids are written to .npy or .bin")
    about = source.stat()
    if not stat.S_ISREG(about.st_mode):
        raise InvalidFile(str(source), "not a regular file; save it to one first")
    total = about.st_size
    n_ids = 0
    with tempfile.NamedTemporaryFile(dir=target.parent, prefix=f".{target.name}.", delete=False) as out:
        temporary = Path(out.name)
        try:
            if target.suffix == ".npy":
                _write_npy_header(out, kind, 0)
            for text, end in _steps(source, total, cut):
                ids = tokenizer.encode_array(text, **special).astype(kind)
                out.write(ids.tobytes())
                n_ids += len(ids)
                if progress is not None:
                    progress(end, total)
            if target.suffix == ".npy":
                out.seek(0)
                _write_npy_header(out, kind, n_ids)
        except BaseException:
            out.close()
            temporary.unlink(missing_ok=True)
            raise
    temporary.replace(target)
    return n_ids


def _steps(source: Path, total: int, cut: Callable[[str], int] | None) -> Iterator[tuple[str, int]]:
    """Yield stretches of the file that may be encoded one by one, and the byte at which each ends."""
    # Not memory-mapped: an access past the end of a file that shrinks meanwhile kills the process.
    with source.open("rb") as file:
        start, size = 0, STEP_BYTES
        while start < total:
            size = total - start if cut is None else min(size, total - start)
            file.seek(start)
            stretch = file.read(size)
            if len(stretch) < size:
                raise InvalidFile(str(source), f"it shrank below {total} bytes while it was read")
            is_last = start + size == total
            try:
                text, _ = codecs.utf_8_decode(stretch, "strict", is_last)  # the last character may be incomplete
            except UnicodeDecodeError as error:
                raise InvalidFile(str(source), f"not UTF-8 at byte {start + error.start}") from None
            if not is_last and cut is not None and (end := cut(text)) == 0:
                size *= 2
                continue
            if not is_last:
                text = text[:end]
            start += len(text.encode())
            yield text, start
            size = STEP_BYTES


def _write_npy_header(out: IO[bytes], kind: np.dtype[np.unsignedinteger], n_ids: int) -> None:
    """Write a header of .npy version 1.0; NumPy pads it to the same length whatever the number of ids."""
    header = {"descr": kind.newbyteorder("<").str, "fortran_order": False, "shape": (n_ids,)}
    np.lib.format.write_array_header_1_0(out, header)


def print_progress(done: int, total: int) -> None:
    """Print the progress as one line on standard error."""
    print(f"bpebench: encoded {done:,} of {total:,} bytes", file=sys.stderr, flush=True)
