"""Files counted in kernels: as the documents of Python say, however they are cut, spilled, interrupted and resumed."""

from __future__ import annotations

import random
import threading
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from counted_files import NO_SPACES, PARTS, SPACES, counted_in_order, ended, expected, text

import impls
from impls import InvalidFile, InvalidPattern, TrainingSpec
from impls.compiled.training import count as counting
from impls.compiled.training import parts, words
from impls.compiled.training.count import count_files
from impls.core.counts import PieceCounts
from impls.core.counts_runs import Runs
from impls.core.text import blocks
from impls.core.text.files import TextFile, TextFiles
from impls.core.text.patterns import NAMED, Splitter, resolve
from impls.operations.certain_cuts import pair_cuts_of

DAMAGE = ["80", "c080", "c1bf", "e09fbf", "eda080", "f08fbfbf", "f49080", "f5808080", "ff", "e282", "c4", "f09f98"]
DAMAGE += ["ed9fbf", "f48fbfbf", "ee8080"]
"""Bytes that are no UTF-8, and some at the edge that are."""


@pytest.fixture
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocks, "BLOCK_BYTES", 40)
    monkeypatch.setattr(blocks, "_LOOK_AHEAD", 7)
    monkeypatch.setattr(counting, "BLOCK_BYTES", 40)


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("pattern", ["gpt2", "turkish", "o200k", "none", r"(?<=[a-z])[ ]|[a-z]+|[^a-z]"])
@pytest.mark.parametrize("documents", ["paragraphs", "lines"])
def test_kernels_count_the_pieces_of_the_documents(tmp_path: Path, pattern: str, documents: str) -> None:
    rng = random.Random(11)
    for number in range(60):
        paths = [tmp_path / f"{number}-{i}.txt" for i in range(rng.choice([1, 2]))]
        for path in paths:
            path.write_bytes(text(rng))
        given = TextFiles([TextFile(path, documents) for path in paths])  # type: ignore[arg-type]
        assert dict(count_files(given, resolve(pattern)).items()) == expected(given, pattern)


@pytest.mark.parametrize("pattern", sorted(NAMED))
def test_lines_are_counted_one_by_one_though_they_are_split_together(
    tmp_path: Path, pattern: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    n_texts: list[int] = []
    add_texts = words.Words.add_texts

    def noting(self: words.Words, data: np.ndarray, sizes: np.ndarray) -> None:
        n_texts.append(len(sizes))
        add_texts(self, data, sizes)

    monkeypatch.setattr(words.Words, "add_texts", noting)
    monkeypatch.setattr(parts, "_MOST_TEXTS", 7)
    rng, path = random.Random(pattern), tmp_path / "a.txt"
    edges = ["", "", "", ".", " ", "\r", "'", "\n", "  ", "ş", "漢", "12", "\t", "\u3000"]
    inside, n_lines = [*PARTS, "they'll", "Ev'e", "12345", "漢字", "مرحبا"], 0
    for _ in range(12):
        lines = [" ".join(rng.choices(inside, k=rng.randrange(9))) for _ in range(rng.randrange(60))]
        path.write_text("".join(rng.choice(edges) + line + rng.choice(edges) + "\n" for line in lines), newline="")
        given = TextFiles([TextFile(path, "lines")])
        assert dict(count_files(given, resolve(pattern)).items()) == expected(given, pattern)
        n_lines += len(list(given))
    cuts = pair_cuts_of(resolve(pattern))
    is_cut = bool(cuts is not None and len(cuts.stages) == 1 and cuts.separates("\n", "a"))
    assert (sum(n_texts) < 0.9 * n_lines) == is_cut


@pytest.mark.parametrize("pattern", ["gpt2", "deepseek", r"\p{N}{1,3}|\P{N}+", "none"])
def test_tables_grow_in_the_middle_of_a_text(pattern: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(words, "_BITS", 6)
    stages = ("\\p{N}{1,3}|\\P{N}+", *resolve("gpt2")) if pattern.startswith("\\") else resolve(pattern)
    text = " ".join(f"w{i % 700}x{i * i % 900}" for i in range(3000))
    tables = parts.new_words(stages)
    tables.add([text.encode(), text[:99].encode()])
    split = Splitter(stages).split
    assert dict(tables.counted().items()) == Counter([*split(text), *split(text[:99])])


@pytest.mark.parametrize("characters", [SPACES, NO_SPACES], ids=["white space", "others"])
def test_a_blank_line_is_what_python_calls_white_space(tmp_path: Path, characters: list[str]) -> None:
    path = tmp_path / "a.txt"
    for character in characters:
        path.write_text(f"a\n{character}\nb\n{character}b", newline="")
        given = TextFiles([TextFile(path)])
        counts = dict(count_files(given, ()).items())
        assert counts == expected(given, "none")
        assert len(counts) == (2 if character in SPACES else 1)


@pytest.mark.usefixtures("small_blocks")
def test_bytes_that_are_not_utf8_are_found_where_python_finds_them(tmp_path: Path) -> None:
    rng = random.Random(5)
    path = tmp_path / "a.txt"
    found = 0
    for _ in range(300):
        content = bytearray(text(rng))
        for _ in range(rng.randrange(3)):
            at = rng.randrange(len(content) + 1)
            content[at:at] = bytes.fromhex(rng.choice(DAMAGE))
        path.write_bytes(content)
        given = TextFiles([TextFile(path)])
        by_python, by_kernels = (ended(count, given) for count in (expected, counted_in_order))
        assert by_kernels == by_python
        found += isinstance(by_python, str)
        replaced = TextFiles([TextFile(path, errors="replace")])
        assert dict(count_files(replaced, resolve("gpt2")).items()) == expected(replaced, "gpt2")
    assert found > 60


@pytest.fixture
def large(tmp_path: Path) -> TextFiles:
    rng = random.Random(2)
    path = tmp_path / "large.txt"
    words = ["".join(rng.choices("abcdefş", k=rng.randrange(1, 12))) for _ in range(30_000)]
    path.write_text("".join(rng.choice(words) + rng.choice([" ", " ", "\n", "\n\n"]) for _ in range(800_000)))
    return TextFiles([TextFile(path)])


def test_counting_in_little_memory_gives_the_same(
    large: TextFiles, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = count_files(large, resolve("gpt2")).sorted()
    written: list[int] = []
    write = Runs.write

    def noting(self: Runs, counts: PieceCounts, covers: object) -> None:
        written.append(len(counts))
        write(self, counts, covers)

    monkeypatch.setattr(Runs, "write", noting)
    monkeypatch.setattr(words.Words, "may_outgrow", lambda self, n_bytes: n_bytes == 1)
    limited = count_files(large, resolve("gpt2"), memory_limit=counting.n_cores())
    assert len(written) > 3
    assert list(limited.items()) == list(whole.items())
    assert dict(whole.items()) == expected(large, "gpt2")


def test_an_interrupted_count_goes_on_where_it_was(
    large: TextFiles, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parts, "SECONDS_BETWEEN_RUNS", 0)
    monkeypatch.setattr(counting, "_PART_BLOCKS", 1)
    folder = tmp_path / "runs"
    folder.mkdir()
    done, lock = [0], threading.Lock()

    def interrupt(n_bytes: int) -> None:
        with lock:
            done[0] += n_bytes
            if done[0] > 3_000_000:
                raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        count_files(large, resolve("gpt2"), progress=interrupt, runs=Runs(folder, resolve("gpt2")))
    n_runs = len(Runs(folder, resolve("gpt2")))
    assert n_runs >= 1
    again: list[int] = []
    counts = count_files(large, resolve("gpt2"), progress=again.append, runs=Runs(folder, resolve("gpt2")))
    assert list(counts.items()) == list(count_files(large, resolve("gpt2")).sorted().items())
    path = large.files[0].path
    assert path is not None
    assert sum(again) < path.stat().st_size


def test_a_fault_in_a_file_ends_all_threads(large: TextFiles, tmp_path: Path) -> None:
    with pytest.raises(InvalidPattern, match="leaves out"):
        count_files(large, resolve("[a-f ]+|\n"))
    bad = tmp_path / "bad.txt"
    bad.write_bytes(b"good\n" * 10 + b"\xff")
    with pytest.raises(InvalidFile, match="not UTF-8 at byte 50"):
        count_files(TextFiles([*large.files, TextFile(bad)]), resolve("gpt2"))


@pytest.mark.parametrize("ties", ["smallest", "first"])
def test_training_on_files_is_training_on_their_documents(large: TextFiles, ties: str) -> None:
    spec = TrainingSpec(vocab_size=400, ties=ties, pattern="turkish")  # type: ignore[arg-type]
    of_files, of_texts = (impls.get("compiled").train_model(given, spec) for given in (large, list(large)))
    assert of_files.merges == of_texts.merges
    assert of_files.merge_counts == of_texts.merge_counts


def test_tables_that_may_outgrow_the_memory_are_those_nearly_full(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(words, "_BITS", 10)
    tables = parts.new_words(resolve("none"))
    n_bytes = sum(array.nbytes for array in tables.arrays)
    for number in range(400):
        tables.add([str(number).encode()])
        nearly_full = 4 * (512 - tables["n_pieces"]) < 512
        assert tables.may_outgrow(3 * n_bytes - 1) == nearly_full
        assert not tables.may_outgrow(3 * n_bytes)
    assert nearly_full
