"""A text, a sequence or a model loses all that a difference does not need, in few trials."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from itertools import count

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from literal_training import as_bytes

import impls
from harness.minimize import Budget, least, smallest_model, smallest_sequence, smallest_text
from impls import Model, TrainingSpec


@given(st.text(min_size=1, max_size=30), st.sampled_from("abé ’\U0001f600"))
@settings(max_examples=40, deadline=None)
def test_a_minimised_text_still_differs_and_no_character_can_be_removed(text: str, needed: str) -> None:
    def differs(candidate: str) -> bool:
        return candidate.count(needed) >= 2

    small = smallest_text(needed + text + needed, differs)
    assert differs(small)
    assert not any(differs(small[:i] + small[i + 1 :]) for i in range(len(small)))


@given(st.text(max_size=40), st.text(min_size=1, max_size=3), st.text(max_size=40))
@settings(max_examples=40, deadline=None)
def test_of_a_sequence_only_what_makes_the_difference_is_left(before: str, core: str, after: str) -> None:
    items = before + core + after
    assert smallest_sequence(items, lambda some: core in some, Budget(max_seconds=math.inf)) == core
    ids = smallest_sequence(tuple(items), lambda some: core in "".join(some), Budget(max_seconds=math.inf))
    assert ids == tuple(core)
    assert smallest_sequence(items, lambda _: True, Budget(max_seconds=-1)) == items


HAN = "".join(map(chr, range(0x4E00, 0x4E00 + 9_000)))
FOXES = "the quick brown fox " * 10_000
NEEDLE = "x" * 50_000 + "need" + "y" * 50_000


@pytest.mark.parametrize(
    ("text", "differs", "places", "small", "most_trials"),
    [
        ("the quick brown fox jumps over the lazy dog", lambda t: "x" in t and "z" in t, [], "xz", 200),
        ("Kedi42", lambda t: len(t) == 6, [], "aaaa00", 200),  # what does not matter becomes plain
        ("([b])", lambda t: "b" in t and t.count("[") == t.count("]"), [], "b", 200),  # a bracket and its partner
        (FOXES, lambda t: len(t) > 123_456, [], " token" * 20_577, 40),  # the shortest repeat
        (FOXES[:20_000], lambda t: t.count("k") >= 2, [], "kk", 200),
        (NEEDLE, lambda t: "need" in t, [50_000], "need", 40),  # both sides of the place before anything else
        (NEEDLE, lambda t: "need" in t, [], "need", 200),
        (HAN, lambda t: HAN[3_000] in t and HAN[3_010] in t, [], HAN[3_000] + HAN[3_010], 400),  # ends that go
    ],
)  # fmt: skip
def test_a_text_is_small_after_few_trials(
    text: str, differs: Callable[[str], bool], places: list[int], small: str, most_trials: int
) -> None:
    trials: list[str] = []

    def noted(candidate: str) -> bool:
        trials.append(candidate)
        return differs(candidate)

    assert smallest_text(text, noted, places=places) == small
    assert len(trials) < most_trials
    short = [trial for trial in trials if len(trial) < 200]
    assert len(short) == len(set(short)), "a short candidate is tried once"


def test_the_number_of_trials_is_bounded_and_the_least_number_bisected() -> None:
    trials: list[int] = []

    def differs(text: str) -> bool:
        trials.append(len(text))
        return len(text) > 1_500

    assert 1_500 < len(smallest_text("x" * 10_000, differs, Budget(50))) < 10_000
    assert len(trials) <= 50
    assert [least(9, lambda n, wanted=wanted: n >= wanted) for wanted in (1, 4, 9)] == [1, 4, 9]  # type: ignore[misc]


def test_how_many_elements_it_takes_is_found_by_few_looks_at_the_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("harness.minimize.time.monotonic", partial(next, count()))
    assert len(smallest_sequence(tuple(range(500)), lambda some: len(some) >= 100, Budget(max_seconds=30))) == 100


# --- models --------------------------------------------------------------------------------------------------------


def test_of_a_model_the_merges_that_make_the_difference_are_left() -> None:
    spec = TrainingSpec(vocab_size=275, pattern="gpt2", special_tokens=("<s>",))
    model = impls.train("priority", ["the cat sat on the mat, the rat"], spec).model

    def differs(candidate: Model) -> bool:
        return len(impls.load("priority", candidate).encode_ordinary("he")) == 1

    small = smallest_model(model, differs, Budget(max_seconds=math.inf))
    assert as_bytes(small) == [(b"h", b"e")]
    assert (small.pattern, dict(small.special_tokens), small.vocab_size) == ((), {}, 257)


def test_special_tokens_that_matter_are_kept_behind_the_tokens_that_are_left() -> None:
    spec = TrainingSpec(vocab_size=280, special_tokens=("<s>", "<t>"))
    model = impls.train("priority", ["the cat sat on the mat"], spec).model

    def differs(candidate: Model) -> bool:
        return {"<s>", "<t>"} <= candidate.special_tokens.keys() and b"at" in candidate.tokens

    small = smallest_model(model, differs, Budget(max_seconds=math.inf))
    assert as_bytes(small) == [(b"a", b"t")]
    assert dict(small.special_tokens) == {"<s>": 257, "<t>": 258}


def test_a_merge_goes_with_what_makes_its_parts_and_a_token_that_no_merge_makes_alone() -> None:
    tokens = (*(bytes([byte]) for byte in range(256)), b"ab", b"abc", b"xyz")
    model = Model(tokens=tokens, merges=((97, 98), (256, 99)))
    assert as_bytes(smallest_model(model, lambda some: b"abc" in some.tokens, Budget())) == as_bytes(model)
    alone = smallest_model(model, lambda some: b"xyz" in some.tokens, Budget())
    assert (alone.tokens[256:], alone.merges) == ((b"xyz",), ())


@pytest.mark.parametrize("fields", [{"unknown": "<unk>"}, {"end_of_word": "</w>"}])
def test_a_model_whose_tokens_depend_on_each_other_is_left_as_it_is(fields: dict[str, str]) -> None:
    spec = TrainingSpec(vocab_size=20, alphabet="chars", **fields)  # type: ignore[arg-type]
    model = impls.train("priority", ["low lower"], spec).model
    assert smallest_model(model, lambda _: True, Budget()) is model
