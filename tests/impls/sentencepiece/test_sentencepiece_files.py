"""SentencePiece's `.model`: read, written, and refused with one clear line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import sentencepiece
from refusals import refused
from sentencepiece_files import trained_file
from sentencepiece_models import pieces_model, random_texts
from wrong_files import problem

from impls import Model, Unsupported
from impls.core.model import HuggingFaceRules
from impls.core.model.checks import MAX_ID
from impls.formats import load, losses, save
from impls.formats.protobuf import field
from impls.formats.sentencepiece_model import write


def test_the_library_gives_the_same_ids_by_the_written_file(trained: Any, tmp_path: Path) -> None:
    assert losses(trained.model, "sentencepiece") == []
    save(trained.model, tmp_path / "a.model", "sentencepiece")
    assert load(tmp_path / "a.model") == trained.model
    theirs = sentencepiece.SentencePieceProcessor(model_file=str(tmp_path / "a.model"))
    texts = random_texts(100, seed=4)
    assert theirs.encode(texts) == trained.library.encode(texts)
    ids = list(range(trained.model.vocab_size))
    assert theirs.id_to_piece(ids) == trained.library.id_to_piece(ids)
    assert [theirs.decode(i) for i in ids] == [trained.library.decode(i) for i in ids]
    for name in ("unk_id", "bos_id", "eos_id", "pad_id"):
        assert getattr(theirs, name)() == getattr(trained.library, name)()


# --- models that are not SentencePiece's ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "lost"),
    [
        ({"hugging_face": HuggingFaceRules(ignore_merges=True)}, ["ignore_merges"]),
        ({"pattern": "gpt2"}, ["pattern"]),
        ({"unknown": None, "unknown_id": None}, ["unknown"]),
        ({"added_tokens": {"<a>": 9}}, ["added_tokens"]),
        ({"special_tokens": {"<s>": 9}}, ["special_tokens"]),
        ({"normalization": "nfc"}, ["normalization"]),
    ],
)
def test_what_a_file_would_lose_is_reported(changes: dict[str, Any], lost: list[str]) -> None:
    given = {"unknown": "<unk>", "unknown_id": 3, **changes}
    model = Model(tokens=(b"a", b"b", b"ab"), merges=((0, 1),), alphabet="chars", **given)
    reported = [line.partition(":")[0] for line in losses(model, "sentencepiece")]
    assert reported == sorted({*lost, *(["unknown"] if given["unknown"] else [])}, key=reported.index)
    assert set(lost) <= set(reported)
    theirs = sentencepiece.SentencePieceProcessor(model_proto=write(model))
    assert theirs.encode("abba") == [2, 1, 0]
    assert theirs.unk_id() == 3


def test_a_byte_level_model_is_written_with_printable_characters() -> None:
    model = Model(tokens=(*(bytes([byte]) for byte in range(256)), b" a", b" ab"), merges=((32, 97), (256, 98)))
    theirs = sentencepiece.SentencePieceProcessor(model_proto=write(model))
    assert theirs.encode("Ġab") == [257]
    assert losses(model, "sentencepiece")[0].startswith("alphabet: bytes are written")
    whole = Model(tokens=(*model.tokens[:256], b"abc"), merge_rule="concatenation")
    assert any(line.startswith("merges: a whole piece") for line in losses(whole, "sentencepiece"))
    first = pieces_model("a", dummy_prefix="first")
    assert any(line.startswith("dummy_prefix: ") for line in losses(first, "sentencepiece"))


@pytest.mark.parametrize(
    ("model", "reason"),
    [
        (Model(tokens=(b"a</w>",), alphabet="chars", end_of_word="</w>"), "symbols that end in '</w>'"),
        (Model(tokens=(b"\0", b"a"), alphabet="chars"), "null character"),
        (Model(tokens=(b"a",), alphabet="chars", special_tokens={"<s>": MAX_ID}), "one id is 2147483647; ids go up to"),
        (Model(tokens=(b"a", b"aa", b"aaa"), merges=((0, 0), (0, 1)), alphabet="chars"), "merges by joined text"),
    ],
)
def test_what_it_cannot_hold_is_refused(model: Model, reason: str) -> None:
    refused(Unsupported, reason, save, model, Path("never written"), "sentencepiece")


# --- files that are wrong ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(("kind", "name"), [("unigram", "Unigram"), ("word", "word"), ("char", "character")])
def test_other_kinds_of_model_are_refused_by_name(kind: str, name: str, tmp_path: Path) -> None:
    content = trained_file(["the cat sat on the mat", "a mat for the cats"] * 9, model_type=kind, vocab_size=40)
    assert f"of type {name}, not byte pair encoding" in problem(tmp_path / "a.model", content)


def piece(text: str | bytes, kind: int = 1, score: float = 0.0) -> bytes:
    data = text if isinstance(text, bytes) else text.encode()
    return field(1, field(1, data) + field(2, score) + field(3, kind))


BPE = field(2, field(3, 2))
UNK = piece("<unk>", 2)


@pytest.mark.parametrize(
    ("content", "reported"),
    [
        (UNK + piece("a") + piece("a") + BPE, "piece 2: 'a' is already the text of piece 1"),
        (piece("a") + UNK + piece("a") + BPE, "piece 2: 'a' is already the text of piece 0"),
        (UNK + piece("b", 2) + BPE, "2 unknown pieces"),
        (UNK + piece("<0x41>", 6) + BPE, "1 pieces of type byte; none without"),
        (UNK + piece("x", 6) + BPE, "'x' has the type byte, but is not written like <0x41>"),
        (UNK + piece("x", 9) + BPE, "has the unknown type 9"),
        (UNK + piece("") + BPE, "piece 1: is empty"),
        (UNK + piece(b"\xff") + BPE, "piece 1: b'\\xff' is not UTF-8"),
        (UNK + piece("a", score=float("nan")) + BPE, "the score nan"),
        (UNK + piece("ax") + piece("a") + BPE, "contains 'x', which is not a token"),
        (UNK + field(2, field(3, 2) + field(24, 1)), "treat_whitespace_as_suffix"),
        (UNK + BPE + field(5, field(2, b"abc")), "denormalizer_spec"),
        (UNK + piece("a") + BPE + field(3, field(2, b"abc")), "charsmap"),
        (UNK + field(2, field(3, b"x")), "trainer_spec: field 3 has the wire type 2, not 0"),
        (UNK + b"\x00\x00", "a field numbered 0"),
        (UNK + b"\x0b", "the unknown wire type 3"),
        (UNK + b"\x0a" + b"\xff" * 11, "a number that does not end"),
        (UNK + b"\x0a\xff\xff\xff\xff\x0f", "a field of 4294967295 bytes where 0 are left"),
    ],
)
def test_what_is_wrong_with_a_file_is_reported(content: bytes, reported: str, tmp_path: Path) -> None:
    assert reported in problem(tmp_path / "a.model", content)
