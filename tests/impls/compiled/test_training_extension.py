"""Going on from a model in kernels learns what `priority` learns, at any size and with any weights."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import get_args

import numpy as np
import pytest

import impls
from impls import Model, TrainingSpec, Unsupported
from impls.compiled import Compiled
from impls.compiled.training import count, learning, parts, train, words
from impls.compiled.training import layout as training_layout
from impls.compiled.training import train as training
from impls.core.specification import Ties
from impls.priority import Priority

TIES = get_args(Ties)


def text_of(rng: random.Random, n_words: int) -> str:
    """Return frequent and rare words, of a few letters and of other characters."""
    common = ["".join(rng.choices("abcde", k=rng.choice([1, 2, 3, 7, 8, 9]))) for _ in range(30)]
    rare = ("".join(rng.choices("abé日🎉x", k=rng.choice([2, 5, 40]))) for _ in range(n_words))
    return " ".join(rng.choice([*common, *common, one]) for one in rare) + rng.choice(["", "\n", "  12\n\n"])


def assert_goes_on_the_same(begun: Model, texts: list[str], spec: TrainingSpec) -> Model:
    model, expected = Compiled.extend_model(begun, iter(texts), spec), Priority.extend_model(begun, texts, spec)
    assert model.merges == expected.merges
    assert model.merge_counts == expected.merge_counts
    assert model == expected
    return model


@pytest.mark.parametrize("ties", TIES)
@pytest.mark.parametrize("alphabet", ["bytes", "chars"])
def test_every_rule_and_alphabet(alphabet: str, ties: str, fuzz: int) -> None:
    rng = random.Random(f"{alphabet} {ties}")
    for i in range(6 * fuzz):
        end = rng.choice([None, "</w>"]) if alphabet == "chars" else None
        spec = TrainingSpec(
            vocab_size=420, ties=ties, alphabet=alphabet, pattern=rng.choice(["gpt2", r"\S+|\s", "none"]),  # type: ignore[arg-type]
            end_of_word=end, unknown="<unk>", special_ids=rng.choice(["first", "last"]),
        )  # fmt: skip
        begun = Priority.train_model([text_of(rng, rng.choice([3, 40, 200])) for _ in range(1 + i % 3)], spec)
        on = replace(
            spec, vocab_size=600, pattern=rng.choice(["gpt2", "superword", "none", "deepseek"]),
            min_count=rng.choice([1, 2, 2]), max_token_bytes=rng.choice([None, 9]),
        )  # fmt: skip
        texts = [text_of(rng, rng.choice([3, 40, 200])).replace("c", rng.choice("cz")) for _ in range(1 + i % 2)]
        assert_goes_on_the_same(begun, texts, on)


def test_characters_may_limit_tokens(fuzz: int) -> None:
    rng = random.Random(7)
    for most in (2, 3, 5) * fuzz:
        spec = TrainingSpec(vocab_size=60, alphabet="chars", end_of_word="</w>", unknown="?", ties="shortest")
        begun = Priority.train_model([text_of(rng, 100)], spec)
        model = assert_goes_on_the_same(
            begun, [text_of(rng, 100)], replace(spec, vocab_size=200, max_token_characters=most)
        )
        new = [(model.tokens[i] or b"").decode() for i in model.merge_results[len(begun.merges) :]]
        assert max(len(token.removesuffix("</w>")) for token in new) == most


def test_ranks_in_any_order_of_ids_and_gaps() -> None:
    rng = random.Random(5)
    text = text_of(rng, 300)
    begun = Priority.train_model([text], TrainingSpec(vocab_size=500))
    order = [*range(len(begun.tokens)), None, None]
    rng.shuffle(order)
    at = {old: new for new, old in enumerate(order) if old is not None}
    shuffled = begun.with_(
        tokens=tuple(None if old is None else begun.tokens[old] for old in order),
        merges=tuple((at[left], at[right]) for left, right in begun.merges),
    )
    for ties in TIES:
        assert_goes_on_the_same(shuffled, [text_of(rng, 300)], TrainingSpec(vocab_size=len(order) + 80, ties=ties))


@pytest.mark.parametrize("n_threads", [1, 3])
def test_threads_tables_that_grow_and_pieces_in_batches(n_threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(count, "n_cores", lambda: n_threads)
    monkeypatch.setattr(parts, "_BATCH_BYTES", 1 << 12)
    monkeypatch.setattr(words, "_BITS", 12)
    monkeypatch.setattr(words, "_ARENA_BYTES", 1 << 10)
    monkeypatch.setattr(learning, "_LEAST_BITS", 4)
    monkeypatch.setattr(train, "_BATCH", 100)
    rng = random.Random(9)
    distinct = ["".join(rng.choices("abcdefghij", k=rng.choice([3, 6, 11]))) for _ in range(4_000)]
    begun = Priority.train_model([" ".join(distinct[:2000])], TrainingSpec(vocab_size=400))
    for ties in ("smallest", "first"):
        spec = TrainingSpec(vocab_size=900, ties=ties)  # type: ignore[arg-type]
        assert_goes_on_the_same(begun, [" ".join(distinct[1000:]), text_of(rng, 300)], spec)


def test_a_word_that_comes_more_often_than_a_weight_can_say() -> None:
    text = text_of(random.Random(4), 200)
    begun = Compiled.train_model([text], TrainingSpec(vocab_size=256 + 20))
    spec = TrainingSpec(vocab_size=256 + 80)
    expected = Compiled.extend_model(begun, [text], spec)
    times = training_layout.MOST_WEIGHT + 5

    def counted(texts: list[str], spec: TrainingSpec) -> words.Words:
        found = training_counted(texts, spec)
        found.counts = found.counts * times
        return found

    training_counted = training._counted
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(training, "_counted", counted)
        model = Compiled.extend_model(begun, [text], spec)
    assert model.merges == expected.merges
    new = slice(len(begun.merges), None)
    assert [count // times for count in (model.merge_counts or ())[new]] == list((expected.merge_counts or ())[new])


def test_words_in_cells() -> None:
    begun = Priority.train_model(["ab ab"], TrainingSpec(vocab_size=9, alphabet="chars", unknown="?", pattern="none"))
    assert begun.tokens[:3] == (b" ", b"a", b"b")
    found = training._counted(["abba", "a", "ba?ab", "abba", "??"], TrainingSpec(vocab_size=9, pattern="none"))
    ids, cells = train.cells_of_known(found, begun, Compiled)
    ab = begun.id_by_token[b"ab"]
    assert ids == [i for i, token in enumerate(begun.tokens) if token is not None]
    rows = {tuple(map(tuple, rows)) for rows in np.split(cells, np.flatnonzero(cells[:, 1] == 0))}
    assert ((-1, 0), (ab, 2), (2, 2), (1, 2)) in rows
    assert ((-1, 0), (2, 1), (1, 1)) in rows
    assert ((-1, 0), (ab, 1)) in rows
    assert cells[0].tolist() == cells[-1].tolist() == [-1, 0]


def test_too_many_tokens_for_cells_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    begun = Priority.train_model(["ab ab"], TrainingSpec(vocab_size=257))
    monkeypatch.setattr(train, "MOST_CELLS", 6)
    Compiled.extend_model(begun, ["cdef"], TrainingSpec(vocab_size=300))
    with pytest.raises(Unsupported, match="symbols of distinct pieces at most, and these have 7"):
        Compiled.extend_model(begun, ["cdefg"], TrainingSpec(vocab_size=300))


@pytest.mark.corpus
def test_turkish_superwords_after_a_published_vocabulary() -> None:
    from harness.data import load_corpus, load_model

    texts = list(load_corpus("turkish", split="train", max_bytes=60_000).documents())
    begun = load_model("gpt2")
    model = assert_goes_on_the_same(begun, texts, TrainingSpec(vocab_size=begun.vocab_size + 300, pattern="superword"))
    assert model.special_tokens == begun.special_tokens
    assert impls.get("compiled")(model).encode("ve bu nedenle") == Priority(model).encode("ve bu nedenle")
