"""The sides of a fuzzing run: their names, and a process for each, restarted when it dies or hangs.

- `tiktoken`, `priority`, a plug-in: a registered implementation.
- `package.module:object`, a Python file, `cmd:COMMAND`, a model file: any form of target (see `harness.targets`).
"""

from __future__ import annotations

import os
from dataclasses import replace

import impls
from harness.check.classes import registered
from harness.check.fuzz import questions
from harness.check.fuzz.questions import Answer, Answers, Question
from harness.data.errors import DataError
from harness.process.session import Failed, FailedError, Session, functions


def ensure_known(name: str) -> None:
    """Raise `UnknownName` if `name` is neither a registered implementation nor any other form of target."""
    if (implementation := registered(name)) is not None and implementation not in impls.names():
        known = [*impls.names(), "MODULE:OBJECT", "FILE", "cmd:COMMAND"]
        raise impls.UnknownName("implementation", name, known)


_SECONDS_TO_START = 120.0
_SECONDS_TO_ANSWER = 120.0
_SECONDS_FOR_ONE = 60.0
"""Includes loading the model, if needed."""


class SideProcess:
    """The process of one side of a run. Always `close` it, or use it in a `with` statement."""

    def __init__(self, name: str) -> None:
        """Start the process. Raises `UnknownName`, or `DataError` if it cannot be started."""
        ensure_known(name)
        self.name = name
        self._environment = os.environ | {"PYTHONHASHSEED": "0"}
        self._asked: list[Question] = []
        self.versions = self._start()
        """The versions of the packages it runs."""

    def _start(self) -> dict[str, str]:
        self._session: Session = functions(environment=self._environment)
        try:
            versions: dict[str, str] | Failed = self._session.value(
                questions.versions, self.name, seconds=_SECONDS_TO_START
            )
        except FailedError as error:
            raise DataError(f"{self.name}: {error.failed.reason}") from None
        except BaseException:
            self.close()
            raise
        if isinstance(versions, Failed):
            self.close()
            raise DataError(versions.reason)
        return versions

    def submit(self, asked: list[Question]) -> None:
        """Send questions without waiting; `result` returns the answers."""
        self._asked = asked
        self._session.begin_call(questions.answer, self.name, asked, seconds=_SECONDS_TO_ANSWER)
        self._session.flush()

    def result(self) -> list[Answers]:
        """Return the answers to what was submitted. A text that kills or hangs the process becomes a failure."""
        try:
            answers: list[Answers] = self._session.result()
            return answers
        except FailedError as error:
            if len(self._asked) == 1 and len(self._asked[0].texts) == 1:
                return [[error.failed]]
            return [self._each(question) for question in self._asked]

    def ask(self, question: Question) -> Answers:
        """Return the answers to one question."""
        self.submit([question])
        return self.result()[0]

    def ask_one(self, question: Question, text: str) -> Answer:
        """Return the answer to one text, asked as in `question`."""
        found = self.ask(replace(question, texts=[text]))
        return found if isinstance(found, Failed) else found[0]

    def _each(self, question: Question) -> Answers:
        """Ask about every text separately, restarting the process after each text that kills it."""
        answers: list[Answer] = []
        for text in question.texts:
            seconds = _SECONDS_FOR_ONE + _SECONDS_TO_START * (not self._session.is_running)
            try:
                (found,) = self._session.value(
                    questions.answer, self.name, [replace(question, texts=[text])], seconds=seconds
                )
            except FailedError as error:
                answers.append(error.failed)
                continue
            if isinstance(found, Failed):
                return found
            answers += found
        return answers

    def close(self) -> None:
        """End the process."""
        self._session.kill()

    def __enter__(self) -> SideProcess:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
