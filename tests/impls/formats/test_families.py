"""The formats of model families: tekken.json, minbpe's `.model`, subword-nmt's codes."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

import impls
from impls import InvalidFile, Model, TrainingSpec, Unsupported
from impls.formats import IdsAssigned, load, load_with_format, losses, save

HandMade = Callable[..., Model]
Document = dict[str, Any]

N_SPECIAL = 30


def tekken_document(words: tuple[bytes, ...] = (b"ab", b"abc", b"never")) -> Document:
    tokens = [*(bytes([byte]) for byte in range(256)), *words]
    return {
        "config": {
            "pattern": "[a-z]+|[^a-z]+",
            "num_vocab_tokens": len(tokens),
            "default_vocab_size": N_SPECIAL + 258,
            "default_num_special_tokens": N_SPECIAL,
            "version": "v3",
        },
        "vocab": [
            {"rank": rank, "token_bytes": base64.b64encode(token).decode(), "token_str": None}
            for rank, token in enumerate(tokens)
        ],
    }


def written(document: Any, folder: Path) -> Path:
    path = folder / "tekken.json"
    path.write_text(json.dumps(document), encoding="utf-8")
    return path


def test_tekken_ids_are_ranks_behind_the_special_tokens(tmp_path: Path) -> None:
    format, model = load_with_format(written(tekken_document(), tmp_path))
    assert format == "tekken"
    assert (model.id_offset, model.merge_rule) == (N_SPECIAL, "concatenation")
    for name in ("naive", "priority", "bytelevel", "wordcount", "backtracking", "compiled", "tiktoken", "tokenizers"):
        assert impls.load(name, model).encode("abc a") == [N_SPECIAL + i for i in (257, 32, 97)], name


def test_tekken_is_cut_to_its_declared_size(tmp_path: Path) -> None:
    model = load(written(tekken_document(), tmp_path))
    assert model.vocab_size == N_SPECIAL + 258
    assert b"never" not in model.id_by_token


def test_tekken_without_a_list_has_mistrals_special_tokens_and_fillers(tmp_path: Path) -> None:
    model = load(written(tekken_document(), tmp_path))
    assert model.special_tokens["</s>"] == 2
    assert model.special_tokens["<SPECIAL_29>"] == 29
    assert len(model.special_tokens) == N_SPECIAL
    assert impls.load("priority", model).encode("a</s>", allowed_special="all") == [N_SPECIAL + 97, 2]


def test_tekken_with_a_list_has_the_special_tokens_of_the_list(tmp_path: Path) -> None:
    document = tekken_document()
    document["special_tokens"] = [{"rank": 0, "token_str": "<pad>", "is_control": True}]
    model = load(written(document, tmp_path))
    assert (model.special_tokens["<pad>"], model.special_tokens["<SPECIAL_1>"]) == (0, 1)


@pytest.mark.parametrize(
    ("place", "value", "problem"),
    [
        (("config",), 3, "Expected `object`, got `int` - at `$.config`"),
        (("config", "pattern"), None, "Expected `str`, got `null` - at `$.config.pattern`"),
        (("config", "pattern"), "(", "does not compile"),
        (("config", "default_vocab_size"), "many", "Expected `int`, got `str` - at `$.config.default_vocab_size`"),
        (("config", "default_vocab_size"), True, "Expected `int`, got `bool` - at `$.config.default_vocab_size`"),
        (("config", "default_vocab_size"), 10**9, "config.default_vocab_size: 1000000000 is not between"),
        (("config", "default_vocab_size"), 400, "vocab: 259 tokens, but config asks for 370"),
        (("config", "default_num_special_tokens"), -1, "`int` >= 0 - at `$.config.default_num_special_tokens`"),
        (("vocab", 5), 7, "Expected `object`, got `int` - at `$.vocab[5]`"),
        (("vocab", 5, "rank"), 6, "vocab[6].rank: 6 was given already"),
        (("vocab", 5, "rank"), 10**6, "vocab[5].rank: 1000000 is not between 0 and 258"),
        (("vocab", 5, "token_bytes"), "BQ=", "Invalid base64 encoded string - at `$.vocab[5].token_bytes`"),
        (("vocab", 5, "token_bytes"), "é", "Invalid base64 encoded string"),
        (("vocab", 5, "token_bytes"), "", "the token of rank 5 is empty"),
        (("vocab", 5, "token_bytes"), "Bg==", "has two ids"),
        (("special_tokens",), {}, "got `object` - at `$.special_tokens`"),
        (("special_tokens",), [{"rank": 0}], "missing required field `token_str` - at `$.special_tokens[0]`"),
        (("special_tokens",), [{"rank": 99, "token_str": "x"}], "special_tokens[0].rank: 99 is not below 30"),
        (("special_tokens",), [{"rank": 0, "token_str": "x"}] * 2, "special_tokens[1].rank: 0 was given already"),
        (("special_tokens",), [{"rank": 0, "token_str": "<SPECIAL_4>"}], "'<SPECIAL_4>' occurs twice"),
    ],
)
def test_what_is_wrong_with_tekken_is_named(tmp_path: Path, place: tuple[Any, ...], value: Any, problem: str) -> None:
    whole = at = deepcopy(tekken_document())
    for key in place[:-1]:
        at = at[key]
    at[place[-1]] = value
    with pytest.raises(InvalidFile) as caught:
        load(written(whole, tmp_path))
    assert problem in caught.value.problem


MINBPE = "minbpe v1\n[a-z]+|[^a-z]+\n1\n<|end|> 300\n97 98\n256 99\n"


def test_minbpe_is_read(tmp_path: Path) -> None:
    path = tmp_path / "tok.model"
    path.write_text(MINBPE)
    format, model = load_with_format(path)
    assert format == "minbpe"
    assert model.tokens[256:] == (b"ab", b"abc")
    assert model.pattern == ("[a-z]+|[^a-z]+",)
    assert impls.load("naive", model).encode("abc<|end|>", allowed_special="all") == [257, 300]
    save(model, tmp_path / "again.model", "minbpe")
    assert load(tmp_path / "again.model") == model


def test_minbpe_without_a_pattern_cuts_nothing(tmp_path: Path) -> None:
    (tmp_path / "tok.model").write_text("minbpe v1\n\n0\n97 32\n")
    assert load(tmp_path / "tok.model").pattern == ()


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("minbpe v2\n\n0\n", "line 1: 'minbpe v1' is expected"),
        ("minbpe v1\n", "the file is cut short"),
        ("minbpe v1\n\n0\n97 98", "line 4: ends without a line break"),
        ("minbpe v1\n\nx\n", "line 3: a whole number is expected, not 'x'"),
        ("minbpe v1\n\n3\n<a> 300\n", "line 3: 3 special tokens, but 1 lines"),
        ("minbpe v1\n\n1\n<a>\n", "line 4: a special token"),
        ("minbpe v1\n\n2\n<a> 300\n<a> 301\n", "line 5: a special token, new"),
        ("minbpe v1\n\n0\n97\n", "line 4: two ids"),
        ("minbpe v1\n\n0\n97 -1\n", "line 4: a whole number is expected, not '-1'"),
        ("minbpe v1\n\n0\n97 256\n", "line 4: id 256 is made by no line before"),
        ("minbpe v1\n\n0\n" + "".join(f"{i} {i}\n" for i in (97, *range(256, 300))), "have more than"),
        ("minbpe v1\n(a)\n0\n", "capturing group"),
        ("minbpe v1\n\n0\n97 98\n97 98\n", "has two ids"),
    ],
)
def test_what_is_wrong_with_minbpe_is_named(tmp_path: Path, content: str, problem: str) -> None:
    (tmp_path / "tok.model").write_text(content)
    with pytest.raises(InvalidFile) as caught:
        load(tmp_path / "tok.model")
    assert problem in caught.value.problem


def test_minbpe_holds_what_its_trainers_learn_and_refuses_the_rest(hand_made: HandMade) -> None:
    spec = TrainingSpec(vocab_size=262, pattern="gpt2", ties="first", special_tokens=("<s>",))
    model = impls.get("priority").train_model(["low lower lowest"], spec)
    assert losses(model, "minbpe") == ["merge_counts"]
    for wrong, problem in [
        (model.with_(pattern=("a+|[^a]+", "b+|[^b]+")), "2 split stages"),
        (model.with_(special_tokens={"a b": 300}), "hold no white space"),
        (hand_made("a+b"), "this model's alphabet is 'chars'"),
        (hand_made("a+b", extra="xyz", alphabet="bytes"), "every token is made by a merge"),
        (impls.get("priority").train_model(["low low"], TrainingSpec(vocab_size=258, base_order="gpt2")), "byte 0"),
    ]:
        with pytest.raises(Unsupported, match=problem):
            losses(wrong, "minbpe")


CODES = "#version: 0.2\ne r</w>\nl o\nlo w\nn e\nne w\nlow er</w>\n"


def test_codes_of_words_are_read_with_a_word_about_their_ids(tmp_path: Path) -> None:
    path = tmp_path / "codes.txt"
    path.write_text(CODES)
    with pytest.warns(IdsAssigned, match="codes hold no ids"):
        format, model = load_with_format(path)
    assert format == "subword-nmt"
    assert (model.alphabet, model.end_of_word) == ("chars", "</w>")
    tokenizer = impls.load("naive", model)
    by_id = model.bytes_by_id()
    assert [by_id[i] for i in tokenizer.encode("lower newer")] == [b"lower ", b"  ", b"new", b"er "]
    save(model, tmp_path / "again", "subword-nmt")
    assert (tmp_path / "again").read_text() == CODES


def test_codes_give_the_subwords_of_their_own_library(tmp_path: Path) -> None:
    apply_bpe = pytest.importorskip("subword_nmt.apply_bpe")
    texts = ["the lower the newer the slower", "low lowest newest wider widest"] * 3
    spec = TrainingSpec(
        vocab_size=60, alphabet="chars", ties="largest", end_of_word="</w>", pattern=r"\S+|\s", min_count=2
    )
    save(impls.get("priority").train_model(texts, spec), tmp_path / "codes", "subword-nmt")
    with pytest.warns(IdsAssigned):
        model = load(tmp_path / "codes")
    with (tmp_path / "codes").open(encoding="utf-8") as codes:
        theirs = apply_bpe.BPE(codes)
    tokenizer, by_id = impls.load("priority", model), model.bytes_by_id()
    for text in (*texts, "newer towed weird hero shorn"):
        ours = [by_id[i].decode() for i in tokenizer.encode(text)]
        assert "".join(part for part in ours if part.strip()) == text + " "
        expected = theirs.process_line(text).split(" ")
        assert [part.rstrip() for part in ours if part.strip()] == [part.removesuffix("@@") for part in expected]


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("#version: 0.1\ne r</w>\n", "line 1: '#version: 0.2' is expected"),
        ("#version: 0.2\ne r</w>\nl o", "line 3: ends without a line break"),
        ("#version: 0.2\ne r</w>\nlo\n", "line 3: two symbols"),
        ("#version: 0.2\ne r</w>\ne </w>\n", "line 3: only a word's last symbol ends in </w>"),
        ("#version: 0.2\ne r</w>\nr</w> e\n", "line 3: only a word's last symbol ends in </w>"),
    ],
)
def test_what_is_wrong_with_codes_is_named(tmp_path: Path, content: str, problem: str) -> None:
    (tmp_path / "codes").write_text(content)
    with pytest.raises(InvalidFile) as caught:
        load(tmp_path / "codes")
    assert problem in caught.value.problem


def test_of_codes_that_stand_twice_the_first_counts_as_in_their_own_library(tmp_path: Path) -> None:
    (tmp_path / "codes").write_text("#version: 0.2\nb c</w>\na b\nb c</w>\n")
    with pytest.warns(IdsAssigned):
        model = load(tmp_path / "codes")
    assert len(model.merges) == 2
    by_id = model.bytes_by_id()
    assert [by_id[i] for i in impls.load("naive", model).encode("abc")] == [b"a", b"bc "]


def test_what_codes_cannot_hold_is_refused_or_reported(hand_made: HandMade) -> None:
    model = hand_made("a+b", alphabet="bytes")
    with pytest.raises(Unsupported, match="its symbols are characters"):
        losses(model, "subword-nmt")
    spec = TrainingSpec(
        vocab_size=60, alphabet="chars", end_of_word="</w>", pattern=r"\S+|\s", special_tokens=("<s>",), unknown="?"
    )
    trained = impls.get("priority").train_model(["low lower"], spec)
    lines = losses(trained, "subword-nmt")
    assert [line.partition(":")[0] for line in lines] == ["ids", "pattern", "special_tokens", "unknown", "merge_counts"]
