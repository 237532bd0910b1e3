"""Files of text: the same documents wherever reading begins, whatever holds them, and every fault with its place."""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
import random
from pathlib import Path

import pyarrow
import pytest
from pyarrow import parquet
from refusals import refused

from impls import InvalidFile
from impls.core.text import blocks
from impls.core.text.files import TextFile, TextFiles, check_unchanged

PARTS = ["a", "b ", "\n", "\n\n", " \n", "é", "\u3000", "long" * 30, "\u2003\n", "😀", "\r\n", "\x1c\n", "\u0085\n"]


def texts(n: int) -> list[str]:
    rng = random.Random(7)
    marked = ["\ufeff" if rng.random() < 0.1 else "" for _ in range(n)]
    return [mark + "".join(rng.choices(PARTS, k=rng.randrange(60))) for mark in marked]


@pytest.mark.parametrize("documents", ["paragraphs", "lines"])
def test_documents_and_parts_are_the_text(tmp_path: Path, documents: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocks, "BLOCK_BYTES", 40)
    path = tmp_path / "text.txt"
    n_blocks = 0
    for text in texts(400):
        path.write_bytes(text.encode())
        file = TextFile(path, documents)  # type: ignore[arg-type]
        assert "".join(file.texts()) == text.removeprefix("\ufeff")
        whole = [(offset, bytes(block)) for offset, block in file.blocks()]
        n_blocks += len(whole)
        for size in (1, 2, 5):
            read = [(at, bytes(block)) for part in file.parts(size) for at, block in file.blocks(part.first, part.end)]
            assert read == whole
    assert n_blocks > 1000


def test_a_block_ends_at_a_line_or_within_a_longer_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocks, "BLOCK_BYTES", 10)
    path = tmp_path / "text.txt"
    path.write_bytes(b"12345678\nabcdef\n" + "ş".encode() * 20 + b"\nend\n")
    assert [(at, bytes(block)) for at, block in TextFile(path).blocks()] == [
        (0, b"12345678\nabcdef\n"),
        (16, "şş".encode()),
        (20, "şşşşş".encode()),
        (30, "şşşşş".encode()),
        (40, "şşşşşşşş\n".encode()),
        (57, b"end\n"),
    ]


def test_a_compressed_file_is_read_as_what_is_in_it(tmp_path: Path) -> None:
    content = "bir\n\niki üç\n".encode() * 1000
    packed = {
        "a.txt": content,
        "a.txt.gz": gzip.compress(content),
        "a.bz2": bz2.compress(content),
        "a.txt.xz": lzma.compress(content),
        "a.txt.zst": pyarrow.compress(content, "zstd", asbytes=True),
    }
    for name, data in packed.items():
        (tmp_path / name).write_bytes(data)
        assert list(TextFile(tmp_path / name).texts()) == ["bir\n\n", *["iki üç\nbir\n\n"] * 999, "iki üç\n"]


@pytest.mark.parametrize("name", ["a.gz", "a.bz2", "a.xz", "a.zst", "a.parquet"])
def test_a_damaged_file_is_named(tmp_path: Path, name: str) -> None:
    for content in (b"not compressed", gzip.compress(b"text" * 1000)[:-20]):
        (tmp_path / name).write_bytes(content)
        refused(InvalidFile, name, list, TextFile(tmp_path / name).texts())


def test_json_lines_and_parquet_give_a_field(tmp_path: Path) -> None:
    rows = [{"id": 1, "content": "bir"}, {"id": 2, "content": "iki\n\nüç"}]
    lines = tmp_path / "a.jsonl.gz"
    lines.write_bytes(gzip.compress("\n".join(map(json.dumps, rows)).encode()))
    table = tmp_path / "a.parquet"
    parquet.write_table(pyarrow.Table.from_pylist([*rows, {"id": 3, "content": None}]), table)
    both = TextFiles([TextFile(lines, field="content"), TextFile(table, field="content")])
    assert list(both) == ["bir", "iki\n\nüç"] * 2
    refused(InvalidFile, r"no column 'text'; its columns: \['id', 'content'\]", list, TextFile(table).texts())
    refused(InvalidFile, "'id' contains int64, not text", list, TextFile(table, field="id").texts())


def test_bytes_that_are_not_utf8_are_named_or_replaced(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b"x" * 3_000_000 + b"\xffy")
    refused(InvalidFile, r"not UTF-8 at byte 3000000 \(0xFF\); convert it to UTF-8 first", list, TextFile(path).texts())
    path.write_bytes("text".encode("utf-16"))
    refused(InvalidFile, "it looks like UTF-16", list, TextFile(path).texts())


def test_a_file_that_changes_while_it_is_read_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b"line\n" * 1_000_000)
    parts = TextFile(path).parts(1)
    path.write_bytes(b"line\n" * 500_000)
    refused(InvalidFile, "was changed while it was read", check_unchanged, parts)


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    refused(InvalidFile, r"absent\.txt: cannot be read: No such file", TextFile(tmp_path / "absent.txt").parts, 1)
