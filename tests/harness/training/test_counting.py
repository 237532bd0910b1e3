"""Partial counts are continued only where the files, the pattern and how they are read are those they began with."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from harness.data import DataError
from harness.training.counting import Reading, parts_folder
from impls.core.counts import PieceCounts
from impls.core.counts_runs import Runs


def begun(out: Path, corpus: Path, pattern: tuple[str, ...] = ("x",), *, resume: bool = True) -> None:
    with parts_folder(out, [str(corpus)], pattern, Reading(), resume=resume):
        pass


def test_counts_of_what_has_changed_are_not_continued(tmp_path: Path) -> None:
    out, corpus = tmp_path / "a.counts", tmp_path / "text.txt"
    corpus.write_text("bir iki")
    os.utime(corpus, (10, 10))
    with parts_folder(out, [str(corpus)], ("x",), Reading(), resume=False):
        for resume in (True, False):
            with pytest.raises(DataError, match="another process is counting there"):
                begun(out, corpus, resume=resume)
    with pytest.raises(DataError, match="an earlier count was interrupted; --resume continues it"):
        begun(out, corpus, resume=False)
    begun(out, corpus)
    with pytest.raises(DataError, match="is of other files, options or contents"):
        begun(out, corpus, ("y",))
    os.utime(corpus, (11, 11))
    with pytest.raises(DataError, match="is of other files, options or contents"):
        begun(out, corpus)
    corpus.write_text("bir iki üç")
    os.utime(corpus, (10, 10))
    with pytest.raises(DataError, match="is of other files, options or contents"):
        begun(out, corpus)
    (tmp_path / "a.counts.parts" / "plan").write_bytes(b"")
    for resume in (True, False):
        with pytest.raises(DataError, match="its plan cannot be read, so --resume cannot go on; delete it"):
            begun(out, corpus, resume=resume)


def test_a_full_disk_is_named_and_leaves_no_plan(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "000000.text").symlink_to("/dev/full")
    with pytest.raises(OSError, match="No space left") as error:
        Runs(tmp_path, ("x",)).write(PieceCounts.of(("x",), {"a" * 100_000: 1}), None)
    assert error.value.filename == str(tmp_path / "000000.text")

    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match=r"a\.counts\.parts/plan"):
        begun(tmp_path / "a.counts", tmp_path / "000000.text", resume=False)
    assert not (tmp_path / "a.counts.parts").exists()
