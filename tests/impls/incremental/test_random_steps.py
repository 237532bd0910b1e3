"""Appends, edits, forks and truncations in random order, over every kind of model, against a fresh encoding each."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from itertools import count

import pytest
from family_libraries import FAMILIES, model_named
from growing_texts import FRAGMENTS, follow
from runnable import exact_over
from tokenizer_json_shapes import ODD, SHAPES, read

import impls
from impls import Model, TrainingSpec
from impls.core.text.patterns import NAMED
from impls.operations import incremental

LEARNED = ["I'll don't hello  world 日本語 çay 😀\r\n\n  x = 12345; <|end|>\t\t\t\t\t\t,, 한국 é"] * 3
SPECIALS = ("<|end|>", "<|endoftext|>", "<|", "日本<|end", "x\ny")
CUT_SPECIALS = ["<|end|>", "<|endof", "<|en", "<|", "text|>", "d|>", "<", "|>", "日本<", "x\n", "\ny", "[x", "]"]


@cache
def of_pattern(pattern: str) -> Model:
    return impls.train("naive", LEARNED, TrainingSpec(vocab_size=320, pattern=pattern)).model


def with_specials(model: Model, special: tuple[str, ...] = SPECIALS) -> Model:
    return model.with_(special_tokens=dict(zip(special, count(model.vocab_size), strict=False)))


def flagged(*flags: str) -> Model:
    return with_specials(of_pattern("gpt2")).with_(
        added_tokens={"[x]": 900, "  ": 901, "hello": 902},
        whole_token_flags={"[x]": flags, "hello": flags[:1]} if flags else {},
    )


@pytest.fixture(autouse=True)
def small_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(incremental, "CHUNK", 12)


FORMS = [
    "nfc", "nfd", "nfkc", "nfkd+strip-accents+lowercase", "nfd+nfc", "lowercase+nfkc", "nmt", "strip",
    'nfkd+replace("l","▁x")',
]  # fmt: skip
MODELS: dict[str, Callable[[], Model]] = {
    **{name: (lambda name=name: of_pattern(name)) for name in NAMED},  # type: ignore[misc]
    "pattern of a file": lambda: of_pattern(r"\s+(?!\S)|\s+|\S{1,7}"),
    "no automaton": lambda: of_pattern(r"(?<=a)b+|a+|[\s\S]"),
    "specials": lambda: with_specials(of_pattern("cl100k")),
    "specials of the patterns with stages": lambda: with_specials(of_pattern("deepseek")),
    "added": lambda: flagged(),
    "strips": lambda: flagged("lstrip", "rstrip"),
    "strips left": lambda: flagged("lstrip"),
    "strips right": lambda: flagged("rstrip"),
    "words": lambda: flagged("single_word"),
    **{
        form: (lambda form=form: with_specials(of_pattern("cl100k")).with_(normalization=form))  # type: ignore[misc]
        for form in FORMS
    },
    "nfc and prefix": lambda: with_specials(of_pattern("gpt2")).with_(normalization="nfc+prefix-space"),
    "replaced": lambda: of_pattern("gpt2").with_(normalization='replace(" ","_")+nfc'),
    "prepended": lambda: with_specials(of_pattern("gpt2")).with_(normalization='prepend("\u0338")+lowercase'),
}


@pytest.mark.parametrize("name", MODELS)
def test_ids_are_those_of_a_fresh_encoding_and_stable_ones_stay(name: str, fuzz: int) -> None:
    tokenizer = impls.load("priority", MODELS[name]())
    stable = follow(tokenizer, 120 * fuzz, name, [*FRAGMENTS, *CUT_SPECIALS])
    assert (stable > 0.05) == (name not in ("none", "no automaton", "strip")), stable


@pytest.mark.parametrize("name", ["specials", "nfc and prefix", "deepseek"])
def test_every_implementation_follows(name: str, fuzz: int) -> None:
    for tokenizer in exact_over(MODELS[name]()):
        follow(tokenizer, 60 * fuzz, tokenizer.name, [*FRAGMENTS, *CUT_SPECIALS], allowed_special="all")


@pytest.mark.parametrize("name", SHAPES)
def test_models_of_every_shape_of_file(name: str, fuzz: int) -> None:
    some = [*ODD.replace("\n", "").split("|"), *" \t\u0301\u3000", "<", "m>", "<m", "\t\t", "q", "  ", "e\u0301"]
    follow(impls.load("priority", read(SHAPES[name])), 25 * fuzz, name, some, allowed_special="all")


@pytest.mark.parametrize("name", FAMILIES)
def test_published_models(name: str, fuzz: int) -> None:
    model = model_named(name)
    some = list(model.whole_token_ids)[:: max(1, len(model.whole_token_ids) // 4)]
    cut = [part for text in some for part in (text, text[: len(text) // 2], text[len(text) // 2 :], text[:-1])]
    stable = follow(impls.load("compiled", model), 60 * fuzz, name, [*FRAGMENTS, *cut], allowed_special="all")
    assert stable > 0.05
