"""`compiled` gives the ids of each family's own library: three stages, NFC, characters."""

from __future__ import annotations

import random
from itertools import islice

import pytest

import impls
from harness.data import load_corpus, load_model
from impls.compiled import Compiled

pytestmark = pytest.mark.corpus


@pytest.mark.parametrize(
    ("name", "library", "splitting"),
    [
        ("deepseek", "tokenizers", "automaton, 3 stages, windows"),
        ("qwen-nfc", "tokenizers", "automaton"),
        ("mistral-v3", "sentencepiece", "automaton, borders, windows"),
    ],
)
def test_ids_are_those_of_the_familys_library(name: str, library: str, splitting: str) -> None:
    model = load_model(name)
    fast, theirs = Compiled(model), impls.load(library, model)
    assert fast.splitting.startswith(splitting)
    rng = random.Random(name)
    corpora = ("turkish", "english", "code", "parallel", "samples")
    texts = [text for corpus in corpora for text in islice(load_corpus(corpus).documents(), 40)]
    specials = rng.sample(sorted(model.whole_token_ids), 20)
    texts += [f"{text[:150]}{special}{text[150:300]}" for text, special in zip(texts[::9], specials, strict=False)]
    own = sorted(model.user_defined_texts)
    texts += [f"{text[:60]} {piece}{text[60:90]}{piece}" for text, piece in zip(texts[::7], own, strict=False)]
    texts += ["".join(chr(rng.randrange(1, rng.choice((0x80, 0x500, 0xD800)))) for _ in range(9)) for _ in range(200)]
    expected = [theirs.encode(text, disallowed_special=()) for text in texts]
    assert [fast.encode(text, disallowed_special=()) for text in texts] == expected
    assert [fast.encode_array(text, disallowed_special=()).tolist() for text in texts] == expected
    assert fast.encode_batch(texts, threads=2, disallowed_special=()) == expected
    assert [fast.count(text) for text in texts] == [len(fast.encode(text, disallowed_special=())) for text in texts]
