"""A format of lines that is read and not written: minbpe's `.model`."""

from __future__ import annotations

from pathlib import Path

import pytest
from wrong_files import problem

import impls
from impls.formats import load, load_with_format


def test_minbpe_is_read(tmp_path: Path) -> None:
    path = tmp_path / "tok.model"
    path.write_text("minbpe v1\n[a-z]+|[^a-z]+\n1\n<|end|> 300\n97 98\n256 99\n")
    format, model = load_with_format(path)
    assert (format, model.tokens[256:], model.pattern) == ("minbpe", (b"ab", b"abc"), ("[a-z]+|[^a-z]+",))
    assert impls.load("naive", model).encode("abc<|end|>", allowed_special="all") == [257, 300]
    path.write_text("minbpe v1\n\n0\n97 32\n")
    assert load(path).pattern == ()


@pytest.mark.parametrize(
    ("content", "wrong"),
    [
        ("minbpe v2\n\n0\n", "line 1: expected 'minbpe v1'"),
        ("minbpe v1\n", "the file is cut short"),
        ("minbpe v1\n\n0\n97 98", "line 4: ends without a line break"),
        ("minbpe v1\n\n3\n<a> 300\n", "line 3: 3 special tokens, but 1 lines"),
        ("minbpe v1\n\n2\n<a> 300\n<a> 301\n", "line 5: expected a new special token"),
        ("minbpe v1\n\n0\n97 -1\n", "line 4: expected a whole number, not '-1'"),
        ("minbpe v1\n\n0\n97 256\n", "line 4: no earlier line makes the id 256"),
        ("minbpe v1\n\n0\n" + "".join(f"{i} {i}\n" for i in (97, *range(256, 300))), "have more than"),
    ],
)
def test_what_is_wrong_with_a_line_is_named(tmp_path: Path, content: str, wrong: str) -> None:
    assert wrong in problem(tmp_path / "file", content.encode())
