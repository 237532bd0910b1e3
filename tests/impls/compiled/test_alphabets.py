"""The window splitters know letters of many alphabets by their bytes; each of these is tested where it matters."""

from __future__ import annotations

import random
import unicodedata
from itertools import pairwise

import pytest

from impls.compiled.context import Context
from impls.compiled.cpython import plain
from impls.compiled.pretokenize.layout import STAGES_IN_TURN
from impls.compiled.pretokenize.splitting import splitting_of
from impls.compiled.tables import build_tables
from impls.core.model.model import Model
from impls.core.text.patterns import NAMED, Splitter

WINDOWED = ("gpt2", "cl100k", "qwen", "o200k", "tekken", "deepseek")
BLOCKS = ((0x80, 0x800), (0x2FF0, 0x3130), (0x4DF0, 0x4E10), (0x9F70, 0xA010), (0xABF0, 0xAC10), (0xD7A0, 0xD7C0))
CHARACTERS = [chr(code) for start, end in BLOCKS for code in range(start, end)]
"""Latin, Greek, Cyrillic, Hebrew and Arabic whole; kana and its neighbours; ends of ideographs and Hangul."""
ASCII = "abzAZ  \n\t'1.,s/\x1c"


def pieces(context: Context, text: str) -> list[str]:
    data = text.encode()
    ends = [0, *plain.piece_ends(context, text).tolist()]
    return [data[start:end].decode() for start, end in pairwise(ends)]


@pytest.fixture(scope="module", params=WINDOWED)
def sides(request: pytest.FixtureRequest) -> tuple[Context, Splitter]:
    """Return how the windows of a pattern and `regex` split the same text."""
    splitting, words = splitting_of(NAMED[request.param])
    assert splitting is not None
    assert words.endswith(", windows")
    assert splitting.splitter > STAGES_IN_TURN
    tables = build_tables(Model(tokens=tuple(bytes([byte]) for byte in range(256))))
    return Context(tables, splitting), Splitter(NAMED[request.param])


def test_every_letter_is_classed_as_regex_does(sides: tuple[Context, Splitter]) -> None:
    context, reference = sides
    for start in range(0, len(CHARACTERS), 40):
        some = CHARACTERS[start : start + 40]
        text = "".join(f"a{c}b {c}A{c}bB{c} x{c}'s 12{c}3 {c}\n.{c}, .ab{c}中{c}" for c in some)
        assert pieces(context, text) == reference.split(text), f"between {some[0]!r} and {some[-1]!r}"


def test_letters_at_random_are_cut_as_regex_does(sides: tuple[Context, Splitter], fuzz: int) -> None:
    context, reference = sides
    rng = random.Random(4)
    letters = [c for c in CHARACTERS if unicodedata.category(c)[0] == "L"]
    for _ in range(30 * fuzz):
        alphabet = [*rng.choices(letters, k=6), *rng.choices(CHARACTERS, k=2), *rng.choices(ASCII, k=4)]
        text = "".join(rng.choices(alphabet, k=rng.choice([30, 100, 500])))
        assert pieces(context, text) == reference.split(text), repr(text)


def test_words_and_the_text_between_them_are_cut_as_regex_does(sides: tuple[Context, Splitter], fuzz: int) -> None:
    """Windows that end after a word, at every offset; some hold more pieces than are written at once."""
    context, reference = sides
    rng = random.Random(5)
    words = [
        "a",
        "it",
        "don't",
        "we'll",
        "I'VE",
        "x's",
        "naïve",
        "ışık",
        "Wort",
        "12",
        "1234",
        "3.14",
        "(",
        ").",
        ",\n",
    ]
    between = [" ", " ", " ", "  ", "\n", " \n ", "\t", "", "'", " '", "    ", "/\n/"]
    for _ in range(200 * fuzz):
        some, gaps = rng.choices(words, k=rng.choice([2, 5, 15])), rng.choices(between, k=rng.choice([1, 3, 6]))
        text = "".join(rng.choice(some) + rng.choice(gaps) for _ in range(rng.choice([20, 60, 200])))
        assert pieces(context, text) == reference.split(text), repr(text)
    for dense in ("1a" * 90, ".a" * 90, "a1 ." * 50, "1\n" * 90, "aB" * 90, "a b " * 60, "don't " * 30):
        for shift in range(9):
            text = "x" * shift + dense
            assert pieces(context, text) == reference.split(text), repr(text)
