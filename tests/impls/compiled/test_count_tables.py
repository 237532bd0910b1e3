"""JSON lines and Parquet counted by way of Arrow: as Python reads them, whatever the parts, or refused as it does."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow
import pytest
from counted_files import counted_in_order, ended, expected, text
from pyarrow import parquet

from impls.compiled.training import count as counting
from impls.compiled.training import parts
from impls.compiled.training.count import count_files
from impls.core.text import blocks
from impls.core.text.files import TextFile, TextFiles
from impls.core.text.patterns import resolve

ODD_LINES = [
    '{"text": "a b"}{"text": "c"}', '{"text": 1}', '{"text": null}', '{"other": "a"}', '["a"]', "nothing",
    '{"text": "a\tb"}', '{"text": "\\ud83d"}', '{"text": "\\ud83d\\ude00 \\u0000 \\n"}', '{"text": "a", "text": "b"}',
    '{"n": NaN, "text": "x y"}', '{"n": {"text": "no"}, "text": "yes"}', "  ", '{"text": ""}',
    '{"text": "ab", "n": [1, "text"]} ', '{"text": "a"},'
]  # fmt: skip
"""Lines that Python reads or refuses, and another parser perhaps not in the same way."""


def written_lines(rng: random.Random, n_odd: int) -> bytes:
    lines = [
        json.dumps({"id": i, "text": text(rng).decode(), "more": [rng.random(), None]}, ensure_ascii=rng.random() < 0.5)
        for i in range(rng.randrange(30))
    ]
    for _ in range(n_odd):
        lines.insert(rng.randrange(len(lines) + 1), rng.choice(ODD_LINES))
    return "\n".join(lines).encode() + rng.choice([b"", b"\n", b"\n\n"])


@pytest.mark.parametrize("block_bytes", [40, 700, 1 << 20])
def test_json_lines_are_counted_and_refused_as_python_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, block_bytes: int
) -> None:
    monkeypatch.setattr(blocks, "BLOCK_BYTES", block_bytes)
    monkeypatch.setattr(counting, "BLOCK_BYTES", block_bytes)
    rng, path, n_refused, by_python = random.Random(3), tmp_path / "a.jsonl", 0, [0]
    json_texts = TextFile.json_texts

    def noting(self: TextFile, at: int, lines: list[bytes]) -> Iterator[str]:
        by_python[0] += 1
        return json_texts(self, at, lines)

    for number in range(120):
        path.write_bytes((b"\xef\xbb\xbf" if number % 10 == 0 else b"") + written_lines(rng, number % 3))
        given = TextFiles([TextFile(path)])
        one = ended(expected, given)
        by_python[0] = 0
        monkeypatch.setattr(TextFile, "json_texts", noting)
        assert ended(counted_in_order, given) == one
        monkeypatch.undo()
        monkeypatch.setattr(blocks, "BLOCK_BYTES", block_bytes)
        monkeypatch.setattr(counting, "BLOCK_BYTES", block_bytes)
        n_refused += isinstance(one, str)
        if number % 3 == 0 and number % 10 and path.stat().st_size > 2:
            assert by_python[0] == 0
    assert n_refused > 20


@pytest.mark.parametrize("n_rows", [1, 40, 3000])
def test_parquet_is_counted_by_row_groups(tmp_path: Path, n_rows: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocks, "BLOCK_BYTES", 512)
    monkeypatch.setattr(counting, "BLOCK_BYTES", 512)
    rng, path = random.Random(n_rows), tmp_path / "a.parquet"
    texts = [rng.choice([text(rng).decode(), "", None]) for _ in range(n_rows)]
    for kind in (pyarrow.string(), pyarrow.large_string(), pyarrow.dictionary(pyarrow.int32(), pyarrow.string())):
        table = pyarrow.table({"n": range(n_rows), "text": pyarrow.array(texts).cast(kind)})
        parquet.write_table(table, path, row_group_size=max(1, n_rows // 7))
        given = TextFiles([TextFile(path)])
        of_parts = [
            text for part in given.files[0].parts(2) for c in given.files[0].columns(part.first, part.end) for text in c
        ]
        assert [value.as_py() for value in of_parts] == texts
        assert len(given.files[0].parts(2)) > 1 or n_rows < 40
        assert dict(count_files(given, resolve("gpt2")).items()) == expected(given, "gpt2")
    parquet.write_table(pyarrow.table({"text": [1, 2]}), path)
    assert "holds int64, not text" in str(ended(counted_in_order, TextFiles([TextFile(path)])))
    bad = pyarrow.Array.from_buffers(
        pyarrow.string(), 2, [None, pyarrow.py_buffer(np.array([0, 1, 3], np.int32)), pyarrow.py_buffer(b"\xc3\xa9a")]
    )
    assert not parts._add_column(parts.new_words(resolve("gpt2")), bad)
    ends = pyarrow.py_buffer(np.array([0, 1, 2], np.int32))
    with_null = pyarrow.Array.from_buffers(
        pyarrow.string(), 2, [pyarrow.py_buffer(b"\x01"), ends, pyarrow.py_buffer(b"ab")]
    )
    tables = parts.new_words(resolve("gpt2"))
    assert parts._add_column(tables, with_null)
    assert dict(tables.counted().items()) == {"a": 1}


def test_parts_of_json_lines_hold_each_line_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocks, "BLOCK_BYTES", 50)
    rng, path = random.Random(8), tmp_path / "a.jsonl"
    for _ in range(60):
        content = b"".join(b"x" * rng.choice([0, 3, 48, 49, 50, 51, 300]) + b"\n" for _ in range(rng.randrange(20)))
        path.write_bytes(content + rng.choice([b"", b"end"]))
        for n_blocks in (1, 2, 3):
            read = [
                line
                for part in TextFile(path).parts(n_blocks)
                for at, some in part.file.lines(part.first, part.end)
                for line in some
            ]
            assert read == path.read_bytes().splitlines(keepends=True)
