"""`compiled` gives the ids of the pure implementations, on models of both merge rules, regular or not."""

from __future__ import annotations

import random

import pytest
from every_form import every_form
from random_models import BYTES, random_merges, random_ranks
from refusals import refused

import impls
from impls.compiled import Compiled
from impls.compiled.layout import MOST_SMALL
from impls.core.model.model import Model
from impls.priority import Priority

WINDOW = 4096
"""Size of the windows a long piece is merged in."""


def random_pairs(rng: random.Random, *, monotone: bool) -> Model:
    """Return random merges; without `monotone` in any order, with tokens that several merges make."""
    pattern, ignoring = rng.choice(["gpt2", "cl100k", ()]), rng.random() < 0.3
    return random_merges(rng, 90, once=monotone, shuffled=not monotone, pattern=pattern).with_(ignore_merges=ignoring)


def short_texts(rng: random.Random) -> list[str]:
    lengths = rng.choices([0, 1, 2, 5, 17, 40, 62, 63, 64, 90, 300], k=40)
    return ["".join(rng.choices("aaabbcd  é1\n'", k=length)) for length in lengths]


def after_many_symbols(rng: random.Random) -> list[str]:
    """Of pairs of equal rank the leftmost merges first, even those formed later."""
    far = "".join(rng.choices("0123456789", k=70))
    return [far + "".join(rng.choices("abc", k=rng.randrange(1, 40))) for _ in range(25)]


def words_of_every_length(rng: random.Random) -> list[str]:
    """The first round compares eight pairs at once, and reads past the end of a piece."""
    words = ["".join(rng.choices("aabbcd", k=length)) for length in range(1, MOST_SMALL + 9)]
    rng.shuffle(words)
    return [" ".join(words), "1".join(words), *words]


def long_texts(rng: random.Random) -> list[str]:
    """Return random letters, a few of them repeated, or runs: around the ends of windows."""
    length = rng.choice([WINDOW - 1, WINDOW, WINDOW + 1, WINDOW + 500, 2 * WINDOW, 3 * WINDOW + rng.randrange(WINDOW)])
    period = "".join(rng.choices("abcdé", k=rng.randrange(1, 30)))
    return [
        "".join(rng.choices("aaabbcd", k=length)),
        period * (length // len(period) + 1),
        "".join(rng.choice("abcd") * rng.choice([1, 2, 3, 50, 700]) for _ in range(length // 100)),
    ]


@pytest.mark.parametrize("kind", ["rank file", "monotone", "any order"])
def test_random_models_encode_as_priority_does(kind: str, fuzz: int) -> None:
    rng = random.Random(kind)
    for number in range(30 * fuzz):
        model = random_ranks(rng) if kind == "rank file" else random_pairs(rng, monotone=kind == "monotone")
        texts = short_texts(rng) if number % 3 else [*words_of_every_length(rng), *after_many_symbols(rng)]
        for each in (model, model.with_(pattern=())):
            fast, reference = Compiled(each), Priority(each)
            for text in texts if each is model else [*texts[-25:], *long_texts(rng)]:
                expected = reference.encode(text)
                assert fast.encode(text) == expected
                assert fast.encode_array(text).tolist() == expected
                assert fast.count(text) == len(expected)
                assert fast.decode(expected) == text


def test_of_two_pairs_that_came_about_later_the_leftmost_merges_first() -> None:
    by_bytes = Model(tokens=(*BYTES, b"bc", b"abca", b"abc"), merge_rule="concatenation", pattern=())
    by_pairs = Model(tokens=(*BYTES, b"bc", b"abca", b"abc"), merges=((98, 99), (258, 97), (97, 256)), pattern=())
    for model in (by_bytes, by_pairs):
        for n in (0, 40, 56, 57, 300, 5000):
            assert Compiled(model).encode("d" * n + "abcabca")[n:] == [257, 256, 97]


@pytest.mark.parametrize("longest", [16, 512, 4096, 16384])
def test_tokens_as_long_as_a_window_and_longer(longest: int) -> None:
    tokens = [*BYTES, *(b"a" * (1 << k) for k in range(1, longest.bit_length()))]
    model = Model(tokens=(*tokens, b"ba", b"ab"), merge_rule="concatenation", pattern=())
    fast, reference = Compiled(model), Priority(model)
    rng = random.Random(longest)
    for length in (WINDOW, WINDOW + 1, 3 * WINDOW, 3 * WINDOW + 77, 5 * WINDOW - 1):
        for text in ("a" * length, "b" + "a" * length, "".join(rng.choices(["a" * 300, "b", "c"], k=length // 150))):
            assert fast.encode(text) == reference.encode(text)


def test_a_pattern_that_leaves_text_out_raises_as_the_others_do() -> None:
    model = Model(tokens=BYTES, pattern=("a+|b",))
    assert Compiled(model).encode("aab") == [97, 97, 98]
    refused(impls.InvalidPattern, "leaves out", Compiled(model).encode, "aac")


def test_a_model_with_everything_unusual_encodes_as_priority(boundary: str) -> None:
    """Ids from an offset, three stages, tokens always recognised, no common prefix, NFC, whole pieces."""
    rng = random.Random(2)
    unusual = Model(
        tokens=(None,) * 100 + random_ranks(rng).tokens,
        merge_rule="concatenation",
        pattern=(r"\p{N}{1,3}|\P{N}+", r"[日本]+|[^日本]+", r"[^\s\p{L}\p{N}]?\p{L}+|\s+|[\s\S]"),
        special_tokens={"<s>": 3, "<s>a": 4, "<e\u0301>": 8},
        added_tokens={"[tool]": 5, "｜think｜": 6, "~ ~": 7},
        normalization="nfc",
    )
    assert Compiled(unusual).splitting == "automaton, 3 stages"
    parts = [
        "ab", "1234567", "日本", " ", "~ ~", "~", "[tool]", "[tool", "｜think｜", "<s>", "e\u0301", "<e\u0301>", "<é>",
        "dcb", "\n", "'a", "\ud83d", "\ud83d\udc4d", "\u1100\u1161", "e\u0301" * 5000,
    ]  # fmt: skip
    weights = [10] * (len(parts) - 1) + [1]
    texts = ["", *("".join(rng.choices(parts, weights, k=rng.randrange(9))) for _ in range(150))]
    for model in (unusual, unusual.with_(added_tokens={}, pattern="gpt2")):
        fast, reference = Compiled(model), Priority(model)
        expected = [reference.encode(text, disallowed_special=()) for text in texts]
        assert every_form(fast, texts, disallowed_special=()) == expected
        assert list(map(fast.count, texts)) == list(map(len, expected))
        recognised = [reference.encode(text, allowed_special="all") for text in texts]
        assert every_form(fast, texts, allowed_special="all") == recognised
        refused(impls.SpecialToken, None, fast.encode, "a<e\u0301>")
