"""Every implementation follows the definition, regular model or not, or refuses; greedy longest match differs."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import pytest
from random_models import random_merges
from runnable import exact_over

import impls
from impls import Model, Unsupported

OWN = ["naive", "wordcount", "priority", "bytelevel", "backtracking", "compiled"]
IN_ORDER = {"wordcount", "backtracking"}
"""Refuse a model in which a merge may come before those that make its parts."""
JOINED: dict[str, Any] = {"merge_rule": "concatenation"}


def split(name: str, model: Model, text: str) -> str:
    tokenizer = impls.load(name, model)
    return "·".join((model.tokens[i] or b"").decode() for i in tokenizer.encode(text))


@pytest.mark.parametrize(
    ("merges", "fields", "text", "tokens", "refused_by"),
    [
        ("a+b a+a", {}, "aab", "a·ab", set()),
        ("a+a aa+b", {}, "aaab", "aa·a·b", set()),  # a·aab would be fewer tokens
        ("ab+a a+b", {}, "abab", "aba·b", IN_ORDER),
        ("ab+a a+b", JOINED, "abab", "aba·b", IN_ORDER),
        ("a+ab a+b", {}, "aab", "aab", IN_ORDER),
        ("aa+a a+a", {}, "aaaa", "aaa·a", IN_ORDER),
        ("a+a a+aa", {}, "aaa", "aa·a", set()),
        ("a+a a+aa", JOINED, "aaa", "aaa", set()),
        ("a+a a+aa", JOINED, "baaa", "b·aaa", set()),  # not only as a whole piece
        ("a+b b+c a+b", {}, "abc", "a·bc", set()),  # of a merge listed twice the later rank counts
        ("a+a aa+aa aa+a aaa+a aaaa+aaaa aa+aa", {}, "aaaaaaaa", "aaaaaaaa", IN_ORDER),  # aaaa is last made by rank 5
        ("b+c a+b ab+c abc+d", {}, "dabcab", "d·a·bc·ab", set()),  # ab+c never meet
        ("a+b", {"extra": "abcd"}, "abcd", "ab·c·d", set()),
        ("a+b", {"extra": "abcd"} | JOINED, "abcd", "abcd", IN_ORDER),
        ("a+b", {"extra": "abcd"} | JOINED, "abcde", "ab·c·d·e", IN_ORDER),
        ("a+b", {"extra": "abc", "ignore_merges": True}, "abc", "abc", set()),
        ("a+b", {"extra": "abc", "ignore_merges": True}, "abcd", "ab·c·d", set()),
    ],
)
def test_hand_made_merges(hand_made, merges, fields, text, tokens, refused_by) -> None:
    ignoring = {name: fields[name] for name in fields.keys() & {"ignore_merges"}}
    given = {name: value for name, value in fields.items() if name not in ignoring}
    model = hand_made(merges, alphabet="bytes", **given).with_(**ignoring)
    for name in OWN:
        if name in refused_by:
            with pytest.raises(Unsupported, match=r"no derivation from lower ranks|merge \d ranks before a merge"):
                impls.load(name, model)
        else:
            assert split(name, model, text) == tokens, name


def test_greedy_longest_match_ignores_the_ranks(hand_made) -> None:
    assert split("greedy", hand_made("a+b a+a", alphabet="bytes"), "aab") == "aa·b"


def test_backtracking_refuses_a_merge_that_makes_a_symbol(hand_made) -> None:
    with pytest.raises(Unsupported, match="needs one derivation per token; merge 0 makes a symbol"):
        impls.load("backtracking", hand_made("a+b", extra="a b ab", end_of_word="b"))


def test_random_models(fuzz: int) -> None:
    """Models over bytes and characters, of listed pairs and of ranks, regular or not, 20 texts each."""
    chance, ran = random.Random(21), Counter[str]()
    for _ in range(40 * fuzz):
        n, alphabet = chance.choice((1, 3, 6, 9, 24)), chance.choice(["bytes", "chars"])
        how: dict[str, Any] = {"longest": 6, "shuffled": chance.random() < 0.2, "alphabet": alphabet}
        pairs = random_merges(chance, n, (b"a", b"b", b"c"), **how)
        tokens = sorted(pairs.tokens, key=lambda token: (len(token or b"") > 1, chance.random()))
        for model in (pairs, pairs.with_(tokens=tuple(tokens), merges=(), merge_rule="concatenation")):
            texts = ["".join(chance.choices("abc"[: chance.randint(1, 3)], k=chance.randint(1, 14))) for _ in range(20)]
            texts[0] *= 9
            expected = [impls.load("naive", model).encode(text) for text in texts]
            for tokenizer in exact_over(model):
                ids = [tokenizer.encode(text) for text in texts]
                assert ids == expected, (tokenizer.name, model.tokens[256:], model.merges, texts)
                ran[tokenizer.name] += 1
    assert min(ran.values()) > 20 * fuzz, ran


def test_the_unknown_token_never_merges_by_its_bytes() -> None:
    # Read as bytes, "?" and "a" would join to the token "?a".
    tokens = (b"a", b"b", b"?", b"?a", b"ab")
    model = Model(tokens=tokens, merge_rule="concatenation", alphabet="chars", unknown="?", unknown_id=2)
    outside = Model(tokens=(b"a", b"b", b"ab"), merge_rule="concatenation", alphabet="chars", unknown="?", unknown_id=9)
    for name in ("naive", "wordcount", "priority", "backtracking"):
        assert split(name, model, "éab") == "?·ab"
        assert impls.load(name, outside).encode("éab") == [9, 2]
