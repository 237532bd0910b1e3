"""What a text uses of a vocabulary, and the script of a token."""

from __future__ import annotations

from typing import Any

import pytest

import impls
from harness.measure.token_use import KINDS, all_of, ordinary_tokens, script_of, token_use


@pytest.mark.parametrize(
    ("token", "script"),
    [
        (" the", "Latin"), ("да", "Cyrillic"), ("aя", "several scripts"), ("コーヒー", "Katakana"), ("一", "Han"),
        ("e\u0301", "Latin"), ("ሰ", "other scripts"), ("µ", "other scripts"), ("aµ", "Latin"), ("12", "digits"),
        ("½", "digits"), ("Ⅷ", "digits"), (" ", "white space"), ("\n\t", "white space"), (" ?!", "signs"),
        ("\u0301", "signs"), ("", "signs"), ("1a", "Latin"),
    ],
)  # fmt: skip
def test_the_script_of_a_token_is_that_of_its_letters(token: str, script: str) -> None:
    assert script_of(token.encode()) == script
    assert script in KINDS


def test_bytes_that_are_no_text_are_part_of_a_character() -> None:
    assert script_of(b"\xc3") == script_of(b" \xe2\x82") == "part of a character"


def test_tokens_are_counted_by_id_in_every_document(hand_made: Any) -> None:
    model = hand_made("a+b", "", alphabet="bytes", special_tokens={"<s>": 257})
    tokenizer = impls.load("priority", model)
    use = token_use(tokenizer, ["abab", "", "b<s>"], "mine")
    assert {i: int(times) for i, times in enumerate(use.times) if times} == {
        256: 2, ord("b"): 1, ord("<"): 1, ord("s"): 1, ord(">"): 1,
    }  # fmt: skip
    assert (use.n_documents, use.n_bytes, use.n_tokens) == (2, 8, 6)
    both = all_of([use, token_use(tokenizer, ["ab"], "other")])
    assert (both.text, both.n_documents, both.n_bytes, both.n_tokens) == ("mine, other", 3, 10, 7)
    assert both.times[256] == 3
    assert len(ordinary_tokens(model)) == 257
    assert 257 not in ordinary_tokens(model)
