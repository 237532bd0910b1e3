"""Spans: exact for every implementation, also where a token cuts a character and where a model rewrites the text."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sentencepiece_models import pieces_model

import impls
from harness.play.spans import Tokens, piece_starts, spans_of, spelling

TEXT = "héllo wörld  👩🏽‍🚀 öğrendiklerimiz\n\tשלום e\u0301 <s>"


def spans(implementation: str, model: impls.Model, text: str) -> tuple[list[bytes], list[list[int]]]:
    tokenizer = impls.load(implementation, model)
    ids = tokenizer.encode(text, disallowed_special=())
    located = Tokens(tokenizer, spelling(model), text, ids)
    ends = np.cumsum(located.lengths)
    tokens = [located.joined[end - length : end] for end, length in zip(ends, located.lengths, strict=True)]
    return tokens, spans_of(located.starts, located.ends, located.data)


def sliced(text: str, span: list[int] | None) -> tuple[bytes, str]:
    return text.encode()[span[0] : span[1]], text[span[2] : span[3]]


@pytest.mark.parametrize("implementation", ["compiled", "greedy", "tiktoken", "tokenizers"])
def test_tokens_are_the_bytes_of_their_spans_and_touch_their_characters(model_file: Path, implementation: str) -> None:
    model = impls.Model.load(model_file)
    tokens, places = spans(implementation, model, TEXT)
    starts = [len(character.encode()) for character in TEXT]
    borders = [sum(starts[:k]) for k in range(len(TEXT) + 1)]
    for token, span in zip(tokens, places, strict=True):
        data, characters = sliced(TEXT, span)
        assert data == token
        touched = [k for k in range(len(TEXT)) if borders[k] < span[1] and borders[k + 1] > span[0]]  # type: ignore[index]
        assert characters == "".join(TEXT[k] for k in touched)
    assert b"".join(tokens) == TEXT.encode()
    assert any(len(token) < len(sliced(TEXT, span)[1].encode()) for token, span in zip(tokens, places, strict=True))


@pytest.fixture(scope="module")
def rewriting(model_file: Path) -> impls.Model:
    return impls.Model.load(model_file).with_(normalization="nfkc+lowercase")


ALONE = "aZÀﬁ①Ⅻ Ｗ½ ̈İ👩\u00a0".replace("\u0308", "").replace("İ", "")
"""Characters that are rewritten each by itself."""


@settings(max_examples=150, deadline=None)
@given(st.text(ALONE, max_size=40))
def test_a_rewritten_text_has_the_spans_of_its_characters(rewriting: impls.Model, text: str) -> None:
    tokens, places = spans("priority", rewriting, text)
    origin: list[int] = []  # of each byte the tokens spell: the character of the text it comes from
    for at, character in enumerate(text):
        origin += [at] * len(rewriting.normalize(character).encode())
    k = 0
    for token, span in zip(tokens, places, strict=True):
        assert span[2:] == [origin[k], origin[k + len(token) - 1] + 1]
        k += len(token)
    assert k == len(origin)


def test_what_several_characters_become_together_is_aligned_too(rewriting: impls.Model) -> None:
    model = rewriting.with_(normalization='replace-regex("(?:ab)+c?","x")+strip-accents')
    text = "aab ababc e\u0301abz"
    tokens, places = spans("priority", model, text)
    assert b"".join(tokens) == b"ax x exz"
    assert [sliced(text, span)[1] for span in places] == ["a", "b", " ", "c", " ", "e", "b", "z"]


@pytest.mark.parametrize("prefix", ["always", "missing", "never"])
def test_marks_for_spaces_and_spelled_characters_of_sentencepiece(prefix: Any) -> None:
    model = pieces_model("▁ a b ▁a ▁ab", "▁+a ▁a+b", dummy_prefix=prefix)
    text = "ab é ab"
    tokens, places = spans("priority", model, text)
    assert b"".join(tokens) == (b"" if prefix == "never" else b" ") + text.encode()
    first = ["a", "b"] if prefix == "never" else ["ab"]
    assert [sliced(text, span)[1] for span in places] == [*first, " ", "é", "é", " ab"]


def test_of_several_spaces_the_mark_has_the_last_and_an_unknown_token_its_characters() -> None:
    model = pieces_model("▁ a b ▁a ▁ab", "▁+a ▁a+b", byte_tokens=(), remove_extra_spaces=True)
    text = "  ab   a文字b "
    tokens, places = spans("priority", model, text)
    assert [sliced(text, span)[1] for span in places] == ["ab", " a", "文字", "b"]
    assert len(tokens) == 4


def test_of_ids_that_do_not_spell_the_text_no_place_is_known(model_file: Path) -> None:
    model = impls.Model.load(model_file)
    tokenizer = impls.load("priority", model)
    located = Tokens(tokenizer, spelling(model), "hello world!", tokenizer.encode("hello moon!"))
    assert spans_of(located.starts, located.ends, located.data) == []
    assert "unknown" in located.note
    assert located.tokens() is not None
    assert spans("priority", model, "") == ([], [])


def test_pieces_begin_at_tokens(model_file: Path) -> None:
    model = impls.Model.load(model_file)
    tokens, _ = spans("priority", model, TEXT)
    pieces = impls.load("priority", model).pieces(TEXT)
    lengths = np.array([len(token) for token in tokens])
    starts = piece_starts(pieces, lengths, model)
    ends = [*starts[1:], len(tokens)]
    joined = [b"".join(tokens[start:end]).decode() for start, end in zip(starts, ends, strict=True)]
    assert joined == pieces
    assert piece_starts(["another text"], lengths, model) is None
