"""What `incremental` promises besides the right ids: what a step reports, costs and leaves alone."""

from __future__ import annotations

import copy
from collections.abc import Callable
from functools import partial
from random import Random
from typing import Any

import pytest
from refusals import refused

import impls
from impls import Model, SpecialToken, TrainingSpec
from impls.interface import Tokenizer
from impls.operations.changes import Change, change_of
from impls.operations.incremental import CHUNK

LEARNED = ["the cat sat on the mat, and the rat that sat there as well; 12 cats" for _ in range(3)]
SPEC = TrainingSpec(vocab_size=330, pattern="cl100k", special_tokens=("<|end|>",))
MODEL = impls.train("priority", LEARNED, SPEC).model
PROSE = " ".join(f"the {word} sat, {k} times" for k in range(400) for word in ("cat", "rat", "mat", "well"))


@pytest.fixture(params=["priority", "compiled"])
def tokenizer(request: pytest.FixtureRequest) -> Tokenizer:
    return impls.load(request.param, MODEL)


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> tuple[Tokenizer, list[int]]:
    """A tokenizer, and the lengths of the texts it was asked to encode."""
    tokenizer, lengths = impls.load("priority", MODEL), []
    encode = tokenizer.encode

    def counting(text: str, **options: Any) -> list[int]:
        lengths.append(len(text))
        return encode(text, **options)

    monkeypatch.setattr(tokenizer, "encode", counting)
    return tokenizer, lengths


def test_a_step_returns_which_ids_became_which(tokenizer: Tokenizer) -> None:
    grown = tokenizer.incremental("the c")
    (the,), cat, c = tokenizer.encode("the"), tokenizer.encode(" cat"), tokenizer.encode(" c")
    assert (grown.ids, grown.n_stable, grown.n_ids, grown.text) == ([the, *c], 1, 1 + len(c), "the c")
    assert grown.append("at") == Change(1, len(c), cat)
    assert grown.append("") == Change(2, 0, [])
    assert grown.replace(0, 3, "mat") == Change(0, 1, tokenizer.encode("mat"))
    assert grown.truncate(10) == Change(grown.n_ids, 0, [])
    assert grown.truncate(0).ids == []
    assert (grown.ids, grown.n_stable, grown.text) == ([], 0, "")


def test_a_change_leaves_out_what_old_and_new_ids_begin_and_end_with() -> None:
    rng = Random(1)
    for _ in range(3000):
        old, new = (rng.choices((1, 2, 3), k=rng.randrange(5)) for _ in range(2))
        start, n_removed, ids = change_of(7, old, new)
        at = start - 7
        assert [*old[:at], *ids, *old[at + n_removed :]] == new
        assert not (n_removed and ids and (old[at] == ids[0] or old[at + n_removed - 1] == ids[-1])), (old, new)


@pytest.mark.parametrize("length", [CHUNK, 20_000])
def test_an_append_encodes_what_is_new_and_the_tail(counted: tuple[Tokenizer, list[int]], length: int) -> None:
    tokenizer, lengths = counted
    grown = tokenizer.incremental(PROSE[:length])
    for start in range(length, length + 4 * CHUNK, 20):
        lengths.clear()
        grown.append(PROSE[start : start + 20])
        assert sum(lengths) < 40
    assert grown.ids == tokenizer.encode(PROSE[: length + 4 * CHUNK - 4 * CHUNK % 20 + 20 * (4 * CHUNK % 20 > 0)])


def test_an_edit_encodes_about_two_chunks(counted: tuple[Tokenizer, list[int]]) -> None:
    tokenizer, lengths = counted
    grown = tokenizer.incremental(PROSE)
    for start in range(0, len(PROSE) - 10, 997):
        lengths.clear()
        change = grown.replace(start, start + 2, "rats")
        assert change.n_removed < 12
        assert sum(lengths) < 6 * CHUNK
    assert grown.ids == tokenizer.encode(grown.text)
    assert len(list(grown._blocks())) < 2 * len(PROSE) / CHUNK


def test_typing_and_taking_back_at_the_end_makes_no_small_chunks(tokenizer: Tokenizer) -> None:
    grown = tokenizer.incremental(PROSE[:CHUNK])
    for k in range(300):
        grown.append(" mats")
        grown.replace(len(grown.text) - 1, len(grown.text), "x" if k % 2 else "")
    assert len(list(grown._blocks())) < 8
    assert grown.ids == tokenizer.encode(grown.text)


def test_a_copy_shares_chunks_and_is_changed_alone(tokenizer: Tokenizer) -> None:
    grown = tokenizer.incremental(PROSE)
    forks = [grown.copy(), copy.copy(grown)]
    for k, fork in enumerate(forks):
        assert all(one is other for one, other in zip(grown._state[0], fork._state[0], strict=True))
        fork.append(f" fork {k}" * CHUNK)
        fork.replace(0, 3, "mats")
    grown.append(" on")
    assert grown.ids == tokenizer.encode(PROSE + " on")
    for k, fork in enumerate(forks):
        assert fork.ids == tokenizer.encode("mats" + PROSE[3:] + f" fork {k}" * CHUNK)


def test_a_step_that_raises_changes_nothing_and_names_the_place_in_the_whole_text(tokenizer: Tokenizer) -> None:
    text = PROSE + " <|en"
    grown = tokenizer.incremental(text)
    ids, n_stable = grown.ids, grown.n_stable
    for step in (lambda: grown.append("d|> " + PROSE), lambda: grown.replace(len(text), len(text), "d|>")):
        raised = refused(SpecialToken, None, step)
        assert raised.offset == len(PROSE) + 1
    for start, stop in ((-1, 2), (3, 2), (0, len(text) + 1)):
        refused(ValueError, r"start and stop must satisfy 0 <= start <= stop <=", grown.replace, start, stop, "")
    refused(TypeError, "text must be a str", grown.append, b"x")
    refused(ValueError, "n_tokens must be at least 0", grown.truncate, -1)
    assert (grown.text, grown.ids, grown.n_stable) == (text, ids, n_stable)
    assert tokenizer.incremental(text, allowed_special="all").append("d|>").ids == [MODEL.special_tokens["<|end|>"]]


def test_the_sets_of_special_tokens_are_those_it_was_made_with(tokenizer: Tokenizer) -> None:
    allowed: set[str] = set()
    grown = tokenizer.incremental("the <|en", allowed_special=allowed, disallowed_special=())
    allowed.add("<|end|>")
    grown.append("d|> cat")
    assert grown.ids == tokenizer.encode("the <|end|> cat", disallowed_special=())


def test_a_step_that_is_interrupted_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    tokenizer = impls.load("priority", MODEL)
    grown = tokenizer.incremental(PROSE[:100])
    wanted = grown.ids

    def interrupted_after(n_calls: int) -> Callable[[str], list[int]]:
        left = iter(range(n_calls))

        def encode(text: str) -> list[int]:
            if next(left, None) is None:
                raise KeyboardInterrupt
            return tokenizer.encode(text)

        return encode

    for n_calls in (0, 1, 2, 5):
        for step in (partial(grown.append, PROSE), partial(grown.replace, 0, 50, PROSE)):
            with monkeypatch.context() as patch:
                patch.setattr(grown, "_encode", interrupted_after(n_calls))
                patch.setattr(grown, "_encode_continued", grown._encode)
                refused(KeyboardInterrupt, None, step)
            assert (grown.text, grown.ids) == (PROSE[:100], wanted)


@pytest.mark.parametrize("n_tokens", [0, 1, 2, 7, 11, 20])
def test_truncate_keeps_the_longest_head(tokenizer: Tokenizer, n_tokens: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("impls.operations.incremental.CHUNK", 10)
    text = "the cat sat, 1234 times; thecatsat <|end|>on çay日本 the mat"
    grown = tokenizer.incremental(text, allowed_special="all")
    change = grown.truncate(n_tokens)
    ids = tokenizer.encode(text, allowed_special="all")
    longest = max(n for n in range(len(text)) if len(tokenizer.encode(text[:n], allowed_special="all")) <= n_tokens)
    assert grown.text == text[:longest]
    assert [*ids[: change.start], *change.ids, *ids[change.start + change.n_removed :]] == grown.ids


def test_a_long_piece_is_truncated_by_bisection(tokenizer: Tokenizer) -> None:
    grown = tokenizer.incremental("cat" * 2_000)
    grown.truncate(100)
    assert 90 <= grown.n_ids <= 100
    assert grown.ids == tokenizer.encode(grown.text)


def test_a_beginning_that_would_end_in_a_symbol_without_a_token_is_not_taken(hand_made: Callable[..., Model]) -> None:
    grown = impls.load("naive", hand_made("", extra="a b b</w>", end_of_word="</w>")).incremental("aab")
    assert grown.truncate(2) == Change(0, 3, [])
    assert grown.text == ""
