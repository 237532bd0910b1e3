"""Words by UAX #29, and cutting at spaces, which must not change them."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.evaluate.texts import Segmenter, spans

_ASCII = "aZ0_.,;:'\"-/ \t\r\x0b\x00"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("can't x-y 3.14 1,000 foo.bar a_b", ["can't", "x", "y", "3.14", "1,000", "foo.bar", "a_b"]),
        ("İstanbul'un e\u0301te -- … !", ["İstanbul'un", "e\u0301te"]),
        ("'a ’é 0'a (l'été)", ["a", "é", "0", "a", "l'été"]),
        ("צה״ל 카카오 톡", ["צה״ל", "카카오", "톡"]),
        ("", []),
        ("\n \n", []),
        (" \u0301a b\u0301 \u0301", ["a", "b\u0301"]),
    ],
)
def test_words_lie_between_unicode_word_boundaries_and_hold_a_letter_or_digit(text: str, words: list[str]) -> None:
    content = text.encode()
    assert [content[a:b].decode() for a, b in spans(text)] == words
    segments = Segmenter().words(text)
    assert [content[a:b].decode() for a, b in zip(segments.starts, segments.ends, strict=True)] == words


def agree(text: str, segmenter: Segmenter) -> None:
    segments = segmenter.words(text)
    assert list(zip(segments.starts.tolist(), segments.ends.tolist(), strict=True)) == spans(text)


_PARTS = [*" \n\r\t'’.:,-_abé1א\"\u0301\u200d\u00ad🇹ア漢ก\ud800👩"]


@settings(max_examples=300, deadline=None)
@given(st.lists(st.sampled_from(_PARTS), max_size=12))
def test_cutting_at_spaces_changes_no_word(parts: list[str]) -> None:
    agree("".join(parts), Segmenter())


def test_characters_are_counted_by_whether_their_script_writes_words_apart() -> None:
    segments = Segmenter().words("ab 日本 ไทย x")
    assert (segments.n_characters, segments.n_unspaced) == (8, 5)


@pytest.mark.parametrize("length", [1, 2, 3])
def test_ascii_words_are_those_of_the_general_boundaries(length: int) -> None:
    for characters in product(_ASCII, repeat=length):
        text = "".join(characters)
        # A letter that is not ASCII, after a space, leaves all words before it as they are.
        assert spans(text) == spans(f"{text} é")[:-1], text


@pytest.mark.timeout(60)
@pytest.mark.parametrize("unit", ["_", "a", "a.", "'", "_.", "ก", "日", "́", "_é", "a'", "🇹", "🇹a", "é́", "\u200d", "é’"])
def test_a_word_without_end_takes_time_in_proportion(unit: str) -> None:
    assert len(spans(unit * 200_000)) <= 200_000
