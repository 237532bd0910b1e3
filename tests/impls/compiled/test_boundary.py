"""What the compiled tokenizer offers beyond the ids of one text, on the fast and the plain boundary."""

from __future__ import annotations

import random
from typing import Any

import pytest
from every_form import every_form
from refusals import refused

import impls
from impls.compiled import Compiled
from impls.core.model.model import Model
from impls.core.text.text import repair_surrogates
from impls.priority import Priority

TEXTS = [
    "", "a", "the cat's hat", "kedi paspasın üstünde", "日本語 текст 🎉", "  \n\n x\t", "ab" * 700, "12345 it'll",
    "x\ud83dy", "\ud83d\udc4d", "the " * 3000,
]  # fmt: skip


@pytest.fixture(scope="module")
def model() -> Model:
    texts = ["the cat sat on the mat; it'll hat the rat", "kedi paspasın üstünde oturdu", "日本語の日本"] * 2
    spec = impls.TrainingSpec(vocab_size=320, pattern="cl100k", special_tokens=("<|end|>", "<|end|>x", "<|go|>"))
    return Priority.train_model(texts, spec)


@pytest.fixture
def tokenizer(boundary: str, model: Model) -> Compiled:
    return Compiled(model)


KINDS_OF_CHARACTERS = {
    "one byte": "ab \x7f\x80\xe9\xff",
    "two bytes": "ab \x80\u07ff\u0131\u015f",
    "two bytes, any": "a\u07ff\u0800\ud7ff\ue000\uffff\u65e5",
    "four bytes": "a\xe9\u0800\U00010000\U0001f600\U0010ffff",
    "surrogates": "a\ud800\udfff\u0131",
}


@pytest.mark.parametrize("kind", KINDS_OF_CHARACTERS)
def test_texts_of_characters_of_every_width(tokenizer: Compiled, model: Model, kind: str) -> None:
    rng = random.Random(kind)
    texts = ["".join(rng.choices(KINDS_OF_CHARACTERS[kind], k=length)) for length in [*range(70), 1500]]
    expected = [repair_surrogates(text).encode() for text in texts]
    assert [tokenizer.decode_bytes(tokenizer.encode(text)) for text in texts] == expected
    assert [tokenizer.decode_bytes(ids) for ids in tokenizer.encode_batch(texts, threads=2)] == expected
    texts = [*TEXTS, *texts[::3]]
    lists = list(map(Priority(model).encode, texts))
    assert every_form(tokenizer, texts) == lists
    assert list(map(tokenizer.count, texts)) == list(map(len, lists))


def test_what_is_no_text_is_refused_and_not_read_as_one(tokenizer: Compiled) -> None:
    class Text(str):
        """A text of a type of its own."""

    # Bytes that begin with the state word of a str, at the same offset.
    nonsense: list[Any] = [None, 5, ["a"], *(bytes([first]) + bytes(60) for first in range(256))]
    for wrong in nonsense:
        for way in (tokenizer.encode, tokenizer.encode_array, tokenizer.count):
            refused((TypeError, AttributeError), None, way, wrong)
    for text in ("kedi üstünde", "日本語", "the cat"):
        assert tokenizer.encode(Text(text)) == tokenizer.encode(text)


def test_the_boundary_can_be_chosen(model: Model, monkeypatch: pytest.MonkeyPatch) -> None:
    assert Compiled(model).splitting == "automaton, windows"
    monkeypatch.setenv("BPEBENCH_COMPILED_BORDER", "plain")
    assert Compiled(model)._own.builtins is None
