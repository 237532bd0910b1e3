"""A model is checked on construction: contradictions are refused by name, irregularities are kept and listed."""

from __future__ import annotations

import dataclasses
import pickle
from typing import Any

import pytest
from random_models import BYTES
from refusals import refused

import impls
from impls import InvalidModel, Model, TrainingSpec
from impls.core.model.derivations import concatenation_differs, recovered_merges
from impls.core.model.whole_tokens import can_meet


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"tokens": BYTES[:255]}, r"1 byte has no token, the first is 0xFF"),
        ({"tokens": (*BYTES, b"ab", b"ab")}, r"the token b'ab' has two ids, 256 and 257"),
        ({"tokens": (*BYTES, b"")}, r"id 256: a token must be bytes that are not empty, not b''"),
        ({"tokens": (), "alphabet": "chars"}, r"a model without tokens"),
        ({"merges": ((97, 98),)}, r"merge 0: b'a' and b'b' do not make a token"),
        ({"tokens": (*BYTES, b"ab"), "merges": ((97, 98), (97, 300))}, r"merge 1: no token has id 300"),
        ({"tokens": (*BYTES, None, b"ab"), "merges": [[97, 256]]}, r"merge 0: no token has id 256"),
        ({"tokens": (*BYTES, b"ab"), "merges": ((97, 98),), "merge_counts": (1, 2)}, r"1 merges but 2 merge counts"),
        (
            {"tokens": (*BYTES, b"ab"), "merges": ((97, 98),), "merge_rule": "concatenation"},
            r"'concatenation' takes ranks from the ids and has no list of merges",
        ),
        ({"end_of_word": "</w>", "merge_rule": "concatenation"}, r"end_of_word over bytes needs listed merges"),
        ({"special_tokens": {"a": 300}}, r"the special token 'a' has id 300, but its text is a token under id 97"),
        ({"special_tokens": {"<s>": 97}}, r"the special token '<s>' has the id 97 of the token b'a'"),
        ({"special_tokens": {"<s>": 300, "</s>": 300}}, r"the special tokens '<s>' and '</s>' have the same id 300"),
        ({"special_tokens": {"<s>": 2**31}}, r"'<s>' has the id 2147483648, not a whole number up to 2147483647"),
        ({"special_tokens": {"<s>": "7"}}, r"'<s>' has the id '7'"),
        ({"special_tokens": {"": 300}}, r"a special token must be a text that is not empty, not ''"),
        ({"special_tokens": {"\ud800": 300}}, r"the special token '\\ud800' contains a lone surrogate"),
        ({"unknown": "<unk>"}, r"give unknown and unknown_id together"),
        ({"unknown": "<unk>", "unknown_id": 97}, r"the special token '<unk>' has the id 97 of the token b'a'"),
        ({"alphabet": "words"}, r"alphabet must be 'bytes' or 'chars', not 'words'"),
        ({"merge_rule": "random"}, r"merge_rule must be 'pairs' or 'concatenation', not 'random'"),
        ({"normalization": "lower"}, r"normalization 'lower' is not one of: nfc"),
        ({"normalization": 'replace("a")'}, "is not one of"),
        ({"normalization": 'replace-regex("(","")'}, "normalization replace-regex: "),
        ({"normalization": "charsmap"}, "there is no such table"),
        ({"normalization": ""}, "must be None or name a step"),
        ({"added_tokens": {"!": 33}, "whole_token_flags": {"!": ("left",)}}, r"'!' has \('left',\); known are"),
        ({"whole_token_flags": {"<t>": ("lstrip",)}}, "'<t>' is not a special or added token"),
        (
            {"added_tokens": {" ": 32}, "whole_token_flags": {" ": ("normalized",)}, "normalization": "strip"},
            "nothing is left of ' '",
        ),
    ],
)
def test_what_contradicts_itself_is_refused_by_name(fields: dict[str, Any], message: str) -> None:
    refused(InvalidModel, message, Model(tokens=BYTES).with_, **fields)


def test_a_special_token_may_stand_among_the_tokens_under_its_own_id() -> None:
    model = Model(tokens=(*BYTES, b"<s>"), special_tokens={"<s>": 256})
    assert impls.load("priority", model).encode("<s>", allowed_special="all") == [256]


def test_a_model_cannot_be_changed() -> None:
    model = Model(tokens=BYTES, special_tokens={"<s>": 300})
    with pytest.raises(dataclasses.FrozenInstanceError):
        model.tokens = ()  # type: ignore[misc]
    with pytest.raises(TypeError):
        model.special_tokens["</s>"] = 301  # type: ignore[index]


def test_a_copy_in_another_process_is_the_same_model() -> None:
    model = impls.get("naive").train_model(["hello hello"], TrainingSpec(vocab_size=270, special_tokens=("<s>",)))
    derived = model.recovered_merges
    copy = pickle.loads(pickle.dumps(model))
    assert copy == model
    assert (copy.digest, copy.__dict__["recovered_merges"]) == (model.digest, derived)


def test_the_digest_changes_with_the_content() -> None:
    model = Model(tokens=(*BYTES, b"ab", b"bc"), merges=((97, 98), (98, 99)))
    others = [
        model.with_(merges=((98, 99), (97, 98))), model.with_(merge_counts=(2, 1)),
        model.with_(tokens=(*BYTES, b"bc", b"ab")), model.with_(tokens=(*BYTES, b"ab", b"bc", None, b"x1")),
        model.with_(special_tokens={"<s>": 300}), model.with_(added_tokens={"<s>": 300}),
        model.with_(pattern=("gpt2",)), model.with_(ignore_merges=True), model.with_(normalization="nfc"),
        model.with_(unknown="<unk>", unknown_id=300),
    ]  # fmt: skip
    assert len({other.digest for other in [model, *others]}) == len(others) + 1
    assert model.with_().digest == model.digest


def test_sizes() -> None:
    model = Model(tokens=(*BYTES, None, b"ab"), merges=((97, 98),), special_tokens={"<s>": 256, "<t>": 999})
    assert (model.vocab_size, model.n_tokens) == (1000, 259)
    assert model.bytes_by_id()[256] == b"<s>"
    assert Model(tokens=BYTES, unknown="<unk>", unknown_id=500).vocab_size == 501


def test_a_whole_piece_is_looked_up_where_the_rule_says_so() -> None:
    model = Model(tokens=(*BYTES, b"ab"))
    assert model.whole_piece("ab") is None
    assert model.with_(ignore_merges=True).whole_piece("ab") == 256
    assert model.with_(merge_rule="concatenation").whole_piece("ab") == 256
    assert model.with_(merge_rule="concatenation").whole_piece("abc") is None


@pytest.mark.parametrize(
    ("merges", "fields", "lines"),
    [
        ("a+b ab+c", {}, []),
        ("ab+a a+b", {}, ["1 merge ranks before a merge that makes one of their parts, the first is rank 0"]),
        ("a+b b+c a+b", {}, ["1 duplicate merge; the later rank counts"]),
        ("a+a a+aa aa+a", {}, ["1 token with several derivations, the first is id 2 (b'aaa')"]),
        ("a+b", {"extra": "abc"}, ["1 token with no derivation, the first is id 4 (b'abc')"]),
        ("a+b</w>", {"extra": "b b</w>", "end_of_word": "</w>"}, []),
        ("a+b", {"ignore_merges": True}, ["ignore_merges: a whole piece in the vocabulary is one token"]),
        ("a+b", {"extra": "abc", "merge_rule": "concatenation"}, []),
        (
            "a+b",
            {"extra": "abcd", "merge_rule": "concatenation"},
            ["1 token with no derivation from lower ranks, the first is id 5 (b'abcd')"],
        ),
    ],
)
def test_what_is_irregular_is_kept_and_listed(hand_made, merges: str, fields: dict, lines: list[str]) -> None:
    model = hand_made(merges, **fields)
    assert len(model.irregularities) == len(lines)
    assert all(reported.startswith(line) for reported, line in zip(model.irregularities, lines, strict=True))


def test_words_of_bytes_with_an_end_need_their_merges() -> None:
    ends = tuple(byte + b"</w>" for byte in BYTES)
    assert concatenation_differs(Model(tokens=(*BYTES, *ends), end_of_word="</w>")) == "words end in '</w>'"


@pytest.mark.corpus
@pytest.mark.parametrize(("name", "n_merges"), [("r50k_base", 50_000), ("cl100k_base", 100_000)])
def test_published_vocabularies_are_regular(name: str, n_merges: int) -> None:
    from harness.data import load_model

    model = load_model(name)
    merges, underived = recovered_merges(model)
    assert (len(merges), underived) == (n_merges, ())
    assert model.irregularities == ()


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({}, None),
        ({"alphabet": "chars"}, None),
        ({"alphabet": "chars", "unknown": "?", "unknown_id": 300}, "characters outside the alphabet"),
        ({"alphabet": "chars", "end_of_word": "</w>"}, "end_of_word"),
        ({"normalization": "nfc"}, "normalization nfc"),
        ({"added_tokens": {"<a>": 300}, "whole_token_flags": {"<a>": ("lstrip",)}}, "white space around some added"),
    ],
)
def test_a_lossy_model_says_why(fields: dict[str, Any], why: str | None) -> None:
    alphabet = fields.get("alphabet", "bytes")
    lossy = Model(tokens=(b"a",) if alphabet == "chars" else BYTES, alphabet=alphabet).with_(**fields).lossy
    assert lossy is None if why is None else lossy is not None and lossy.startswith(why)


@pytest.mark.parametrize("field", ["tokens", "merges"])
def test_a_model_that_was_not_made_has_no_tokens_and_does_not_look_for_them_without_end(field: str) -> None:
    refused(AttributeError, f"the model has no {field}", getattr, object.__new__(Model), field)


def test_tokens_meet_that_overlap_or_hold_each_other_and_long_ones_may() -> None:
    assert can_meet(["<a>"], ["a>b"])
    assert can_meet(["a>b"], ["<a>"])
    assert can_meet(["a<b>c"], ["<b>"])
    assert can_meet(["a" * 201], ["b"])
    assert not can_meet(["<a>"], ["  ", "<b>", "a" * 200])
