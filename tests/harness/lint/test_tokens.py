"""Suspicious tokens, on vocabularies small enough to see them."""

from __future__ import annotations

import numpy as np

from harness.evaluate.run import fastest
from harness.lint.reach import reach
from harness.lint.tokens import FRAGMENT_OCCURRENCES, duplicates, glitch_candidates, met_inside, parts_of_characters
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
