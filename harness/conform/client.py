"""The target as the checks see it: requests in, answers or failures out, with a fresh process after a failure.

No exception of the target is raised here, except that it fails too often (`GaveUp`); the end of the time that a check
has is `Incomplete`, and what the target had not answered by then is nothing that it did wrong.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from itertools import groupby, islice
from math import inf
from typing import Any

from harness.conform.digests import Digests, digests
from harness.conform.reference import Answer, Reference, digest_of, value_of
from harness.conform.verdicts import GaveUp, Incomplete
from harness.outcome import Outcome
from harness.process.memory import waiting_seconds
from harness.process.protocol import ErrorResult
from harness.process.session import Failed, FailedError, Session
from harness.targets.operations import SHAPES, described
from harness.targets.spec import NotLoadable

OpenSession = Callable[[Mapping[str, str]], Session]
"""Opens a session with the target, with these variables in its environment."""

Asked = str | tuple[str, ...]
"""A text, or the texts of a batch."""

MAX_FAILURES = 10
"""Failures of the target's process after which a check stops; the whole run stops after three times as many."""
MAX_TIMEOUTS = 3
"""Like `MAX_FAILURES`, for calls that timed out, each of which uses its whole time limit."""
_REQUEST_CHARACTERS, _REQUEST_TEXTS = 200_000, 20_000
SHORT = 250
"""Texts of up to so many characters are asked together, longer ones with those of up to twice their length."""
_GRACE_SECONDS = 5.0
"""A request that was begun in time may be answered so much later, or by the time of its check where that is less."""
_GIVEN = {"encode_batch": "texts", "count": "text", "encode_array": "text", "decode": "ids", "decode_bytes": "ids"}
_FIRST_CHARACTERS, _FEWEST_CHARACTERS = 2_000, 1_000  # until its speed is known; enough to measure it


class TargetClient(AbstractContextManager["TargetClient"]):
    """The client of one target under test."""

    def __init__(self, open_session: OpenSession) -> None:
        """Start the target. Raises `NotLoadable`."""
        self._open_session = open_session
        self.session = open_session({})
        self.description = described(self.session)
        self.n_failures = 0
        self._n_in_check: Counter[str] = Counter()
        self._n_in_all: Counter[str] = Counter()
        self.given_up = ""
        """Why the whole run must stop; empty while it need not."""
        self.history: list[Asked] = []
        """What the current process has encoded, in order."""
        self.characters_per_second = 0.0
        """The target's fastest encoding observed so far, without waits for a processor; 0 before the first."""
        self.deadline, self.share = inf, inf
        """When the current check ends (`time.monotonic`), and how long it may take from its first request on."""
        self._seconds_taken = 0.0

    def __exit__(self, *_: object) -> None:
        """End its process."""
        self.session.close()

    @property
    def busy_seconds(self) -> float:
        """Return how long requests have taken, without what the present process has waited for a processor."""
        return self._seconds_taken - waiting_seconds(self.session.pid)

    def offers(self, operation: str) -> bool:
        """Return whether it offers an operation or an option."""
        return operation in self.description.operations

    def offered(self, calls: Iterable[str]) -> list[str]:
        """Return those of the calls that it offers; `special` is `encode` with all special tokens allowed."""
        operations = self.description.operations
        special = {"special"} if {"allowed_special", "disallowed_special"} <= operations else set()
        return [call for call in calls if call in operations | special]

    def fresh(self) -> None:
        """Continue in a fresh process, which has encoded nothing yet; no check is charged for its start."""
        self.history, began = [], time.monotonic()
        self.session.close()
        try:
            described(self.session)
        except NotLoadable as error:
            self.given_up = f"it cannot be restarted: {error}"
            raise GaveUp("process", self.given_up) from None
        self.deadline += time.monotonic() - began if self.share < inf else 0.0

    def another(self, environment: Mapping[str, str]) -> TargetClient:
        """Start a second process of the same target. Raises `GaveUp` if it does not start."""
        seconds_left = self.seconds_left
        try:
            other = TargetClient(lambda more: self._open_session({**environment, **more}))
        except NotLoadable as error:
            raise GaveUp("process", f"it does not start a second time: {error}") from None
        other.begin_check(seconds_left)
        return other

    # --- requests ------------------------------------------------------------------------------------------

    def ask(self, operation: str, **arguments: Any) -> Any:
        """Return the answer to one request, or a `Failed`. Raises `GaveUp`, and `Incomplete` when the time is over."""
        began = time.monotonic()
        self.deadline = min(self.deadline, began + self.share)
        if began >= self.deadline:
            raise Incomplete
        grace = min(_GRACE_SECONDS, self.share)
        limit = min(self.session.limits.call_seconds, self.deadline - began + grace)
        answer = self.session.ask(operation, seconds=limit, shape=SHAPES.get(operation, Any), **arguments)
        self._seconds_taken += time.monotonic() - began
        if operation == "encode_batch":
            self.history.append(tuple(arguments["texts"]))
        if not isinstance(answer, Failed):
            return answer.value
        if answer.outcome is Outcome.TIMEOUT and limit < self.session.limits.call_seconds:
            self.fresh()
            raise Incomplete
        return self._noted(answer)

    def begin_check(self, seconds: float) -> None:
        """Give a check so much time from its first request on, and reset the count of failures."""
        self.deadline, self.share = inf, seconds
        self._n_in_check.clear()

    @property
    def seconds_left(self) -> float:
        """Return the time left to the current check."""
        return min(self.share, self.deadline - time.monotonic())

    @property
    def seconds_a_call(self) -> float:
        """Return the time that the target may take for a request, so that it can answer within the limits."""
        return min(self.session.limits.call_seconds, self.seconds_left) / 2

    def _noted(self, failed: Failed) -> Failed:
        """Return `failed`, after a fresh start if its process has ended."""
        if not failed.outcome.ends_process:
            return failed
        self.n_failures += 1
        if self.share < inf:  # not while a failure is being shrunk
            for counted, factor in ((self._n_in_all, 3), (self._n_in_check, 1)):
                counted[failed.outcome] += 1
                if counted.total() >= factor * MAX_FAILURES or counted[Outcome.TIMEOUT] >= factor * MAX_TIMEOUTS:
                    reason = f"its process failed {counted.total()} times, the last time: {failed}"
                    self.given_up = reason if counted is self._n_in_all else ""
                    raise GaveUp("resources" if failed.outcome is Outcome.TIMEOUT else "process", reason)
        self.fresh()
        return failed

    def ids(self, text: str, **options: Any) -> Answer:
        """Return the target's ids of one text."""
        answer: Answer = self.ask("encode", text=text, **options)
        self.history.append(text)
        return answer

    def groups(self, texts: Iterable[str], reference: Reference | None = None) -> Iterator[list[str]]:
        """Group texts into requests that take target and reference a few seconds; long ones with none twice as long."""
        group: list[str] = []
        room = 0
        for text in texts:
            if group and (len(text) > min(room, 2 * max(SHORT, len(group[0]))) or len(group) == _REQUEST_TEXTS):
                yield group
                group = []
            if not group:
                seconds = min(3.0, self.seconds_left / 8)
                speed = min(self.characters_per_second, reference.characters_per_second if reference else inf)
                room = min(_REQUEST_CHARACTERS, int(speed * seconds) or _FIRST_CHARACTERS)
            group.append(text)
            room -= len(text)
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

    def digests(self, texts: Iterable[str], calls: Sequence[str] = ()) -> Digests:
        """Return the digests of these calls for each text, in order."""
        answers: Digests = {call: [] for call in ("encode", *calls)}
        for group in self.groups(texts):
            for _, part in self.digests_of(group, calls):
                for call, numbers in part.items():
                    answers[call] += numbers
        return answers

    def repeat(self, asked: Iterable[Asked]) -> None:
        """Encode texts and batches again, in this order, in a fresh process."""
        self.fresh()
        for is_batch, some in groupby(asked, lambda each: isinstance(each, tuple)):
            if is_batch:
                for texts in some:
                    self.ask("encode_batch", texts=list(texts))
            else:
                self.digests(some)  # type: ignore[arg-type]

    def digests_of(self, group: list[str], calls: Sequence[str]) -> Iterator[tuple[list[str], Digests]]:
        """Yield some of the texts at a time with their digests; these are computed here where the target does not."""
        while group:
            began = self.busy_seconds
            if part := self._some("digests", texts=group, calls=calls):
                texts = group[: len(part["encode"])]
                self.history += [*texts, tuple(texts)] if "encode_batch" in calls else texts
            else:
                texts, part = group, self._digests_here(group, calls)
            if (n_characters := sum(map(len, texts))) >= _FEWEST_CHARACTERS:
                speed = n_characters / max(self.busy_seconds - began, 1e-6)
                self.characters_per_second = max(self.characters_per_second, speed)
            del self.history[:-300_000]
            yield texts, part
            group = group[len(texts) :]

    def _digests_here(self, texts: list[str], calls: Sequence[str]) -> Digests:
        answers = dict(zip(texts, self._each(texts), strict=True))
        all_allowed = {"allowed_special": "all", "disallowed_special": []}
        methods: dict[str, Callable[..., Any]] = {"encode": lambda text: value_of(answers[text])}
        methods["special"] = lambda text: value_of(self.ids(text, **all_allowed))
        for call, name in _GIVEN.items():
            methods[call] = lambda given, call=call, name=name: value_of(self.ask(call, **{name: given}))
        return digests(methods, texts, calls, error=FailedError)

    def decoded(self, lists: Iterable[Sequence[int]], call: str) -> Iterator[int | None]:
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
