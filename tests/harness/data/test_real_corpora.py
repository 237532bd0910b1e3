"""Real corpora are what they are declared to be, and what is held out of them is not trained on."""

from __future__ import annotations

import pytest

from harness.data import corpus_names, load_corpus
from harness.data.catalogue import real_corpora

pytestmark = pytest.mark.corpus


@pytest.mark.parametrize("name", ["turkish", "english", "cjk", "parallel/tr"])
def test_no_line_held_out_is_trained_on(name: str) -> None:
    held_out = set(load_corpus(name, split="held-out").documents())
    # A message of a catalogue may have several lines, and two messages may share a short one.
    least = 60 if name.startswith(("parallel", "cjk")) else 1
    lines = {line for document in held_out for line in document.split("\n") if len(line) >= least}
    trained = {line for document in load_corpus(name, split="train").documents() for line in document.split("\n")}
    assert lines
    assert not lines & trained


def test_what_is_held_out_in_a_source_is_held_out_in_mixed() -> None:
    mixed, declared = load_corpus("mixed"), real_corpora()["mixed"]
    assert (mixed.digest, mixed.n_bytes) == (declared.sha256, declared.n_bytes)
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
