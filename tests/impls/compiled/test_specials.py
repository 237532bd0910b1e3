"""Special tokens are found in the kernels by common prefix and suffix; no other text is taken for one."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest
from every_form import every_form
from refusals import refused

import impls
from impls.compiled import Compiled
from impls.core.errors import SpecialToken
from impls.core.model.model import Model
from impls.priority import Priority

SETS = {
    "one": ("<|end|>",),
    "one character": ("\u2603",),
    "with a beginning": ("<|end|>", "<|fim x y|>", "<|go|>"),
    "one begins another": ("<|e", "<|end|>", "<|end|>x", "<|"),
    "of_several_bytes": ("«ü日", "«ü🎉", "«ür ü日"),
    "longer than a word": ("<|reserved_special_token_1|>", "<|reserved_special_token_10|>", "<|reserved x"),
    "two beginnings": ("<s>", "[INST]", "</s>", "[/INST]"),
    "five beginnings": ("<s>", "[INST]", "«ü", "#!", "%x"),
    "none": (),
}


@pytest.fixture(scope="module")
def plain_model() -> Model:
    spec = impls.TrainingSpec(vocab_size=300, pattern="cl100k")
    return Priority.train_model(["the cat sat kedi üstünde 日本語 the cat üstünde"] * 2, spec)


def with_specials(model: Model, texts: tuple[str, ...]) -> Model:
    return replace(model, special_tokens={text: model.vocab_size + i for i, text in enumerate(texts)})


def texts_of(rng: random.Random, specials: tuple[str, ...]) -> str:
    """Return parts of special tokens, sometimes whole ones, with other text between them."""
    parts = []
    for _ in range(rng.randrange(1, 30)):
        special = rng.choice(specials or ("<|end|>",))
        whole = rng.random() < 0.02
        parts.append(special if whole else special[: rng.randrange(len(special))])
        parts.append(rng.choice(["", "", " the cat", "ü", " 日本語 ", "x", "🎉"]) * rng.randrange(1, 4))
    return "".join(parts)


@pytest.mark.parametrize(
    ("boundary", "name"), [*(("fast", name) for name in SETS), ("plain", "one begins another"), ("plain", "none")]
)
def test_ids_and_refusals_are_those_of_priority(
    plain_model: Model, monkeypatch: pytest.MonkeyPatch, name: str, boundary: str, fuzz: int
) -> None:
    if boundary == "plain":
        monkeypatch.setenv("BPEBENCH_COMPILED_BORDER", "plain")
    model = with_specials(plain_model, SETS[name])
    tokenizer, reference, rng, n_refused = Compiled(model), Priority(model), random.Random(4), 0
    texts = [texts_of(rng, SETS[name]) for _ in range(120 * fuzz)]
    as_text = [reference.encode(text, disallowed_special=()) for text in texts]
    assert every_form(tokenizer, texts, disallowed_special=()) == as_text == list(map(tokenizer.encode_ordinary, texts))
    expected = [reference.encode(text, allowed_special="all") for text in texts]
    assert every_form(tokenizer, texts, allowed_special="all") == expected
    for text, ids in zip(texts, expected, strict=True):
        if any(special in text for special in SETS[name]):
            n_refused += 1
            for way in (tokenizer.encode, tokenizer.encode_array):
                raised = refused(SpecialToken, None, way, text)
                wanted = refused(SpecialToken, None, reference.encode, text)
                assert str(raised) == str(wanted)
        else:
            assert tokenizer.encode(text) == ids
    assert (n_refused > 0) == bool(SETS[name])
    assert n_refused < len(texts)
