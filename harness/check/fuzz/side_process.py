"""A side as the run sees it: a process of its own that is asked, watched, and restarted when it dies or hangs."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import tempfile
from dataclasses import replace
from multiprocessing.connection import Connection

from harness.check.fuzz.questions import Answer, Answers, Failure, Hello, LoadFailure, Question
from harness.check.fuzz.sides import SideSpec
from harness.data.errors import DataError
from harness.data.releases import installed

_SECONDS_TO_START = 120.0
_SECONDS_TO_ANSWER = 120.0
_SECONDS_FOR_ONE = 60.0
"""Includes loading the model, if needed."""
_SHOWN_OUTPUT_BYTES = 300


class _ProcessGone(Exception):
    """The process hangs or has died; `failure` says which."""

    def __init__(self, failure: Failure) -> None:
        self.failure = failure
        super().__init__(failure.message)


class SideProcess:
    """The process of one side of a run. Always `close` it, or use it in a `with` statement."""

    def __init__(self, spec: SideSpec) -> None:
        """Start it. Raises `DataError` where it cannot be started."""
        self.spec = spec
        self.name = spec.name
        self._environment = dict(os.environ)
        self._environment["PYTHONHASHSEED"] = "0"
        if spec.release is not None:
            paths = [str(installed(spec.release)), *filter(None, [os.environ.get("PYTHONPATH")])]
            self._environment["PYTHONPATH"] = os.pathsep.join(paths)
        self._process: subprocess.Popen[bytes] | None = None
        self._asked: list[Question] = []
        self._output = tempfile.TemporaryFile()  # noqa: SIM115 (closed by `close`)
        try:
            self.hello = self._start()
        except BaseException:
            self.close()
            raise

    def _start(self) -> Hello:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "harness.check.fuzz.serve", self.name],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._output,
            env=self._environment,
            start_new_session=True,
        )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._questions = Connection(os.dup(self._process.stdin.fileno()), readable=False)
        self._answers = Connection(os.dup(self._process.stdout.fileno()), writable=False)
        self._process.stdin.close()
        self._process.stdout.close()
        try:
            hello = self._receive(_SECONDS_TO_START)
        except _ProcessGone as gone:
            self._end()
            raise DataError(f"{self.name}: {gone.failure.message}") from None
        if isinstance(hello, LoadFailure):
            self._end()
            raise DataError(hello.reason)
        assert isinstance(hello, Hello)
        return hello

    def submit(self, questions: list[Question]) -> None:
        """Send questions without waiting; `result` returns the answers."""
        self._asked = questions
        with contextlib.suppress(BrokenPipeError):  # `result` will find it dead
            self._questions.send(questions)

    def result(self) -> list[Answers]:
        """Return the answers to what was submitted. A text that kills or hangs the process becomes a failure."""
        try:
            return self._answers_within(_SECONDS_TO_ANSWER)
        except _ProcessGone as gone:
            self._restart()
            if len(self._asked) == 1 and len(self._asked[0].texts) == 1:
                return [[gone.failure]]
            return [self._each(question) for question in self._asked]

    def ask(self, question: Question) -> Answers:
        """Return the answers to one question."""
        self.submit([question])
        return self.result()[0]

    def ask_one(self, question: Question, text: str) -> Answer:
        """Return the answer to one text, asked as `question` is."""
        found = self.ask(replace(question, texts=[text]))
        return Failure("refused", found.reason) if isinstance(found, LoadFailure) else found[0]

    def _each(self, question: Question) -> Answers:
        """Ask every text by itself, restarting the process after each text that ends it."""
        answers: list[Answer] = []
        for text in question.texts:
            try:
                self._questions.send([replace(question, texts=[text])])
                (found,) = self._answers_within(_SECONDS_FOR_ONE + _SECONDS_TO_START * (not answers))
            except (_ProcessGone, BrokenPipeError) as error:
                answers.append(
                    error.failure if isinstance(error, _ProcessGone) else Failure("crash", "the process ended")
                )
                self._restart()
                continue
            if isinstance(found, LoadFailure):
                return found
            answers += found
        return answers

    def _answers_within(self, seconds: float) -> list[Answers]:
        answers = self._receive(seconds)
        assert isinstance(answers, list)
        return answers

    def _receive(self, seconds: float) -> object:
        try:
            if not self._answers.poll(seconds):
                raise _ProcessGone(Failure("timeout", f"no answer within {seconds:g} s"))
            return self._answers.recv()
        except (EOFError, ConnectionError):
            raise _ProcessGone(Failure("crash", self._death())) from None

    def _death(self) -> str:
        assert self._process is not None
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(5)
        code = self._process.returncode
        if code is None:
            how = "the process closed its pipe and hung"
        elif code < 0:
            how = f"the process was killed by {signal.Signals(-code).name}"
        else:
            how = f"the process ended with exit status {code}"
        self._output.seek(0)
        said = self._output.read().decode("utf-8", "replace").strip().splitlines()
        return f"{how}; its last line of output: {said[-1][:_SHOWN_OUTPUT_BYTES]}" if said else how

    def _restart(self) -> None:
        self._end()
        self._output.seek(0)
        self._output.truncate()
        self._start()

    def _end(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        self._questions.close()
        self._answers.close()

    def close(self) -> None:
        """End the process."""
        self._end()
        self._output.close()

    def __enter__(self) -> SideProcess:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
