"""What a conversion would lose is reported, and what a format cannot hold is refused with the reason."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from refusals import refused
from sentencepiece_models import pieces_model

import impls
from impls import Model, TrainingSpec, Unsupported
from impls.formats import load, losses, save


def trained(**options: object) -> Model:
    spec = TrainingSpec(vocab_size=275, **options)  # type: ignore[arg-type]
    return impls.get("priority").train_model(["low lower lowest newer wider"], spec)


def test_losses_are_reported_field_by_field(hand_made: Any) -> None:
    model = trained(special_tokens=("<s>",), pattern="turkish").with_(normalization="nfc")
    assert losses(model, "bpebench") == []
    assert losses(model, "tiktoken") == [
        "pattern: a rank file has none; give 'turkish' again when it is loaded",
        "special_tokens: 1, the first is '<s>'",
        "normalization: nfc",
        "merge_counts: how often each merge occurred in training",
    ]
    assert losses(model, "tokenizer.json") == ["merge_counts: how often each merge occurred in training"]
    flagged = model.with_(whole_token_flags={"<s>": ("lstrip", "rstrip")})
    assert "whole_token_flags: 1, the first is '<s>': lstrip, rstrip" in losses(flagged, "tiktoken")
    assert "texts are not split" in losses(hand_made("a+b", alphabet="bytes"), "tiktoken")[0]


def test_irregular_merges_lose_their_meaning_in_a_rank_file(hand_made: Any, tmp_path: Path) -> None:
    # a+a and a+aa: two derivations of aaa, of which ranks see one.
    model = hand_made("a+a a+aa", alphabet="bytes")
    assert any("merges: some texts get different ids, as merge 1" in line for line in losses(model, "tiktoken"))
    save(model, tmp_path / "x.tiktoken", "tiktoken")
    converted = load(tmp_path / "x.tiktoken", pattern="none")
    assert impls.load("naive", model).encode("aaa") == [256, 97]
    assert impls.load("naive", converted).encode("aaa") == [257]
    unmade = hand_made("a+b", extra="xyz", alphabet="bytes")
    assert any("merges: some texts get different ids, as 1 token " in line for line in losses(unmade, "tiktoken"))
    equal = pieces_model("a b ab ba", ranks=(0, 0, 0, 0, 1, 1), byte_tokens=())
    why = "b'ab' (id 4) has the rank of another token, and the leftmost of them merges first"
    assert any(why in line for line in losses(equal, "tokenizer.json"))


def test_ranks_without_derivations_get_all_their_splits_in_tokenizer_json(hand_made: Any, tmp_path: Path) -> None:
    # abcd is made of ab and cd by their bytes only: on its own, lower ranks leave abc and d.
    model = hand_made("b+c a+b c+d ab+cd", alphabet="bytes", merge_rule="concatenation")
    assert any("all ways to make each token are listed" in line for line in losses(model, "tokenizer.json"))
    save(model, tmp_path / "tokenizer.json", "tokenizer.json")
    converted = load(tmp_path / "tokenizer.json")
    assert converted.ignore_merges
    for text in ("abcd", "xabcd", "abcdabcd"):
        assert impls.load("naive", converted).encode(text) == impls.load("naive", model).encode(text)


def test_characters_go_to_tokenizer_json_and_back(tmp_path: Path) -> None:
    for options in ({}, {"unknown": "<unk>", "special_tokens": ("<s>",)}, {"special_ids": "first", "unknown": "??"}):
        model = trained(alphabet="chars", **options)
        save(model, tmp_path / "tokenizer.json", "tokenizer.json")
        assert load(tmp_path / "tokenizer.json") == model.with_(merge_counts=None)
    model = trained(alphabet="chars", end_of_word="</w>")
    assert losses(model, "tokenizer.json")[1:] == ["decoding: the last word ends without a space"]
    save(model, tmp_path / "tokenizer.json", "tokenizer.json")
    assert load(tmp_path / "tokenizer.json") == model.with_(merge_counts=None, decoder='suffix("</w>")')


def swapped() -> Model:
    model = trained()
    tokens = [*model.tokens]
    tokens[-1], tokens[-2] = tokens[-2], tokens[-1]
    merges = model.merges[:-2] + model.merges[-2:][::-1]
    return model.with_(tokens=tuple(tokens), merges=merges, merge_counts=None).with_(merges=model.merges)


@pytest.mark.parametrize(
    ("model", "format", "reason"),
    [
        (trained(alphabet="chars"), "tiktoken", "this model's alphabet is 'chars'"),
        (swapped(), "tiktoken", "ids are ranks there, but merge"),
        (
            trained(alphabet="chars", end_of_word="</w>").with_(ignore_merges=True),
            "tokenizer.json",
            "whole words that end in '</w>' are not looked up there",
        ),
        (pieces_model("a b ab", unused_ids=(4,)), "tokenizer.json", "merge and are undone at the end"),
        (trained(pattern="turkish").with_(normalization="prefix-space"), "tokenizer.json", "other than GPT-2's"),
        # é is how the byte 0xE9 is written.
        (trained(special_tokens=("é",)), "tokenizer.json", r"'é' .* is written like the token with id 233"),
    ],
)
def test_what_a_format_cannot_hold_is_refused(model: Model, format: str, reason: str, tmp_path: Path) -> None:
    for call in (losses, lambda model, format: save(model, tmp_path / "x", format)):
        refused(Unsupported, reason, call, model, format)
    assert not (tmp_path / "x").exists()
