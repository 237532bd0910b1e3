"""The pattern compiler: pieces equal those of `regex`, or the pattern is refused."""

from __future__ import annotations

import random
from itertools import pairwise

import numpy as np
import pytest
from random_patterns import ALPHABET, random_pattern, random_text

from impls.compiled.context import Context
from impls.compiled.cpython import plain
from impls.compiled.pretokenize.layout import AUTOMATON, STAGES_IN_TURN
from impls.compiled.pretokenize.split_context import Splitting
from impls.compiled.pretokenize.splitting import splitting_of
from impls.compiled.tables import ModelTables, build_tables
from impls.core.errors import InvalidPattern
from impls.core.model.model import Model
from impls.core.pattern.classes import members
from impls.core.pattern.possessive import check
from impls.core.pattern.syntax import NotExpressible, parse
from impls.core.pattern.tables import covers_all, split_tables
from impls.core.text.patterns import NAMED, Splitter
from impls.formats.tokenizer_json.split_stages import with_gaps

DEEPSEEK = NAMED["deepseek"]
TEXTS = ["", "a", " ", "\n", "ab'c  a\n\n b", "  \r\n a1½ 'b-_", "日本 한국\u0301é", "a" * 5000 + " \n" * 300]


@pytest.fixture(scope="module")
def byte_tables() -> ModelTables:
    return build_tables(Model(tokens=tuple(bytes([byte]) for byte in range(256))))


def automaton_pieces(context: Context, text: str) -> list[str]:
    data = text.encode()
    ends = [0, *plain.piece_ends(context, text).tolist()]
    return [data[start:end].decode() for start, end in pairwise(ends)]


@pytest.mark.parametrize("name", sorted(NAMED))
def test_named_patterns_cut_as_regex_does(name: str, byte_tables: ModelTables) -> None:
    splitting, words = splitting_of(NAMED[name])
    assert splitting is not None, words
    assert words.startswith("automaton")
    context, reference = Context(byte_tables, splitting), Splitter(NAMED[name])
    rng = random.Random(name)
    for text in [*TEXTS, *(random_text(rng) for _ in range(2000))]:
        assert automaton_pieces(context, text) == reference.split(text)


AROUND_WORDS = [
    "", " ", "  ", "'", "'s", "'S", "'ll", "'re'", "A", "AB", "Ab", "é", "É", "日", "1", "12", "\n", "\r", "\t", "-",
    "/", "\u0301", "ſ", "'ſ", "\u212a", "\u00a0", ".", "{", "`", "@",
]  # fmt: skip


@pytest.mark.parametrize("name", sorted(NAMED))
def test_words_longer_than_a_window_are_cut_as_regex_does(name: str, byte_tables: ModelTables) -> None:
    splitting, _ = splitting_of(NAMED[name])
    context, reference = Context(byte_tables, splitting), Splitter(NAMED[name])
    rng = random.Random(name)
    for _ in range(300):
        parts = []
        for _ in range(rng.randrange(1, 5)):
            word = "".join(rng.choices("aaamsz", k=rng.choice([1, 31, 32, 33, 39, 40, 41, 63, 64, 65, 72, 100, 300])))
            parts += [rng.choice(AROUND_WORDS), rng.choice(AROUND_WORDS), word]
        text = "".join([*parts, rng.choice(AROUND_WORDS), " " * rng.choice([0, 200])])
        assert automaton_pieces(context, text) == reference.split(text), text


def test_random_patterns_cut_as_regex_does(byte_tables: ModelTables, fuzz: int) -> None:
    rng = random.Random(7)
    expressed = 0
    while expressed < 80 * fuzz:
        pattern = random_pattern(rng)
        try:
            tables = split_tables(pattern)
        except NotExpressible:
            continue
        expressed += 1
        context, reference = Context(byte_tables, Splitting(AUTOMATON, tables)), Splitter([pattern])
        for text in [*TEXTS[:-1], *(random_text(rng) for _ in range(40))]:
            assert automaton_pieces(context, text) == reference.split(text), (pattern, text)


@pytest.mark.parametrize(
    "pattern",
    [
        r"a++ab|\S|\s", r"(?:ab)++|\S|\s", r"a$|\S|\s", r"a*", r"(?:a*)+b|\S|\s", r"\ba|\S|\s", r"(?<=a)b|\S|\s",
        r"[a&&b]|\S|\s", r"(?>a)|\S|\s", r"^a|\S|\s", r"a{1,200}|\S|\s", r"\X|\s", r"a?+ab|\S|\s",
        r"(?!ab)\S|\s|a", r"(?m:a)|\S|\s", r"\p{^}|\S|\s",
    ],
)  # fmt: skip
def test_what_an_automaton_cannot_express_is_refused(pattern: str) -> None:
    with pytest.raises(NotExpressible):
        split_tables(pattern)


@pytest.mark.parametrize("name", ["gpt2-0.14", "cl100k-0.14"])
def test_possessive_quantifiers_that_change_nothing_are_accepted(name: str) -> None:
    check(parse(NAMED[name][0]))


def test_several_stages_cut_the_pieces_of_the_one_before(byte_tables: ModelTables, fuzz: int) -> None:
    """Random stages, one in three of which keeps what it leaves out as separate pieces."""
    rng = random.Random(8)
    expressed = 0
    while expressed < 20 * fuzz:
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
            assert automaton_pieces(context, text) == expected, (stages, text)


@pytest.mark.parametrize(
    ("with_windows", "how"), [(False, "automaton, 3 stages"), (True, "automaton, 3 stages, windows")]
)
def test_the_three_stages_of_deepseek_need_no_regex(with_windows: bool, how: str, byte_tables: ModelTables) -> None:
    splitting, words = splitting_of(DEEPSEEK, with_windows=with_windows)
    assert splitting is not None
    assert words == how
    context, reference = Context(byte_tables, splitting), Splitter(DEEPSEEK)
    rng = random.Random(9)
    alphabet = ALPHABET + "漢字かなカナ12345!#\x00\u0378"
    for _ in range(500):
        text = "".join(rng.choice(alphabet) for _ in range(rng.choice([3, 20, 200])))
        assert automaton_pieces(context, text) == reference.split(text), text
    assert automaton_pieces(context, "a" * 9000 + "12345" + "漢" * 3000) == ["a" * 9000, "123", "45", "漢" * 3000]


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
    context, reference = Context(byte_tables, Splitting(AUTOMATON, split_tables(pattern))), Splitter([pattern])
    rng = random.Random(pattern)
    for _ in range(200):
        text = "".join(rng.choice("aAbc \n1\r漢字é\U0001f389") for _ in range(rng.choice([1, 3, 9])))
        assert automaton_pieces(context, text) == reference.split(text), text


def test_text_the_pattern_leaves_out_is_reported(byte_tables: ModelTables) -> None:
    context = Context(byte_tables, Splitting(AUTOMATON, split_tables("a+|b")))
    assert automaton_pieces(context, "aab") == ["aa", "b"]
    for text in ("aac", "c", "aab" * 3000 + "c"):
        with pytest.raises(plain.Uncovered):
            plain.piece_ends(context, text)
        with pytest.raises(InvalidPattern):
            Splitter(["a+|b"]).split(text)


def test_a_pattern_said_to_cover_all_text_leaves_none_out() -> None:
    rng = random.Random(8)
    n_covering = 0
    for _ in range(400):
        pattern = "|".join(rng.choice((random_pattern(rng), r"\s+", r"\S+", r"[^a]", "a")) for _ in range(3))
        try:
            if not covers_all(split_tables(pattern)):
                continue
        except NotExpressible:
            continue
        n_covering += 1
        for _ in range(20):
            Splitter([pattern]).split(random_text(rng))  # raises where text is left out
    assert n_covering > 20
    assert all(covers_all(split_tables(stage)) for stages in NAMED.values() for stage in stages)
    for pattern in (r"\w+|\s+", r"\s+(?!\S)|\S+", "ab|[^a]", "a(?=b)|[^a]"):
        assert not covers_all(split_tables(pattern))


def test_classes_are_those_of_the_pinned_unicode_version() -> None:
    assert int(members(r"\p{L}").sum()) == 141028
    assert members("(?i:s)")[0x17F]
    assert not members(r"\s")[0x1C:0x20].any()
    assert np.flatnonzero(members(r"[\r\n]")).tolist() == [10, 13]
