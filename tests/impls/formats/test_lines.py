"""Formats of lines that are read and not written: minbpe's `.model`, subword-nmt's codes."""

from __future__ import annotations

from pathlib import Path

import pytest
from subword_nmt import apply_bpe
from wrong_files import problem

import impls
from impls import TrainingSpec
from impls.formats import IdsAssigned, load, load_with_format


def test_minbpe_is_read(tmp_path: Path) -> None:
    path = tmp_path / "tok.model"
    path.write_text("minbpe v1\n[a-z]+|[^a-z]+\n1\n<|end|> 300\n97 98\n256 99\n")
    format, model = load_with_format(path)
    assert (format, model.tokens[256:], model.pattern) == ("minbpe", (b"ab", b"abc"), ("[a-z]+|[^a-z]+",))
    assert impls.load("naive", model).encode("abc<|end|>", allowed_special="all") == [257, 300]
    path.write_text("minbpe v1\n\n0\n97 32\n")
    assert load(path).pattern == ()


def test_codes_give_the_subwords_of_their_own_library(tmp_path: Path) -> None:
    texts = ["the lower the newer the slower", "low lowest newest wider widest"] * 3
    spec = TrainingSpec(
        vocab_size=60, alphabet="chars", ties="largest", end_of_word="</w>", pattern=r"\S+|\s", min_count=2
    )
    trained = impls.get("priority").train_model(texts, spec)
    merges = [" ".join((trained.tokens[i] or b"").decode() for i in merge) for merge in trained.merges]
    path = tmp_path / "codes"
    path.write_text("\n".join(["#version: 0.2", *merges, merges[0], ""]))  # of codes listed twice the first counts
    with pytest.warns(IdsAssigned, match="codes have no ids"):
        model = load(path)
    with path.open(encoding="utf-8") as codes:
        theirs = apply_bpe.BPE(codes)
    tokenizer, by_id = impls.load("priority", model), model.bytes_by_id()
    for text in (*texts, "newer towed weird hero shorn"):
        ours = [by_id[i].decode() for i in tokenizer.encode(text)]
        assert "".join(part for part in ours if part.strip()) == text + " "
        expected = theirs.process_line(text).split(" ")
        assert [part.rstrip() for part in ours if part.strip()] == [part.removesuffix("@@") for part in expected]


@pytest.mark.parametrize(
    ("content", "wrong"),
    [
        ("minbpe v2\n\n0\n", "line 1: 'minbpe v1' is expected"),
        ("minbpe v1\n", "the file is cut short"),
        ("minbpe v1\n\n0\n97 98", "line 4: ends without a line break"),
        ("minbpe v1\n\n3\n<a> 300\n", "line 3: 3 special tokens, but 1 lines"),
        ("minbpe v1\n\n2\n<a> 300\n<a> 301\n", "line 5: a special token, new"),
        ("minbpe v1\n\n0\n97 -1\n", "line 4: a whole number is expected, not '-1'"),
        ("minbpe v1\n\n0\n97 256\n", "line 4: no earlier line makes the id 256"),
        ("minbpe v1\n\n0\n" + "".join(f"{i} {i}\n" for i in (97, *range(256, 300))), "have more than"),
        ("#version: 0.1\ne r</w>\n", "line 1: '#version: 0.2' is expected"),
        ("#version: 0.2\ne r</w>\nlo\n", "line 3: two tokens"),
        ("#version: 0.2\ne r</w>\nr</w> e\n", "line 3: only a word's last symbol ends in </w>"),
    ],
)
def test_what_is_wrong_with_a_line_is_named(tmp_path: Path, content: str, wrong: str) -> None:
    assert wrong in problem(tmp_path / "file", content.encode())
