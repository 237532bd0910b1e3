"""Parity-aware training: which language chooses each merge, recounted from scratch; and what it is good for."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import pytest
from literal_training import Merge, Symbol, chosen, random_corpus, random_spec, replaced
from refusals import refused

import impls
from impls import BPEError, TrainingSpec
from impls.core.training import base_symbols, corpus_pieces, first_base_id, piece_symbols
from impls.parity import train_parity_aware

TIES = ["smallest", "first", "largest", "shortest"]


def symbols_of(texts: list[str], spec: TrainingSpec) -> list[list[Symbol]]:
    return [[(symbol, 0) for symbol in piece_symbols(piece, spec)] for piece in corpus_pieces(texts, spec)]


def merged(corpus: list[list[Symbol]], pair: Merge) -> list[list[Symbol]]:
    return [list(replaced(word, pair)) for word in corpus]


def n_tokens(corpus: list[list[Symbol]]) -> int:
    return sum(map(len, corpus))


@pytest.mark.parametrize("ties", TIES)
@pytest.mark.parametrize("alphabet", ["bytes", "chars"])
def test_every_merge_is_chosen_by_the_language_that_is_compressed_least(alphabet: str, ties: str) -> None:
    chance = random.Random(f"parity {alphabet} {ties}")
    n_merges, choosers = 0, Counter[str]()
    for _ in range(50):
        texts = {name: ["ab", *random_corpus(chance)] for name in ("one", "two", "three")[: chance.randint(1, 3)]}
        together = [text for its_texts in texts.values() for text in its_texts]
        spec = random_spec(chance, ties, alphabet, together)
        dev = None
        if chance.random() < 0.5:
            dev = {name: ["aç b", *(random_corpus(chance) * 4)[:3]] for name in texts}
        order = base_symbols(corpus_pieces(together, spec), spec)
        n_base = len(order)
        corpora = {name: symbols_of(its_texts, spec) for name, its_texts in texts.items()}
        measured = corpora if dev is None else {name: symbols_of(its_texts, spec) for name, its_texts in dev.items()}
        units = {name: n_tokens(corpus) if dev is None else 4 for name, corpus in measured.items()}
        reserved = len(spec.special_tokens) + (spec.unknown is not None)
        budget = min(spec.vocab_size - n_base - reserved, 1000 if spec.max_merges is None else spec.max_merges)
        expected: list[Merge] = []
        counts: list[int] = []
        while len(expected) < budget:
            rates = {name: units[name] / n_tokens(corpus) for name, corpus in measured.items()}
            found = [
                (name, best)
                for name in sorted(rates, key=rates.__getitem__)
                if (best := chosen(corpora[name], spec, order)) is not None
            ]
            if not found:
                break
            name, (pair, count) = found[0]
            choosers[name] += 1
            expected.append(pair)
            counts.append(count)
            order.append(pair[0] + pair[1])
            same = measured is corpora
            corpora = {name: merged(corpus, pair) for name, corpus in corpora.items()}
            measured = corpora if same else {name: merged(corpus, pair) for name, corpus in measured.items()}
        model = train_parity_aware(texts, spec, dev=dev)
        assert [(model.tokens[left], model.tokens[right]) for left, right in model.merges] == expected, (texts, spec)
        assert list(model.merge_counts or ()) == counts
        assert list(model.tokens[first_base_id(spec) :][: len(order)]) == order
        n_merges += len(expected)
    assert n_merges > 100
    assert len(choosers) == 3


def test_of_one_language_it_is_training_as_ever() -> None:
    texts = ["low lower lowest newest widest"] * 2
    for min_count in (1, 2):
        spec = TrainingSpec(vocab_size=300, min_count=min_count)
        assert train_parity_aware({"en": texts}, spec) == impls.get("priority").train_model(texts, spec)


@pytest.mark.parametrize(
    ("texts", "dev", "message"),
    [
        ({}, None, "there is no language to train on"),
        ({"en": ["a"], "tr": [""]}, None, "the language 'tr' has no text"),
        ({"en": ["a"]}, {"tr": ["a"]}, "dev has texts in tr, training in en"),
        ({"en": ["a"], "tr": ["b"]}, {"en": ["a"], "tr": ["b", "c"]}, "must be parallel, .* not 1 of 'en', 2 of 'tr'"),
        ({"en": ["a"]}, {"en": [""]}, "the dev texts of 'en' are all empty"),
    ],
)
def test_languages_that_cannot_be_compared_are_named(texts: Any, dev: Any, message: str) -> None:
    refused(BPEError, message, train_parity_aware, texts, TrainingSpec(vocab_size=300), dev=dev)
