"""The production libraries over our models give the ids of our own implementations, and fail with typed errors."""

from __future__ import annotations

import itertools
import random
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from refusals import refused

import impls
from impls import Model, TrainingSpec, UnknownId, Unsupported
from impls.core.text.patterns import NAMED

LIBRARIES = ["tiktoken", "tokenizers", "sentencepiece"]
SPECIALS = ("<s>", "<s><s>", "ab")
CHARACTERS = "abc dE'sılİğ\u0301 1½\n\t\r▁\u00a0\0中😀�"

texts = st.text(alphabet=CHARACTERS, max_size=40) | st.text(alphabet=st.characters(codec="utf-8"), max_size=20)


def corpus(seed: str) -> list[str]:
    chance = random.Random(seed)
    return ["".join(chance.choices(CHARACTERS, k=200)) for _ in range(5)]


def trained(**options: Any) -> Model:
    spec = TrainingSpec(**{"vocab_size": 420, **options})
    return impls.get("priority").train_model(corpus("model"), spec)


MODELS = {
    **{name: trained(pattern=name) for name in NAMED},
    "specials last": trained(special_tokens=SPECIALS),
    "specials first": trained(special_tokens=SPECIALS, special_ids="first", base_order="gpt2"),
    "nfc": trained().with_(normalization="nfc"),
    "added": trained().with_(added_tokens={"<a>": 500, "é": 502}, special_tokens={"<b>": 501}),
    "ranks": trained().with_(merges=(), merge_counts=None, merge_rule="concatenation"),
    "ignore_merges": trained().with_(ignore_merges=True),
}

BEYOND_THEM = {("tiktoken", "deepseek")}
"""It splits by one pattern, and this one has three stages."""


@pytest.fixture(scope="module")
def loaded() -> dict[tuple[str, str], impls.Tokenizer]:
    return {
        (name, model): impls.load(name, MODELS[model])
        for name in [*LIBRARIES, "priority"]
        for model in MODELS
        if (name, model) not in BEYOND_THEM
    }


Loaded = dict[tuple[str, str], impls.Tokenizer]


@pytest.mark.parametrize("model", MODELS)
@given(text=texts)
@settings(max_examples=30, deadline=None)
def test_all_libraries_give_the_ids_of_priority(loaded: Loaded, model: str, text: str) -> None:
    ids = loaded["priority", model].encode(text, disallowed_special=())
    for name in LIBRARIES:
        if (name, model) not in BEYOND_THEM:
            assert loaded[name, model].encode(text, disallowed_special=()) == ids, name


@pytest.mark.parametrize("model", ["gpt2", "specials first", "added"])
@given(ids=st.lists(st.integers(0, 410) | st.sampled_from([10**6, -1, 10**30]), max_size=12))
@example(ids=[500, 97, 501, 502])
@settings(max_examples=40, deadline=None)
def test_any_ids_decode_to_the_same_text_or_name_the_unknown_one(loaded: Loaded, model: str, ids: list[int]) -> None:
    own = loaded["priority", model]
    for tokenizer in (loaded[name, model] for name in LIBRARIES):
        for method in ("decode_bytes", "decode", "decode_with_offsets"):
            assert decoded(tokenizer, method, ids) == decoded(own, method, ids)
        if isinstance(decoded(own, "decode", ids), str):
            assert tokenizer.decode(ids, errors="ignore") == own.decode(ids, errors="ignore")


def decoded(tokenizer: impls.Tokenizer, method: str, ids: list[int]) -> object:
    try:
        return getattr(tokenizer, method)(ids)
    except UnknownId as error:
        return error.id, error.position


# --- what is not run -------------------------------------------------------------------------------------------------


def test_what_a_library_cannot_run_is_refused_with_the_reason(hand_made: Any) -> None:
    characters = trained(vocab_size=60, alphabet="chars")
    ends = trained(vocab_size=60, alphabet="chars", end_of_word="</w>")
    stages = trained().with_(pattern=("a+|[^a]+", "b+|[^b]+"))
    two_ways = hand_made("a+a a+aa", alphabet="bytes")
    no_way = hand_made("a+b", extra="xyz", alphabet="bytes")
    other_order = hand_made("ab+a a+b", alphabet="bytes")
    foreign = trained().with_(pattern=(r"\b\w+|[\s\S]",))
    with pytest.raises(impls.InvalidPattern, match="leaves out"):
        impls.load("sentencepiece", trained().with_(pattern=("[a-z]+",))).encode("ab1")
    for name, model, reason in [
        ("tiktoken", characters, "alphabet is 'chars'"),
        ("tokenizers", ends.with_(ignore_merges=True), "whole words that end in '</w>'"),
        ("sentencepiece", ends, "no symbols that end in '</w>'"),
        ("tiktoken", stages, "this model has 2 split stages"),
        ("tiktoken", two_ways, "merge 1 is not how the lower ranks make that token"),
        ("sentencepiece", two_ways, "merge 1 is not how the lower ranks make that token"),
        ("tiktoken", no_way, "no derivation from lower ranks, the first is id 257"),
        ("sentencepiece", no_way, "no derivation from lower ranks, the first is id 257"),
        ("tiktoken", other_order, "merges by joined bytes"),
        ("tokenizers", foreign, "no equivalent in Hugging Face's Oniguruma"),
    ]:
        caught = refused(Unsupported, "^" + name, impls.load, name, model)
        assert reason in str(caught)


def test_ranks_without_derivations_run_everywhere(hand_made: Any) -> None:
    model = hand_made("b+c a+b c+d ab+cd", alphabet="bytes", merge_rule="concatenation")
    for text, name in itertools.product(("abcd", "xabcd", "abcdabcd", "abab cdcd"), LIBRARIES):
        assert impls.load(name, model).encode(text) == impls.load("priority", model).encode(text), (name, text)


# --- where the libraries break ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["encode", "encode_array", "encode_batch"])
def test_tiktokens_panic_on_white_space_is_one_error_of_ours(method: str, capfd: pytest.CaptureFixture[str]) -> None:
    tokenizer = impls.load("tiktoken", MODELS["o200k"])
    text = " " * 1_000_000
    with pytest.raises(impls.LibraryFailed, match=r"^tiktoken: the library (panicked|failed): .*; the pattern is .*Lu"):
        getattr(tokenizer, method)([text] if method == "encode_batch" else text)
    capfd.readouterr()
    assert tokenizer.encode("a") == [97]
