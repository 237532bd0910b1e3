"""Ids far beyond the others, special tokens one inside another, very long tokens: right, or one clear error.

A token of 100,000 bytes takes a minute where loading takes time that grows with its square.
"""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from every_form import every_form
from random_models import BYTES
from refusals import refused

import impls
from impls import Model, Unsupported
from impls.formats import load, save

OWN = ["naive", "greedy", "wordcount", "priority", "bytelevel", "backtracking", "compiled"]
LIBRARIES = ["tiktoken", "tokenizers", "sentencepiece"]
LARGEST_ID = 2**31 - 1
SPECIALS = {
    "the largest id": {"<s>": LARGEST_ID, "<t>": 300},
    "each begins the next": {"<" + "a" * n: 300 + n for n in range(1, 401)},
    "each is inside the next": {"(" * n + ")" * n: 300 + n for n in range(1, 901)},
}
LONG = 100_000


@pytest.mark.parametrize("name", OWN + LIBRARIES)
@pytest.mark.parametrize("kind", SPECIALS)
def test_special_tokens(kind: str, name: str, tmp_path: Path) -> None:
    specials = SPECIALS[kind]
    model = Model(tokens=(*BYTES, b"ab"), merges=((97, 98),), special_tokens=specials, pattern="gpt2")
    if name == "tiktoken" and kind == "each is inside the next":
        refused(Unsupported, "tiktoken: it refuses the model", impls.load, name, model)
        return
    tokenizer = impls.load(name, model)
    first, *_, longest = specials
    text = f"ab {longest} ab{first} b"
    expected = [256, 32, specials[longest], 32, 256, specials[first], 32, 98]
    assert every_form(tokenizer, [text, "ab"], allowed_special="all") == [expected, [256]]
    assert tokenizer.decode(expected) == tokenizer.decode_with_offsets(expected)[0] == text
    assert tokenizer.decode(tokenizer.encode(text, disallowed_special=())) == text
    for format in ("bpebench", "tokenizer.json") if name == "naive" else ():
        save(model, tmp_path / format, format)
        assert dict(load(tmp_path / format).special_tokens) == specials


def long_token(kind: str) -> bytes:
    return b"a" * LONG if kind == "a run" else bytes(random.Random(1).choices(b"abcd", k=LONG))


@pytest.mark.parametrize("kind", ["a run", "letters at random"])
def test_a_rank_file_with_a_long_token(kind: str, tmp_path: Path) -> None:
    words = [b"aa", b"aaaa", b"ab", b"abab", b"dc"]
    token = long_token(kind)
    model = Model(tokens=(*BYTES, *words, token), merge_rule="concatenation", pattern=())
    (irregularity,) = model.irregularities
    assert irregularity.startswith("1 token with no derivation from lower ranks, the first is id 261 (b'")
    assert len(irregularity) < 700
    ids = {}
    for name in ("naive", "greedy", "priority", "bytelevel", "compiled", "tiktoken", "tokenizers"):
        tokenizer = impls.load(name, model)
        assert tokenizer.encode(token.decode()) == [261]
        ids[name] = tokenizer.encode("ababdcaaaaaab")
        assert tokenizer.decode([261, 97]) == token.decode() + "a"
    del ids["greedy"]  # which takes the longest tokens
    assert len(set(map(tuple, ids.values()))) == 1
    refused(Unsupported, "sentencepiece: it refuses the model", impls.load, "sentencepiece", model)
    with pytest.raises(
        Unsupported, match="one derivation per token; 1 token with no derivation from lower ranks, the first is id 261"
    ):
        impls.load("backtracking", model)
    with pytest.raises(impls.InvalidModel, match=r"the token b'[a-d]+ … [a-d]+' has two ids, 261 and 262"):
        model.with_(tokens=(*model.tokens, token))
    for format in ("bpebench", "tiktoken", "tokenizer.json"):
        save(model, tmp_path / format, format)
        assert token in load(tmp_path / format, pattern="none").id_by_token


def test_a_long_token_that_merges_make() -> None:
    """A token of 2**16 letters, made by doubling."""
    tokens = [*BYTES, *(b"a" * (1 << n) for n in range(1, 17))]
    merges = tuple((97 if n == 0 else 255 + n, 97 if n == 0 else 255 + n) for n in range(16))
    text = "a" * (2**16 + 5)
    for model in (
        Model(tokens=tuple(tokens), merges=merges, pattern=()),
        Model(tokens=tuple(tokens), merge_rule="concatenation", pattern=()),
    ):
        assert model.irregularities == ()
        assert model.recovered_merges == (merges, ())
        assert impls.load("compiled", model).encode(text) == [271, 257, 97]
