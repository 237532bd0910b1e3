"""The texts of a run: every document once in a process, in a seeded order, cut between characters."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st
from toy_runs import workload

from harness.measure.texts import Corpora, Stream, write_training_file

some_documents = st.lists(st.text(alphabet="aé中😀 ", min_size=1, max_size=30), min_size=1, max_size=30, unique=True)


def corpora(**documents: list[str]) -> Corpora:
    class Some:
        digest = "none"

        def __init__(self, name: str) -> None:
            self.name = name

        def documents(self) -> Iterable[str]:
            return documents[self.name]

    return Corpora(lambda name, split: Some(name))


@given(some_documents, st.integers(1, 40), st.sampled_from([1, 2, 4]))
def test_no_text_is_given_twice_or_cut_inside_a_character(documents: list[str], n_bytes: int, n_calls: int) -> None:
    stream = Stream(corpora(some=documents), "seed")
    wanted = workload(call_bytes=n_bytes, n_calls=n_calls)
    given_texts = []
    while (calls := stream.calls(wanted)) is not None:
        assert len(calls) == n_calls + wanted.lead_calls
        given_texts += [text for texts in calls for text in texts]
    lines = b"".join(given_texts).decode().split("\n")[:-1]
    assert len(lines) == len(set(lines))
    assert set(lines) <= set(documents)


def test_documents_that_two_corpora_share_are_given_once() -> None:
    both = corpora(a=[f"document {n}" for n in range(30)], b=[f"document {n}" for n in range(20, 40)])
    stream = Stream(both, "seed")
    found: list[str] = []
    for name in ("a", "b"):
        while (calls := stream.calls(workload(corpus=name, call_bytes=24, n_calls=1))) is not None:
            found += calls[0][0].decode().split("\n")
    whole = [line for line in found if len(line) >= len("document 00")]
    assert len(whole) == len(set(whole))


def test_the_order_is_that_of_the_seed() -> None:
    of = corpora(some=[f"document {n}" for n in range(100)])
    first, again, other = (Stream(of, seed).calls(workload(call_bytes=200)) for seed in ("1", "1", "2"))
    assert first == again != other


def test_text_to_be_read_again_is_there_where_others_have_read_the_corpus_to_its_end() -> None:
    stream = Stream(corpora(some=[f"document {n}" for n in range(100)]), "seed")
    new = workload(call_bytes=200, n_calls=1)
    first = stream.calls(new)
    while stream.calls(new) is not None:
        pass
    assert stream.calls(workload(call_bytes=200, n_calls=1, state="again")) == first


def test_a_short_corpus_is_read_in_shorter_calls() -> None:
    stream = Stream(corpora(some=["a line of text"] * 1 + [f"line {n}" for n in range(5)]), "seed")
    assert stream.calls(workload(call_bytes=10_000, n_calls=2)) is not None
    assert Stream(corpora(some=[]), "seed").calls(workload()) is None


def test_a_generated_text_is_given_as_it_is() -> None:
    one = workload(corpus="gen/spaces:50", n_calls=1, call_bytes=50, state="cold")
    assert Stream(corpora(**{"gen/spaces:50": [" " * 50]}), "seed").calls(one) == [[b" " * 50]]


def test_a_training_file_has_a_document_a_line_and_its_size_or_that_of_the_corpus(tmp_path: Path) -> None:
    documents = [f"words of document {n} in a\nline" for n in range(10)]
    path, of = tmp_path / "file", corpora(some=documents)
    for n_bytes, size in ((100, 100), (5_000, sum(map(len, documents)) + 10)):
        write_training_file(path, of, workload(task="train", call_bytes=n_bytes))
        assert path.stat().st_size == size
    assert set(path.read_text().splitlines()) == {document.replace("\n", " ") for document in documents}


def test_the_texts_of_a_file_are_its_own_bytes() -> None:
    stream = Stream(corpora(some=["one paragraph\n\n", "another\n"]), "seed")
    content = b""
    while (calls := stream.calls(workload(call_bytes=1, n_calls=1))) is not None:
        content += calls[0][0]
    assert content in (b"one paragraph\n\nanother\n", b"another\none paragraph\n\n")
