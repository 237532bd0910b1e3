"""Bytes that are not valid UTF-8: every implementation over bytes gives the ids of tiktoken's `_encode_bytes`."""

from __future__ import annotations

import random
from functools import cache
from typing import Any

import pytest
import tiktoken
from foreign import foreign
from refusals import refused

import impls
from impls import TrainingSpec, Unsupported
from impls.core.text.patterns import NAMED
from impls.interface import Tokenizer
from impls.plugin import wrap

EXACT = [name for name in impls.default_names() if impls.get(name).exact]
TEXT = "hello world, the cat's hat  \n\t x 123\r\n çay 日本語 🙂 \u3000\u00a0\0 <s>[x]"
BLANKS = "".join(random.Random(3).choices(" \n\t\r", k=3_000))
SMALL = impls.train(
    "naive", [TEXT, "hello hello the the cat", BLANKS], TrainingSpec(vocab_size=330, special_tokens=("<s>",))
).model.with_(pattern=NAMED["cl100k"])
"""It cuts white space where its tokens do not, so that it matters what is encoded together."""
BAD = [b"\xff", b"\xe3", b"\xe3\x80", b"\xf0\x9f", b"\xc3", b"\xed\xa0\x80", b"\xf6", b"\xc0\x80"]


@cache
def byte_strings(n: int) -> list[bytes]:
    """Random bytes, white space before bad bytes, and texts with bad bytes in them or cut within a character."""
    rng = random.Random(11)

    def one(kind: int) -> bytes:
        if kind == 0:
            return rng.randbytes(rng.randrange(40))
        letters = " \n\t\r\u00a0\u3000 \n\x0b  x" if kind == 1 else TEXT
        data = "".join(rng.choice(letters) for _ in range(rng.randrange(30))).encode()
        cut = rng.randrange(len(data) + 1)
        return data[:cut] if kind == 2 else data[:cut] + rng.choice(BAD) + data[cut:]

    return [one(k % 5) for k in range(n)]


@pytest.mark.parametrize("name", EXACT)
@pytest.mark.parametrize("rule", ["pairs", "concatenation"])
def test_the_ids_are_tiktokens_over_a_small_model(name: str, rule: Any) -> None:
    looked_up = SMALL.with_(merge_rule="concatenation", merges=(), merge_counts=None)
    ranks, specials = dict(SMALL.id_by_token), dict(SMALL.special_tokens)
    encoding = tiktoken.Encoding("direct", pat_str=SMALL.pattern[0], mergeable_ranks=ranks, special_tokens=specials)
    tokenizer, data = impls.load(name, SMALL if rule == "pairs" else looked_up), byte_strings(2_000)
    assert any(each.decode("utf-8", "ignore").encode() != each for each in data)
    for each in data:
        ids = tokenizer.encode_bytes(each)
        assert ids == encoding._encode_bytes(each), each
        assert tokenizer.decode_bytes(ids) == each


@pytest.mark.parametrize("name", impls.default_names())
def test_utf8_is_ordinary_text_and_all_other_bytes_come_back(name: str) -> None:
    tokenizer = impls.load(name, SMALL.with_(added_tokens={"[x]": 400}))
    assert tokenizer.encode_bytes(TEXT.encode()) == tokenizer.encode_ordinary(TEXT)
    for data in byte_strings(200):
        ids = tokenizer.encode_bytes(data)
        assert tokenizer.decode_bytes(ids) == data
        assert {400, SMALL.special_tokens["<s>"]}.isdisjoint(ids)


@pytest.mark.parametrize("name", impls.default_names())
def test_the_text_before_bad_bytes_is_normalised(name: str) -> None:
    tokenizer = impls.load(name, SMALL.with_(normalization="nfc"))
    for bad in (b"", b"\xff"):
        ids = tokenizer.encode_bytes("e\u0301 e\u0301".encode() + bad)
        assert tokenizer.decode_bytes(ids) == "é é".encode() + bad


@pytest.mark.parametrize("name", impls.default_names())
def test_what_holds_bytes_is_taken_and_nothing_else(name: str) -> None:
    tokenizer = impls.load(name, SMALL)
    ids = tokenizer.encode_bytes(b"cat\xff")
    assert tokenizer.encode_bytes(bytearray(b"cat\xff")) == tokenizer.encode_bytes(memoryview(b"cat\xff")) == ids
    assert tokenizer.encode_bytes(b"") == []
    for given, described in [("x", "str 'x'"), (None, "None"), (5, "5"), ([1], "list")]:
        refused(TypeError, f"^data must be bytes, not {described}$", tokenizer.encode_bytes, given)


@pytest.mark.parametrize("name", ["naive", "greedy", "compiled", "tokenizers", "sentencepiece"])
def test_a_model_over_characters_has_no_ids_for_bytes(name: str) -> None:
    spec = TrainingSpec(vocab_size=30, alphabet="chars", unknown="<unk>")
    tokenizer = impls.load(name, impls.train("naive", ["hello world"], spec).model)
    for data in (b"hello", b"\xff"):
        refused(Unsupported, "over bytes; this model's alphabet is 'chars'", tokenizer.encode_bytes, data)


class PiecesOfText(Tokenizer):
    """Overrides only the hook for pieces, without regard to bytes."""

    name = "pieces"

    def encode_piece(self, piece: str) -> list[int]:
        return list(piece.encode())


@pytest.mark.parametrize("kind", [wrap("texts", foreign()), PiecesOfText])
def test_a_plugin_that_takes_texts_only_says_so(kind: type[Tokenizer]) -> None:
    tokenizer = kind(SMALL)
    assert tokenizer.encode_bytes(b"abc") == [97, 98, 99]
    refused(Unsupported, "encodes text only", tokenizer.encode_bytes, b"abc\xff")
