"""The printable alphabet, and what `bytelevel` refuses."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from refusals import refused

import impls
from impls import Model, TrainingSpec, Unsupported
from impls.core.text.byte_alphabet import BYTE_TO_CHARACTER, GPT2_BYTE_ORDER, from_printable, to_printable


def test_every_byte_has_a_printable_character_of_its_own() -> None:
    assert len(set(BYTE_TO_CHARACTER.values())) == 256
    assert all(character.isprintable() and not character.isspace() for character in BYTE_TO_CHARACTER.values())
    assert (BYTE_TO_CHARACTER[0x20], BYTE_TO_CHARACTER[0x0A], BYTE_TO_CHARACTER[0x41]) == ("Ġ", "Ċ", "A")


@given(token=st.binary(max_size=20))
def test_printable_form_and_back(token: bytes) -> None:
    assert from_printable(to_printable(token)) == token


def test_hugging_face_orders_bytes_by_their_characters() -> None:
    assert sorted(range(256), key=lambda byte: BYTE_TO_CHARACTER[byte]) == list(GPT2_BYTE_ORDER)


def test_characters_are_not_its_business() -> None:
    with pytest.raises(Unsupported, match="bytelevel: trains over bytes only"):
        impls.train("bytelevel", ["a"], TrainingSpec(vocab_size=10, alphabet="chars"))
    refused(Unsupported, "bytelevel: works on bytes", impls.load, "bytelevel", Model(tokens=(b"a",), alphabet="chars"))
