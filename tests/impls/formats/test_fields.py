"""Format by format: a wrong line or field is named, a field that cannot be followed is refused by name."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import pytest
from wrong_files import problem

from impls import Model, Unsupported
from impls.core.model import HuggingFaceRules
from impls.core.text.patterns import NAMED
from impls.formats import load, save
from impls.formats import own as own_format
from impls.formats.tiktoken_ranks import read_tiktoken_ranks, write_tiktoken_ranks

RANKS = {bytes([byte]): byte for byte in range(256)} | {b"ab": 256, b"abc": 257}


# --- tiktoken ranks --------------------------------------------------------------------------------------------------


def test_ranks_are_read_in_the_order_of_the_file_and_written_in_order_of_rank(tmp_path: Path) -> None:
    content = write_tiktoken_ranks(RANKS)
    assert content.startswith(b"AA== 0\nAQ== 1\n")
    assert read_tiktoken_ranks(content.replace(b"\n", b"\r\n") + b"\r\n\n") == RANKS
    backwards = b"".join(reversed(content.splitlines(keepends=True)))
    assert list(read_tiktoken_ranks(backwards)) == list(RANKS)[::-1]
    assert write_tiktoken_ranks(read_tiktoken_ranks(backwards)) == content
    path = tmp_path / "x.tiktoken"
    path.write_bytes(content + b"= 258\neHl6 300\n")  # ranks may be unused
    model = load(path, pattern="none", special_tokens={"<end>": 299})
    assert model.tokens[258:] == (*[None] * 42, b"xyz")
    save(model, tmp_path / "y.tiktoken", "tiktoken")
    assert (tmp_path / "y.tiktoken").read_bytes() == content + b"eHl6 300\n"


def token(data: bytes) -> bytes:
    return base64.b64encode(data)


@pytest.mark.parametrize(
    ("line", "wrong"),
    [
        (b"IQ= 258", "line 259: 'IQ=' is not base64"),
        (b"!!!! 258", "line 259: '!!!!' is not base64"),
        (b"eHl6 258 1", "line 259: expected a token in base64"),
        (b"eHl6 -1", "line 259: the rank '-1' is not a whole number"),
        ("eHl6 ٣".encode(), "line 259: the rank"),
        (b"eHl6 " + b"9" * 5000, "line 259: the rank '999"),
        (b"eHl6 99999999", "has the id 99999999; ids go up to"),
        (token(b"ab") + b" 258", "line 259: the token b'ab' is already in line 257"),
        (b"eHl6 257", "line 259: the rank 257 is already in line 258"),
    ],
)
def test_a_wrong_line_of_ranks_is_named(tmp_path: Path, line: bytes, wrong: str) -> None:
    content = write_tiktoken_ranks(RANKS) + line + b"\n"
    assert wrong in problem(tmp_path / "x.tiktoken", content, pattern="gpt2")


def test_a_rank_file_without_a_byte_or_without_its_last_line_break_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.tiktoken"
    without = write_tiktoken_ranks({t: rank for t, rank in RANKS.items() if rank != 65})
    assert "1 byte has no token, the first is 0x41" in problem(path, without, pattern="gpt2")
    cut = write_tiktoken_ranks(RANKS)[:-1]
    assert "line 258: ends without a line break" in problem(path, cut, pattern="gpt2")


# --- our own ---------------------------------------------------------------------------------------------------------


@pytest.fixture
def own(tmp_path: Path) -> Path:
    model = Model(
        tokens=(*(bytes([byte]) for byte in range(256)), None, b"ab"),
        merges=((97, 98),),
        merge_counts=(7,),
        pattern=("a+|[^a]+", r"(?s:.)"),
        special_tokens={"<é\u2028>": 256},
        added_tokens={"\U0001f600": 300},
        normalization="nfc",
        hugging_face=HuggingFaceRules(ignore_merges=True),
    )
    model.save(tmp_path / "model.json")
    assert Model.load(tmp_path / "model.json") == model
    return tmp_path / "model.json"


def test_our_own_file_is_one_json_document_that_can_be_laid_out_anew(own: Path) -> None:
    before = Model.load(own)
    own.write_text(json.dumps(json.loads(own.read_text()), indent=4))
    assert Model.load(own) == before


def test_a_file_of_version_6_is_read(own: Path) -> None:
    model, document = Model.load(own), json.loads(own.read_text())
    document |= document.pop("hugging_face") | {"version": 6}
    own.write_text(json.dumps(document | {"digest": own_format._digest(document)}))
    assert Model.load(own) == model


def test_a_pattern_that_no_file_can_hold_is_refused(own: Path) -> None:
    with pytest.raises(Unsupported, match="the pattern contains a lone surrogate"):
        Model.load(own).with_(pattern=("\ud800|(?s:.)",)).save(own)


EDITED = "digest does not match: the file was edited or damaged; save the model again"


@pytest.mark.parametrize(
    ("field", "value", "with_digest", "wrong"),
    [
        ("normalization", None, False, EDITED),
        ("note", "mine", False, EDITED),
        ("digest", "sha256:0", False, EDITED),
        *(("version", version, False, "this release reads version 1 to 7") for version in (99, "1", None)),
        ("tokens", [1], True, "$.tokens[0]"),
        ("merges", [[1, 2, 3]], True, "$.merges[0]"),
        ("merges", [[97, 9999999999]], True, "merge 0: no token has id 9999999999"),
        ("pattern", ["(a)"], True, "capturing group"),
        ("alphabet", "words", True, "$.alphabet"),
        ("surprise", 1, True, "surprise"),
    ],
)
def test_our_file_edited_or_wrong_is_refused(own: Path, field: str, value: Any, with_digest: bool, wrong: str) -> None:
    document = json.loads(own.read_text()) | {field: value}
    if with_digest:
        document["digest"] = own_format._digest(document)
    assert wrong in problem(own, json.dumps(document).encode())


# --- GPT-2's pair ----------------------------------------------------------------------------------------------------


@pytest.fixture
def pair(good: dict[str, bytes], tmp_path: Path) -> Path:
    (tmp_path / "encoder.json").write_text(json.dumps(json.loads(good["encoder.json"]), ensure_ascii=False))
    (tmp_path / "vocab.bpe").write_bytes(good["gpt2"])
    return tmp_path


def test_either_file_of_the_pair_or_their_folder_is_enough(pair: Path) -> None:
    model = load(pair)
    assert (dict(model.special_tokens), model.pattern) == ({"<s>": 279}, NAMED["gpt2"])
    assert load(pair / "encoder.json") == load(pair / "vocab.bpe") == model
    (pair / "encoder.json").rename(pair / "vocab.json")
    (pair / "vocab.bpe").rename(pair / "merges.txt")
    assert load(pair) == load(pair / "vocab.json") == load(pair / "merges.txt") == model
    (pair / "merges.txt").write_bytes((pair / "merges.txt").read_bytes().removesuffix(b"\n"))
    assert load(pair) == model


@pytest.mark.parametrize(
    ("file", "old", "new", "wrong"),
    [
        ("vocab.bpe", "\ne r\n", "\ne r e\n", "expected two tokens separated by a space"),
        ("vocab.bpe", "\ne r\n", "\ne ж\n", "'\\u0436' is not in the vocabulary"),
        ("vocab.bpe", "\ne r\n", "\n", "no line makes the token 'er'"),
        ("encoder.json", '"er": 256', '"er": "256"', "the token 'er' has the id '256'"),
        ("encoder.json", '"er": 256', '"er": 0', "have the same id 0"),
        ("encoder.json", '"er": 256', '"er": 256, "a": 400', "the key 'a' occurs twice"),
        ("encoder.json", '"er": 256, ', "", "'er' is not in the vocabulary"),
    ],
)
def test_what_is_wrong_in_a_file_of_the_pair_is_named(pair: Path, file: str, old: str, new: str, wrong: str) -> None:
    text = (pair / file).read_text()
    assert old in text
    (pair / file).write_text(text.replace(old, new))
    assert wrong in problem(pair)


def test_half_of_the_pair_or_one_of_characters_is_refused(pair: Path) -> None:
    (pair / "encoder.json").write_text('{"a": 0, "b": 1, "<unk>": 2}')
    (pair / "vocab.bpe").write_text("#version: 0.2\n")
    assert "254 bytes have no token, the first is 0x00" in problem(pair)
    (pair / "vocab.bpe").unlink()
    assert "its companion vocab.bpe is missing" in problem(pair / "encoder.json")
    assert "a folder without a model" in problem(pair)
