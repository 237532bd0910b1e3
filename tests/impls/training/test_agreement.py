"""Trainers agree, merge by merge, with each other and with a literal implementation of the specification."""

from __future__ import annotations

import random
from collections import Counter

import pytest
from literal_training import as_bytes, literally, random_corpus, random_spec

import impls
from impls import TrainingSpec
from impls.compiled.training import layout
from impls.compiled.training import train as learning
from impls.compiled.training.train import Learner

TIES = ["smallest", "first", "largest", "shortest"]
CHARACTER_TRAINERS = ["naive", "wordcount", "priority", "compiled"]
BYTE_TRAINERS = [*CHARACTER_TRAINERS, "bytelevel"]
N_CORPORA = 30


@pytest.mark.parametrize("ties", TIES)
@pytest.mark.parametrize("alphabet", ["bytes", "chars"])
def test_every_trainer_learns_what_the_specification_says(alphabet: str, ties: str, fuzz: int) -> None:
    trainers = BYTE_TRAINERS if alphabet == "bytes" else CHARACTER_TRAINERS
    chance = random.Random(f"{alphabet} {ties}")
    n_merges = 0
    for _ in range(N_CORPORA * fuzz):
        texts = ["ab", *random_corpus(chance)]
        spec = random_spec(chance, ties, alphabet, texts)
        expected, counts = literally(texts, spec)
        n_merges += len(expected)
        models = [impls.get(name).train_model(texts, spec) for name in trainers]
        for name, model in zip(trainers, models, strict=True):
            assert as_bytes(model) == expected, (name, texts, spec)
            assert list(model.merge_counts or ()) == counts, (name, texts, spec)
        assert len({model.digest for model in models}) == 1, (texts, spec)
    assert n_merges > N_CORPORA // 2  # 33 to 175 by the seed


@pytest.mark.parametrize("ties", TIES)
def test_a_pool_that_is_always_full_changes_no_merge(ties: str, monkeypatch: pytest.MonkeyPatch) -> None:
    statuses = Counter[int]()
    enlarge, merge = Learner._room_in_pool, Learner._merge
    monkeypatch.setattr(learning, "_SPARE_PLACES", 0)
    monkeypatch.setattr(Learner, "_room_in_pool", lambda learner, n: enlarge(learner, n // 2 + 1))

    def counted(learner: Learner) -> int:
        statuses[status := merge(learner)] += 1
        return status

    monkeypatch.setattr(Learner, "_merge", counted)
    chance = random.Random(f"full {ties}")
    for _ in range(N_CORPORA // 2):
        texts = ["ab", *(5 * " ".join(random_corpus(chance)) for _ in range(3))]
        spec = random_spec(chance, ties, "bytes", texts)
        how = [impls.get(name).train_model(texts, spec) for name in ("compiled", "priority")]
        assert (how[0].merges, how[0].merge_counts) == (how[1].merges, how[1].merge_counts), (texts, spec)
    assert statuses[layout.FULL] > N_CORPORA // 2


def test_the_order_of_base_symbols_decides_ties_by_smallest_ids() -> None:
    # "\x00" comes before "a" by value, behind it in the order of the printable stand-ins.
    for order, first in (("raw", b"\0"), ("gpt2", b"a")):
        spec = TrainingSpec(vocab_size=257, pattern="none", base_order=order)  # type: ignore[arg-type]
        assert as_bytes(impls.get("priority").train_model(["\x00\x00aa"], spec)) == [(first, first)]
