"""Workloads of texts that grow: their steps end in the text that is verified, by either way of following it."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import pytest

import impls
from harness.measure.jobs import measured
from harness.measure.jobs.answers import Wrong
from harness.measure.jobs.growing import APPENDED_CHARACTERS, N_TURNS, TURN_CHARACTERS, Plan, plan
from harness.measure.jobs.opening import Opening
from harness.measure.jobs.prepared import PreparedJob, prepare
from harness.measure.protocol import Job, Measure, Measured
from harness.measure.texts import write_texts
from harness.measure.workloads import GROWING, Task
from impls import TrainingSpec
from impls.core.incremental import Incremental
from impls.interface import Tokenizer

TEXT = "the cat sat on the mat, çay 日本; 12 cats and rats\n" * 400
MODEL = impls.train("priority", [TEXT[:500]], TrainingSpec(vocab_size=300, pattern="cl100k")).model


class Outgrown(impls.get("priority")):  # type: ignore[misc]
    """An implementation whose `incremental` loses the ids before what is appended."""

    def incremental(self, text: str = "", **options: Any) -> Incremental:
        followed: Incremental = super().incremental(text, **options)
        followed._encode_continued = lambda part: self.encode(part)[1:]
        return followed


def texts_of(one: Plan) -> list[str]:
    text, found = one.begun, []
    for start, stop, new in one.edits:
        text = text[:start] + new + text[stop:]
        found.append(text)
    return found


@pytest.mark.parametrize("task", GROWING)
@pytest.mark.parametrize("length", [1, 3, 50, 500, len(TEXT)])
def test_the_steps_end_in_the_text(task: Task, length: int) -> None:
    text = TEXT[:length]
    assert texts_of(plan(task, text))[-1] == text


def test_what_the_steps_are() -> None:
    appends, turns, keys = (plan(task, TEXT).edits for task in GROWING)
    assert {len(text) for _, _, text in appends} == {APPENDED_CHARACTERS}
    assert len(turns) == N_TURNS
    assert all(TURN_CHARACTERS[0] <= len(text) <= TURN_CHARACTERS[1] for _, _, text in turns)
    assert {len(text) for _, _, text in keys} == {0, 1}
    assert all(abs(start - len(TEXT) // 2) <= 20 for start, _, _ in keys)


def opening(implementation: type[Tokenizer]) -> Opening:
    return Opening(implementation, implementation(MODEL), MODEL, baseline_bytes=0, pinned=False, import_seconds=0.0)


def job_of(task: Task, folder: Path) -> Job:
    path = folder / "texts"
    write_texts(path, [TEXT.encode()])
    return Job(task=task, state="warm-same", texts=str(path))


def measure(task: Task, implementation: type[Tokenizer], folder: Path) -> Measured:
    job = job_of(task, folder)
    expected = measured.answer_as_reference(opening(impls.get("naive")), job, str(folder / "ids"))
    request = Measure(job=job, expected=expected, n_samples=2, sample_seconds=0.001)
    return measured.measure(opening(implementation), request)


@pytest.mark.parametrize("implementation", ["compiled", "priority", "tiktoken"])
@pytest.mark.parametrize("task", GROWING)
def test_it_is_verified_and_timed_by_step(implementation: str, task: Task, tmp_path: Path) -> None:
    found = measure(task, impls.get(implementation), tmp_path)
    assert found.n_calls == len(plan(task, TEXT).edits)
    assert (found.n_bytes, found.n_tokens) == (len(TEXT.encode()), len(impls.load("naive", MODEL).encode(TEXT)))
    assert len(found.samples_seconds) == 2


@pytest.mark.parametrize("task", GROWING)
def test_wrong_ids_are_a_mismatch(task: Task, tmp_path: Path) -> None:
    with pytest.raises(Wrong) as raised:
        measure(task, Outgrown, tmp_path)
    assert raised.value.failed.status == "mismatch"


def test_a_library_encodes_the_text_after_every_step(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tokenizer, heard = impls.load("tiktoken", MODEL), []
    encode = tokenizer.encode
    monkeypatch.setattr(tokenizer, "encode", lambda text, **options: heard.append(text) or encode(text, **options))
    work: PreparedJob = prepare(job_of("keystrokes", tmp_path), tokenizer, type(tokenizer))
    run = partial(work.run, work.fresh(work.texts))
    heard.clear()
    assert work.read(run()) == [encode(TEXT)]
    assert heard == texts_of(plan("keystrokes", TEXT))
