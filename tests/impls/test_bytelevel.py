"""The printable alphabet, and BPE-dropout: random, seeded, never wrong about the text."""

from __future__ import annotations

import copy
import pickle

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import impls
from impls import Model, TrainingSpec, Unsupported
from impls.bytelevel import ByteLevel
from impls.core.text.byte_alphabet import BYTE_TO_CHARACTER, GPT2_BYTE_ORDER, from_printable, to_printable

TEXT = "lower lowest newer newest wider widest lower lower newest " * 3
MODEL = impls.get("bytelevel").train_model([TEXT], TrainingSpec(vocab_size=290))


def test_every_byte_has_a_printable_character_of_its_own() -> None:
    assert len(set(BYTE_TO_CHARACTER.values())) == 256
    assert all(character.isprintable() and not character.isspace() for character in BYTE_TO_CHARACTER.values())
    assert (BYTE_TO_CHARACTER[0x20], BYTE_TO_CHARACTER[0x0A], BYTE_TO_CHARACTER[0x41]) == ("Ġ", "Ċ", "A")


@given(token=st.binary(max_size=20))
def test_printable_form_and_back(token: bytes) -> None:
    assert from_printable(to_printable(token)) == token


def test_hugging_face_orders_bytes_by_their_characters() -> None:
    assert sorted(range(256), key=lambda byte: BYTE_TO_CHARACTER[byte]) == list(GPT2_BYTE_ORDER)


def test_without_dropout_it_is_byte_pair_encoding() -> None:
    assert ByteLevel(MODEL).encode(TEXT) == impls.load("naive", MODEL).encode(TEXT)


def test_with_full_dropout_nothing_merges() -> None:
    assert ByteLevel(MODEL, dropout=1.0).encode(" lower") == [*b" lower"]


@given(text=st.text(alphabet="lowernst ", max_size=30), dropout=st.floats(0, 1), seed=st.integers(0, 2**32))
@settings(max_examples=60, deadline=None)
def test_dropout_changes_the_tokens_and_never_the_text(text: str, dropout: float, seed: int) -> None:
    tokenizer = ByteLevel(MODEL, dropout=dropout, seed=seed)
    assert tokenizer.decode(tokenizer.encode(text)) == text


def test_a_seed_decides_the_segmentation() -> None:
    def segmentations(seed: int | None) -> list[list[int]]:
        tokenizer = ByteLevel(MODEL, dropout=0.3, seed=seed)
        return [tokenizer.encode(" lowest") for _ in range(20)]

    assert segmentations(1) == segmentations(1)
    assert segmentations(1) != segmentations(2)
    assert len(set(map(tuple, segmentations(1)))) > 3


def test_a_seed_decides_a_batch_too() -> None:
    texts = TEXT.split()
    first, second = (ByteLevel(MODEL, dropout=0.5, seed=7).encode_batch(texts) for _ in range(2))
    assert first == second
    assert ByteLevel(MODEL).encode_batch(texts) == [ByteLevel(MODEL).encode(text) for text in texts]


def test_a_copy_keeps_dropout_and_seed() -> None:
    tokenizer = ByteLevel(MODEL, dropout=0.5, seed=7)
    for again in (copy.copy(tokenizer), pickle.loads(pickle.dumps(tokenizer))):
        assert again.dropout == 0.5
        assert again.encode(TEXT) == ByteLevel(MODEL, dropout=0.5, seed=7).encode(TEXT)


def test_more_dropout_gives_more_tokens() -> None:
    lengths = [len(ByteLevel(MODEL, dropout=dropout, seed=3).encode(TEXT)) for dropout in (0.0, 0.1, 0.5, 1.0)]
    assert lengths == sorted(set(lengths))


def test_dropout_reaches_whole_pieces_that_are_tokens() -> None:
    model = Model(tokens=(*MODEL.tokens,), merge_rule="concatenation")
    word = next(token.decode() for token in reversed(MODEL.tokens) if token is not None)
    assert len(ByteLevel(model).encode(word)) == 1
    assert ByteLevel(model, dropout=1.0).encode(word) == [*word.encode()]


@pytest.mark.parametrize("dropout", [-0.1, 1.1, float("nan")])
def test_dropout_is_a_probability(dropout: float) -> None:
    with pytest.raises(ValueError, match="dropout must be a probability from 0 to 1"):
        ByteLevel(MODEL, dropout=dropout)


def test_characters_are_not_its_business() -> None:
    with pytest.raises(Unsupported, match="bytelevel: trains over bytes only"):
        impls.train("bytelevel", ["a"], TrainingSpec(vocab_size=10, alphabet="chars"))
    with pytest.raises(Unsupported, match="bytelevel: works on bytes"):
        impls.load("bytelevel", Model(tokens=(b"a",), alphabet="chars"))
