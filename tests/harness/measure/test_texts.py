"""Cutting texts: nothing lost, nothing doubled, no character broken."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.measure.texts import boundary, shuffled, stretches, take, workload_texts
from harness.measure.workloads import State, Task, Workload

documents = st.lists(st.text(max_size=60), max_size=12)


def of(task: Task, state: State = "warm-same", **changes: int) -> Workload:
    fields = {"max_bytes": 100, "document_bytes": 16, "text_characters": 5} | changes
    return Workload(name="w", task=task, state=state, model="m", corpus="c", **fields)


@given(documents, st.integers(1, 200), st.integers(0, 100))
def test_the_one_text_is_a_stretch_of_the_joined_documents(texts: list[str], limit: int, skip: int) -> None:
    whole = "\n".join(texts).encode("utf-8", "surrogatepass")
    cut = workload_texts(texts, of("encode", max_bytes=limit, skip_bytes=skip))
    content = b"".join(cut)
    start = boundary(whole, skip)
    assert content == whole[start : boundary(whole, skip + limit)]
    content.decode("utf-8", "surrogatepass")


@given(documents)
@pytest.mark.parametrize(
    "task", ["encode-documents", "encode-documents-array", "encode-batch", "encode-ragged", "encode-short"]
)
def test_documents_and_short_texts_joined_are_the_one_text(task: Task, texts: list[str]) -> None:
    cut = workload_texts(texts, of(task))
    assert b"".join(cut) == b"".join(workload_texts(texts, of("encode")))
    for text in cut:
        size = len(text.decode("utf-8", "surrogatepass")) if task == "encode-short" else len(text)
        assert 0 < size <= (5 if task == "encode-short" else 16)


@given(documents, st.integers(1, 100))
def test_training_keeps_the_documents_apart(texts: list[str], limit: int) -> None:
    cut = [text.decode("utf-8", "surrogatepass") for text in workload_texts(texts, of("train", max_bytes=limit))]
    full = [text for text in texts if text]
    assert cut[:-1] == full[: max(0, len(cut) - 1)]
    assert "".join(full).startswith("".join(cut))
    assert sum(len(text.encode()) for text in cut) <= limit


@given(st.text(alphabet="ab\u00e9\u4e2d\U0001f600", min_size=100, max_size=300))
def test_texts_to_be_read_once_are_distinct_stretches_of_nearly_one_size(text: str) -> None:
    cut = workload_texts([text], of("encode", "warm-other", max_bytes=15))
    assert len(cut) == 6
    assert b"".join(cut) == text.encode("utf-8", "surrogatepass")[: sum(map(len, cut))]
    assert all(11 <= len(part) <= 15 for part in cut)


@given(st.text(alphabet="ab\u00e9\u4e2d\U0001f600", min_size=100, max_size=300))
@pytest.mark.parametrize(("state", "n_stretches"), [("warm-between", 2), ("warm-other", 6)])
@pytest.mark.parametrize("task", ["encode", "encode-documents", "encode-short"])
def test_stretches_hold_equally_many_texts_and_no_text_twice(
    task: Task, state: State, n_stretches: int, text: str
) -> None:
    cut = workload_texts([text], of(task, state, max_bytes=20, document_bytes=7))
    parts = stretches(cut, state)
    assert len(parts) == n_stretches
    assert len({len(part) for part in parts}) == 1
    assert [some for part in parts for some in part] == cut
    assert text.encode("utf-8", "surrogatepass").startswith(b"".join(cut))


def test_a_text_too_small_for_its_stretches_gives_none() -> None:
    assert workload_texts(["abc"], of("encode-documents", "warm-other")) == []
    assert stretches([], "warm-other") == []


@given(st.lists(st.text(min_size=1, max_size=30), min_size=1, max_size=8), st.integers(1, 120))
def test_a_slice_is_a_beginning_within_its_size_and_never_empty(texts: list[str], n_bytes: int) -> None:
    encoded = [text.encode() for text in texts]
    taken = take(encoded, n_bytes)
    assert taken
    assert b"".join(encoded).startswith(b"".join(taken))
    assert sum(map(len, taken)) <= max(n_bytes, 4)
    for text in taken:
        text.decode()
    assert take(encoded, 0) == encoded


def test_documents_are_shuffled_in_the_same_way_every_time() -> None:
    texts = [str(number) for number in range(100)]
    assert shuffled(texts) == shuffled(iter(texts))
    assert shuffled(texts) != texts
    assert sorted(shuffled(texts)) == sorted(texts)
