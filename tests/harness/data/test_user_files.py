"""The user's own files: streamed as documents, and every fault named with its place."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from refusals import refused
from tables import rows_of

from harness.data import DataError, load_corpus, load_model
from impls.core.errors import InvalidFile, UnknownName

_on_one_folder = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)


def _documents(file: Path) -> list[str]:
    return list(load_corpus(str(file)).documents())


def _written(folder: Path, content: bytes, name: str = "text.txt") -> Path:
    file = folder / name
    file.write_bytes(content)
    return file


@pytest.mark.parametrize(("content", "documents"), rows_of(__file__, "documents.tsv"))
def test_a_text_file_is_cut_at_blank_lines(tmp_path: Path, content: str, documents: str) -> None:
    assert _documents(_written(tmp_path, json.loads(content).encode())) == json.loads(documents)


@pytest.mark.parametrize("name", ["bad.txt", "bad.jsonl"])
@pytest.mark.parametrize(
    ("content", "offset", "byte"),
    [
        (b'{"text": "a"}\n{"text": "\xff"}\n', 24, "FF"),
        (b'{"text": "\xc4"}', 10, "C4"),
        ('{"text": "ş"}\n'.encode() * 3 + b'{"text": "\xed\xa0\x80"}', 55, "ED"),
        (b'{"text": "x\xe2\x82', 11, "E2"),
    ],
)
def test_invalid_utf8_names_file_and_byte(tmp_path: Path, name: str, content: bytes, offset: int, byte: str) -> None:
    for mark, n_lines in ((b"", 0), (b"\xef\xbb\xbf", 0), (b"", 586), (b"\xef\xbb\xbf", 10_000)):
        before = mark + b'{"text": "a"}\n' * n_lines
        file = _written(tmp_path, before + content, name)
        caught = refused(InvalidFile, None, _documents, file)
        at = offset + len(before)
        assert str(caught) == f"{file}: not UTF-8 at byte {at} (0x{byte}); convert it to UTF-8 first"


@given(st.lists(st.text(st.characters(exclude_categories=()))))
@_on_one_folder
def test_json_lines_give_the_field_text(tmp_path: Path, texts: list[str]) -> None:
    lines = "\n\n".join(json.dumps({"id": 1, "text": text}) for text in texts)
    joined = [json.loads(json.dumps(text)) for text in texts]
    assert _documents(_written(tmp_path, lines.encode(), "documents.jsonl")) == joined


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("{", "line 3 is not JSON"),
        ('{"text": "a"', "line 3 is not JSON"),
        ("[" * 100_000, "line 3 is not JSON"),
        ('{"Text": "a"}', 'line 3 has no field "text"'),
        ('{"text": 5}', 'line 3 has no field "text"'),
        ('"text"', 'line 3 has no field "text"'),
        ("[]", 'line 3 has no field "text"'),
    ],
)
def test_a_bad_json_line_is_named(tmp_path: Path, line: str, problem: str) -> None:
    file = _written(tmp_path, f'{{"text": "a"}}\n\n{line}\n'.encode(), "bad.jsonl")
    documents = load_corpus(str(file)).documents()
    assert next(documents) == "a"
    caught = refused(InvalidFile, None, next, documents)
    assert str(caught).startswith(f"{file}: {problem}")


def test_a_glob_takes_its_files_in_order(tmp_path: Path) -> None:
    _written(tmp_path, b"second", "b.txt")
    _written(tmp_path, b"first", "a.txt")
    _written(tmp_path, b'{"text": "third"}', "c.jsonl")
    (tmp_path / "folder.txt").mkdir()
    assert list(load_corpus(f"{tmp_path}/*.txt").documents()) == ["first", "second"]
    assert list(load_corpus(f"{tmp_path}/*").documents()) == ["first", "second", "third"]
    _written(tmp_path / "folder.txt", b"fourth", "d.txt")
    _written(tmp_path / "folder.txt", b"\xff", ".hidden")
    assert list(load_corpus(tmp_path).documents()) == ["first", "second", "third", "fourth"]


def test_a_name_that_could_not_be_a_path_is_an_unknown_corpus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    refused(UnknownName, "unknown corpus", load_corpus, "mine")
    _written(tmp_path, b"text", "mine")
    assert _documents(Path("mine")) == ["text"]


def test_a_symbolic_link_that_leads_nowhere_cannot_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("loop").symlink_to("loop")
    refused(DataError, "loop: a symbolic link to loop, which leads to no file", load_corpus, "loop")
    refused(DataError, "loop: no such model file", load_model, "loop")


def test_a_path_that_is_not_a_file_is_said_to_be_none(tmp_path: Path) -> None:
    for name, message in (
        (f"{tmp_path}/nothing.txt", "no such file"),
        (f"{tmp_path}/*.nothing", "no such file"),
        (f"{tmp_path}/", "contains no files"),
        ("a\x00b.txt", "no such file|cannot be a path"),
    ):
        refused(DataError, message, load_corpus, name)


def test_the_users_files_can_be_split_too(tmp_path: Path) -> None:
    file = _written(tmp_path, "\n\n".join(f"paragraph {i % 50}" for i in range(200)).encode())
    train, held_out = ({text.strip() for text in load_corpus(file, split=s).documents()} for s in ("train", "held-out"))
    assert len(train | held_out) == 50
    assert not train & held_out
    assert not load_corpus(file).has_split
