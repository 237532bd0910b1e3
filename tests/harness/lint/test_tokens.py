"""Suspicious tokens, and what becomes of digits and white space, on vocabularies small enough to see it."""

from __future__ import annotations

from typing import Any

import numpy as np

import impls
from harness.evaluate.run import fastest
from harness.lint.policy import policy
from harness.lint.reach import reach
from harness.lint.tokens import FRAGMENT_OCCURRENCES, duplicates, glitch_candidates, met_inside, parts_of_characters
from harness.measure.token_use import ordinary_tokens
from impls import Model

BYTES = tuple(bytes([byte]) for byte in range(256))


def test_duplicates_are_by_form_and_leave_case_and_white_space_alone() -> None:
    texts = ["é", "e\u0301", "E\u0301", " é", "ﬁ", "fi", "\u00a0", " ", "K", "\u212a"]
    tokens = {i: text.encode() for i, text in enumerate(texts)} | {99: b"\xc3"}
    assert duplicates(tokens, "NFC") == [(0, 1), (8, 9)]
    assert duplicates(tokens, "NFKC") == [(0, 1), (4, 5), (6, 7), (8, 9)]


def test_parts_of_characters() -> None:
    assert parts_of_characters({1: b"a", 2: b"\xc3", 3: "é".encode(), 4: b"a\xe2\x82", 5: b"\xa9b"}) == [2, 4, 5]


def test_what_is_met_inside_longer_tokens_only() -> None:
    tokens = {0: b"a", 1: b"ab", 2: b"xaby", 3: b"abab", 4: b"zz"}
    assert met_inside(tokens, np.array([0, 0, 3, 2, 0])) == {1: 3 + 2 * 2}
    assert met_inside(tokens, np.array([0, 1, 3, 2, 0])) == {}


def test_fragments_by_the_counts_of_merges_and_by_a_corpus() -> None:
    # ab was met 50 times, and abc took 48 of them: 2 are left, fewer than the 10 of the rarest merge.
    tokens = (*BYTES, b"ab", b"abc", b"xy")
    model = Model(tokens=tokens, merges=((97, 98), (256, 99), (120, 121)), merge_counts=(50, 48, 10))
    found = reach(fastest(model))
    (one,) = glitch_candidates(model, found, None)
    assert (one.id, len(one.reasons)) == (256, 1)
    assert "50 occurrences" in one.reasons[0]
    assert " 2 were left" in one.reasons[0]
    assert glitch_candidates(model.with_(merge_counts=(58, 48, 10)), found, None) == []
    times = np.zeros(259, np.int64)
    times[257] = FRAGMENT_OCCURRENCES
    uncounted = model.with_(merge_counts=None)
    assert [one.id for one in glitch_candidates(uncounted, found, times)] == [256]
    times[257] -= 1
    assert glitch_candidates(uncounted, found, times) == []


def test_an_unreachable_token_is_a_candidate() -> None:
    model = Model(tokens=(*BYTES, b"xyz"))
    assert [one.id for one in glitch_candidates(model, reach(fastest(model)), None)] == [256]


def _policy(pattern: str, texts: list[str], vocab_size: int) -> dict[str, dict[str, Any]]:
    model = impls.train("priority", texts, impls.TrainingSpec(vocab_size=vocab_size, pattern=pattern)).model
    return policy(fastest(model), ordinary_tokens(model))


def test_digits_and_spaces_as_measured() -> None:
    texts = ["12 12 12", "ab    cd\n\n\nab    cd\n\n\n", "      ab"]
    threes = _policy("cl100k", texts, 270)
    assert threes["digits"]["pieces_of_a_long_number"] == [3] * 7 + [1]
    assert threes["digits"]["one_token_share"] == {"1": 1.0, "2": 1 / 100, "3": 0.0, "4": 0.0}
    assert threes["digits"]["longest_token_digits"] == 2
    assert threes["digits"]["n_tokens_of_space_and_digits"] == 0
    assert threes["white_space"]["space_before_a_word"] == "in the piece of the word after it"
    assert threes["white_space"]["longest_run_in_one_token"] == {"space": 5, "tab": 1, "line feed": 3}
    assert threes["white_space"]["n_tokens_of_space_and_letters"] == 3  # ␠c, ␠cd, ␠ab
    assert threes["white_space"]["n_tokens_of_letters"] == 53  # a to z, A to Z, ab
    joined = _policy("gpt2", ["x 12 12 12"], 258)
    assert joined["digits"]["pieces_of_a_long_number"] == [22]
    assert joined["digits"]["n_tokens_of_space_and_digits"] == 2  # " 1" and " 12"
    assert joined["digits"]["one_token_share"]["2"] == 1 / 100
    apart = _policy("turkish-s1", ["ab"], 257)
    assert apart["white_space"]["space_before_a_word"] == "a piece of its own"
    assert _policy("none", ["ab"], 257)["white_space"]["space_before_a_word"] == "no pattern: merges decide"


def test_an_alphabet_without_digits_or_spaces_has_a_policy_too() -> None:
    model = Model(tokens=(b"a", b"b"), alphabet="chars")
    found = policy(fastest(model), ordinary_tokens(model))
    assert found["digits"]["longest_token_digits"] == 0
    assert found["white_space"]["four_spaces_before_a_word"] is None
