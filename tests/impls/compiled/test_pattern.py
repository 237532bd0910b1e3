"""The automata of patterns and their bit-parallel twins: pieces equal those of `regex`, or the pattern is refused."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from piece_ends import piece_ends
from random_patterns import ALPHABET, random_pattern, random_text
from refusals import refused

from impls.compiled.context import Context, ModelTables
from impls.compiled.cpython import plain
from impls.compiled.pretokenize.layout import AUTOMATON, STAGES_IN_TURN
from impls.compiled.pretokenize.splitting import Splitting, splitting_of
from impls.compiled.tables import build_tables
from impls.core.errors import InvalidPattern
from impls.core.model.model import Model
from impls.core.pattern.classes import members
from impls.core.pattern.syntax import NotExpressible
from impls.core.pattern.tables import covers_all, split_tables
from impls.core.text.patterns import NAMED, Splitter
from impls.formats.tokenizer_json.split_stages import with_gaps

TEXTS = ["", "a", " ", "\n", "ab'c  a\n\n b", "  \r\n a1½ 'b-_", "日本 한국\u0301é", "a" * 5000 + " \n" * 300]
WINDOWED = {"gpt2", "gpt2-0.14", "cl100k", "cl100k-0.14", "llama3", "qwen", "o200k", "tekken", "deepseek"}
SCRIPT_LETTERS = [*"aαбաაאبकকதతก가ひカ漢"]
BLOCKS = ((0x80, 0x800), (0x2FF0, 0x3130), (0x4DF0, 0x4E10), (0x9F70, 0xA010), (0xABF0, 0xAC10), (0xD7A0, 0xD7C0))
CHARACTERS = [chr(code) for start, end in BLOCKS for code in range(start, end)]
"""Latin, Greek, Cyrillic, Hebrew and Arabic whole; kana and its neighbours; ends of ideographs and Hangul."""
WORDS = ["a", "it", "don't", "we'll", "I'VE", "x's", "naïve", "ışık", "Wort", "12", "1234", "3.14", "(", ").", ",\n"]
BETWEEN = [" ", " ", " ", "  ", "\n", " \n ", "\t", "", "'", " '", "    ", "/\n/"]
AROUND_WORDS = [
    "", " ", "  ", "'", "'s", "'S", "'ll", "'re'", "A", "AB", "Ab", "é", "É", "日", "1", "12", "\n", "\r", "\t", "-",
    "/", "\u0301", "ſ", "'ſ", "\u212a", "\u00a0", ".", "{", "`", "@",
]  # fmt: skip
DENSE = ["1a" * 90, ".a" * 90, "a1 ." * 50, "1\n" * 90, "aB" * 90, "a b " * 60, "don't " * 30]
"""Windows that hold more pieces than are written at once."""


@pytest.fixture(scope="module")
def byte_tables() -> ModelTables:
    return build_tables(Model(tokens=tuple(bytes([byte]) for byte in range(256))))


def pieces(context: Context, text: str) -> list[str]:
    data, ends = text.encode(), [0, *piece_ends(context, text)]
    return [data[start:end].decode() for start, end in pairwise(ends)]


def words_longer_than_a_window(rng: random.Random) -> str:
    parts = []
    for _ in range(rng.randrange(1, 5)):
        word = "".join(rng.choices("aaamsz", k=rng.choice([1, 31, 32, 33, 39, 40, 41, 63, 64, 65, 72, 100, 300])))
        parts += [rng.choice(AROUND_WORDS), rng.choice(AROUND_WORDS), word]
    return "".join([*parts, rng.choice(AROUND_WORDS), " " * rng.choice([0, 200])])


def words_and_gaps(rng: random.Random) -> str:
    """Return text in which windows end after a word, at every offset."""
    some, gaps = rng.choices(WORDS, k=rng.choice([2, 5, 15])), rng.choices(BETWEEN, k=rng.choice([1, 3, 6]))
    return "".join(rng.choice(some) + rng.choice(gaps) for _ in range(rng.choice([20, 60, 200])))


def letters(rng: random.Random) -> str:
    some = [*rng.choices(CHARACTERS, k=8), *rng.choices("abzAZ  \n\t'1.,s/\x1c", k=4)]
    return "".join(rng.choices(some, k=rng.choice([30, 100, 500])))


def scripts(rng: random.Random) -> str:
    alphabet = [*SCRIPT_LETTERS, *ALPHABET, *"ሰµ\u0301\u0640\u30fc\uff70059½ .'\n漢字かなカナ!#\x00\u0378"]
    return "".join(rng.choices(alphabet, k=rng.choice([2, 9, 80])))


KINDS: list[Callable[[random.Random], str]] = [
    random_text, words_longer_than_a_window, words_and_gaps, letters, scripts,
]  # fmt: skip


@pytest.mark.parametrize("with_windows", [True, False])
@pytest.mark.parametrize("name", sorted(NAMED))
def test_named_patterns_cut_as_regex_does(name: str, with_windows: bool, byte_tables: ModelTables, fuzz: int) -> None:
    splitting, words = splitting_of(NAMED[name])
    assert splitting is not None, words
    assert words.startswith("automaton")
    assert words.endswith(", windows") == (name in WINDOWED)
    if not with_windows and name in WINDOWED:
        splitting = replace(splitting, splitter=AUTOMATON if splitting.automaton else STAGES_IN_TURN)
    context, reference, rng = Context(byte_tables, splitting), Splitter(NAMED[name]), random.Random(name)
    n_texts = (300 if with_windows else 40) * fuzz
    texts = [*TEXTS, *(kind(rng) for kind in KINDS for _ in range(n_texts))]
    texts += ["x" * shift + dense for dense in DENSE for shift in range(9)]
    for text in texts:
        assert pieces(context, text) == reference.split(text), repr(text)
    if name == "deepseek":
        assert pieces(context, "a" * 9000 + "12345" + "漢" * 3000) == ["a" * 9000, "123", "45", "漢" * 3000]


@pytest.mark.parametrize("name", sorted(WINDOWED - {"gpt2-0.14", "cl100k-0.14", "llama3"}))
def test_every_letter_is_classed_as_regex_does(name: str, byte_tables: ModelTables) -> None:
    """Window splitters know letters of many alphabets by their bytes."""
    splitting, _ = splitting_of(NAMED[name])
    context, reference = Context(byte_tables, splitting), Splitter(NAMED[name])
    for start in range(0, len(CHARACTERS), 40):
        some = CHARACTERS[start : start + 40]
        text = "".join(f"a{c}b {c}A{c}bB{c} x{c}'s 12{c}3 {c}\n.{c}, .ab{c}中{c}" for c in some)
        assert pieces(context, text) == reference.split(text), f"between {some[0]!r} and {some[-1]!r}"


def test_random_patterns_cut_as_regex_does(byte_tables: ModelTables, fuzz: int) -> None:
    rng, expressed = random.Random(7), 0
    while expressed < 50 * fuzz:
        pattern = random_pattern(rng)
        try:
            tables = split_tables(pattern)
        except NotExpressible:
            continue
        expressed += 1
        context, reference = Context(byte_tables, Splitting(AUTOMATON, (tables,))), Splitter([pattern])
        for text in [*TEXTS[:-1], *(random_text(rng) for _ in range(40))]:
            assert pieces(context, text) == reference.split(text), (pattern, text)


def test_several_stages_cut_the_pieces_of_the_one_before(byte_tables: ModelTables, fuzz: int) -> None:
    """Random stages, one in three of which keeps what it leaves out as separate pieces."""
    rng, expressed = random.Random(8), 0
    while expressed < 12 * fuzz:
        stages = tuple(
            with_gaps(random_pattern(rng).removesuffix(r"|\S")) if rng.random() < 0.3 else random_pattern(rng)
            for _ in range(rng.choice([1, 2, 2, 3]))
        )
        splitting, words = splitting_of(stages)
        if splitting is None or splitting.splitter != STAGES_IN_TURN:
            continue
        expressed += 1
        assert words.startswith("automaton, ")
        context, reference = Context(byte_tables, splitting), Splitter(stages)
        for text in [*TEXTS, *(random_text(rng) for _ in range(30))]:
            try:
                expected = reference.split(text)
            except InvalidPattern:  # too slow for the reference, on a long text: nothing to compare with
                continue
            assert pieces(context, text) == expected, (stages, text)


@pytest.mark.parametrize(
    "pattern",
    [
        r"a++ab|\S|\s", r"(?:ab)++|\S|\s", r"a$|\S|\s", r"a*", r"(?:a*)+b|\S|\s", r"\ba|\S|\s", r"(?<=a)b|\S|\s",
        r"[a&&b]|\S|\s", r"(?>a)|\S|\s", r"^a|\S|\s", r"a{1,200}|\S|\s", r"\X|\s", r"a?+ab|\S|\s",
        r"(?!ab)\S|\s|a", r"(?m:a)|\S|\s", r"\p{^}|\S|\s",
    ],
)  # fmt: skip
def test_what_an_automaton_cannot_express_is_refused(pattern: str) -> None:
    refused(NotExpressible, None, split_tables, pattern)


def test_a_stage_that_stays_with_regex_is_named() -> None:
    assert splitting_of((r"\p{N}|\P{N}+", r"\ba|\s|\S+")) == (None, r"regex: stage 2: the escape '\\b'")


@pytest.mark.parametrize(
    "pattern",
    [
        r".+|\n", r"(?s:.)", r"\x41+|[\u4e00-\u9fff]+|[^\x41\u4e00-\u9fff]", r"\pL+|\PL", r"a(?!b|c)|[\s\S]",
        r"\p{Script=Han}+|[\s\S]", r"\s+(?=\p{L}|\p{N})|[\s\S]", r"(?is:a.)|[\s\S]", r"\U0001f389|[^\U0001f389]",
    ],
)  # fmt: skip
def test_forms_of_writing_are_understood(pattern: str, byte_tables: ModelTables) -> None:
    context, reference = Context(byte_tables, Splitting(AUTOMATON, (split_tables(pattern),))), Splitter([pattern])
    rng = random.Random(pattern)
    for _ in range(200):
        text = "".join(rng.choices("aAbc \n1\r漢字é\U0001f389", k=rng.choice([1, 3, 9])))
        assert pieces(context, text) == reference.split(text), text


def test_text_the_pattern_leaves_out_is_reported(byte_tables: ModelTables) -> None:
    context = Context(byte_tables, Splitting(AUTOMATON, (split_tables("a+|b"),)))
    assert pieces(context, "aab") == ["aa", "b"]
    for text in ("aac", "c", "aab" * 3000 + "c"):
        refused(plain.Uncovered, None, piece_ends, context, text)


def test_a_pattern_said_to_cover_all_text_leaves_none_out() -> None:
    rng, n_covering = random.Random(8), 0
    for _ in range(120):
        pattern = "|".join(rng.choice((random_pattern(rng), r"\s+", r"\S+", r"[^a]", "a")) for _ in range(3))
        try:
            if not covers_all(split_tables(pattern)):
                continue
        except NotExpressible:
            continue
        n_covering += 1
        for _ in range(20):
            Splitter([pattern]).split(random_text(rng))  # raises where text is left out
    assert n_covering > 5
    assert all(covers_all(split_tables(stage)) for stages in NAMED.values() for stage in stages)
    for pattern in (r"\w+|\s+", r"\s+(?!\S)|\S+", "ab|[^a]", "a(?=b)|[^a]"):
        assert not covers_all(split_tables(pattern))


def test_classes_are_those_of_the_pinned_unicode_version() -> None:
    assert members("(?i:s)")[0x17F]
    assert not members(r"\s")[0x1C:0x20].any()
    assert np.flatnonzero(members(r"[\r\n]")).tolist() == [10, 13]
