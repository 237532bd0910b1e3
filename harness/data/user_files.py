"""The user's own files: which ones a name means. `impls.core.text.files` reads them as documents."""

from __future__ import annotations

import glob
import io
from collections.abc import Iterator
from pathlib import Path

from harness.data.errors import DataError
from impls.core.text.blocks import blocks_of, decoded, documents_of


def matching_files(pattern: str) -> list[Path]:
    """Return the files of a path, a folder or a glob, sorted; raise `DataError` if there is none.

    A folder means all files below it except hidden ones.
    """
    path = Path(pattern)
    if path.is_symlink() and not path.exists():
        raise DataError(f"{pattern}: a symbolic link to {path.readlink()}, which leads to no file")
    try:
        if path.is_dir():
            shown = (file for file in path.rglob("*") if not any(p[0] == "." for p in file.relative_to(path).parts))
            paths = sorted(shown)
        elif path.exists():
            return [path]
        else:
            paths = sorted(map(Path, glob.glob(pattern, recursive=True)))  # noqa: PTH207 (Path.glob takes no absolute one)
    except (OSError, ValueError) as error:
        raise DataError(f"{pattern!a}: cannot be a path: {error}") from None
    files = [file for file in paths if file.is_file()]
    if not files:
        raise DataError(f"{pattern}: {'contains no files' if path.is_dir() else 'no such file'}")
    return files


def documents_in(content: bytes, name: str) -> Iterator[str]:
    """Yield the documents of a text held in memory. Raise `InvalidFile` naming the invalid byte."""
    for offset, block in blocks_of(io.BytesIO(content), 0, None):
        yield from documents_of(decoded(block, name, offset), "paragraphs")
