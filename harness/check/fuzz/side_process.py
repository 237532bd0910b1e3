"""The sides of a fuzzing run: their names, and a process for each, restarted when it dies or hangs.

- `tiktoken`, `priority`, a plug-in: a registered implementation.
- `package.module:object`, a Python file, `cmd:COMMAND`, a model file: any form of target (see `harness.targets`).
"""

from __future__ import annotations

from dataclasses import replace

import impls
from harness.check.classes import registered
from harness.check.fuzz import questions
from harness.check.fuzz.questions import Answer, Answers, Question
from harness.data.errors import DataError
from harness.process.session import Failed, FailedError, functions

_SECONDS = 120.0
"""To start or to answer; includes loading the model, if needed."""


class SideProcess:
    """The process of one side of a run. Always `close` it."""

    def __init__(self, name: str) -> None:
        """Start the process. Raises `UnknownName`, or `DataError` if it cannot be started."""
        if (implementation := registered(name)) is not None and implementation not in impls.names():
            raise impls.UnknownName("implementation", name, ["MODULE:OBJECT", "FILE", "cmd:COMMAND", *impls.names()])
        self.name = name
        self._asked: list[Question] = []
        self._session = functions(environment={"PYTHONHASHSEED": "0"})
        versions = self._session.call(questions.versions, name, seconds=_SECONDS)
        if isinstance(versions, Failed):
            self.close()
            raise DataError(versions.reason if versions.outcome.did_not_run else f"{name}: {versions.reason}")
        self.versions: dict[str, str] = versions.value
        """The versions of the packages it runs."""

    def submit(self, asked: list[Question]) -> None:
        """Send questions without waiting; `result` returns the answers."""
        self._asked = asked
        self._session.begin_call(questions.answer, self.name, asked, seconds=_SECONDS)

    def result(self) -> list[Answers]:
        """Return the answers to what was submitted. A text that kills or hangs the process becomes a failure."""
        try:
            answers: list[Answers] = self._session.wait().result()
            return answers
        except FailedError as error:
            if sum(len(question.texts) for question in self._asked) == 1:
                return [[error.failed]]
            return [[self.ask_one(question, text) for text in question.texts] for question in self._asked]

    def ask(self, question: Question) -> Answers:
        """Return the answers to one question."""
        self.submit([question])
        return self.result()[0]

    def ask_one(self, question: Question, text: str) -> Answer:
        """Return the answer to one text, asked as in `question`."""
        answers = self.ask(replace(question, texts=[text]))
        return answers if isinstance(answers, Failed) else answers[0]

    def close(self) -> None:
        """End the process."""
        self._session.kill()
