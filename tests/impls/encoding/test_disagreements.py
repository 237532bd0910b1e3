"""On hand-made merge lists the algorithms differ, each in its own known way."""

from __future__ import annotations

import random

import pytest

import impls
from impls import Model, Unsupported

ANY_ORDER = ["naive", "priority", "bytelevel", "compiled"]
EXACT = ["naive", "wordcount", "priority", "bytelevel", "backtracking"]


def split(name: str, model: Model, text: str) -> str:
    tokenizer = impls.load(name, model)
    return "·".join((model.tokens[i] or b"").decode() for i in tokenizer.encode(text))


def test_greedy_longest_match_ignores_the_ranks(hand_made) -> None:
    model = hand_made("a+b a+a", alphabet="bytes")
    assert {name: split(name, model, "aab") for name in EXACT} == dict.fromkeys(EXACT, "a·ab")
    assert split("greedy", model, "aab") == "aa·b"


def test_ranks_do_not_give_the_fewest_tokens(hand_made) -> None:
    model = hand_made("a+a aa+b", alphabet="bytes")
    assert {name: split(name, model, "aaab") for name in EXACT} == dict.fromkeys(EXACT, "aa·a·b")
    assert {"a", "aab"} <= {(token or b"").decode("latin-1") for token in model.tokens}  # a·aab would be fewer


@pytest.mark.parametrize(
    ("merges", "text", "tokens"),
    [("ab+a a+b", "abab", "aba·b"), ("a+ab a+b", "aab", "aab"), ("aa+a a+a", "aaaa", "aaa·a")],
)
def test_on_a_list_that_is_not_monotone_one_merge_at_a_time_decides(hand_made, merges, text, tokens) -> None:
    model = hand_made(merges, alphabet="bytes")
    assert {name: split(name, model, text) for name in ANY_ORDER} == dict.fromkeys(ANY_ORDER, tokens)
    with pytest.raises(Unsupported, match="merge 0 ranks before a merge that makes one of its parts"):
        impls.load("wordcount", model)


def test_a_longer_token_of_lower_rank_takes_the_first_it_can() -> None:
    # 256 is aba, 257 is ab: tiktoken, tokenizers and sentencepiece give these ids too.
    model = Model(tokens=(*(bytes([byte]) for byte in range(256)), b"aba", b"ab"), merge_rule="concatenation")
    assert {tuple(impls.load(name, model).encode("abab")) for name in ANY_ORDER} == {(256, 98)}
    with pytest.raises(Unsupported, match="no derivation from lower ranks"):
        impls.load("wordcount", model)


def test_on_random_models_all_that_run_follow_the_definition(fuzz: int) -> None:
    chance = random.Random(21)
    ran = dict.fromkeys(["priority", "wordcount", "bytelevel", "backtracking", "compiled"], 0)
    for _ in range(150 * fuzz):
        pairs = random_merge_list(chance, chance.choice(["bytes", "chars"]))
        tokens = sorted(pairs.tokens, key=lambda token: (len(token or b"") > 1, chance.random()))
        for model in (pairs, pairs.with_(tokens=tuple(tokens), merges=(), merge_rule="concatenation")):
            definition = impls.load("naive", model)
            texts = ["".join(chance.choices("abc"[: chance.randint(1, 3)], k=chance.randint(1, 14))) for _ in range(20)]
            for name in ran:
                try:
                    tokenizer = impls.load(name, model)
                except Unsupported:
                    continue
                ran[name] += 1
                for text in texts:
                    assert tokenizer.encode(text) == definition.encode(text), (
                        name,
                        model.tokens[256:],
                        model.merges,
                        text,
                    )
    assert min(ran.values()) > 50, ran


def test_joined_bytes_merge_a_token_by_any_of_its_derivations(hand_made) -> None:
    pairs = hand_made("a+a a+aa", alphabet="bytes")
    joined = hand_made("a+a a+aa", alphabet="bytes", merge_rule="concatenation")
    assert {name: split(name, pairs, "aaa") for name in EXACT} == dict.fromkeys(EXACT, "aa·a")
    assert {name: split(name, joined, "aaa") for name in EXACT} == dict.fromkeys(EXACT, "aaa")
    # Not only as a whole piece:
    assert {name: split(name, joined, "baaa") for name in EXACT} == dict.fromkeys(EXACT, "b·aaa")


def test_of_a_merge_listed_twice_the_later_rank_counts(hand_made) -> None:
    model = hand_made("a+b b+c a+b", alphabet="bytes")
    assert {name: split(name, model, "abc") for name in EXACT} == dict.fromkeys(EXACT, "a·bc")


def test_a_whole_piece_in_the_vocabulary_is_one_token_under_joined_bytes(hand_made) -> None:
    pairs = hand_made("a+b", extra="abcd", alphabet="bytes")
    joined = hand_made("a+b", extra="abcd", alphabet="bytes", merge_rule="concatenation")
    assert {name: split(name, pairs, "abcd") for name in EXACT} == dict.fromkeys(EXACT, "ab·c·d")
    can_run_it = ["naive", "priority", "bytelevel", "compiled"]
    assert {name: split(name, joined, "abcd") for name in can_run_it} == dict.fromkeys(can_run_it, "abcd")
    assert {name: split(name, joined, "abcde") for name in can_run_it} == dict.fromkeys(can_run_it, "ab·c·d·e")


def test_ignore_merges_takes_a_whole_piece_as_one_token(hand_made) -> None:
    model = hand_made("a+b", extra="abc", alphabet="bytes")
    assert {name: split(name, model, "abc") for name in EXACT} == dict.fromkeys(EXACT, "ab·c")
    ignoring = model.with_(ignore_merges=True)
    assert {name: split(name, ignoring, "abc") for name in EXACT} == dict.fromkeys(EXACT, "abc")
    assert {name: split(name, ignoring, "abcd") for name in EXACT} == dict.fromkeys(EXACT, "ab·c·d")


@pytest.mark.parametrize(
    ("merges", "fields", "irregularity"),
    [
        ("ab+a a+b", {}, r"needs monotone ranks; merge 0 \(b'aba'\)"),
        (
            "a+b",
            {"extra": "a b ab", "end_of_word": "b"},
            r"needs one derivation per token; merge 0 makes the symbol b'ab'",
        ),
        ("a+b", {"extra": "abcd", "merge_rule": "concatenation"}, r"lower ranks do not lead to b'abcd'"),
    ],
    ids=["not monotone", "symbol made by a merge", "no derivation"],
)
def test_backtracking_names_the_irregularity_it_cannot_run(hand_made, merges, fields, irregularity) -> None:
    with pytest.raises(Unsupported, match=irregularity):
        impls.load("backtracking", hand_made(merges, **fields))


def random_merge_list(chance: random.Random, alphabet: str = "chars") -> Model:
    """Random merges: unreachable tokens, several derivations, duplicates, sometimes out of order."""
    tokens = [b"a", b"b", b"c"] if alphabet == "chars" else [bytes([byte]) for byte in range(256)]
    parts = [tokens.index(token) for token in (b"a", b"b", b"c")]
    merges = []
    for _ in range(chance.randint(1, 9)):
        left, right = chance.choice(parts), chance.choice(parts)
        if len(tokens[left] + tokens[right]) > 6:
            continue
        if tokens[left] + tokens[right] not in tokens:
            tokens.append(tokens[left] + tokens[right])
            parts.append(len(tokens) - 1)
        merges.append((left, right))
    if chance.random() < 0.2:
        chance.shuffle(merges)
    return Model(tokens=tuple(tokens), merges=tuple(merges), alphabet=alphabet)


def test_whatever_list_backtracking_accepts_it_encodes_like_the_others() -> None:
    chance = random.Random(20)
    accepted = 0
    for _ in range(1_000):
        pairs = random_merge_list(chance)
        for model in (pairs, pairs.with_(merges=(), merge_rule="concatenation")):
            try:
                backtracking = impls.load("backtracking", model)
            except Unsupported:
                continue
            accepted += 1
            others = [impls.load(name, model) for name in ("priority", "naive")]
            for _ in range(8):
                text = "".join(chance.choices("abc"[: chance.randint(1, 3)], k=chance.randint(1, 14)))
                for other in others:
                    assert backtracking.encode(text) == other.encode(text), (model.merges, other.name, text)
    assert accepted > 1_000


def test_the_unknown_token_never_merges_by_its_bytes() -> None:
    # Read as bytes, "?" and "a" would join to the token "?a".
    model = Model(
        tokens=(b"a", b"b", b"?", b"?a", b"ab"), merge_rule="concatenation", alphabet="chars", unknown="?", unknown_id=2
    )
    can_run_it = ["naive", "wordcount", "priority"]
    assert {name: split(name, model, "éab") for name in can_run_it} == dict.fromkeys(can_run_it, "?·ab")
    with pytest.raises(Unsupported, match=r"lower ranks do not lead to b'\?a'"):
        impls.load("backtracking", model)
    outside = Model(tokens=(b"a", b"b", b"ab"), merge_rule="concatenation", alphabet="chars", unknown="?", unknown_id=9)
    for name in [*can_run_it, "backtracking"]:
        assert impls.load(name, outside).encode("éab") == [9, 2]
