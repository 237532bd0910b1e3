"""SuperBPE: two stages of training, the second one with another pattern, and a model that everybody encodes."""

from __future__ import annotations

import pytest

import impls
from impls import InvalidPattern, InvalidSpec, TrainingSpec, Unsupported
from impls.core.text.patterns import NAMED, Splitter
from impls.registry import learn

TRAINERS = ["naive", "priority", "compiled"]
TEXTS = ["by the way, by the way in 2024 and 12345 ways", "on the way by the way", "the way\nby the way"] * 2


@pytest.mark.parametrize("name", TRAINERS)
def test_superwords_span_spaces_and_never_digits(name: str) -> None:
    spec = TrainingSpec(vocab_size=300, pattern="cl100k")
    tokenizer = impls.train(name, TEXTS, spec, superword_from=275)
    model = tokenizer.model
    assert model.pattern == NAMED["superword"]
    words, superwords = (
        [(model.tokens[i] or b"").decode() for i in made]
        for made in (model.merge_results[:19], model.merge_results[19:])
    )
    assert not [token for token in words if " " in token[1:].strip()]
    assert [token for token in superwords if " " in token[1:].strip()]
    assert not [token for token in superwords if any(map(str.isdigit, token)) and not token.isdigit()]
    assert len(tokenizer.encode("by the way")) == 1
    assert tokenizer.decode(tokenizer.encode(TEXTS[0])) == TEXTS[0]


@pytest.mark.parametrize("name", TRAINERS)
def test_both_stages_may_go_on_from_a_model(name: str) -> None:
    begun = learn("priority", ["the cat"] * 3, TrainingSpec(vocab_size=259))
    spec = TrainingSpec(vocab_size=290)
    model = learn(name, TEXTS, spec, begun, 270, "none")
    one = impls.get("naive").extend_model(begun, TEXTS, TrainingSpec(vocab_size=270))
    assert model == impls.get("naive").extend_model(one, TEXTS, TrainingSpec(vocab_size=290, pattern="none"))


def test_the_pattern_of_superwords_cuts_around_digits_in_threes_only() -> None:
    pieces = Splitter(NAMED["superword"]).split("By the way,\nin 12345 ways² (5)")
    assert pieces == ["By the way,\nin ", "123", "45", " ways", "²", " (", "5", ")"]


@pytest.mark.parametrize("name", ["greedy", "tokenizers"])
def test_what_cannot_be_done_is_refused_before_a_text_is_read(name: str) -> None:
    texts = (pytest.fail("a text was read") for _ in range(1))
    with pytest.raises(InvalidPattern, match="capturing group"):
        impls.train(name, texts, TrainingSpec(vocab_size=300), superword_from=280, superword_pattern="(a)")
    with pytest.raises(Unsupported, match=f"^{name}: does not continue from a model, which learning superwords needs"):
        impls.train(name, texts, TrainingSpec(vocab_size=300), superword_from=280)
    for superword_from, problem in (
        (301, "vocab_size: 300 is below the 301 ids superwords follow"),
        (255, "vocab_size: 255 is below the base size"),
        (0, "vocab_size: must be a whole number of at least 1"),
    ):
        with pytest.raises(InvalidSpec, match=problem):
            impls.train("priority", TEXTS, TrainingSpec(vocab_size=300), superword_from=superword_from)
