"""Longest match: compared with a search by definition, on vocabularies of every kind."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

import impls
from impls import Model

vocabularies = st.sets(st.text(alphabet="abç", min_size=1, max_size=4), min_size=1, max_size=8)


def longest_by_definition(tokens: list[str], text: str) -> list[str]:
    """The longest token that the rest begins with; ? for a character no token begins with."""
    found: list[str] = []
    while text:
        token = max((token for token in tokens if text.startswith(token)), key=len, default="?")
        found.append(token)
        text = text[len(token) :]
    return found


@given(words=vocabularies, text=st.text(alphabet="abçd", max_size=30))
def test_the_longest_token_at_every_place(words: set[str], text: str) -> None:
    tokens = tuple(word.encode() for word in sorted(words))
    tokenizer = impls.load("greedy", Model(tokens=tokens, alphabet="chars", unknown="?", unknown_id=len(tokens)))
    assert [tokenizer.decode([i]) for i in tokenizer.encode(text)] == longest_by_definition(sorted(words), text)


def test_it_matches_within_each_piece_only() -> None:
    model = Model(tokens=(b"a", b" ", b"a a"), alphabet="chars", pattern=(r"\S+|\s+",))
    assert impls.load("greedy", model).encode("a a") == [0, 1, 0]


def test_the_last_character_of_a_piece_carries_the_end_of_word() -> None:
    tokens = (b"a", b"b", b"ab", b"b</w>", b"ab</w>", b"</w>", b"<")
    model = Model(tokens=tokens, alphabet="chars", end_of_word="</w>", unknown="?", unknown_id=9)
    tokenizer = impls.load("greedy", model)
    assert tokenizer.encode("ab") == [4]
    assert tokenizer.encode("abb") == [2, 3]
    assert tokenizer.encode("ba") == [1, 9]  # there is no a</w>, and </w> is no text of the piece
