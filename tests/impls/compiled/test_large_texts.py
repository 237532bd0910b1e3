"""Texts too large for a context's buffers: their UTF-8 and ids go to separate memory, which is released."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from child import run

import impls
from impls.compiled import Compiled, context
from impls.priority import Priority

LARGE = {
    "ASCII": "the cat sat " * 400,
    "two bytes": "kedi üstünde " * 400,
    "three bytes": "日本語 text " * 400,
    "four bytes": "🎉 日本語 x" * 400,
    "a lone surrogate": "kedi \ud83d üstünde " * 400,
    "a special token": "kedi üstünde<|end|> " * 400,
}


@pytest.fixture(scope="module")
def tokenizer() -> Compiled:
    spec = impls.TrainingSpec(vocab_size=320, pattern="gpt2", special_tokens=("<|end|>",))
    model = Priority.train_model(["the cat sat kedi üstünde 日本語 text"] * 2, spec)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(context, "_TEXT_BYTES", 1 << 11)
        patch.setattr(context, "_OUT_IDS", 1 << 10)
        return Compiled(model)


@pytest.mark.parametrize("text", LARGE.values(), ids=LARGE)
def test_ids_are_those_of_priority_and_nothing_stays_in_use(tokenizer: Compiled, text: str) -> None:
    expected = Priority(tokenizer.model).encode(text, allowed_special="all")
    for _ in range(2):
        assert tokenizer.encode(text, allowed_special="all") == expected
        array = tokenizer.encode_array(text, allowed_special="all")
        assert (array.dtype, array.tolist()) == (np.uint32, expected)
        assert tokenizer.encode_batch([text, "the cat"], allowed_special="all")[0] == expected
        if "<|" not in text:
            assert tokenizer.count(text) == len(expected)
    assert tokenizer._own.context["large_text"] == 0


GIVEN_BACK = """
import resource
import impls
from impls.compiled import Compiled
from impls.compiled import context

context._TEXT_BYTES, context._OUT_IDS = 1 << 12, 1 << 12
tokenizer = Compiled(impls.get("priority").train_model(["kedi"], impls.TrainingSpec(vocab_size=258, pattern="gpt2")))

def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024

text = "kedi üstü\\u015f " * 100_000
for _ in range(3):
    tokenizer.count(text), tokenizer.encode_array(text)
before = peak()
for _ in range(40):
    tokenizer.count(text), tokenizer.encode_array(text)
print(peak() - before < 10 or peak() - before)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the peak is read in the unit Linux gives it in")
def test_memory_of_large_texts_is_given_back() -> None:
    assert run(GIVEN_BACK).stdout == "True\n"


def test_a_list_whose_items_take_megabytes_holds_what_a_short_one_does(tokenizer: Compiled) -> None:
    line = "the cat sat\n"
    once = tokenizer.encode(line)
    n_lines = (1 << 19) // len(once) + 1
    ids = tokenizer.encode(line * n_lines)
    assert len(ids) >= 1 << 19
    assert ids == once * n_lines
