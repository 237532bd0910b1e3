"""The model families get the ids of their own libraries: tiktoken over the ranks, tokenizers or sentencepiece over the
file. mistral-common, which is not a dependency, is compared too if it is installed.

With `BPEBENCH_FULL=1` every exact implementation is held against the library of every family on 205 KB of each of
eleven languages and of code, 190 KB of Chinese, 20,000 random strings and 5,000 of joined tokens. It takes ten
minutes of processor time; `BPEBENCH_FULL=compiled,naive` asks these alone:

    BPEBENCH_FULL=1 pytest -s tests/impls/test_families.py -k own_library
"""

from __future__ import annotations

import os
import random
from functools import cache
from importlib.util import find_spec

import pytest
from family_libraries import FAMILIES, IN_MISTRAL_COMMON, mistral_common, model_named, own_library
from refusals import refused

import impls
from harness.round_trip import round_trip_text
from impls import Model
from impls.compiled import Compiled

ASKED = os.environ.get("BPEBENCH_FULL", "0")
FULL = ASKED not in ("", "0")
pytestmark = [pytest.mark.corpus, *([pytest.mark.timeout(0)] if FULL else [])]

SMALL = ("gpt2-merges", "whisper", "mistral-v1", "mistral-v3")
QUICK = ["priority", "compiled", "tiktoken"]
ALL = [*QUICK, "naive", "wordcount", "bytelevel", "backtracking", "tokenizers", "sentencepiece"]
IMPLEMENTATIONS = {name: ALL if name in SMALL else QUICK for name in FAMILIES}
"""Large vocabularies take the others seconds to prepare."""
if FULL:
    IMPLEMENTATIONS = dict.fromkeys(FAMILIES, ALL if ASKED == "1" else ASKED.split(","))
CANNOT = {
    ("tiktoken", "deepseek"): "this model has 3 split stages",
    ("backtracking", "llama3"): "needs one derivation per token",
    ("backtracking", "qwen3.6"): "needs one derivation per token",
    ("wordcount", "qwen3.6"): "232 tokens with no derivation from lower ranks",
    ("wordcount", "llama3"): "678 tokens with no derivation from lower ranks",
    **{("wordcount", name): "14 tokens with the rank of another" for name in ("mistral-v1", "mistral-v3")},
    **{("bytelevel", name): "works on bytes" for name in ("mistral-v1", "mistral-v3")},
    **{("tiktoken", name): "start from single bytes" for name in ("mistral-v1", "mistral-v3")},
}
LANGUAGES = ("en", "ru", "he", "tr", "de", "fr", "es", "it", "pt", "pl", "ta", "zh")
WORTH_KEEPING = [
    "👨\u200d👩\u200d👧\u200d👦", "\u200fשלום", "\u0301" * 3, "123456789", "a\n ", "a" * 99, "a" * 100, "a" * 101,
    "ab" * 300, "ﬁ\u0301t", "non\u00a0breaking", "12½34", "1\U00011de0234", "\u0c5c's", " " * 1_000, "中文没有" * 50,
    "\t  " * 300 + "x", "\x00", "\ufeffhi", "a\u2028b", "it'ſ", "   x", "x   ", "\r\n\r\n", "don’t", "I'LL", "▁",
]  # fmt: skip
"""Texts that some implementation has encoded wrongly before."""
ALPHABET = "aaabeE 019'’.,-_/\\\n\r\t©é\u0301ñçğİıŞöß中文日本語한שלוםم🙂👍🏽\u200d\u00a0\u2028\u3000\x00½ſ<|>"


@cache
def texts() -> tuple[str, ...]:
    """Random strings and the heads of corpora; in full whole corpora and 20,000 different strings."""
    from harness.data import load_corpus

    rng = random.Random(7)
    random_texts = ["".join(rng.choice(ALPHABET) for _ in range(rng.choice((1, 2, 5, 20)))) for _ in range(120)]
    if FULL:
        random_texts += [text for text in dict.fromkeys(load_corpus("gen/strings:300000").documents()) if text][:20_000]
    n_bytes = 205_000 if FULL else 800
    names = [*(f"parallel/{language}" for language in LANGUAGES), "code"]
    heads = ("\n".join(load_corpus(name, max_bytes=n_bytes).documents()) for name in names)
    return (*random_texts, *WORTH_KEEPING, *heads)


def of_tokens(model: Model) -> tuple[str, ...]:
    """5,000 strings of tokens of the model in any order."""
    rng = random.Random(11)
    parts = [token.decode() for token in model.tokens if token and "\ufffd" not in token.decode(errors="replace")]
    return tuple("".join(rng.choices(parts, k=rng.choice((1, 2, 3, 8)))) for _ in range(5_000 if FULL else 50))


@pytest.mark.parametrize("name", FAMILIES)
def test_every_implementation_gives_the_ids_of_the_familys_own_library(name: str) -> None:
    model = model_named(name)
    asked = (*texts(), *of_tokens(model))
    expected = list(map(own_library(name), asked))
    if name in IN_MISTRAL_COMMON and find_spec("mistral_common"):
        assert list(map(mistral_common(name), asked)) == expected
        print(f"{name}: mistral-common: {len(asked):,} texts, no difference")
    for implementation in IMPLEMENTATIONS[name]:
        if (implementation, name) in CANNOT:
            refused(impls.Unsupported, CANNOT[implementation, name], impls.load, implementation, model)
            continue
        tokenizer = impls.load(implementation, model)
        ids_of_all = tokenizer.encode_batch(asked, 1, disallowed_special=())
        differing = [text[:200] for text, ids, wanted in zip(asked, ids_of_all, expected, strict=True) if ids != wanted]
        assert not differing, (implementation, len(differing), differing[:3])
        decoded = zip(asked, map(tokenizer.decode, expected), strict=True)
        lost = [text[:200] for text, back in decoded if round_trip_text(model, text) not in (back, None)]
        assert not lost, (implementation, len(lost), lost[:3])
        print(f"{name}: {implementation}: {len(asked):,} texts, no difference")


@pytest.mark.parametrize(
    ("name", "splitting"),
    [
        ("deepseek", "automaton, 3 stages, windows"),
        ("qwen-nfc", "automaton"),
        ("mistral-v3", "automaton, borders"),
    ],
)
def test_kernels_split_a_familys_text_themselves(name: str, splitting: str) -> None:
    assert Compiled(model_named(name)).splitting.startswith(splitting)


def test_deepseeks_added_tokens_are_parsed_where_special_ones_are_text() -> None:
    theirs = own_library("deepseek")
    model = model_named("deepseek")
    assert len(model.added_tokens) == 53
    text = "".join(f"a{added} 12" for added in model.added_tokens)
    for implementation in ("priority", "compiled"):
        assert impls.load(implementation, model).encode(text, disallowed_special=()) == theirs(text), implementation
