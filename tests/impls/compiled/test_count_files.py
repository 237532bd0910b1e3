"""Files counted in kernels: as the documents of Python say, however they are cut and spilled."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow
import pytest
from counted_files import NO_SPACES, SPACES, counted_in_order, ended, expected, text
from pyarrow import parquet
from refusals import refused

import impls
from impls import InvalidFile, InvalidPattern, TrainingSpec
from impls.compiled.training import count as counting
from impls.compiled.training import parts, words
from impls.compiled.training.count import count_files
from impls.compiled.training.runs import Runs
from impls.core.counts import PieceCounts
from impls.core.text import blocks
from impls.core.text.files import TextFile, TextFiles
from impls.core.text.patterns import Splitter, resolve

DAMAGE = ["80", "c080", "c1bf", "e09fbf", "eda080", "f08fbfbf", "f49080", "f5808080", "ff", "e282", "c4", "f09f98"]
DAMAGE += ["ed9fbf", "f48fbfbf", "ee8080"]
"""Bytes that are no UTF-8, and some at the edge that are."""
ODD_LINES = [
    '{"text": "a b"}{"text": "c"}', '{"text": 1}', '{"text": null}', '{"other": "a"}', '["a"]', "nothing",
    '{"text": "a\tb"}', '{"text": "\\ud83d"}', '{"text": "\\ud83d\\ude00 \\u0000 \\n"}', '{"text": "a", "text": "b"}',
    '{"n": NaN, "text": "x y"}', '{"n": {"text": "no"}, "text": "yes"}', "  ", '{"text": ""}',
    '{"text": "ab", "n": [1, "text"]} ', '{"text": "a"},'
]  # fmt: skip
"""Lines that Python reads or refuses, and another parser perhaps not in the same way."""


def set_block(monkeypatch: pytest.MonkeyPatch, n_bytes: int) -> None:
    monkeypatch.setattr(blocks, "BLOCK_BYTES", n_bytes)
    monkeypatch.setattr(counting, "BLOCK_BYTES", n_bytes)


@pytest.mark.parametrize("pattern", ["gpt2", "o200k", "deepseek", "none", r"(?<=[a-z])[ ]|[a-z]+|[^a-z]"])
@pytest.mark.parametrize("documents", ["paragraphs", "lines"])
def test_kernels_count_documents(tmp_path: Path, pattern: str, documents: str, monkeypatch: pytest.MonkeyPatch) -> None:
    set_block(monkeypatch, 40)
    rng = random.Random(11)
    for number in range(60):
        paths = [tmp_path / f"{number}-{i}.txt" for i in range(rng.choice([1, 2]))]
        for path in paths:
            path.write_bytes(text(rng))
        given = TextFiles([TextFile(path, documents) for path in paths])  # type: ignore[arg-type]
        assert dict(count_files(given, resolve(pattern)).items()) == expected(given, pattern)


@pytest.mark.parametrize(("pattern", "n_texts"), [("cl100k", 1), ("gpt2", 9)])
def test_cut_lines_are_one_text(tmp_path: Path, pattern: str, n_texts: int, monkeypatch: pytest.MonkeyPatch) -> None:
    add, noted, path = words.Words.add_texts, [], tmp_path / "a.txt"
    monkeypatch.setattr(words.Words, "add_texts", lambda *given: (noted.append(len(given[2])), add(*given)))
    path.write_text("a line\n" * 9)
    count_files(TextFiles([TextFile(path, "lines")]), resolve(pattern))
    assert noted == [n_texts]


@pytest.mark.parametrize("pattern", ["gpt2", "deepseek", r"\p{N}{1,3}|\P{N}+", "none"])
def test_tables_grow_in_the_middle_of_a_text(pattern: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(words, "_BITS", 6)
    stages = ("\\p{N}{1,3}|\\P{N}+", *resolve("gpt2")) if pattern.startswith("\\") else resolve(pattern)
    text = " ".join(f"w{i % 700}x{i * i % 900}" for i in range(3000))
    tables, split = words.Words(stages), Splitter(stages).split
    for _ in range(2):
        tables.add([text.encode(), text[:99].encode()])
    assert dict(tables.counted().items()) == Counter([*split(text), *split(text[:99])] * 2)


@pytest.mark.parametrize("characters", [SPACES, NO_SPACES], ids=["white space", "others"])
def test_a_blank_line_is_what_python_calls_white_space(tmp_path: Path, characters: list[str]) -> None:
    path = tmp_path / "a.txt"
    for character in characters:
        path.write_text(f"a\n{character}\nb\n{character}b", newline="")
        given = TextFiles([TextFile(path)])
        counts = dict(count_files(given, ()).items())
        assert counts == expected(given, "none")
        assert len(counts) == (2 if character in SPACES else 1)


def test_bad_utf8_is_found_where_python_finds_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    set_block(monkeypatch, 40)
    rng, path, n_refused = random.Random(5), tmp_path / "a.txt", 0
    for _ in range(200):
        content = bytearray(text(rng))
        for _ in range(rng.randrange(3)):
            at = rng.randrange(len(content) + 1)
            content[at:at] = bytes.fromhex(rng.choice(DAMAGE))
        path.write_bytes(content)
        given = TextFiles([TextFile(path)])
        by_python, by_kernels = (ended(count, given) for count in (expected, counted_in_order))
        assert by_kernels == by_python
        n_refused += isinstance(by_python, str)
    assert n_refused > 40


@pytest.fixture
def large(tmp_path: Path) -> TextFiles:
    rng = random.Random(2)
    path = tmp_path / "large.txt"
    words = ["".join(rng.choices("abcdefş", k=rng.randrange(1, 12))) for _ in range(20_000)]
    path.write_text("".join(rng.choice(words) + rng.choice([" ", " ", "\n", "\n\n"]) for _ in range(300_000)))
    return TextFiles([TextFile(path)])


def test_counting_in_little_memory_gives_the_same(large: TextFiles, monkeypatch: pytest.MonkeyPatch) -> None:
    set_block(monkeypatch, 1 << 16)
    pattern = resolve("gpt2")
    counts = expected(large, "gpt2")
    written: list[int] = []
    write = Runs.write

    def noting(self: Runs, counts: PieceCounts) -> None:
        written.append(len(counts))
        write(self, counts)

    with monkeypatch.context() as patch:
        patch.setattr(Runs, "write", noting)
        patch.setattr(words.Words, "may_outgrow", lambda self, n_bytes: n_bytes == 1)
        assert dict(count_files(large, pattern, memory_limit=counting.n_cores()).items()) == counts
    assert len(written) > 3


def test_a_fault_in_a_file_ends_all_threads(large: TextFiles, tmp_path: Path) -> None:
    refused(InvalidPattern, "leaves out", count_files, large, resolve("[a-f ]+|\n"))
    bad = tmp_path / "bad.txt"
    bad.write_bytes(b"good\n" * 10 + b"\xff")
    refused(InvalidFile, "not UTF-8 at byte 50", count_files, TextFiles([*large.files, TextFile(bad)]), resolve("gpt2"))


@pytest.mark.parametrize("ties", ["smallest", "first"])
def test_training_on_files_is_training_on_their_documents(large: TextFiles, ties: str) -> None:
    spec = TrainingSpec(vocab_size=400, ties=ties, pattern="turkish")  # type: ignore[arg-type]
    of_files, of_texts = (impls.get("compiled").train_model(given, spec) for given in (large, list(large)))
    assert (of_files.merges, of_files.merge_counts) == (of_texts.merges, of_texts.merge_counts)


def test_tables_that_may_outgrow_the_memory_are_those_nearly_full(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(words, "_BITS", 10)
    tables = words.Words(resolve("none"))
    n_bytes = sum(array.nbytes for array in tables.arrays)
    for number in range(400):
        tables.add([str(number).encode()])
        nearly_full = 4 * (512 - tables["n_pieces"]) < 512
        assert tables.may_outgrow(3 * n_bytes - 1) == nearly_full
        assert not tables.may_outgrow(3 * n_bytes)
    assert nearly_full


# --- JSON lines and Parquet, by way of Arrow ---------------------------------------------------------------------


def written_lines(rng: random.Random, n_odd: int) -> bytes:
    lines = [
        json.dumps({"id": i, "text": text(rng).decode(), "more": [rng.random(), None]}, ensure_ascii=rng.random() < 0.5)
        for i in range(rng.randrange(30))
    ]
    for _ in range(n_odd):
        lines.insert(rng.randrange(len(lines) + 1), rng.choice(ODD_LINES))
    return "\n".join(lines).encode() + rng.choice([b"", b"\n", b"\n\n"])


@pytest.mark.parametrize("block_bytes", [40, 700, 1 << 20])
def test_json_lines_are_counted_as_by_python(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, block_bytes: int) -> None:
    set_block(monkeypatch, block_bytes)
    rng, path, n_refused, by_python = random.Random(3), tmp_path / "a.jsonl", 0, list[int]()
    json_texts = TextFile.json_texts

    def noting(self: TextFile, at: int, lines: list[bytes]) -> Iterator[str]:
        by_python.append(at)
        return json_texts(self, at, lines)

    for number in range(80):
        path.write_bytes((b"\xef\xbb\xbf" if number % 10 == 0 else b"") + written_lines(rng, number % 3))
        given, file = TextFiles([TextFile(path)]), TextFile(path)
        read = [line for part in file.parts(2) for _, some in file.lines(part.first, part.end) for line in some]
        assert b"".join(read).removeprefix(b"\xef\xbb\xbf") == path.read_bytes().removeprefix(b"\xef\xbb\xbf")
        of_documents = ended(expected, given)
        by_python.clear()
        with monkeypatch.context() as patch:
            patch.setattr(TextFile, "json_texts", noting)
            assert ended(counted_in_order, given) == of_documents
        n_refused += isinstance(of_documents, str)
        if number % 3 == 0 and number % 10 and path.stat().st_size > 2:
            assert not by_python
    assert n_refused > 12


@pytest.mark.parametrize("n_rows", [1, 3000])
def test_parquet_is_counted_by_row_groups(tmp_path: Path, n_rows: int, monkeypatch: pytest.MonkeyPatch) -> None:
    set_block(monkeypatch, 512)
    rng, path = random.Random(n_rows), tmp_path / "a.parquet"
    texts = [rng.choice([text(rng).decode(), "", None]) for _ in range(n_rows)]
    for kind in (pyarrow.string(), pyarrow.large_string(), pyarrow.dictionary(pyarrow.int32(), pyarrow.string())):
        table = pyarrow.table({"n": range(n_rows), "text": pyarrow.array(texts).cast(kind)})
        parquet.write_table(table, path, row_group_size=max(1, n_rows // 7))
        given = TextFiles([TextFile(path)])
        assert len(given.files[0].parts(2)) > 1 or n_rows < 40
        assert dict(count_files(given, resolve("gpt2")).items()) == expected(given, "gpt2")
    parquet.write_table(pyarrow.table({"text": [1, 2]}), path)
    assert "contains int64, not text" in str(ended(counted_in_order, TextFiles([TextFile(path)])))


def test_a_column_with_bad_utf8_is_left_to_python_and_rows_that_are_null_are_left_out() -> None:
    for validity, data, is_taken in ((None, b"\xc3\xa9a", False), (pyarrow.py_buffer(b"\x01"), b"abc", True)):
        ends = pyarrow.py_buffer(np.array([0, 1, 3], np.int32))
        column = pyarrow.Array.from_buffers(pyarrow.string(), 2, [validity, ends, pyarrow.py_buffer(data)])
        tables = words.Words(resolve("gpt2"))
        assert parts._add_column(tables, column) == is_taken
        assert dict(tables.counted().items()) == ({"a": 1} if is_taken else {})
