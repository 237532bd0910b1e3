"""A text, a sequence or a model loses all that a difference does not need, in few trials."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

import impls
from harness.minimize import Budget, least, smallest_model, smallest_sequence, smallest_text
from impls import Model, TrainingSpec


def test_only_what_makes_the_difference_is_left() -> None:
    assert smallest_text("the quick brown fox jumps over the lazy dog", lambda t: "x" in t and "z" in t) == "xz"


def test_letters_and_digits_that_do_not_matter_become_plain() -> None:
    assert smallest_text("Kedi42", lambda text: len(text) == 6) == "aaaa00"


@pytest.mark.parametrize("length", [2_000, 10_000])
def test_the_number_of_trials_is_bounded(length: int) -> None:
    trials: list[int] = []

    def differs(text: str) -> bool:
        trials.append(len(text))
        return len(text) > 1_500

    small = smallest_text("x" * length, differs, Budget(50))
    assert 1_500 < len(small) < length
    assert len(trials) <= 50


@given(st.text(min_size=1), st.sampled_from("abé ’\U0001f600"))
def test_a_minimised_text_still_differs_and_no_character_can_be_removed(text: str, needed: str) -> None:
    text = needed + text + needed

    def differs(candidate: str) -> bool:
        return candidate.count(needed) >= 2

    small = smallest_text(text, differs)
    assert differs(small)
    assert not any(differs(small[:i] + small[i + 1 :]) for i in range(len(small)))


def test_what_is_wrong_only_past_a_length_becomes_the_shortest_repeat_in_few_trials() -> None:
    trials: list[int] = []

    def differs(text: str) -> bool:
        trials.append(len(text))
        return len(text) > 123_456

    assert smallest_text("the quick brown fox " * 10_000, differs) == " token" * 20_577
    assert len(trials) < 40
    trials.clear()
    assert smallest_text("the quick brown fox " * 10_000, differs, places=[123_456]) == " token" * 20_577
    assert len(trials) < 12


def test_of_a_long_text_only_the_place_is_left() -> None:
    text = "x" * 50_000 + "needle" + "y" * 50_000
    assert smallest_text(text, lambda candidate: "need" in candidate, places=[50_000]) == "need"
    assert smallest_text(text, lambda candidate: "need" in candidate) == "need"


def test_a_place_is_looked_at_on_both_sides_before_anything_else() -> None:
    trials: list[str] = []

    def differs(candidate: str) -> bool:
        trials.append(candidate)
        return "need" in candidate

    assert smallest_text("x" * 50_000 + "need" + "y" * 50_000, differs, places=[50_000]) == "need"
    assert len(trials) < 40
    assert max(map(len, trials)) <= 8


def test_a_bracket_is_removed_with_its_partner() -> None:
    assert smallest_text("([b])", lambda some: "b" in some and some.count("[") == some.count("]")) == "b"


def test_a_short_candidate_is_tried_once() -> None:
    trials: list[str] = []

    def differs(candidate: str) -> bool:
        trials.append(candidate)
        return "xyz" in candidate

    smallest_sequence("axbxyzab", differs, Budget(max_seconds=math.inf))
    assert len(trials) == len(set(trials))


def test_a_long_text_without_a_place_and_a_repeat_loses_its_beginning_and_end() -> None:
    text = "".join(map(chr, range(0x4E00, 0x4E00 + 9_000)))
    small = smallest_text(text, lambda candidate: text[3_000] in candidate and text[3_010] in candidate)
    assert small == text[3_000] + text[3_010]


def test_the_least_number_is_found_by_bisection() -> None:
    assert [least(9, lambda n, wanted=wanted: n >= wanted) for wanted in (1, 4, 9)] == [1, 4, 9]  # type: ignore[misc]


def test_of_a_long_text_a_short_repeat_is_minimised_further() -> None:
    assert smallest_text("the quick brown fox " * 1_000, lambda candidate: candidate.count("k") >= 2) == "kk"


@given(st.text(max_size=40), st.text(min_size=1, max_size=3), st.text(max_size=40))
def test_of_a_sequence_what_makes_the_difference_is_left_and_no_element_more(
    before: str, core: str, after: str
) -> None:
    items = before + core + after
    assert smallest_sequence(items, lambda some: core in some, Budget(max_seconds=math.inf)) == core
    ids = smallest_sequence(tuple(items), lambda some: core in "".join(some), Budget(max_seconds=math.inf))
    assert ids == tuple(core)


def test_a_sequence_is_left_as_it_is_when_no_time_is_left() -> None:
    assert smallest_sequence("abc", lambda _: True, Budget(max_seconds=-1)) == "abc"


# --- models --------------------------------------------------------------------------------------------------------


def merges_of(model: Model) -> list[tuple[bytes | None, bytes | None]]:
    return [(model.tokens[left], model.tokens[right]) for left, right in model.merges]


def test_of_a_model_the_merges_that_make_the_difference_are_left() -> None:
    spec = TrainingSpec(vocab_size=275, pattern="gpt2", special_tokens=("<s>",))
    model = impls.train("priority", ["the cat sat on the mat, the rat"], spec).model

    def differs(candidate: Model) -> bool:
        return len(impls.load("priority", candidate).encode_ordinary("he")) == 1

    small = smallest_model(model, differs, Budget(max_seconds=math.inf))
    assert merges_of(small) == [(b"h", b"e")]
    assert (small.pattern, dict(small.special_tokens), small.vocab_size) == ((), {}, 257)


def test_special_tokens_that_matter_are_kept_behind_the_tokens_that_are_left() -> None:
    spec = TrainingSpec(vocab_size=280, special_tokens=("<s>", "<t>"))
    model = impls.train("priority", ["the cat sat on the mat"], spec).model

    def differs(candidate: Model) -> bool:
        return {"<s>", "<t>"} <= candidate.special_tokens.keys() and b"at" in candidate.tokens

    small = smallest_model(model, differs, Budget(max_seconds=math.inf))
    assert merges_of(small) == [(b"a", b"t")]
    assert dict(small.special_tokens) == {"<s>": 257, "<t>": 258}


def test_a_merge_goes_with_what_makes_its_parts_and_a_token_that_no_merge_makes_alone() -> None:
    tokens = (*(bytes([byte]) for byte in range(256)), b"ab", b"abc", b"xyz")
    model = Model(tokens=tokens, merges=((97, 98), (256, 99)))
    assert merges_of(smallest_model(model, lambda some: b"abc" in some.tokens, Budget())) == merges_of(model)
    alone = smallest_model(model, lambda some: b"xyz" in some.tokens, Budget())
    assert (alone.tokens[256:], alone.merges) == ((b"xyz",), ())


@pytest.mark.parametrize("fields", [{"unknown": "<unk>"}, {"end_of_word": "</w>"}])
def test_a_model_whose_tokens_depend_on_each_other_is_left_as_it_is(fields: dict[str, str]) -> None:
    spec = TrainingSpec(vocab_size=20, alphabet="chars", **fields)  # type: ignore[arg-type]
    model = impls.train("priority", ["low lower"], spec).model
    assert smallest_model(model, lambda _: True, Budget()) is model
