"""Memory of whole texts is detected in every planted form, and a cache of pieces is not. Work is counted, not timed."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from harness.measure.jobs.recall import MOST_PAIRS, N_PAIRS, Recombined, recall, remembers, units_of
from harness.measure.protocol import Job, Recall, Recalled
from harness.measure.texts import write_texts
from impls import Model

TOYS = Path(__file__).parent / "measure_toys"
WORDS = "it was a bright cold day in april and the clocks were striking thirteen as winston smith slipped quickly "
SOURCE = [(WORDS + f"through door {number} of the {number * 7919 % 1000} mansions\n").encode() for number in range(200)]


class WorkClock:
    """A clock that advances only with work."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def __call__(self) -> None:
        self.seconds += 1.0

    def clock(self) -> float:
        self.seconds += 1e-6  # reading the clock takes time as well
        return self.seconds


@pytest.fixture
def toys(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Any]:
    monkeypatch.syspath_prepend(str(TOYS))
    import remembering

    monkeypatch.setattr(remembering.RememberingOnDisk, "folder", tmp_path)
    yield remembering
    sys.modules.pop("remembering", None)


def asked(toy: Any, path: Path, task: str, state: str = "warm-same", earlier: bool = False, seed: int = 7) -> Recalled:
    """A fresh implementation looked at, its work counted."""
    write_texts(path, SOURCE)
    work = WorkClock()
    tokenizer = toy(Model(tokens=tuple(bytes([byte]) for byte in range(256)), merges=()))
    tokenizer.work = work
    sizes = {"encode-batch": 512, "encode-documents": 512, "encode-short": 50}
    request = Recall(
        job=Job(task=task, state=state, texts=str(path)),  # type: ignore[arg-type]
        most_bytes=8_000,
        text_bytes=sizes.get(task, 0),
        budget_seconds=1e9,
        seed=seed,
        earlier=earlier,
    )
    return recall(request, tokenizer, work.clock)


def found(*arguments: Any, **options: Any) -> bool:
    answer = asked(*arguments, **options)
    return remembers(answer.met_seconds, answer.new_seconds)


@pytest.mark.parametrize(
    ("name", "task", "state"),
    [
        ("Remembering", "encode", "warm-same"),
        ("Remembering", "encode-documents", "warm-same"),
        ("Remembering", "encode-short", "warm-same"),
        ("Remembering", "encode-array", "warm-same"),
        ("Remembering", "count", "warm-same"),
        ("RememberingHashes", "encode", "warm-same"),
        ("RememberingObjects", "encode", "same-object"),
        ("RememberingTheLast", "encode", "warm-same"),
        ("RememberingTheSecondTime", "encode", "warm-same"),
        ("RememberingLines", "encode", "warm-same"),
        ("RememberingBatches", "encode-batch", "warm-same"),
        ("RememberingArrays", "encode-array", "warm-same"),
        ("RememberingIds", "decode", "warm-same"),
        ("RememberingEncoded", "decode", "warm-same"),
    ],
)
def test_memory_of_whole_texts_is_found_in_the_calls_it_serves(
    toys: Any, tmp_path: Path, name: str, task: str, state: str
) -> None:
    assert found(getattr(toys, name), tmp_path / "texts", task, state)


@pytest.mark.parametrize("name", ["Working", "CachingPieces"])
@pytest.mark.parametrize("task", ["encode", "encode-array", "encode-documents", "encode-batch", "count", "decode"])
@pytest.mark.parametrize("state", ["warm-same", "same-object"])
def test_who_works_at_every_call_or_remembers_pieces_is_not_accused(
    toys: Any, tmp_path: Path, name: str, task: str, state: str
) -> None:
    answer = asked(getattr(toys, name), tmp_path / "texts", task, state)
    assert not remembers(answer.met_seconds, answer.new_seconds)
    assert len(answer.met_seconds) == len(answer.new_seconds) == N_PAIRS


def test_memory_is_said_of_the_calls_it_serves_alone(toys: Any, tmp_path: Path) -> None:
    assert not found(toys.RememberingArrays, tmp_path / "texts", "encode")
    assert not found(toys.RememberingBatches, tmp_path / "texts", "encode-documents")
    assert not found(toys.RememberingObjects, tmp_path / "texts", "encode")


def test_memory_from_one_process_to_the_next_is_found(toys: Any, tmp_path: Path) -> None:
    path = tmp_path / "texts"
    assert not found(toys.RememberingOnDisk, path, "encode")
    assert found(toys.RememberingOnDisk, path, "encode", earlier=True)
    assert not found(toys.Remembering, path, "encode", earlier=True), "memory within a process is another finding"
    assert not found(toys.RememberingOnDisk, path, "encode", earlier=True, seed=8), "texts of a seed never asked before"


def test_pairs_are_added_while_they_leave_it_open(toys: Any, tmp_path: Path) -> None:
    class Unsteady(toys.Working):  # type: ignore[misc]
        calls = 0

        def _encode_text(self, text: str) -> list[int]:
            self.calls += 1
            for _ in range(1 + self.calls * 7919 % 13):
                self.work()
            return list(text.encode())

    answer = asked(Unsteady, tmp_path / "texts", "encode")
    assert N_PAIRS < len(answer.met_seconds) == len(answer.new_seconds) <= MOST_PAIRS
    assert not remembers(answer.met_seconds, answer.new_seconds)


@pytest.mark.parametrize(
    ("met", "new", "remembered"),
    [
        ([1.0] * 5, [1.4] * 5, False),
        ([1.0] * 5, [1.6] * 5, True),
        ([1.0, 1.1, 0.9, 1.0, 1.05], [3.1, 2.9, 3.0, 3.2, 2.8], True),
        ([1.0, 1.0, 1.0, 1.0, 1.0], [1.0, 1.0, 1.0, 1.0, 30.0], False),
        ([1.0, 1.0, 1.0, 1.0, 1.0], [5.0, 7.0, 1.2, 9.0, 6.0], False),
        ([1.0, 9.0, 1.0, 1.0, 1.0], [40.0, 70.0, 30.0, 90.0, 60.0], True),
        ([1.0] * 5, [0.1] * 5, False),
        ([0.0] * 5, [1.0] * 5, True),
    ],
)
def test_what_counts_as_remembered(met: list[float], new: list[float], remembered: bool) -> None:
    assert remembers(met, new) == remembered


@pytest.mark.parametrize("text_bytes", [0, 50, 512])
@pytest.mark.parametrize(
    "source",
    [SOURCE, [b" " * 5000], ["我是一只小猫你是谁呢今天天气很好".encode() * 300]],
    ids=["words", "spaces", "cjk"],
)
def test_other_orders_have_the_same_pieces_and_no_text_or_line_in_common(source: list[bytes], text_bytes: int) -> None:
    made = Recombined(units_of(source, 8_000, text_bytes, 3), 8_000, text_bytes, seed=3)
    one, other = made.texts(0), made.texts(1)
    assert one == made.texts(0)
    assert abs(sum(len(text.encode()) for text in one) - 8_000) < 600

    def pieces(texts: list[str]) -> Counter[str]:
        return Counter(word for text in texts for word in text.split())

    assert pieces(one) == pieces(other)
    if len(set(made.units)) > 100:
        assert not set(one) & set(other)
    if not text_bytes:
        assert not set(one[0].splitlines()) & set(other[0].splitlines())
