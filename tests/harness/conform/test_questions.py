"""Questions are complete by construction: each member of a kind is in some text. No tokenizer is run here."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

import pytest

import impls
from harness.conform import questions, transitions
from impls.core.pattern.automaton import Automaton, compile_pattern
from impls.core.text.patterns import NAMED

CODES = [*range(0x250), 0x2028, 0x3042, *range(0xD7F0, 0xE010), 0x1F44D, 0x50000, 0x10FFFE, 0x10FFFF]


def test_every_code_point_is_first_met_at_every_place() -> None:
    within, ends = (list(of(CODES)) for of in (questions.within, questions.at_both_ends))
    for c in set(map(chr, CODES)).difference("ab12 \n"):
        assert {f"a{c}b", f"1{c}2", f" {c}\n"} == {text[at - 1 : at + 2] for text in within if (at := text.find(c)) > 0}
    assert [sorted(ord(text[place]) for text in ends) for place in (0, -1)] == [CODES, CODES]
    assert questions.N_CODE_POINTS == 0x110000


@pytest.mark.parametrize("pattern", ["gpt2", "cl100k", "o200k"])
def test_every_transition_that_a_text_can_take_is_taken(pattern: str) -> None:
    automaton = compile_pattern(NAMED[pattern][0])
    model = impls.Model(tokens=tuple(bytes([byte]) for byte in range(256)), pattern=NAMED[pattern])
    texts = list(dict.fromkeys(transitions.transitions(model)))
    at_first = set(chain.from_iterable(taken(automaton, text) for text in texts))
    members = transitions.representatives(automaton)
    reached = {state for state, _ in at_first}
    assert at_first >= {(state, of) for state in reached for of in members}
    grown = {automaton.steps[state][of][0] for state, of in at_first} - {-1}
    assert grown <= reached


def taken(automaton: Automaton, text: str) -> Iterator[tuple[int, int]]:
    """Yield the transitions of the first match."""
    state = 0
    for of in (*(int(automaton.class_of[ord(character)]) for character in text), automaton.end):
        yield state, of
        state = automaton.steps[state][of][0]
        if state < 0:
            return


def test_a_pattern_that_no_automaton_expresses_is_asked_by_its_classes() -> None:
    pattern = r"(?<=\p{L})\p{N}{2}|\p{Lu}+(?=\p{Ll}\b)|\s+|[\s\S]"
    model = impls.Model(tokens=tuple(bytes([byte]) for byte in range(256)), pattern=(pattern,))
    texts = set(transitions.transitions(model))
    assert {"a0", "0a", "Aa", " a", "a0a"} <= {
        "".join(
            "0" if c.isdigit() else "A" if c.isupper() else "a" if c.isalpha() else " " if c.isspace() else c
            for c in text
        )
        for text in texts
    }


def test_every_token_is_encoded_and_decoded_alone_and_between_its_neighbours() -> None:
    tokens = (*(bytes([byte]) for byte in range(256)), b"ab", "é".encode(), b"abc")
    model = impls.Model(tokens=tokens, merge_rule="concatenation", special_tokens={"<s>": 300})
    assert {"a", "ab", "é", "abc"} <= set(questions.tokens(model))
    assert "<s>" not in set(questions.tokens(model))
    lists = list(questions.decoded_lists(model))
    ids = [*range(259), 300]
    assert [[i] for i in ids] == lists[: len(ids)]
    assert {middle for _, middle, _ in lists[len(ids) :]} == set(ids)


def test_every_length_of_pieces_is_there_for_letters_of_each_length() -> None:
    model = impls.Model(tokens=(*(bytes([byte]) for byte in range(256)), b"ab"), merge_rule="concatenation")
    texts = list(questions.pieces(model))
    sizes = [len(text.encode()) for text in texts]
    assert set(sizes) == set(questions.PIECE_BYTES)
    assert sizes == sorted(sizes)
    for low, high in ((0x61, 0x7A), (0x80, 0x7FF), (0x800, 0xFFFF), (0x10000, 0x10FFFF)):
        assert {size for size, text in zip(sizes, texts, strict=True) if low <= ord(text[-1]) <= high} >= {
            size for size in questions.PIECE_BYTES if size >= 4
        }


def test_each_spelling_is_in_short_texts_and_in_long_ones_of_every_length() -> None:
    texts = list(questions.spellings())
    for one in questions.SPELLINGS:
        assert one in texts
        for n in questions.LONG_SPELLINGS:
            assert any(one in text for text in texts if n <= len(text) < 1.5 * n)
    assert {"\u304b\u3099", "\u03b1\u0301", "\u1112\u1161\u11ab", "s\u0323\u0307"} <= set(texts)


def test_the_pieces_of_a_process_are_distinct() -> None:
    texts = list(questions.many_pieces(20_000))
    words = [word for text in texts for word in text.split()]
    assert len(words) == len(set(words)) == 20_000
