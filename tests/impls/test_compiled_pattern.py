"""The pattern compiler: pieces equal those of `regex`, or the pattern is refused."""

from __future__ import annotations

import random
from itertools import pairwise

import numpy as np
import pytest

from impls.compiled import plain
from impls.compiled.context import Context, Splitting
from impls.compiled.pattern.classes import members
from impls.compiled.pattern.possessive import check
from impls.compiled.pattern.syntax import NotExpressible, parse
from impls.compiled.pattern.tables import split_tables
from impls.compiled.splitting import AUTOMATON, splitting_of
from impls.compiled.tables import ModelTables, build_tables
from impls.errors import InvalidPattern
from impls.model import Model
from impls.patterns import NAMED, Splitter

ATOMS = [
    r"\p{L}", r"\p{N}", r"\p{Lu}", r"\p{M}", r"\s", r"\S", r"[^\s\p{L}\p{N}]", r"[\r\n]", r"[a-f]", r"[^\r\n]",
    "a", "b", "'", " ", r"\n", r"\d", r"\w", r"\W", "é", "[ab']",
]  # fmt: skip
ALPHABET = "aabbcf'' \n\r\t1½Aéſ\u0301日한\u00a0\U0001f389-_"
TEXTS = ["", "a", " ", "\n", "ab'c  a\n\n b", "  \r\n a1½ 'b-_", "日本 한국\u0301é", "a" * 5000 + " \n" * 300]


@pytest.fixture(scope="module")
def byte_tables() -> ModelTables:
    return build_tables(Model(tokens=tuple(bytes([byte]) for byte in range(256))))


def automaton_pieces(context: Context, text: str) -> list[str]:
    data = text.encode()
    ends = [0, *plain.piece_ends(context, text).tolist()]
    return [data[start:end].decode() for start, end in pairwise(ends)]


def random_pattern(rng: random.Random) -> str:
    def item(depth: int) -> str:
        if depth and rng.random() < 0.2:
            opening = rng.choice(["(?:", "(?i:"])
            body = opening + "|".join(sequence(depth - 1) for _ in range(rng.randrange(1, 4))) + ")"
        else:
            body = rng.choice(ATOMS)
            if rng.random() < 0.07:
                return rng.choice([r"(?!\S)", r"(?=\s)", "(?!a)", r"\Z"])
        return body + rng.choice(["", "", "", "?", "*", "+", "+", "{1,3}", "{2}", "{0,2}", "+?", "*+", "++", "?+"])

    def sequence(depth: int) -> str:
        return "".join(item(depth) for _ in range(rng.randrange(1, 4)))

    branches = [sequence(1) for _ in range(rng.randrange(1, 5))]
    return "|".join([*branches, r"\s+", r"\S"])


def random_text(rng: random.Random) -> str:
    return "".join(rng.choice(ALPHABET) for _ in range(rng.choice([1, 3, 8, 20, 60])))


@pytest.mark.parametrize("name", sorted(NAMED))
def test_named_patterns_cut_as_regex_does(name: str, byte_tables: ModelTables) -> None:
    splitting, words = splitting_of(NAMED[name])
    assert splitting is not None, words
    assert words.startswith("automaton")
    context, reference = Context(byte_tables, splitting), Splitter(NAMED[name])
    rng = random.Random(name)
    for text in [*TEXTS, *(random_text(rng) for _ in range(2000))]:
        assert automaton_pieces(context, text) == reference.split(text)


def test_random_patterns_cut_as_regex_does(byte_tables: ModelTables) -> None:
    rng = random.Random(7)
    expressed = 0
    while expressed < 320:
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
        r"[a&&b]|\S|\s", r"(?>a)|\S|\s", r"^a|\S|\s", r"a{1,200}|\S|\s", r".|\s", r"\X|\s", r"a?+ab|\S|\s",
    ],
)  # fmt: skip
def test_what_an_automaton_cannot_express_is_refused(pattern: str) -> None:
    with pytest.raises(NotExpressible):
        split_tables(pattern)


@pytest.mark.parametrize("name", ["gpt2-0.14", "cl100k-0.14"])
def test_possessive_quantifiers_that_change_nothing_are_accepted(name: str) -> None:
    check(parse(NAMED[name][0]))


def test_several_stages_are_left_to_regex_and_say_so() -> None:
    assert splitting_of((r"\p{N}|\P{N}+", r"\s|\S+")) == (None, "regex: 2 split stages")


def test_text_the_pattern_leaves_out_is_reported(byte_tables: ModelTables) -> None:
    context = Context(byte_tables, Splitting(AUTOMATON, split_tables("a+|b")))
    assert automaton_pieces(context, "aab") == ["aa", "b"]
    for text in ("aac", "c", "aab" * 3000 + "c"):
        with pytest.raises(plain.Uncovered):
            plain.piece_ends(context, text)
        with pytest.raises(InvalidPattern):
            Splitter(["a+|b"]).split(text)


def test_classes_are_those_of_the_pinned_unicode_version() -> None:
    assert int(members(r"\p{L}").sum()) == 141028
    assert members("(?i:s)")[0x17F]
    assert not members(r"\s")[0x1C:0x20].any()
    assert np.flatnonzero(members(r"[\r\n]")).tolist() == [10, 13]
