"""Training in kernels learns what `priority` learns, whatever has to grow, fall or be split on the way."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import get_args

import numpy as np
import pytest

import impls
from impls import InvalidPattern, InvalidSpec, Model, TrainingSpec, Unsupported
from impls.compiled import Compiled
from impls.compiled.training import count, learning, parts, words
from impls.compiled.training import layout as training_layout
from impls.compiled.training import train as training
from impls.core.specification import Ties
from impls.core.text.patterns import resolve
from impls.priority import Priority

TIES = get_args(Ties)
SPLIT_OUTSIDE = r"(?<=[a-z])[ ]|[a-z]+|[^a-z]"
"""It has a look-behind, which the automaton lacks: the kernels get pieces split by `regex`."""


def text_of(rng: random.Random, n_words: int) -> str:
    """Return frequent and rare words, shorter and longer than a piece that is its own key, and other characters."""
    common = ["".join(rng.choices("abcde", k=rng.choice([1, 2, 3, 7, 8, 9]))) for _ in range(30)]
    parts = []
    for _ in range(n_words):
        rare = "".join(rng.choices("abé日🎉x", k=rng.choice([2, 5, 40])))
        parts.append(rng.choice([*common, *common, *common, rare]))
    return " ".join(parts) + rng.choice(["", "\n", "  12\n\n"])


def assert_learns_the_same(texts: list[str], spec: TrainingSpec) -> Model:
    model, expected = Compiled.train_model(iter(texts), spec), Priority.train_model(texts, spec)
    assert model.merges == expected.merges
    assert model.merge_counts == expected.merge_counts
    assert model.digest == expected.digest
    return model


@pytest.mark.parametrize("ties", TIES)
@pytest.mark.parametrize("alphabet", ["bytes", "chars"])
def test_every_rule_and_alphabet(alphabet: str, ties: str, fuzz: int) -> None:
    rng = random.Random(f"{alphabet} {ties}")
    for i in range(8 * fuzz):
        end = rng.choice([None, "</w>"]) if alphabet == "chars" else None
        pattern = rng.choice(["gpt2", r"\S+|\s", "none"])
        spec = TrainingSpec(vocab_size=600, ties=ties, alphabet=alphabet, pattern=pattern, end_of_word=end)  # type: ignore[arg-type]
        assert_learns_the_same([text_of(rng, rng.choice([3, 40, 200])) for _ in range(1 + i % 3)], spec)


@pytest.mark.parametrize("pattern", ["gpt2", "cl100k", "o200k", "turkish", "none", "deepseek", SPLIT_OUTSIDE])
def test_every_way_of_splitting(pattern: str, fuzz: int) -> None:
    rng = random.Random(pattern)
    for _ in range(3 * fuzz):
        texts = [text_of(rng, rng.choice([1, 5, 80])) for _ in range(rng.choice([1, 3]))]
        assert_learns_the_same(["", *texts, "a"], TrainingSpec(vocab_size=256 + 150, pattern=pattern))


@pytest.mark.parametrize("base_order", ["raw", "gpt2"])
def test_until_no_pair_is_left(base_order: str) -> None:
    texts = [text_of(random.Random(2), 400)]
    for min_count in (1, 2, 5):
        spec = TrainingSpec(vocab_size=60_000, min_count=min_count, base_order=base_order)  # type: ignore[arg-type]
        model = assert_learns_the_same(texts, spec)
        assert len(model.tokens) < 60_000, "the threshold was to fall to the least"


def test_runs_are_replaced_from_left_to_right_and_counted_overlapping() -> None:
    spec = TrainingSpec(vocab_size=256 + 12, pattern="none")
    for n in range(1, 42):
        for unit in ("a", "ab", "aab", "aba"):
            assert_learns_the_same([unit * n, "b" * (n % 5), "a" * (n // 3)], spec)


def test_special_texts_long_tokens_and_no_room() -> None:
    texts = ["abc abc abcd abcd <s> <s> <s> aa aa aa"]
    spec = TrainingSpec(vocab_size=290, special_tokens=("abc", "<s>", " abcd"), special_ids="first", unknown="aa")
    model = assert_learns_the_same(texts, spec)
    assert not {b"abc", b"<s>", b" abcd", b"aa"} & set(model.tokens)
    for most in (1, 2, 3):
        model = assert_learns_the_same(texts, replace(spec, special_tokens=(), max_token_bytes=most))
        assert max(len(token) for token in model.tokens if token) == most
    assert assert_learns_the_same(texts, TrainingSpec(vocab_size=256)).merges == ()
    assert assert_learns_the_same([], TrainingSpec(vocab_size=300)).merges == ()
    with pytest.raises(InvalidSpec, match="occurs in the corpus"):
        Compiled.train_model(texts, TrainingSpec(vocab_size=290, alphabet="chars", end_of_word="bc"))
    with pytest.raises(InvalidSpec, match="below the base size"):
        Compiled.train_model((pytest.fail("read") for _ in texts), TrainingSpec(vocab_size=255))
    with pytest.raises(TypeError, match="not one str"):
        Compiled.train_model("one text", TrainingSpec(vocab_size=300))


def test_surrogates_are_repaired_as_everywhere() -> None:
    assert_learns_the_same(["a\ud83d\ude00 \ud83d a\ud83d\ude00 \ud83d"], TrainingSpec(vocab_size=270))


@pytest.mark.parametrize("pattern", ["[a-z]+", "(?<=x)[a-z]+|[a-z]"])
def test_what_the_pattern_does_not_cover_is_named(pattern: str) -> None:
    with pytest.raises(InvalidPattern) as expected:
        Priority.train_model(["ab", "ab1"], TrainingSpec(vocab_size=270, pattern=pattern))
    with pytest.raises(InvalidPattern) as raised:
        Compiled.train_model(["ab", "ab1"], TrainingSpec(vocab_size=270, pattern=pattern))
    assert str(raised.value) == str(expected.value)


def test_a_text_that_is_too_long_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(words, "MOST_TEXT_BYTES", 20)
    with pytest.raises(Unsupported, match="a text of 21 bytes; it trains on texts of 20 at most"):
        Compiled.train_model(["a" * 20, "b" * 21], TrainingSpec(vocab_size=270))


@pytest.mark.parametrize("pattern", ["gpt2", SPLIT_OUTSIDE])
@pytest.mark.parametrize("n_threads", [1, 2, 3])
def test_threads_tables_that_grow_and_texts_that_are_cut(
    pattern: str, n_threads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(count, "n_cores", lambda: n_threads)
    monkeypatch.setattr(parts, "_BATCH_BYTES", 1 << 12)
    monkeypatch.setattr(words, "_BITS", 12)
    monkeypatch.setattr(words, "_ARENA_BYTES", 1 << 10)
    monkeypatch.setattr(words, "_MOST_COUNTED", 1 << 16)
    monkeypatch.setattr(learning, "_LEAST_BITS", 4)
    rng = random.Random(9)
    letters = "abcdefghij"
    distinct = ["".join(rng.choices(letters, k=rng.choice([3, 6, 11]))) for _ in range(9_000)]
    texts = [" ".join(distinct[:4000]), "\n".join(distinct[3000:]), text_of(rng, 300)]
    for share, ties in ((1, "smallest"), (8, "first"), (8, "largest")):
        monkeypatch.setattr(learning, "_SHARE", share)
        assert_learns_the_same(texts, TrainingSpec(vocab_size=256 + 700, pattern=pattern, ties=ties))  # type: ignore[arg-type]


def test_an_error_in_one_thread_ends_all(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(count, "n_cores", lambda: 2)
    monkeypatch.setattr(parts, "_BATCH_BYTES", 100)
    read = 0

    def texts():  # type: ignore[no-untyped-def]
        nonlocal read
        for i in range(100_000):
            read = i
            yield "1" if i == 50 else "abc" * 40

    with pytest.raises(InvalidPattern):
        Compiled.train_model(texts(), TrainingSpec(vocab_size=270, pattern="[a-z]+"))
    assert read < 50_000


def test_a_word_that_comes_more_often_than_a_weight_can_say() -> None:
    text = text_of(random.Random(4), 200)
    spec = TrainingSpec(vocab_size=256 + 80)
    expected = Compiled.train_model([text], spec)

    def counted(texts: list[str], spec: TrainingSpec) -> words.Pieces:
        found = training_counted(texts, spec)
        found.counts = found.counts * (training_layout.MOST_WEIGHT + 5)
        return found

    training_counted = training._counted
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(training, "_counted", counted)
        model = Compiled.train_model([text], spec)
    assert model.merges == expected.merges
    times = training_layout.MOST_WEIGHT + 5
    assert [count // times for count in model.merge_counts or ()] == list(expected.merge_counts or ())


def test_counts_go_on_where_they_were_collected() -> None:
    texts = [text_of(random.Random(6), 100)] * 3
    found = parts.new_words(resolve("gpt2"))
    found.add([text.encode() for text in texts])
    found.collect()
    before = found.counts
    found.add([text.encode() for text in texts])
    found.collect()
    assert np.array_equal(found.counts, 2 * before)


@pytest.mark.corpus
def test_a_vocabulary_for_turkish() -> None:
    from harness.data import load_corpus

    texts = list(load_corpus("turkish", split="train", max_bytes=300_000).documents())
    spec = TrainingSpec(vocab_size=3_000, pattern="turkish")
    model = assert_learns_the_same(texts, spec)
    assert impls.get("compiled")(model).encode("kitaplarımızdan") == impls.get("priority")(model).encode(
        "kitaplarımızdan"
    )
