"""What happens between two readings of the clock, how samples are calibrated, and how a worker's pass is made."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.measure import doctor
from harness.measure.jobs import timing
from harness.measure.jobs.answers import NotIds, join_answers, write_ids
from harness.measure.jobs.prepared import PreparedJob, prepare
from harness.measure.protocol import Expected, Job
from harness.measure.texts import write_texts
from harness.measure.workloads import State, Task
from impls import Model, Tokenizer
from impls.core.hooks import joined

BYTES = Model(tokens=tuple(bytes([byte]) for byte in range(256)))


class Clock:
    """A clock that advances only on request, and a log of what happened between its readings."""

    def __init__(self, pass_seconds: float, fresh_seconds: float = 0.0) -> None:
        self.now = 0.0
        self.pass_seconds, self.fresh_seconds = pass_seconds, fresh_seconds
        self.diary: list[str] = []

    def __call__(self) -> float:
        self.diary.append("clock")
        return self.now

    def fresh(self) -> list[str]:
        self.diary.append("fresh")
        self.now += self.fresh_seconds
        return ["text"]

    def run(self, inputs: Sequence[str]) -> list[int]:
        self.diary.append("pass")
        self.now += self.pass_seconds
        return [1]

    def right(self, answer: list[int]) -> bool:
        self.diary.append("compare")
        return answer == [1]


def sampled(clock: Clock, monkeypatch: pytest.MonkeyPatch, n_samples: int = 5) -> timing.Samples:
    monkeypatch.setattr(timing, "perf_counter", clock)
    return timing.sample(clock.run, clock.fresh, clock.right, n_samples=n_samples, sample_seconds=0.1)


def test_nothing_but_the_pass_stands_between_two_readings_of_the_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock(0.06)
    monkeypatch.setattr(timing, "perf_counter", clock)
    timing.timed(clock.run, clock.fresh())
    assert clock.diary == ["fresh", "clock", "pass", "clock"]


def test_every_timed_pass_has_fresh_inputs_before_and_is_compared_after(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock(0.06)
    samples = sampled(clock, monkeypatch)
    passes = clock.diary.count("pass")
    assert clock.diary.count("fresh") == clock.diary.count("compare") == passes
    assert passes >= samples.loops * len(samples.seconds)
    text = " ".join(clock.diary)
    assert text.count("fresh clock pass clock compare") == passes


@pytest.mark.parametrize("pass_seconds", [0.0004, 0.003, 0.09, 0.3])
def test_samples_last_at_least_a_tenth_of_a_second(pass_seconds: float, monkeypatch: pytest.MonkeyPatch) -> None:
    samples = sampled(Clock(pass_seconds), monkeypatch)
    assert len(samples.seconds) == 5
    for seconds in samples.seconds:
        assert seconds >= 0.1
        assert seconds == pytest.approx(samples.loops * pass_seconds)
        assert seconds < 0.1 + 2 * pass_seconds + 0.01


def test_passes_too_long_for_all_samples_give_fewer_but_one_at_least(monkeypatch: pytest.MonkeyPatch) -> None:
    for most_seconds, expected in ((100, 5), (12.5, 3), (1, 1)):
        clock = Clock(3.0)
        monkeypatch.setattr(timing, "perf_counter", clock)
        samples = timing.sample(
            clock.run, clock.fresh, clock.right, n_samples=5, sample_seconds=0.1, most_seconds=most_seconds
        )
        assert samples.seconds == [3.0] * expected


def test_inputs_that_take_far_longer_than_the_pass_shorten_the_sample(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock(1e-6, fresh_seconds=1e-3)
    samples = sampled(clock, monkeypatch)
    assert clock.now <= 0.1 * timing.WALL_PER_SAMPLE * 7
    assert all(seconds == pytest.approx(samples.loops * 1e-6) for seconds in samples.seconds)


def test_an_answer_that_changes_while_timed_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock(0.01)
    answers = iter([[1]] * 17 + [[2]] + [[1]] * 1000)
    monkeypatch.setattr(timing, "perf_counter", clock)
    with pytest.raises(timing.WrongAnswer) as caught:
        timing.sample(
            lambda inputs: (clock.run(inputs), next(answers))[1],
            clock.fresh,
            clock.right,
            n_samples=5,
            sample_seconds=0.1,
        )
    assert (caught.value.which, caught.value.answer) == (18, [2])


@given(st.integers(600, 10**7), st.floats(1e-10, 1e-3), st.sampled_from([1.0, 2.0]))
def test_the_slice_fits_the_budget_and_probing_never_runs_far_past_it(
    full_bytes: int, seconds_per_byte: float, exponent: float
) -> None:
    probed: list[float] = []

    def run_bytes(n_bytes: int) -> float:
        probed.append(seconds_per_byte * n_bytes**exponent)
        return probed[-1]

    n_bytes, seconds = timing.largest_size(run_bytes, full_bytes, budget_seconds=0.1)
    assert 1 <= n_bytes <= full_bytes
    assert seconds == probed[-1]
    assert all(taken * 2 <= 0.1 for taken in probed[:-1])
    assert seconds <= max(0.1 * 2 ** (exponent - 1) * 1.1, probed[0])


class Listening(Tokenizer):
    """Notes what it is asked."""

    name = "listening"

    def __init__(self, model: Model) -> None:
        super().__init__(model)
        self.heard: list[Any] = []

    def encode(self, text: str, **_: Any) -> list[int]:
        self.heard.append(text)
        return list(text.encode())

    def encode_array(self, text: str, **_: Any) -> Any:
        self.heard.append(text)
        return np.array(list(text.encode()), np.uint32)

    def count(self, text: str) -> int:
        self.heard.append(text)
        return len(text.encode())

    def encode_ragged(self, texts: Sequence[str], threads: int | None = None, **_: Any) -> Any:
        self.heard.append((tuple(texts), threads))
        return joined([list(text.encode()) for text in texts])

    def encode_batch(self, texts: Sequence[str], threads: int | None = None, **_: Any) -> list[list[int]]:
        self.heard.append((tuple(texts), threads))
        return [list(text.encode()) for text in texts]

    def decode(self, ids: Iterable[int], errors: str = "replace") -> str:
        self.heard.append(ids)
        return bytes(ids).decode()


def work_of(task: Task, folder: Path, state: State = "warm-same", threads: int = 1) -> tuple[PreparedJob, Listening]:
    path, ids = folder / "texts", folder / "ids"
    write_texts(path, [b"first text", b"second text"])
    write_ids(ids, [list(b"first text"), list(b"second text")])
    tokenizer = Listening(BYTES)
    job = Job(task=task, state=state, texts=str(path), threads=threads)
    expected = Expected(digest="", n_tokens=0, reference="r", ids_file=str(ids))
    return prepare(job, tokenizer, Listening, expected), tokenizer


@pytest.mark.parametrize("task", ["encode", "encode-documents", "encode-documents-array", "encode-short", "count"])
def test_a_pass_calls_the_implementation_once_a_text_and_nothing_else(task: Task, tmp_path: Path) -> None:
    work, tokenizer = work_of(task, tmp_path)
    work.run(work.fresh(work.texts))
    assert tokenizer.heard == ["first text", "second text"]
    assert work.n_calls == 2


def test_every_pass_has_string_objects_of_its_own_unless_the_state_says_otherwise(tmp_path: Path) -> None:
    for state, distinct in (("warm-same", 4), ("same-object", 2)):
        work, tokenizer = work_of("encode", tmp_path, state)  # type: ignore[arg-type]
        work.run(work.fresh(work.texts))
        work.run(work.fresh(work.texts))
        assert len({id(text) for text in tokenizer.heard}) == distinct


def test_a_batch_is_one_call_with_its_threads_and_decoding_reads_the_reference_s_ids(tmp_path: Path) -> None:
    work, tokenizer = work_of("encode-batch", tmp_path, threads=2)
    work.run(work.fresh(work.texts))
    assert tokenizer.heard == [(("first text", "second text"), 2)]
    assert work.n_calls == 1
    work, tokenizer = work_of("encode-ragged", tmp_path, threads=2)
    answer = work.run(work.fresh(work.texts))
    assert tokenizer.heard == [(("first text", "second text"), 2)]
    job = Job(task="encode-ragged", state="warm-same")
    assert [row.tolist() for row in join_answers(job, [answer])] == [list(b"first text"), list(b"second text")]
    work, tokenizer = work_of("decode", tmp_path)
    assert work.run(work.fresh(work.texts)) == ["first text", "second text"]
    assert tokenizer.heard == [list(b"first text"), list(b"second text")]


def test_between_two_passes_other_text_is_read_outside_the_clock(tmp_path: Path) -> None:
    work, tokenizer = work_of("encode-short", tmp_path, "warm-between")
    assert work.texts == [b"second text"]
    for _ in range(2):
        inputs = work.fresh(work.texts)
        assert tokenizer.heard == ["first text"]
        work.run(inputs)
        assert tokenizer.heard == ["first text", "second text"]
        tokenizer.heard.clear()


@pytest.mark.parametrize(
    "answer",
    [
        None,
        (np.arange(3), np.array([0, 2])),
        (np.arange(3), np.array([1, 3])),
        (np.arange(3), np.array([0, 2, 1, 3])),
        (np.arange(3), np.array([], int)),
        (np.arange(3), ["x"]),
    ],
)
def test_ids_and_borders_that_do_not_fit_are_no_ids(answer: Any) -> None:
    with pytest.raises(NotIds):
        join_answers(Job(task="encode-ragged", state="warm-same"), [answer])


def test_the_overhead_is_measured_on_the_very_pass_that_workloads_run() -> None:
    assert isinstance(doctor.overhead_seconds_per_call(n_calls=10, n_passes=3), float)
    assert doctor.NoOpTokenizer(BYTES).encode("x", disallowed_special=()) == []
