"""Training in kernels learns what `priority` learns, from texts or from a model, whatever has to grow or be split."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any, get_args

import pytest
from refusals import refused

from impls import InvalidPattern, Model, TrainingSpec, Unsupported
from impls.compiled import Compiled
from impls.compiled.training import count, parts, words
from impls.compiled.training import layout as training_layout
from impls.compiled.training import train as training
from impls.core.specification import Ties
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


def texts_of(rng: random.Random) -> list[str]:
    return [text_of(rng, rng.choice([3, 40, 200])) for _ in range(rng.randrange(1, 4))]


def assert_learns_the_same(texts: list[str], spec: TrainingSpec, begun: Model | None = None) -> Model:
    if begun is None:
        model, expected = Compiled.train_model(iter(texts), spec), Priority.train_model(texts, spec)
        assert model.digest == expected.digest
    else:
        model, expected = Compiled.extend_model(begun, iter(texts), spec), Priority.extend_model(begun, texts, spec)
    assert model.merges == expected.merges
    assert model.merge_counts == expected.merge_counts
    assert model == expected
    return model


@pytest.mark.parametrize("ties", TIES)
@pytest.mark.parametrize("alphabet", ["bytes", "chars"])
def test_every_rule_and_alphabet_at_once_and_continued(alphabet: str, ties: str, fuzz: int) -> None:
    rng = random.Random(f"{alphabet} {ties}")
    for _ in range(8 * fuzz):
        options: dict[str, Any] = {
            "ties": ties, "alphabet": alphabet, "special_ids": rng.choice(["first", "last"]),
            "end_of_word": rng.choice([None, "</w>"]) if alphabet == "chars" else None,
            "pattern": rng.choice(["gpt2", r"\S+|\s", "none"]),
        }  # fmt: skip
        spec = TrainingSpec(vocab_size=420, unknown=rng.choice([None, "<unk>"]), **options)
        begun = assert_learns_the_same(texts_of(rng), spec)
        more = replace(
            spec, vocab_size=600, pattern=rng.choice(["gpt2", "superword", "none", "deepseek"]),
            min_count=rng.choice([1, 2, 2]), max_token_bytes=rng.choice([None, 1, 3, 9]),
        )  # fmt: skip
        if spec.unknown or alphabet == "bytes":
            assert_learns_the_same([text.replace("c", rng.choice("cz")) for text in texts_of(rng)], more, begun)


@pytest.mark.parametrize("pattern", ["gpt2", "cl100k", "o200k", "turkish", "none", "deepseek", SPLIT_OUTSIDE])
def test_every_way_of_splitting(pattern: str, fuzz: int) -> None:
    rng = random.Random(pattern)
    for _ in range(3 * fuzz):
        assert_learns_the_same(
            ["", *texts_of(rng), "a\ud83d\ude00 \ud83d"], TrainingSpec(vocab_size=406, pattern=pattern)
        )


@pytest.mark.parametrize("base_order", ["raw", "gpt2"])
def test_until_no_pair_is_left(base_order: str) -> None:
    texts = [text_of(random.Random(2), 400)]
    for min_count in (1, 2, 5):
        spec = TrainingSpec(vocab_size=60_000, min_count=min_count, base_order=base_order)  # type: ignore[arg-type]
        model = assert_learns_the_same(texts, spec)
        assert len(model.tokens) < 60_000, "the threshold was to fall to the least"
    assert assert_learns_the_same([], spec).merges == ()


def test_runs_are_replaced_from_left_to_right_and_counted_overlapping() -> None:
    spec = TrainingSpec(vocab_size=256 + 12, pattern="none")
    for n in range(1, 42):
        for unit in ("a", "ab", "aab", "aba"):
            assert_learns_the_same([unit * n, "b" * (n % 5), "a" * (n // 3)], spec)


@pytest.mark.parametrize("pattern", ["[a-z]+", "(?<=x)[a-z]+|[a-z]"])
def test_what_the_pattern_does_not_cover_is_named(pattern: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(count, "n_cores", lambda: 2)
    monkeypatch.setattr(parts, "_BATCH_BYTES", 100)
    texts = iter(["abc" * 40] * 50 + ["1"] + ["abc" * 40] * 100_000)
    expected = refused(InvalidPattern, None, Priority.train_model, ["1"], TrainingSpec(vocab_size=270, pattern=pattern))
    raised = refused(InvalidPattern, None, Compiled.train_model, texts, TrainingSpec(vocab_size=270, pattern=pattern))
    assert str(raised) == str(expected)
    assert next(texts), "an error in one thread ends all"


def test_a_text_that_is_too_long_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(words, "MOST_TEXT_BYTES", 20)
    with pytest.raises(Unsupported, match="a text of 21 bytes; it trains on texts of at most 20"):
        Compiled.train_model(["a" * 20, "b" * 21], TrainingSpec(vocab_size=270))


@pytest.mark.parametrize("pattern", ["gpt2", SPLIT_OUTSIDE])
@pytest.mark.parametrize("n_threads", [1, 3])
def test_threads_growing_tables_and_cut_texts(pattern: str, n_threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(count, "n_cores", lambda: n_threads)
    monkeypatch.setattr(parts, "_BATCH_BYTES", 1 << 12)
    monkeypatch.setattr(words, "_BITS", 12)
    monkeypatch.setattr(words, "_ARENA_BYTES", 1 << 10)
    monkeypatch.setattr(training, "_LEAST_BITS", 4)
    monkeypatch.setattr(training, "_BATCH", 100)
    rng = random.Random(9)
    distinct = ["".join(rng.choices("abcdefghij", k=rng.choice([3, 6, 11]))) for _ in range(9_000)]
    texts = [" ".join(distinct[:4000]), "\n".join(distinct[3000:]), text_of(rng, 300)]
    for share, ties in ((1, "smallest"), (8, "first"), (8, "largest")):
        monkeypatch.setattr(training, "_SHARE", share)
        spec = TrainingSpec(vocab_size=256 + 500, pattern=pattern, ties=ties)  # type: ignore[arg-type]
        begun = assert_learns_the_same(texts, spec)
    assert_learns_the_same(texts[1:], replace(spec, vocab_size=900), begun)


def test_a_word_that_comes_more_often_than_a_weight_can_say(monkeypatch: pytest.MonkeyPatch) -> None:
    text, spec, times = text_of(random.Random(4), 200), TrainingSpec(vocab_size=300), training_layout.MOST_WEIGHT + 5
    more = replace(spec, vocab_size=336)
    begun = Compiled.train_model([text], spec)
    expected = Compiled.extend_model(begun, [text], more)
    counted = training._counted

    def many_times(texts: list[str], spec: TrainingSpec) -> words.Pieces:
        pieces = counted(texts, spec)
        pieces.hold("counts", pieces.counts * times)
        return pieces

    monkeypatch.setattr(training, "_counted", many_times)
    for few, many, first in (
        (begun, Compiled.train_model([text], spec), 0),
        (expected, Compiled.extend_model(begun, [text], more), len(begun.merges)),
    ):
        assert many.merges == few.merges
        assert [n // times for n in (many.merge_counts or ())[first:]] == list((few.merge_counts or ())[first:])


def test_ranks_in_any_order_of_ids_and_gaps() -> None:
    rng = random.Random(5)
    begun = Priority.train_model([text_of(rng, 300)], TrainingSpec(vocab_size=500))
    order = [*range(len(begun.tokens)), None, None]
    rng.shuffle(order)
    at = {old: new for new, old in enumerate(order) if old is not None}
    shuffled = begun.with_(
        tokens=tuple(None if old is None else begun.tokens[old] for old in order),
        merges=tuple((at[left], at[right]) for left, right in begun.merges),
    )
    for ties in TIES:
        assert_learns_the_same([text_of(rng, 300)], TrainingSpec(vocab_size=len(order) + 80, ties=ties), shuffled)


def test_too_many_tokens_for_cells_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    begun = Priority.train_model(["ab ab"], TrainingSpec(vocab_size=257))
    monkeypatch.setattr(training, "MOST_CELLS", 6)
    Compiled.extend_model(begun, ["cdef"], TrainingSpec(vocab_size=300))
    with pytest.raises(Unsupported, match="symbols of distinct pieces; the texts have 7"):
        Compiled.extend_model(begun, ["cdefg"], TrainingSpec(vocab_size=300))
