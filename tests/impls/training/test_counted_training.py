"""`train(..., threads=, memory_limit=, progress=)`: the model is the same, whatever they are."""

from __future__ import annotations

import os
import random
from errno import ENOSPC
from unittest.mock import Mock

import pytest
from refusals import refused

import impls
from impls.compiled.training.runs import Runs

SPEC = impls.TrainingSpec(vocab_size=400)
NUMBERS = random.Random(1).sample(range(100_000, 10_000_000), 500_000)
TEXTS = [" ".join(["evlerimizden", *map(str, NUMBERS[at : at + 50])]) + "\n\n" for at in range(0, len(NUMBERS), 50)]


@pytest.fixture(scope="module")
def plain() -> str:
    return impls.train("compiled", TEXTS, SPEC).model.digest


@pytest.mark.parametrize("threads", [1, 3])
def test_threads_learn_the_same_and_progress_counts_every_byte(plain: str, threads: int) -> None:
    done: list[int] = []
    made = impls.train("compiled", iter(TEXTS), SPEC, threads=threads, progress=done.append)
    assert made.model.digest == plain
    assert (len(done) > 1, sum(done)) == (True, sum(len(text.encode()) for text in TEXTS))


def test_what_goes_through_files_is_learned_the_same(plain: str, monkeypatch: pytest.MonkeyPatch) -> None:
    written: list[int] = []
    write, allocate = Runs.write, os.posix_fallocate
    monkeypatch.setattr(Runs, "write", lambda runs, counts: (written.append(len(counts)), write(runs, counts)))
    in_files: list[int] = []
    monkeypatch.setattr(os, "posix_fallocate", lambda *place: (in_files.append(place[2]), allocate(*place)))
    assert impls.train("compiled", TEXTS, SPEC, memory_limit=100_000).model.digest == plain
    assert len(written) > 2
    assert len(in_files) > 5
    written.clear()
    in_files.clear()
    assert impls.train("compiled", TEXTS, SPEC, memory_limit=1 << 30).model.digest == plain
    assert not written
    assert not in_files


def test_a_disk_without_room_for_the_tables_is_one_clear_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "posix_fallocate", Mock(side_effect=OSError(ENOSPC, os.strerror(ENOSPC))))
    with pytest.raises(impls.BPEError, match=r"no room for [\d,]+ bytes \(No space left on device\); set TMPDIR"):
        impls.train("compiled", TEXTS, SPEC, memory_limit=100_000)


def test_what_does_not_go_together_is_refused() -> None:
    refused(impls.Unsupported, "naive: trains on one thread, in memory", impls.train, "naive", TEXTS, SPEC, threads=2)
    with pytest.raises(impls.Unsupported, match="ties='first' needs the order of the text"):
        impls.train("compiled", TEXTS, impls.TrainingSpec(vocab_size=300, ties="first"), memory_limit=1)
    with pytest.raises(impls.Unsupported, match="superwords split the text twice"):
        impls.train("compiled", TEXTS, SPEC, superword_from=300, threads=1)
    refused(ValueError, "memory_limit must be a number of bytes", impls.train, "compiled", TEXTS, SPEC, memory_limit=0)
    refused(ValueError, "threads must be at least 1", impls.train, "compiled", TEXTS, SPEC, threads=0)
