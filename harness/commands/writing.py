"""What a verb writes: never what it reads, and only where a file can be written."""

from __future__ import annotations

import glob
import os
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path

from harness.commands.verb import ensure


def check_target(target: Path, sources: Sequence[str] = ()) -> None:
    """Raise, before any work is done, if `target` cannot be written or is one of the input files, or in such a folder.

    For sources that are models see `model_sources`.
    """
    ensure(not target.is_dir(), f"{target}: is a folder; name a file to write")
    for source in sources if target.exists() else ():
        for name in (*glob.iglob(glob.escape(source)), *glob.iglob(source, recursive=True)):  # noqa: PTH207
            path = Path(name)
            is_read = path.exists() and (target.samefile(path) or path.resolve() in target.resolve().parents)
            ensure(not is_read, f"{target}: is also read; name another file to write")
    target.parent.mkdir(parents=True, exist_ok=True)
    is_writable = os.access(target if target.exists() else target.parent, os.W_OK)
    ensure(is_writable, f"{target}: cannot be written here; name another file")


def model_sources(*names: str | None) -> list[str]:
    """Return `names` of models for `check_target`, with the files of those that were trained here."""
    from harness.data.models import trained_model_names, trained_model_path

    models, trained = [name for name in names if name is not None], trained_model_names()
    return [*models, *(str(trained_model_path(name)) for name in models if name in trained)]


def command_line() -> str:
    """Return the command as typed, for the records."""
    return shlex.join(["bpebench", *sys.argv[1:]])
