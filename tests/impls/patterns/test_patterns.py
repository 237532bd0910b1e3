"""Patterns cover the text or are refused; the possessive forms split as the originals do."""

from __future__ import annotations

import re
from typing import Any

import pytest
import regex
from hypothesis import given, settings
from hypothesis import strategies as st
from refusals import refused

from impls import InvalidPattern, Model, UnknownName, load
from impls.core.text.patterns import NAMED, Splitter, name_of, resolve

texts = st.text(
    alphabet=st.sampled_from("aZéİıſ'’sSdDtTlLvVrReE 059½\t\n\r\u00a0\u2028.,!/中😀\u0301שَ"), max_size=30
) | st.text(max_size=30)
SPLITTERS = {name: Splitter(stages) for name, stages in NAMED.items()}


@given(text=texts)
@settings(max_examples=200)
def test_the_pieces_of_every_named_pattern_join_to_the_text_and_none_is_empty(text: str) -> None:
    for splitter in SPLITTERS.values():
        pieces = splitter.split(text)
        assert "".join(pieces) == text
        assert all(pieces)


@given(text=texts)
@settings(max_examples=300)
def test_the_forms_of_tiktoken_014_cut_as_the_originals_but_for_closing_white_space(text: str) -> None:
    assert SPLITTERS["gpt2-0.14"].split(text) == SPLITTERS["gpt2"].split(text)
    original, possessive = SPLITTERS["cl100k"].split(text), SPLITTERS["cl100k-0.14"].split(text)
    if possessive != original:
        assert possessive == [*original[:-2], original[-2] + original[-1]]
        assert original[-2].isspace()
        assert original[-2][-1] in "\r\n"
        assert regex.fullmatch(r"[^\S\r\n]+", original[-1])
    assert SPLITTERS["cl100k-0.14"].split(text + "x") == SPLITTERS["cl100k"].split(text + "x")


def test_a_line_end_and_a_blank_at_the_very_end_are_one_piece_in_the_form_of_014() -> None:
    assert SPLITTERS["cl100k-0.14"].split("a\n ") == ["a", "\n "]
    ranked = (*(bytes([byte]) for byte in range(256)), b"\n ")
    model = Model(tokens=ranked, pattern="cl100k", merge_rule="concatenation")
    assert load("tiktoken", model).encode("a\n ") == load("naive", model).encode("a\n ") == [97, 10, 32]


@pytest.mark.corpus
def test_no_token_of_cl100k_base_ends_in_line_end_and_blank_so_both_forms_give_its_ids() -> None:
    from harness.data import load_model

    ends_so = re.compile(rb"[\r\n][ \t]+\Z")
    assert not [token for token in load_model("cl100k_base").tokens if token is not None and ends_so.search(token)]


def test_stages_cut_one_after_the_other() -> None:
    splitter = Splitter([r"\p{N}|[^\p{N}]+", r"\s+|\S+"])
    assert splitter.split("ab 12 c") == ["ab", " ", "1", "2", " ", "c"]


@pytest.mark.parametrize(
    ("pattern", "problem"),
    [
        *(
            (pattern, r"capturing groups?, and .* write \(\?:\.\.\.\)")
            for pattern in (r"(?P<w>\w+)|\W+", r"(a)(b)|(?s:.)")
        ),
        *((pattern, "does not compile") for pattern in ("(", "[a", "a{3,2}", r"\p{Nonsense}", "*", r"\S|\s")),
        *((pattern, "must be a text that is not empty") for pattern in ("", [""], [3])),
        (["a|[^a]"] * 33, "33 split stages; at most 32 are allowed"),
        ("a" * 20_001, "a pattern of 20001 characters; at most 20000 are allowed"),
    ],
)
def test_what_is_no_pattern_is_refused(pattern: Any, problem: str) -> None:
    refused(InvalidPattern, problem, resolve, pattern)


def test_a_misspelt_name_is_answered_with_the_name_meant() -> None:
    refused(UnknownName, "did you mean 'turkish'", resolve, "trukish")


@pytest.mark.parametrize(
    ("pattern", "text", "character", "position"),
    [
        (r"\w+", "ab cd", "' '", 2),
        (r"\w+", "ab!", "'!'", 2),
        (r"\w+", " ab", "' '", 0),
        (r"\p{L}+|\s+", "a 1", "'1'", 2),
        (r"a*", "ab", "'b'", 1),
        (r".+", "a\nb", r"'\\n'", 1),
    ],
)
def test_what_a_pattern_leaves_out_is_named(pattern: str, text: str, character: str, position: int) -> None:
    with pytest.raises(InvalidPattern, match=f"leaves out {character} at character {position}, which would be dropped"):
        Splitter([pattern]).split(text)


def test_names_stand_for_their_stages() -> None:
    assert resolve("gpt2") == NAMED["gpt2"]
    assert resolve(r"\s+|\S+") == (r"\s+|\S+",)
    assert resolve([r"a|[^a]", r"\s+|\S+"]) == (r"a|[^a]", r"\s+|\S+")
    assert name_of(NAMED["turkish"]) == "turkish"
    assert name_of(("a|[^a]",)) is None
