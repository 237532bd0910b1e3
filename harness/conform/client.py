"""The target as the checks see it: requests in, answers or failures out, with a fresh process after a failure.

No exception of the target is raised here, except that it fails too often (`GaveUp`); the end of the time that a check
has is `Incomplete`, and what the target had not answered by then is nothing that it did wrong.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from math import inf
from typing import Any

from harness.conform.digests import Digests, digests
from harness.conform.reference import Answer, digest_of, value_of
from harness.conform.verdicts import Incomplete
from harness.outcome import Outcome
from harness.process.limits import Limits
from harness.process.memory import cpu_seconds, waiting_seconds
from harness.process.protocol import ErrorResult
from harness.process.session import Failed, FailedError, Session
from harness.targets.operations import SHAPES, described
from harness.targets.spec import NotLoadable

OpenSession = Callable[[Mapping[str, str]], Session]
"""Opens a session with the target, with these variables in its environment."""

MAX_FAILURES = 10
"""Failures of the target's process after which a check stops; the whole run stops after three times as many."""
MAX_TIMEOUTS = 3
"""Like `MAX_FAILURES`, for calls that timed out, each of which uses its whole time limit."""
_REQUEST_CHARACTERS, _REQUEST_TEXTS = 200_000, 20_000
_SECONDS_A_REQUEST = 3.0
_GRACE_SECONDS = 5.0
"""A request that was begun in time may be answered so much later."""
_FIRST_CHARACTERS, _FEWEST_CHARACTERS = 2_000, 1_000  # until its speed is known; enough to measure it
_MOST_REMEMBERED = 300_000  # texts


class GaveUp(Exception):
    """The target failed too often for this check to continue; `TargetClient.given_up` says whether the run can."""

    def __init__(self, reason: str, outcome: Outcome = Outcome.CRASH) -> None:
        self.reason, self.outcome = reason, outcome
        super().__init__(reason)


class TargetClient:
    """The client of one target under test."""

    def __init__(self, open_session: OpenSession) -> None:
        """Start the target. Raises `NotLoadable`."""
        self._open_session = open_session
        self._session = open_session({})
        self.description = described(self._session)
        self.n_failures = 0
        self._n_in_check: Counter[str] = Counter()
        self._n_in_all: Counter[str] = Counter()
        self.given_up = ""
        """Why the whole run must stop; empty while it need not."""
        self.counting = True
        """Whether failures count towards giving up; not while a failure is being shrunk."""
        self.history: list[str] = []
        """Texts encoded by the current process, in order."""
        self.characters_per_second = 0.0
        """The target's fastest encoding observed so far; 0 before the first."""
        self.deadline = inf
        """When the current check ends (`time.monotonic`)."""
        self._seconds_taken = 0.0

    def close(self) -> None:
        """End its process."""
        self._session.close()

    def __enter__(self) -> TargetClient:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def limits(self) -> Limits:
        """Return the limits of its process."""
        return self._session.limits

    @property
    def processor_seconds(self) -> float:
        """Return the processor time that the present process has used; 0 where the system does not tell."""
        return cpu_seconds(self._session.pid)

    @property
    def busy_seconds(self) -> float:
        """Return how long requests have taken, without what the present process has waited for a processor."""
        return self._seconds_taken - waiting_seconds(self._session.pid)

    @property
    def peak_memory_bytes(self) -> int:
        """Return the highest resident memory of its processes."""
        return self._session.peak_memory_bytes

    def offers(self, operation: str) -> bool:
        """Return whether it offers an operation beyond encode and decode."""
        return operation in self.description.operations

    def fresh(self) -> None:
        """Continue in a fresh process, which has encoded nothing yet."""
        self.history = []
        self._session.close()
        try:
            described(self._session)
        except NotLoadable as error:
            self.given_up = f"it does not start again: {error}"
            raise GaveUp(self.given_up) from None

    def another(self, environment: Mapping[str, str]) -> TargetClient:
        """Start a second process of the same target. Raises `GaveUp` if it does not start."""
        try:
            other = TargetClient(lambda more: self._open_session({**environment, **more}))
        except NotLoadable as error:
            raise GaveUp(f"it does not start a second time: {error}") from None
        other.deadline = self.deadline
        return other

    # --- requests ------------------------------------------------------------------------------------------

    def ask(self, operation: str, **arguments: Any) -> Any:
        """Return the answer to one request, or a `Failed`. Raises `GaveUp`, and `Incomplete` when the time is over."""
        began = time.monotonic()
        if began >= self.deadline:
            raise Incomplete
        limit = min(self.limits.call_seconds, self.deadline - began + _GRACE_SECONDS)
        answer = self._session.ask(operation, seconds=limit, shape=SHAPES.get(operation, Any), **arguments)
        self._seconds_taken += time.monotonic() - began
        if not isinstance(answer, Failed):
            return answer.value
        if answer.outcome is Outcome.TIMEOUT and limit < self.limits.call_seconds:
            self.fresh()
            raise Incomplete
        return self._noted(answer)

    def begin_check(self, seconds: float) -> None:
        """Give a check so much time, and reset the count of failures."""
        self.deadline = time.monotonic() + seconds
        self._n_in_check.clear()

    @property
    def seconds_left(self) -> float:
        """Return the time left to the current check."""
        return self.deadline - time.monotonic()

    @property
    def seconds_a_call(self) -> float:
        """Return the time that the target may take for a request, so that it can answer within the limits."""
        return min(self.limits.call_seconds, self.seconds_left) / 2

    def _noted(self, failed: Failed) -> Failed:
        """Return `failed`, after a fresh start if its process has ended."""
        if not failed.outcome.ends_process:
            return failed
        self.n_failures += 1
        if self.counting:
            for counted, factor in ((self._n_in_all, 3), (self._n_in_check, 1)):
                counted[failed.outcome] += 1
                if counted.total() >= factor * MAX_FAILURES or counted[Outcome.TIMEOUT] >= factor * MAX_TIMEOUTS:
                    reason = f"its process failed {counted.total()} times, the last time: {failed}"
                    self.given_up = reason if counted is self._n_in_all else ""
                    raise GaveUp(reason, failed.outcome)
        self.fresh()
        return failed

    def ids(self, text: str, **options: Any) -> Answer:
        """Return the target's ids of one text."""
        answer: Answer = self.ask("encode", text=text, **options)
        self.history.append(text)
        return answer

    def ids_of_all(self, texts: Iterable[str]) -> Iterator[Answer]:
        """Yield the target's ids of each text, in order; many texts share one request."""
        for group in self.groups(texts):
            began = time.perf_counter()
            answers = self._each(group) if len(group) > 1 else list(map(self.ids, group))
            self._note_speed(sum(map(len, group)), time.perf_counter() - began)
            yield from answers

    def groups(self, texts: Iterable[str]) -> Iterator[list[str]]:
        """Group texts into requests that take a few seconds at most."""
        group: list[str] = []
        n_characters, room = 0, _REQUEST_CHARACTERS if self.characters_per_second else _FIRST_CHARACTERS
        for text in texts:
            if group and (n_characters + len(text) > room or len(group) == _REQUEST_TEXTS):
                yield group
                group, n_characters = [], 0
            if not group and self.characters_per_second:
                seconds = min(_SECONDS_A_REQUEST, self.seconds_left / 8)
                room = min(4 * room, _REQUEST_CHARACTERS, int(self.characters_per_second * seconds))
            group.append(text)
            n_characters += len(text)
        if group:
            yield group

    def _each(self, texts: list[str]) -> list[Answer]:
        """Return the ids of each text; where one of them ends the process, the others are sent singly."""
        answers: list[Answer] = []
        while (left := texts[len(answers) :]) and (part := self._some("encode_each", texts=left)):
            some = [Failed.by(answer) if isinstance(answer, ErrorResult) else answer for answer in part]
            if ended := [answer for answer in some if isinstance(answer, Failed) and answer.outcome.ends_process]:
                self._noted(ended[0])
                break
            answers += some
            self.history += left[: len(some)]
        return answers + list(map(self.ids, texts[len(answers) :]))

    def _some(self, operation: str, **arguments: Any) -> Any:
        """Return the answers to as many of the items as the target has time for; None where it has not one."""
        if not self.offers(operation):
            return None
        part = self.ask(operation, seconds_left=self.seconds_a_call, **arguments)
        return None if isinstance(part, Failed) else part

    def _note_speed(self, n_characters: int, seconds: float) -> None:
        if n_characters >= _FEWEST_CHARACTERS:
            self.characters_per_second = max(self.characters_per_second, n_characters / max(seconds, 1e-6))

    def digests(self, texts: Iterable[str], calls: Sequence[str]) -> Digests:
        """Return the digests of these calls for each text, in order."""
        answers: Digests = {call: [] for call in ("encode", *calls)}
        for group in self.groups(texts):
            for _, part in self.digests_of(group, calls):
                for call, numbers in part.items():
                    answers[call] += numbers
        return answers

    def digests_of(self, group: list[str], calls: Sequence[str]) -> Iterator[tuple[list[str], Digests]]:
        """Yield some of the texts at a time with their digests; these are computed here where the target does not."""
        while group:
            began = time.perf_counter()
            if part := self._some("digests", texts=group, calls=calls):
                texts = group[: len(part["encode"])]
                self.history += texts
                self._note_speed(sum(map(len, texts)), time.perf_counter() - began)
            else:
                texts, part = group, self._digests_here(group, calls)
            del self.history[:-_MOST_REMEMBERED]
            yield texts, part
            group = group[len(texts) :]

    def digests_elsewhere(self, texts: Sequence[str], calls: Sequence[str], where: str) -> Digests | Failed:
        """Return the digests of all texts from other threads or a child of the process; see PROTOCOL.md."""
        seconds = self.limits.call_seconds / 2  # a child that takes longer hangs
        answer: Digests | Failed = self.ask("digests", texts=texts, calls=calls, seconds_left=seconds, where=where)
        return answer

    def _digests_here(self, texts: list[str], calls: Sequence[str]) -> Digests:
        answers = dict(zip(texts, self.ids_of_all(texts), strict=True))
        methods: dict[str, Callable[..., Any]] = {"encode": lambda text: value_of(answers[text])}
        methods["encode_batch"] = lambda some: value_of(self.ask("encode_batch", texts=some))
        all_allowed = {"allowed_special": "all", "disallowed_special": []}
        methods["special"] = lambda text: value_of(self.ids(text, **all_allowed))
        for call in ("count", "encode_array"):
            methods[call] = lambda text, call=call: value_of(self.ask(call, text=text))
        for call in ("decode", "decode_bytes"):
            methods[call] = lambda ids, call=call: value_of(self.ask(call, ids=ids))
        return digests(methods, texts, calls, errors=FailedError)

    def decoded(self, lists: Iterable[Sequence[int]], call: str = "decode") -> Iterator[int | None]:
        """Yield the digest of what each list of ids decodes to, by `decode` or `decode_bytes`."""
        lists = iter(lists)
        while some := list(islice(lists, _REQUEST_TEXTS)):
            while some and (part := self._some("decoded", lists=some, call=call)):
                yield from part
                some = some[len(part) :]
            yield from (digest_of(call, self.ask(call, ids=ids)) for ids in some)

    def decode(self, ids: Sequence[int]) -> str | Failed:
        """Return the text the target decodes the ids to."""
        answer: str | Failed = self.ask("decode", ids=list(ids))
        return answer
