"""Arguments of a wrong type: one TypeError that names the argument, of every method, in every implementation."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from fractions import Fraction
from functools import cache
from itertools import product
from typing import Any

import numpy as np
import pytest
from foreign import foreign
from refusals import refused

import impls
from impls import Model, TrainingSpec
from impls.interface import Tokenizer
from impls.plugin import wrap

SPEC = TrainingSpec(vocab_size=262, special_tokens=("<s>",))
BYTES = impls.train("naive", ["hello hello world"], SPEC).model
CHARACTERS = impls.train("naive", ["hello world"], TrainingSpec(vocab_size=20, alphabet="chars")).model
MODELS = {
    "plain": Model(tokens=BYTES.tokens[:256]),
    "specials": BYTES,
    "added and nfc": BYTES.with_(added_tokens={"[x]": 300}, normalization="nfc"),
    "characters": CHARACTERS,
    "mistral-v1": None,
}
EVERY = [*impls.default_names(), "compiled, plain border", "plug-in"]
PAIRS = [
    *((name, "added and nfc") for name in EVERY),
    *(("compiled", "plain"), ("naive", "plain"), ("plug-in", "plain"), ("tiktoken", "specials")),
    *((name, "characters") for name in ("naive", "compiled", "sentencepiece", "plug-in")),
    *((name, "mistral-v1") for name in ("compiled", "compiled, plain border", "sentencepiece", "tokenizers")),
]
"""Each implementation over the model with most rules, and each model by the implementations that differ over it."""

TEXT_METHODS = ["encode", "encode_array", "encode_ordinary", "count", "encode_with_dropout", "truncate", "pieces"]
TEXT_METHODS += ["encode_with_offsets"]
BATCH_METHODS = ["encode_batch", "encode_ragged"]
ID_METHODS = ["decode", "decode_bytes", "decode_with_offsets"]
OTHERS: dict[str, Any] = {"encode_with_dropout": {"probability": 0.5, "seed": 1}, "truncate": {"n_tokens": 3}}
NO_TEXTS = [
    (None, "None"), (5, "5"), (b"x", "bytes b'x'"), (b"", "bytes b''"), (("a", "b"), "tuple"), (["a"], "list"),
    (1.5, "1.5"), (bytearray(b"x"), "bytearray"),
]  # fmt: skip
NO_IDS = [
    (1.0, "1.0"), (None, "None"), ("1", "str '1'"), (b"1", "bytes b'1'"), (Decimal(1), "Decimal"),
    (Fraction(1), "Fraction"), ([1], "list"), (np.float32(1), "float32"), (1 + 0j, "complex"),
]  # fmt: skip
NO_SETS: list[tuple[Any, str]] = [("x", "str 'x'"), (5, "5"), (b"all", "bytes b'all'")]
NO_BATCHES: list[tuple[Any, str]] = [
    (5, "5"), (None, "None"), *((one, f"one {type(one).__name__}; put it into a list") for one in ("one string", b"x")),
]  # fmt: skip
NO_SEQUENCES = [(5, "5"), (None, "None"), ("12", "str '12'"), (b"12", "bytes b'12'"), (np.array(5), "5")]


@cache
def loaded(name: str, model_name: str) -> Tokenizer:
    from harness.data import load_model

    model = MODELS[model_name] or load_model(model_name)
    if name == "plug-in":
        return wrap("plug-in", foreign())(model)
    with pytest.MonkeyPatch.context() as patch:
        if name == "compiled, plain border":
            patch.setenv("BPEBENCH_COMPILED_BORDER", "plain")
        return impls.load(name.partition(",")[0], model)


@pytest.fixture(params=PAIRS, ids=": ".join)
def tokenizer(request: pytest.FixtureRequest) -> Tokenizer:
    return loaded(*request.param)


def ways(method: str) -> list[dict[str, Any]]:
    """Options that take different code paths in an implementation."""
    if method in ("encode_ordinary", "count", "truncate", "pieces", "decode", "decode_bytes", "decode_with_offsets"):
        return [{}]
    return [{}, {"disallowed_special": ()}, {"allowed_special": "all"}]


def refusals(tokenizer: Tokenizer) -> Iterator[tuple[str, tuple[Any, ...], dict[str, Any], str]]:
    """Yield a method, arguments of which one has a wrong type, options, and the message."""
    for method in TEXT_METHODS:
        for way, (given, described) in product(ways(method), NO_TEXTS):
            yield method, (given,), OTHERS.get(method, {}) | way, f"text must be a str, not {described}"
    for method in BATCH_METHODS:
        for way in ways(method):
            for threads, (given, described) in product((1, 2), NO_TEXTS):
                yield method, (["h", "", given, None], threads), way, f"texts[2] must be a str, not {described}"
            for given, described in NO_BATCHES:
                yield method, (given,), way, f"texts must be several texts, not {described}"
        for given, described in [(1.5, "1.5"), ("2", "str '2'"), ([1], "list")]:
            yield method, (["a"], given), {}, f"threads must be a whole number or None, not {described}"
    for method in ID_METHODS:
        for given, described in NO_IDS:
            for ids in ([0, given, "x"], (0, given)):
                yield method, (ids,), {}, f"ids[1] must be a whole number, not {described}"
        yield method, (np.array([0.0, 1.0]),), {}, "ids[0] must be a whole number, not np.float64(0.0)"
        for given, described in NO_SEQUENCES:
            yield method, (given,), {}, f"ids must be several whole numbers, not {described}"
    for special, argument in product([*tokenizer.model.special_tokens][:1], ("allowed_special", "disallowed_special")):
        for given, described in [*NO_SETS, (special, f"str {special!r}"), (iter([special]), "list_iterator")]:
            for method in ("encode", "encode_array", *BATCH_METHODS):
                text = [special] if method in BATCH_METHODS else special
                yield method, (text,), {argument: given}, f"{argument} must be a set of texts or 'all', not {described}"
    yield "decode", ([0], 3), {}, "errors must be a str, not 3"
    for given, described in [(1.5, "1.5"), (None, "None")]:
        yield "truncate", ("hello", given), {}, f"n_tokens must be a whole number, not {described}"


def test_an_argument_of_a_wrong_type_is_named(tokenizer: Tokenizer) -> None:
    for method, arguments, options, message in refusals(tokenizer):
        raised = refused(TypeError, None, getattr(tokenizer, method), *arguments, **options)
        assert (type(raised), str(raised)) == (TypeError, message), (method, options)


def test_numbers_of_threads_and_tokens_have_a_least_one(tokenizer: Tokenizer) -> None:
    for method in BATCH_METHODS:
        encode = getattr(tokenizer, method)
        for number in (0, -1):
            refused(ValueError, rf"^threads must be at least 1 or None, not {number}$", encode, ["a"], number)
        assert len(encode(["h"], np.int64(2))) == len(encode(["h"], True)) == len(encode(["h"]))
    refused(ValueError, r"^n_tokens must be at least 0, not -1$", tokenizer.truncate, "hello", -1)


def test_no_special_tokens_may_be_said_in_any_way(tokenizer: Tokenizer) -> None:
    text = "hello" if tokenizer.model.special_tokens == {} else f"he{next(iter(tokenizer.model.special_tokens))}"
    if tokenizer.model.alphabet == "chars":
        text = "hello"
    ids = tokenizer.encode(text, allowed_special=(), disallowed_special=())
    for nothing in (None, "", [], frozenset()):
        options: dict[str, Any] = {"allowed_special": nothing, "disallowed_special": nothing}
        assert tokenizer.encode(text, **options) == ids
        assert tokenizer.encode_array(text, **options).tolist() == ids
        assert tokenizer.encode_batch([text], **options) == [ids]


def test_any_type_of_whole_number_is_an_id(tokenizer: Tokenizer) -> None:
    if tokenizer.name == "plug-in":
        return
    text = tokenizer.decode([1, 0])
    many: list[Any] = [[True, False], [np.int64(1), np.uint8(0)], (1, 0), iter([1, 0]), {1: 2, 0: 3}]
    kinds = ("int8", "uint16", ">u4", "int64", "uint64", "bool")
    for ids in [*many, *[np.array([1, 0], kind) for kind in kinds]]:
        assert tokenizer.decode(ids) == text


def test_dropout_takes_a_number_and_a_whole_number() -> None:
    encode = impls.load("naive", BYTES).encode_with_dropout
    refused(TypeError, r"^probability must be a number, not str 'x'$", encode, "a", probability="x", seed=1)
    refused(TypeError, r"^seed must be a whole number, not 1\.5$", encode, "a", probability=0.5, seed=1.5)
    assert encode("hello", probability=0.5, seed=3) == encode("hello", probability=0.5, seed=np.uint8(3))


def test_a_model_is_no_name_of_one() -> None:
    for name in impls.default_names():
        refused(TypeError, r"^model must be a Model, not str 'gpt2'$", impls.load, name, "gpt2")


def test_a_text_may_be_a_subclass_of_str(tokenizer: Tokenizer) -> None:
    text = np.str_("hello")
    ids = tokenizer.encode("hello")
    assert tokenizer.encode(text) == tokenizer.encode_ordinary(text) == tokenizer.encode_batch([text])[0] == ids


def test_a_special_token_is_a_value_error_and_an_unknown_id_a_key_error() -> None:
    tokenizer = impls.load("compiled", BYTES)
    refused(ValueError, "the special token '<s>' at character 1", tokenizer.encode, "a<s>")
    raised = refused(KeyError, None, tokenizer.decode, [97, 5000])
    assert str(raised) == "unknown token id 5000 at position 1"
