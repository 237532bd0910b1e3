"""An implementation that gives one method has every other."""

from __future__ import annotations

import inspect

import numpy as np
import pytest
from every_form import every_form
from refusals import refused

import impls
from impls import Model, SpecialToken, Tokenizer, Unsupported
from impls.core.model.merging import merging
from impls.core.text.patterns import NAMED

TOKENS = (*(bytes([byte]) for byte in range(256)), b"ab", b" c", b"abab")
MODEL = Model(
    tokens=TOKENS,
    merges=((97, 98), (32, 99), (256, 256)),
    pattern=NAMED["gpt2"],
    special_tokens={"<s>": 300},
    added_tokens={"<a>": 301},
    normalization="nfc",
)
TEXT = "abab c <a> abé e\u0301 \ud800 " + "ab c" * 400


class ByPiece(Tokenizer):
    name = "by-piece"

    def encode_piece(self, piece: str) -> list[int]:
        ids = self.model.symbols(piece)
        for _ in merging(ids, self.model.merge_of):
            pass
        return ids


class ByText(Tokenizer):
    name = "by-text"

    def encode_ordinary(self, text: str) -> list[int]:
        return impls.load("priority", self.model).encode_ordinary(text)


@pytest.mark.parametrize("kind", [ByPiece, ByText])
def test_every_operation_gives_what_priority_gives(kind: type[Tokenizer]) -> None:
    mine, reference = kind(MODEL), impls.load("priority", MODEL)
    ids = reference.encode(TEXT)
    assert mine.encode("<s>" + TEXT, allowed_special="all") == [300, *ids]
    refused(SpecialToken, None, mine.encode, "<s>")
    assert mine.encode_ordinary(TEXT) == reference.encode_ordinary(TEXT)
    assert every_form(mine, [TEXT, "ab"]) == [ids, [256]]
    if kind is ByPiece:
        assert mine.encode_bytes(b"ab \xff") == reference.encode_bytes(b"ab \xff")
    else:
        refused(Unsupported, "encodes text only", mine.encode_bytes, b"ab \xff")
    for unit in ("codepoint", "byte", "utf16"):
        found, spans = mine.encode_with_offsets(TEXT, unit=unit)
        assert found == ids
        assert np.array_equal(spans, reference.encode_with_offsets(TEXT, unit=unit)[1])
    assert (mine.count(TEXT), mine.count(TEXT, 5), mine.fits(TEXT, 5)) == (len(ids), 6, False)
    for side in ("right", "left"):
        assert mine.truncate(TEXT, 9, side=side) == reference.truncate(TEXT, 9, side=side)
    assert mine.decode(ids) == reference.decode(ids)
    assert mine.decode_with_offsets(ids) == reference.decode_with_offsets(ids)
    assert mine.is_canonical(mine.encode("abab c"))
    assert mine.first_drift([97, 98]) == (0, [256])
    growing, decoder = mine.incremental("ab"), mine.decoder()
    growing.append("ab c")
    assert growing.ids == reference.encode("abab c")
    assert decoder.push(growing.ids) + decoder.finish() == "abab c"


def test_the_class_has_no_base_and_each_operation_is_one_call() -> None:
    assert [base.__name__ for base in Tokenizer.__mro__] == ["Tokenizer", "ABC", "object"]
    source = inspect.getsource(inspect.getmodule(Tokenizer))  # type: ignore[arg-type]
    assert source.count("\n") <= 250
