"""Ids that are known, under the published vocabularies, from each exact implementation."""

from __future__ import annotations

from functools import cache

import pytest

import impls

pytestmark = pytest.mark.corpus

EXACT = ["naive", "wordcount", "priority", "bytelevel", "backtracking"]
MODELS = ["r50k_base", "cl100k_base", "o200k_base"]
KNOWN = {
    "hello world": ("31373 995", "15339 1917", "24912 2375"),
    "\x00": ("188", "188", "188"),
    "\ufeffhi": ("171 119 123 5303", "3305 6151", "5574 3686"),
    "a\u2028b": ("64 447 101 65", "64 378 101 65", "64 51008 65"),
    "e\u0301": ("68 136 223", "68 54939", "68 13430"),
    "İıi": ("128 108 30102 72", "48880 3862 72", "4599 612 72"),
    "it'ſ": ("270 6 129 123", "275 6 129 123", "278 6 70067"),
    "   x": ("220 220 2124", "256 865", "256 1215"),
    "x   ": ("87 220 220 220", "87 262", "87 271"),
    "\r\n\r\n": ("201 198 201 198", "881", "1414"),
    "0000000000": ("8269 405", "931 931 931 15", "1302 1302 1302 15"),
    "don’t": ("9099 447 247 83", "15357 1431", "22130 1573"),
    "I'LL": ("40 6 3069", "40 6 4178", "40 6 7454"),
    "▁": ("5008 223", "10634 223", "6762 223"),
    "<|endoftext|>": ("27 91 437 1659 5239 91 29", "27 91 8862 728 428 91 29", "27 91 419 1440 919 91 29"),
}
WORTH_KEEPING = [
    "👨\u200d👩\u200d👧\u200d👦", "\u200fשלום", "\u0301" * 3, "123456789", "a\n ",
    "a" * 99, "a" * 100, "a" * 101, "ab" * 4_000, "a\ud83d", "\ud83d\udc4d", "ﬁ\u0301t",
    "non\u00a0breaking", "12½34", "1\U00011de0234", "\u0c5c's", " " * 1_000, "中文没有空格" * 200,
]  # fmt: skip


@cache
def loaded(name: str, model: str) -> impls.Tokenizer:
    from harness.data import load_model

    return impls.load(name, models.setdefault(model, load_model(model)))


models: dict[str, impls.Model] = {}


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("name", EXACT)
def test_known_ids(name: str, model: str) -> None:
    tokenizer = loaded(name, model)
    encoded = {text: " ".join(map(str, tokenizer.encode(text, disallowed_special=()))) for text in KNOWN}
    assert encoded == {text: ids[MODELS.index(model)] for text, ids in KNOWN.items()}
    assert all(tokenizer.decode(tokenizer.encode(text, disallowed_special=())) == text for text in KNOWN)


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("name", EXACT[1:])
def test_inputs_worth_keeping_get_the_same_ids_from_all(name: str, model: str) -> None:
    ours, yardstick = loaded(name, model), loaded("naive", model)
    for text in WORTH_KEEPING:
        assert ours.encode(text) == yardstick.encode(text), text


@pytest.mark.parametrize("model", MODELS[:1])
def test_greedy_gives_the_text_back_and_fewer_or_other_ids(model: str) -> None:
    greedy, exact = loaded("greedy", model), loaded("priority", model)
    text = "Longest match tears words apart elsewhere: unbelievably, Kahramanmaraş, evlerimizden."
    assert greedy.decode(greedy.encode(text)) == text
    assert greedy.encode(text) != exact.encode(text)
