"""What can be asked of a trainer, what is refused, and what the parts of a specification mean."""

from __future__ import annotations

import pytest
from refusals import refused

import impls
from impls import InvalidModel, InvalidSpec, TrainingSpec
from impls.core.training import may_become_token

TRAINERS = ["naive", "wordcount", "priority", "bytelevel"]
NO_TEXTS = (None, -1, 1.5, True, b"ab", (None,))
CHARACTER_TRAINERS = ["naive", "wordcount", "priority"]


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("vocab_size", 0), ("vocab_size", 2.5), ("vocab_size", True), ("min_count", 0), ("max_merges", -1),
        ("max_token_bytes", 0), ("alphabet", "words"), ("ties", "random"),
        ("base_order", "sorted"),
        ("special_ids", "middle"), ("special_tokens", "<s>"), ("special_tokens", ("<s>", "<s>")),
        ("special_tokens", ("",)), ("special_tokens", (3,)), ("end_of_word", "</w>"),
        *((field, value) for field in ("pattern", "special_tokens") for value in NO_TEXTS),
    ],
)  # fmt: skip
def test_a_field_that_is_wrong_is_named(field: str, value: object) -> None:
    caught = refused(InvalidSpec, f"TrainingSpec.{field}", TrainingSpec, **{"vocab_size": 300} | {field: value})
    assert caught.field == field


def test_an_argument_of_a_wrong_type_is_named() -> None:
    spec = TrainingSpec(vocab_size=258)
    for wrong in (None, 5, {"vocab_size": 300}):
        for how in ({}, {"threads": 2}, {"superword_from": 257}):
            refused(TypeError, "spec must be a TrainingSpec, not ", impls.train, "compiled", ["a"], wrong, **how)
        refused(TypeError, "spec must be a TrainingSpec, not ", impls.train_parity_aware, {"en": ["a"]}, wrong)
    for name in (None, 5, [], b"naive"):
        for call in (lambda name: impls.get(name), lambda name: impls.train(name, ["a"], spec)):
            refused(TypeError, "the name of an implementation must be a str, not ", call, name)
    refused(TypeError, "extend must be a Model, not 5", impls.train, "naive", ["a"], spec, extend=5)


def test_fields_that_contradict_each_other_are_named() -> None:
    with pytest.raises(InvalidSpec, match="two special tokens have the same text"):
        TrainingSpec(vocab_size=300, special_tokens=("<unk>",), unknown="<unk>")
    with pytest.raises(InvalidSpec, match=r"TrainingSpec\.base_order: 'gpt2' orders bytes"):
        TrainingSpec(vocab_size=300, alphabet="chars", base_order="gpt2")
    refused(InvalidSpec, "a text that is not empty", TrainingSpec, vocab_size=300, alphabet="chars", end_of_word="")


@pytest.mark.parametrize("name", TRAINERS)
def test_ids_are_base_then_merges_then_specials_then_unknown_or_specials_first(name: str) -> None:
    def ids(special_ids: str) -> tuple[int, ...]:
        spec = TrainingSpec(vocab_size=300, special_tokens=("<s>", "</s>"), unknown="<unk>", special_ids=special_ids)  # type: ignore[arg-type]
        model = impls.train(name, ["abab"], spec).model
        return model.id_by_token[b"\0"], *model.merge_results, *model.special_tokens.values(), model.unknown_id

    assert ids("last") == (0, 256, 257, 258, 259, 260)
    assert ids("first") == (3, 259, 260, 0, 1, 2)


@pytest.mark.parametrize("name", TRAINERS)
def test_a_special_token_that_is_a_base_symbol_is_refused(name: str) -> None:
    with pytest.raises(InvalidModel, match="the special token 'a'"):
        impls.train(name, ["b"], TrainingSpec(vocab_size=300, special_tokens=("a",)))


@pytest.mark.parametrize("name", ["naive", "compiled"])
def test_what_is_no_list_of_texts_is_refused(name: str) -> None:
    for texts, message in [
        ("abc", "texts must be several texts, not one str; put it into a list"),
        (None, "texts must be several texts, not None"),
        (["a", b"x"], "texts[1] must be a str, not bytes b'x'"),
        (iter(["a", "b", None]), "texts[2] must be a str, not None"),
    ]:
        raised = refused(TypeError, None, impls.train, name, texts, TrainingSpec(vocab_size=300))
        assert str(raised) == message


@pytest.mark.parametrize("name", TRAINERS)
def test_texts_may_come_from_any_iterable_once_and_lone_surrogates_are_repaired(name: str) -> None:
    spec = TrainingSpec(vocab_size=259, pattern="none")
    model = impls.train(name, (text for text in ["a\ud83d", "a\ufffd"]), spec).model
    assert model.tokens[258] == "a\ufffd".encode()
    assert model.merge_counts == (2, 2, 2)


@pytest.mark.parametrize("name", CHARACTER_TRAINERS)
def test_the_alphabet_of_characters_is_in_code_point_order(name: str) -> None:
    model = impls.train(name, ["çba😀"], TrainingSpec(vocab_size=4, alphabet="chars")).model
    assert model.tokens == tuple(character.encode() for character in "abç😀")


def test_reserved_texts_are_compared_as_bytes() -> None:
    spec = TrainingSpec(vocab_size=300, special_tokens=("\ufffd",))
    assert may_become_token(b"\xe2\x82", spec)  # no UTF-8, though it would be shown as U+FFFD
    assert not may_become_token("\ufffd".encode(), spec)
