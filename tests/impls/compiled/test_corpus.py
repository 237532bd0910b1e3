"""`compiled` gives tiktoken's ids on real text and on random strings, for the four published vocabularies."""

from __future__ import annotations

import random
from itertools import islice

import pytest

import impls
from harness.data import load_corpus, load_model
from impls.compiled import Compiled
from impls.core.text.text import repair_surrogates

pytestmark = pytest.mark.corpus

POOLS = [
    "ab", "aA1 ", "  \n\r\t", "'sStTrReEvVmMlLdD", " 's", "0123456789", "½²٣", "éüıİſK", "日本語漢字テキスト", "한국어",
    "абвГДЕ", "אבג", "\u0301\u0308", "\u2028\u00a0\u3000\u2003", "🎉👨\u200d👩", "/\\-_=+*#", "ǅǈʰ",
    "\x00\x1c\x7f\ufeff\ufffd",
    "عربي", "ไทย", "हिन्दी",
]  # fmt: skip
CORPORA = ["turkish", "english", "code", "parallel", "samples"]
MODELS = ["r50k_base", "p50k_base", "cl100k_base", "o200k_base"]


def random_text(rng: random.Random) -> str:
    if rng.random() < 0.1:
        ranges = ((0, 0x80), (0, 0x800), (0, 0xD800), (0x10000, 0x110000))
        return "".join(chr(rng.randrange(*rng.choice(ranges))) for _ in range(rng.randrange(1, 60)))
    pools = rng.sample(POOLS, rng.randrange(1, 5))
    parts = []
    for _ in range(rng.randrange(1, 12)):
        pool = rng.choice(pools)
        parts.append("".join(rng.choice(pool) for _ in range(rng.choice((1, 1, 2, 3, 7, 20, 80)))))
    return "".join(parts)


@pytest.mark.parametrize("name", MODELS)
def test_ids_are_those_of_tiktoken(name: str, fuzz: int) -> None:
    model = load_model(name)
    fast, reference = Compiled(model), impls.load("tiktoken", model)
    assert fast.splitting.startswith("automaton")
    documents = [
        text for corpus in CORPORA for text in islice(load_corpus(corpus, max_bytes=1_000_000).documents(), 1000)
    ]
    rng = random.Random(name)
    for number in range(fuzz + 1):
        texts = [random_text(rng) for _ in range(2000)] if number else documents
        expected = [reference.encode(text, disallowed_special=()) for text in texts]
        assert fast.encode_batch(texts, disallowed_special=()) == expected
        for text, ids in list(zip(texts, expected, strict=True))[::5]:
            assert fast.encode(text, disallowed_special=()) == ids
            assert fast.decode(ids) == repair_surrogates(text)
