"""Counts of pieces: sorted, added, kept in files; our trainers learn of them what they learn of text."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow
import pytest
from pyarrow import parquet
from refusals import refused

import impls
from harness.training.counts import load_counts, save_counts
from impls import BPEError, InvalidFile, InvalidSpec, TrainingSpec
from impls.compiled.training import runs as counts_runs
from impls.compiled.training.runs import Runs
from impls.core import counts as counts_module
from impls.core.counts import PieceCounts, added
from impls.core.text.patterns import resolve
from impls.core.training import corpus_pieces

GPT2 = resolve("gpt2")


def counts_of(pattern: tuple[str, ...], counts: dict[str, int]) -> PieceCounts:
    pieces = [piece.encode() for piece in counts]
    ends, numbers = np.cumsum(list(map(len, pieces)), dtype=np.int64), np.array(list(counts.values()), np.int64)
    return PieceCounts(pattern, np.frombuffer(b"".join(pieces), np.uint8), ends, numbers).sorted()


@pytest.mark.parametrize("name", ["naive", "priority", "wordcount", "bytelevel", "compiled"])
def test_training_takes_time_by_the_distinct_pieces_and_not_by_their_counts(name: str) -> None:
    spec = TrainingSpec(vocab_size=258, pattern="gpt2")
    large = [{"ab": 2**62, "cd": 2**62 - 1}, {"ab": 2**63 - 1, "cd": 2**63 - 2}]
    for counts in [{"ab": 3 * 10**9, "cd": 4}, *(large if name != "compiled" else [])]:
        model = impls.train(name, counts_of(GPT2, counts), spec).model  # type: ignore[arg-type]
        assert model.tokens[256:] == (b"ab", b"cd")
        assert model.merge_counts == tuple(counts.values())


def test_counts_that_the_kernels_cannot_hold_are_refused_with_the_reason() -> None:
    counts = counts_of(GPT2, {"ab": 2**62, "cd": 4})
    why = "a piece once for each 2,147,483,647 of its count; priority takes any counts"
    refused(impls.Unsupported, why, impls.train, "compiled", counts, TrainingSpec(vocab_size=258, pattern="gpt2"))


def test_libraries_are_trained_on_texts_and_not_on_counts() -> None:
    spec = TrainingSpec(vocab_size=258, pattern="gpt2", ties="shortest")
    with pytest.raises(TypeError, match="texts must be several texts, not PieceCounts"):
        impls.train("sentencepiece", counts_of(GPT2, {"ab": 3}), spec)  # type: ignore[arg-type]


def random_counts(rng: random.Random, most: int = 40) -> dict[str, int]:
    symbols = ["\0", "a", "b", "ş", "😀", "aaaaaaaa"]
    pieces = ("".join(rng.choices(symbols, k=rng.choice([1, 2, 5, 30]))) for _ in range(rng.randrange(most)))
    return {piece: rng.randrange(1, 9) for piece in pieces}


def in_order(counts: dict[str, int]) -> list[tuple[str, int]]:
    return sorted(counts.items(), key=lambda entry: entry[0].encode())


def test_counts_add_up_in_the_order_of_utf8(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(counts_module, "_STEP", 7)
    monkeypatch.setattr(counts_runs, "_STEP", 5)
    rng = random.Random(1)
    for number in range(100):
        given = [random_counts(rng) for _ in range(rng.choice([1, 2, 3]))]
        parts = [counts_of(GPT2, counts) for counts in given]
        assert [list(part.items()) for part in parts] == list(map(in_order, given))
        total: Counter[str] = Counter()
        for counts in given:
            total.update(counts)
        assert list(added(parts).items()) == in_order(total)
        (tmp_path / str(number)).mkdir()
        runs = Runs(tmp_path / str(number), GPT2)
        for part in parts:
            runs.write(part.chosen(np.array(rng.sample(range(len(part)), len(part)), np.int64)))
        assert list(runs.added(partial(np.zeros, dtype=np.uint8)).items()) == in_order(total)


def test_counts_that_do_not_fit_are_refused() -> None:
    large = counts_of(GPT2, {"ab": 1 << 61})
    refused(BPEError, r"2\*\*63", added, [large, large])
    refused(BPEError, "different patterns", added, [large, counts_of(resolve("cl100k"), {"ab": 1})])


@pytest.mark.parametrize(
    ("name", "ties"),
    [("naive", "smallest"), ("wordcount", "largest"), ("priority", "shortest"), ("bytelevel", "smallest"),
     *(("compiled", ties) for ties in ("smallest", "largest", "shortest"))],
)  # fmt: skip
def test_our_trainers_learn_of_counts_what_they_learn_of_text(name: str, ties: str) -> None:
    rng = random.Random(3)
    texts = [" ".join("".join(rng.choices("abcş", k=rng.choice([1, 3, 9]))) for _ in range(60)) for _ in range(4)]
    spec = TrainingSpec(vocab_size=300, ties=ties)  # type: ignore[arg-type]
    counts = counts_of(GPT2, Counter(corpus_pieces(texts, spec)))
    of_text, of_counts = (impls.get(name).train_model(given, spec) for given in (texts, counts))  # type: ignore[arg-type]
    assert (of_counts.merges, of_counts.merge_counts) == (of_text.merges, of_text.merge_counts)
    assert of_text.merges


@pytest.mark.parametrize("name", ["naive", "compiled"])
def test_counts_that_cannot_say_what_is_asked_are_refused(name: str) -> None:
    counts = counts_of(GPT2, {"ab": 3})
    with pytest.raises(InvalidSpec, match="the counts are of 'gpt2', not of 'cl100k'"):
        impls.train(name, counts, TrainingSpec(vocab_size=257, pattern="cl100k"))  # type: ignore[arg-type]
    with pytest.raises(InvalidSpec, match="'first' needs the order"):
        impls.train(name, counts, TrainingSpec(vocab_size=257, ties="first"))  # type: ignore[arg-type]


def test_counts_are_kept_in_a_file(tmp_path: Path) -> None:
    path = tmp_path / "a.counts"
    for pieces in ({}, {"a": 1}, random_counts(random.Random(2), 500)):
        counts = counts_of(resolve("deepseek"), pieces)
        source = counts_module.CountedSource("a.txt", 12, "00ff")
        save_counts(replace(counts, sources=(source,)), path)
        kept = load_counts(path)
        assert (list(kept.items()), kept.pattern, kept.sources) == (in_order(pieces), resolve("deepseek"), (source,))
    table = parquet.read_table(path)
    assert table.column_names == ["piece", "count"]
    assert table["count"].to_pylist() == [count for _, count in in_order(pieces)]


def _with(path: Path, name: str, values: list[object], kind: pyarrow.DataType | None = None) -> None:
    """Give a column other values, of its own type or another."""
    table = parquet.read_table(path)
    column = pyarrow.array(values, kind or table.schema.field(name).type)
    parquet.write_table(table.set_column(table.column_names.index(name), name, column), path)


def _about(path: Path, document: bytes) -> None:
    parquet.write_table(parquet.read_table(path).replace_schema_metadata({b"bpebench": document}), path)


_NO_COUNTS = r"^\S+: not a counts file \(columns piece and count, .*\), or damaged; .* --count-only` writes one$"


@pytest.mark.parametrize(
    ("damage", "problem"),
    [
        (lambda path: path.write_bytes(path.read_bytes()[:-9]), "not a complete file of counts"),
        (lambda path: path.unlink(), "no such file"),
        (lambda path: parquet.write_table(pyarrow.table({"piece": [b"a"]}), path), _NO_COUNTS),
        (lambda path: _with(path, "count", [1.5, 2.0], pyarrow.float64()), _NO_COUNTS),
        (lambda path: _about(path, b'{"format": 1, "pattern": [], "sources": [5]}'), _NO_COUNTS),
        (lambda path: _about(path, b'{"format": 2}'), "has format 2; this version reads 1"),
        (lambda path: _about(path, b'{"format": 1, "pattern": ["("], "sources": []}'), r"'\('"),
        (lambda path: _with(path, "piece", [b"a", b"a"]), "not sorted, or not distinct"),
        (lambda path: _with(path, "piece", [b"", b"a"]), "empty"),
        (lambda path: _with(path, "piece", ["ş".encode()[:1], "ş".encode()[1:]]), "inside a character"),
        (lambda path: _with(path, "piece", [b"a", b"\xff"]), "not UTF-8"),
        (lambda path: _with(path, "piece", [b"a", None]), "a missing piece"),
        (lambda path: _with(path, "count", [0, 1]), "a count below 1"),
    ],
)
def test_a_damaged_file_of_counts_is_refused(tmp_path: Path, damage: object, problem: str) -> None:
    path = tmp_path / "a.counts"
    save_counts(counts_of(GPT2, {"a": 1, "b": 2}), path)
    damage(path)  # type: ignore[operator]
    refused(InvalidFile, problem, load_counts, path)


def test_a_run_on_a_full_disk_is_named(tmp_path: Path) -> None:
    (tmp_path / "000000.text").symlink_to("/dev/full")
    error = refused(OSError, "No space left", Runs(tmp_path, ("x",)).write, counts_of(("x",), {"a" * 100_000: 1}))
    assert error.filename == str(tmp_path / "000000.text")
