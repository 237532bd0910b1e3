"""Backtracking: linear steps on any piece, dead ends remembered, merges found for rank files."""

from __future__ import annotations

import pytest
from long_pieces import PIECES, trained

import impls
from impls import Model
from impls.backtracking import Backtracking

EVERY_PIECE = PIECES | {"unknown to the vocabulary": lambda n: "z" * n}


@pytest.mark.parametrize("family", EVERY_PIECE)
def test_steps_grow_in_proportion_to_the_piece(family: str) -> None:
    model = trained(300)

    def steps(n: int) -> int:
        tokenizer = Backtracking(model)
        piece = EVERY_PIECE[family](n)
        ids = tokenizer.encode_piece(piece)
        assert tokenizer.decode(ids) == piece
        assert len(ids) <= tokenizer.steps <= 4 * n
        return tokenizer.steps

    assert 1.9 < steps(40_000) / steps(20_000) < 2.1


@pytest.mark.parametrize("merge_rule", ["pairs", "concatenation"])
def test_long_pieces_get_the_ids_of_the_heap(merge_rule: str) -> None:
    model = trained(200) if merge_rule == "pairs" else Model(tokens=trained(200).tokens, merge_rule="concatenation")
    ours, heap = Backtracking(model), impls.load("priority", model)
    for make in EVERY_PIECE.values():
        assert ours.encode_piece(make(5_000)) == heap.encode_piece(make(5_000))


def test_a_token_that_led_nowhere_is_taken_back(hand_made) -> None:
    # The longest token ab is right until c comes: b+c ranks before a+b.
    tokenizer = Backtracking(hand_made("b+c a+b"))
    assert [tokenizer.decode([i]) for i in tokenizer.encode("abc")] == ["a", "bc"]
    assert tokenizer.steps == 5  # ab, c (not compatible), ab again (a dead end by now), a, bc


def test_ids_may_have_gaps_and_be_lower_than_those_of_bytes() -> None:
    tokens = (*(bytes([byte]) for byte in range(256)), None, b"ab", None, b"abc")
    model = Model(tokens=tokens, merge_rule="concatenation", special_tokens={"<s>": 256})
    assert Backtracking(model).encode("ab<s>abcab", allowed_special="all") == [257, 256, 259, 257]
    model = Model(tokens=(b"ab", b"abc", *(bytes([byte]) for byte in range(256))), merge_rule="concatenation")
    assert Backtracking(model).encode("abcab") == impls.load("priority", model).encode("abcab") == [1, 0]


def test_an_end_of_word_of_one_character_is_distinguished_from_that_character(hand_made) -> None:
    model = hand_made("a+b_", extra="a b_ a_ b _", end_of_word="_")
    ours, heap = Backtracking(model), impls.load("priority", model)
    for text in ("ab", "a", "a_b"):
        assert ours.encode(text) == heap.encode(text)
