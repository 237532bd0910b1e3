"""Fixtures shared by the tests of the implementations: known ids and difficult texts."""

from __future__ import annotations

import pytest

PUBLISHED = ("r50k_base", "cl100k_base", "o200k_base")
_KNOWN = {
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


@pytest.fixture(scope="session")
def known_ids() -> dict[str, dict[str, str]]:
    """Published vocabulary -> text -> its ids, special text read as text."""
    return {model: {text: ids[column] for text, ids in _KNOWN.items()} for column, model in enumerate(PUBLISHED)}


@pytest.fixture(scope="session")
def worth_keeping() -> list[str]:
    """Texts that some implementation has encoded wrongly before."""
    return [
        "👨\u200d👩\u200d👧\u200d👦", "\u200fשלום", "\u0301" * 3, "123456789", "a\n ", "a" * 99, "a" * 100, "a" * 101,
        "ab" * 4_000, "a\ud83d", "\ud83d\udc4d", "ﬁ\u0301t", "non\u00a0breaking", "12½34", "1\U00011de0234", "\u0c5c's",
        " " * 1_000, "中文没有空格" * 200, "\t  " * 2_000 + "x",
    ]  # fmt: skip
