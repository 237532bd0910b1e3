"""Word counts and the cache per word."""

from __future__ import annotations

import pytest

import impls
from impls import TrainingSpec, wordcount
from impls.wordcount import WordCount

MODEL = impls.get("wordcount").train_model(["low lower lowest low low"], TrainingSpec(vocab_size=265))


def test_a_word_met_again_gets_the_same_ids_and_a_list_of_its_own() -> None:
    tokenizer = WordCount(MODEL)
    first = tokenizer.encode_piece(" lower")
    expected = list(first)
    first.append(-1)
    second = tokenizer.encode_piece(" lower")
    assert second == expected
    second.append(-1)
    assert tokenizer.encode_piece(" lower") == expected


def test_the_cache_is_bounded_and_right_after_it_was_full(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wordcount, "_CACHED_WORDS", 10)
    tokenizer, yardstick = WordCount(MODEL), impls.load("naive", MODEL)
    for number in range(50):
        text = f"low{number} lower" * (1 + number)
        assert tokenizer.encode(text) == yardstick.encode(text)
        assert tokenizer._known.cache_info().currsize <= 10
    tokenizer._known.cache_clear()
    tokenizer.encode("low" * 1_000)
    assert tokenizer._known.cache_info().currsize == 0


def test_a_cached_word_is_no_other_word() -> None:
    word = "abcabcabcabcabcabcab"
    model = WordCount.train_model([word, "abcd"], TrainingSpec(vocab_size=262, pattern="none"))
    caching = WordCount(model)
    for text in [*(word[:n] for n in range(len(word), 0, -1)), *(word[n:] for n in range(len(word))), "abcd", word]:
        assert caching.encode(text) == WordCount(model).encode(text) == caching.encode(text)
