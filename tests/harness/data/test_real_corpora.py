"""Real corpora are what they are declared to be, and what is held out of them is not trained on."""

from __future__ import annotations

import itertools
from collections import Counter

import pytest

from harness.data import (
    corpus_names,
    describe_corpora,
    load_corpus,
)
from harness.data.catalogue import real_corpora
from harness.data.documents import encoded

pytestmark = pytest.mark.corpus


@pytest.mark.parametrize("name", ["turkish", "parallel/he", "mixed"])
def test_a_tenth_of_a_real_corpus_is_held_out_and_shares_no_document_with_training(name: str) -> None:
    train, held_out = load_corpus(name, split="train"), load_corpus(name, split="held-out")
    assert not set(train.documents()) & set(held_out.documents())
    assert train.n_documents + held_out.n_documents == load_corpus(name).n_documents
    assert 0.07 < held_out.n_documents / load_corpus(name).n_documents < 0.13


@pytest.mark.parametrize("name", ["turkish", "english", "cjk", "parallel/tr"])
def test_no_line_held_out_is_trained_on(name: str) -> None:
    held_out = set(load_corpus(name, split="held-out").documents())
    # A message of a catalogue may have several lines, and two messages may share a short one.
    least = 60 if name.startswith(("parallel", "cjk")) else 1
    lines = {line for document in held_out for line in document.split("\n") if len(line) >= least}
    trained = {line for document in load_corpus(name, split="train").documents() for line in document.split("\n")}
    assert lines
    assert not lines & trained


@pytest.mark.parametrize(
    ("name", "n_bytes"),
    [
        ("turkish", 7_000_000),
        ("english", 30_000_000),
        ("code", 30_000_000),
        ("cjk", 600_000),
        ("mixed", 30_000_000),
    ],
)
def test_real_corpora_have_the_size_and_digest_they_are_declared_with(name: str, n_bytes: int) -> None:
    corpus = load_corpus(name)
    assert corpus.n_bytes >= n_bytes
    declared = real_corpora()[name]
    assert corpus.digest == (declared.sha256 or declared.items[0].sha256)
    (row,) = (row for row in describe_corpora() if row["name"] == name)
    assert row["bytes"] == corpus.n_bytes
    assert row["cached"]


def test_any_stretch_of_mixed_holds_each_of_its_sources_in_proportion() -> None:
    corpus = real_corpora()["mixed"]
    source_of = {text: name for name in corpus.mixed_of for text in load_corpus(name).documents()}
    documents = list(load_corpus("mixed").documents())
    shares = {name: n_bytes / sum(corpus.mixed_of.values()) for name, n_bytes in corpus.mixed_of.items()}
    assert max(shares.values()) < 0.34
    for start in range(0, len(documents) - 2_000, 2_000):
        stretch = documents[start : start + 2_000]
        taken = Counter[str]()
        for text in stretch:
            taken[source_of[text]] += len(encoded(text))
        for name, share in shares.items():
            assert taken[name] / taken.total() == pytest.approx(share, abs=0.02), name


def test_what_is_held_out_in_a_source_is_held_out_in_mixed() -> None:
    held_out = set(load_corpus("mixed", split="held-out").documents())
    for name in real_corpora()["mixed"].mixed_of:
        assert not held_out & set(load_corpus(name, split="train").documents()), name


def test_parallel_documents_say_the_same_in_every_language() -> None:
    languages = [name for name in corpus_names() if name.startswith("parallel/")]
    assert len(languages) >= 10
    assert {"parallel/ru", "parallel/he", "parallel/tr", "parallel/en"} <= set(languages)
    for split in (None, "train", "held-out"):
        lines = {name: list(load_corpus(name, split=split).documents()) for name in languages}
        assert len({len(documents) for documents in lines.values()}) == 1
    assert sum(load_corpus(name).n_bytes >= 200_000 for name in languages) >= 10
    english = list(load_corpus("parallel/en").documents())
    position = next(i for i, document in enumerate(english) if "\nFather\n" in document)
    for name, word in (("ru", "Отец"), ("he", "אב"), ("tr", "Baba"), ("de", "Vater")):
        assert word in list(load_corpus(f"parallel/{name}").documents())[position].split("\n"), name


def test_all_languages_together_take_turns() -> None:
    together = load_corpus("parallel").documents()
    languages = [name for name in corpus_names() if name.startswith("parallel/")]
    firsts = [next(load_corpus(name).documents()) for name in languages]
    assert list(itertools.islice(together, len(languages))) == firsts
