"""Counts are gone on with only where the files, the pattern and how they are read are those they were begun with."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from harness.data import DataError
from harness.training.counting import Reading, parts_folder


def begun(out: Path, corpus: Path, pattern: tuple[str, ...] = ("x",), *, resume: bool = True) -> None:
    with parts_folder(out, [str(corpus)], pattern, Reading(), resume=resume):
        pass


def test_counts_of_what_has_changed_are_not_gone_on_with(tmp_path: Path) -> None:
    out, corpus = tmp_path / "a.counts", tmp_path / "text.txt"
    corpus.write_text("bir iki")
    os.utime(corpus, (10, 10))
    begun(out, corpus, resume=False)
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
