"""Replay recorded counterexamples: does each still hold with the installed packages?"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import impls
from harness.check.fuzz.findings import key_of, own_model
from harness.check.fuzz.questions import Answer, Question, ids_of, same, text_of_ids
from harness.check.fuzz.side_process import SideProcess
from harness.data import DataError
from harness.process.session import Failed
from harness.records import Disagreement, RecordWriter, of_kind, read_lines

ReplayOutcome = Literal["holds", "does not hold", "not replayed"]


@dataclass(frozen=True, slots=True)
class Replayed:
    """The result of replaying one recorded difference."""

    record: Disagreement
    outcome: ReplayOutcome
    reason: str = ""
    """What has changed, or why it was not replayed."""


def read_counterexamples(file: Path) -> list[Disagreement]:
    """Return the differences in a file, none if it does not exist. Raises `RecordError` for an invalid line."""
    return list(of_kind(read_lines(file), Disagreement)) if file.is_file() else []


class CounterexampleFile:
    """A file of differences, one of each kind."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._keys = {key_of(record) for record in read_counterexamples(file)}
        self.n_new = self.n_known = 0

    def add(self, record: Disagreement) -> None:
        """Append `record` unless the file has one of its kind; it is on disk when this returns."""
        if key_of(record) in self._keys:
            self.n_known += 1
            return
        self._keys.add(key_of(record))
        with RecordWriter(self._file.parent, resume=True, file=self._file.name) as writer:
            writer.write(record)
        self.n_new += 1


def replay(records: Sequence[Disagreement], done: Callable[[Replayed], None] = lambda replayed: None) -> list[Replayed]:
    """Replay every record; `done` is called with each result. Each side is started once."""
    replayed: list[Replayed] = []
    with ExitStack() as started:
        names = dict.fromkeys(name for record in records for name in (record.a, record.b))
        sides = {name: _started(name, started) for name in names}
        for record in records:
            replayed.append(_again(record, [sides[record.a], sides[record.b]]))
            done(replayed[-1])
    return replayed


def _started(name: str, started: ExitStack) -> SideProcess | str:
    """Start a side, to be closed with `started`; return the reason instead if it cannot be started."""
    try:
        return started.enter_context(closing(SideProcess(name)))
    except (impls.BPEError, DataError) as error:
        return str(error)


def _again(record: Disagreement, sides: Sequence[SideProcess | str]) -> Replayed:
    try:
        model = record.model if record.own_model is None else own_model(record)
    except impls.BPEError as error:
        return Replayed(record, "does not hold", str(error))
    if record.difference == "not repeatable":
        return Replayed(record, "not replayed", "it could not be reproduced")
    is_decoding = record.call == "decode"
    text = text_of_ids(record.counterexample.expected or ()) if is_decoding else record.counterexample.text.text
    question = Question(model, [text], record.call, record.allow_special)
    answers: list[Answer] = []
    for side in sides:
        if isinstance(side, str):
            return Replayed(record, "not replayed", side)
        answer = side.ask(question)
        if isinstance(answer, Failed):
            return Replayed(record, "not replayed", answer.reason)
        answers += answer
    return _judged(record, answers)


def _judged(record: Disagreement, answers: Iterable[Answer]) -> Replayed:
    a, b = answers
    if record.holds == "agrees" and isinstance(a, Failed) and isinstance(b, Failed):
        return Replayed(record, "not replayed", f"neither answers now: {a.kind}, {b.kind}")
    if same(a, b) is (record.holds == "differs"):
        return Replayed(record, "does not hold", "they agree now" if record.holds == "differs" else "they differ again")
    if record.call == "decode":
        return Replayed(record, "holds")
    expected = {record.a: record.counterexample.expected, record.b: record.counterexample.got}
    for name, answer in ((record.a, a), (record.b, b)):
        if record.holds == "differs" and ids_of(answer) != expected[name]:
            now = f"fails: {answer.kind}" if isinstance(answer, Failed) else f"gives {ids_of(answer)}"
            return Replayed(record, "does not hold", f"{name} {now} now")
    return Replayed(record, "holds")
