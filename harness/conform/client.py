"""The target as the checks see it: requests in, answers or refusals out, with a fresh process after a failure.

No exception of the target is raised here, except that it fails too often (`GaveUp`).
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any
from zlib import crc32

from harness.conform.digests import Digests, of_ids, of_text
from harness.conform.reference import Answer, Refusal
from harness.conform.target import Target, TargetError, TargetFailed
from harness.conform.verdicts import RequestCounts
from harness.process.limits import Limits
from harness.targets.spec import NotLoadable

OpenTarget = Callable[[Mapping[str, str]], Target]
"""Starts a process of the target with these variables in its environment."""

MAX_FAILURES = 10
"""Failures of the target's process after which a check stops; the whole run stops after three times as many."""
MAX_TIMEOUTS = 3
"""Like `MAX_FAILURES`, for calls that timed out, each of which uses its whole time limit."""
_REQUEST_CHARACTERS = 200_000
_REQUEST_TEXTS = 20_000
_TEXTS_ONE_BY_ONE = 100  # for a target that takes one text per request
_SECONDS_A_REQUEST = 3.0
_FIRST_CHARACTERS = 2_000  # until its speed is known
_MOST_REMEMBERED = 300_000  # texts
_FEWEST_CHARACTERS = 1_000  # enough to measure its speed


class GaveUp(Exception):
    """The target failed too often for this check to continue; `TargetClient.given_up` says whether the run can."""

    def __init__(self, reason: str) -> None:
        self.reason = reason
        super().__init__(reason)


class Elsewhere(Exception):
    """The target gave no answer in another thread or a forked child."""

    def __init__(self, refusal: Refusal) -> None:
        self.refusal = refusal
        super().__init__(str(refusal))


class TargetClient:
    """The client of one target under test."""

    def __init__(self, open_target: OpenTarget, asked: Counter[str] | None = None) -> None:
        """Start the target; requests are counted in `asked` too. Raises `NotLoadable`."""
        self._open_target = open_target
        self._target = open_target({})
        self._target.__enter__()
        self.description = self._target.description
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
        self.peak_memory_bytes = 0
        self._asked = Counter() if asked is None else asked

    def close(self) -> None:
        """End its process."""
        self._target.__exit__(None, None, None)

    def __enter__(self) -> TargetClient:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def limits(self) -> Limits:
        """Return the limits of its process."""
        return self._target.limits

    @property
    def asked(self) -> RequestCounts:
        """Return the counts of requests so far, over all processes of the target."""
        return RequestCounts(**self._asked)

    def _note_asked(self, arguments: Mapping[str, Any]) -> None:
        texts = [arguments["text"]] if "text" in arguments else arguments.get("texts", ())
        self._asked["calls"] += 1
        self._asked["texts"] += len(texts) + len(arguments.get("lists", ())) + ("ids" in arguments)
        self._asked["bytes"] += sum(len(text.encode("utf-8", "surrogatepass")) for text in texts)

    def offers(self, operation: str) -> bool:
        """Return whether it offers an operation beyond encode and decode."""
        return operation in self.description.operations

    def fresh(self) -> None:
        """Continue in a fresh process, which has encoded nothing yet."""
        self.history = []
        try:
            self._target.restart()
        except (NotLoadable, TargetFailed) as error:
            self.given_up = f"it does not start again: {error}"
            raise GaveUp(self.given_up) from None

    def another(self, environment: Mapping[str, str]) -> TargetClient:
        """Start a second process of the same target. Raises `GaveUp` if it does not start."""

        def open_target(more: Mapping[str, str]) -> Target:
            return self._open_target({**environment, **more})

        try:
            return TargetClient(open_target, self._asked)
        except (NotLoadable, TargetFailed) as error:
            raise GaveUp(f"it does not start a second time: {error}") from None

    # --- requests ------------------------------------------------------------------------------------------

    def ask(self, operation: str, *, seconds: float | None = None, **arguments: Any) -> Any:
        """Return the answer to one request, or a `Refusal`. Raises `GaveUp`."""
        return self._answered(lambda: self._target.call(operation, seconds=seconds, **arguments), arguments)

    def _answered(self, call: Callable[[], Any], arguments: Mapping[str, Any]) -> Any:
        self._note_asked(arguments)
        try:
            return call()
        except TargetError as error:
            return Refusal(error.kind, error.message)
        except TargetFailed as failure:
            return self._failed(failure)
        finally:
            self.peak_memory_bytes = max(self.peak_memory_bytes, self._target.peak_memory_bytes)

    def begin_check(self) -> None:
        """Reset the count of failures."""
        self._n_in_check.clear()

    def _failed(self, failure: TargetFailed) -> Refusal:
        self.n_failures += 1
        if self.counting:
            for counted, factor in ((self._n_in_all, 3), (self._n_in_check, 1)):
                counted[failure.verdict] += 1
                if counted.total() >= factor * MAX_FAILURES or counted["timeout"] >= factor * MAX_TIMEOUTS:
                    reason = f"its process failed {counted.total()} times, at last: {failure}"
                    self.given_up = reason if counted is self._n_in_all else ""
                    raise GaveUp(reason)
        self.fresh()
        return Refusal(failure.verdict, failure.reason, fatal=True)

    def ids(self, text: str, **options: Any) -> Answer:
        """Return the target's ids of one text."""
        answer: Answer = self.ask("encode", text=text, **options)
        self.history.append(text)
        return answer

    def ids_of_all(self, texts: Sequence[str]) -> Iterator[Answer]:
        """Yield the target's ids of each text, in order; many texts share one request."""
        for chunk in self._chunks(texts):
            yield from self._chunk(chunk)

    def _chunks(self, texts: Sequence[str]) -> Iterator[list[str]]:
        """Group texts into requests that take a few seconds at most."""
        start = 0
        n_texts = _REQUEST_TEXTS if self.offers("encode_each") else _TEXTS_ONE_BY_ONE
        room = _REQUEST_CHARACTERS if self.characters_per_second else _FIRST_CHARACTERS
        while start < len(texts):
            if self.characters_per_second:
                room = min(4 * room, _REQUEST_CHARACTERS, int(self.characters_per_second * _SECONDS_A_REQUEST))
            chunk = [texts[start]]
            size = len(texts[start])
            for text in texts[start + 1 : start + n_texts]:
                size += len(text)
                if size > room:
                    break
                chunk.append(text)
            yield chunk
            start += len(chunk)

    def _chunk(self, texts: list[str]) -> list[Answer]:
        began = time.perf_counter()
        if len(texts) == 1:
            answers = [self.ids(texts[0])]
        else:
            found = self._answered(lambda: self._target.encode_each(texts), {"texts": texts})
            self.history += texts
            if isinstance(found, Refusal):  # one text ended the process: send them singly
                return self._singly(texts)
            answers = [Refusal(a.kind, a.message) if isinstance(a, TargetError) else a for a in found]
        self._note_speed(sum(map(len, texts)), time.perf_counter() - began)
        return answers

    def _note_speed(self, n_characters: int, seconds: float) -> None:
        if n_characters >= _FEWEST_CHARACTERS:
            self.characters_per_second = max(self.characters_per_second, n_characters / max(seconds, 1e-6))

    def _singly(self, texts: list[str]) -> list[Answer]:
        answers: list[Answer] = []
        for text in texts:
            answers.append(self.ids(text))
            if isinstance(answers[-1], Refusal) and answers[-1].fatal:
                break
        return [*answers, *self.ids_of_all(texts[len(answers) :])]

    def digests(self, texts: Sequence[str], calls: Sequence[str], where: str = "here") -> Digests:
        """Return the digests of these calls for each text; computed here where the target does not."""
        found: Digests = {call: [] for call in ("encode", *calls)}
        while (done := len(found["encode"])) < len(texts):
            left = next(self._chunks(texts[done:])) if where == "here" else list(texts)
            part: Any = None
            began = time.perf_counter()
            if self.offers("digests"):
                seconds = self._target.limits.call_seconds / 2
                part = self.ask("digests", texts=left, calls=calls, seconds_left=seconds, where=where)
                if where != "here":
                    if isinstance(part, Refusal):
                        raise Elsewhere(part)
                    return dict(part)
            if part is None or isinstance(part, Refusal):  # one text ended the process: send them singly
                part = self._digests_here(left, calls)
            else:
                self.history += left[: len(part["encode"])]
                self._note_speed(sum(map(len, left[: len(part["encode"])])), time.perf_counter() - began)
            for call, numbers in part.items():
                found[call] += numbers
        del self.history[:-_MOST_REMEMBERED]
        return found

    def _digests_here(self, texts: list[str], calls: Sequence[str]) -> Digests:
        answers = list(self.ids_of_all(texts))
        found: Digests = {"encode": [None if isinstance(ids, Refusal) else of_ids(ids) for ids in answers]}
        digest: dict[str, Callable[[Any], int]] = {"count": int, "encode_array": of_ids, "decode_bytes": crc32}
        for call in calls:
            if call == "decode":
                back = [ids if isinstance(ids, Refusal) else self.decode(ids) for ids in answers]
                found[call] = [None if isinstance(text, Refusal) else of_text(text) for text in back]
            elif call == "encode_batch":
                lists = self.ask(call, texts=texts)
                found[call] = [None] * len(texts) if isinstance(lists, Refusal) else list(map(of_ids, lists))
            elif call in digest:
                found[call] = []
                for text, ids in zip(texts, answers, strict=True):
                    answer = self.ask(call, **({"ids": ids} if call == "decode_bytes" else {"text": text}))
                    found[call].append(None if isinstance(answer, Refusal) else digest[call](answer))
        return found

    def decoded(self, lists: Sequence[list[int]]) -> list[int | None]:
        """Return the digest of the text that each list of ids decodes to."""
        found: list[int | None] = []
        while self.offers("decoded") and len(found) < len(lists):
            left = lists[len(found) :]
            part = self.ask("decoded", lists=left, seconds_left=self._target.limits.call_seconds / 2)
            if isinstance(part, Refusal):
                break
            found += part
        texts = map(self.decode, lists[len(found) :])
        return found + [None if isinstance(text, Refusal) else of_text(text) for text in texts]

    def seconds_for(self, n_characters: int) -> float:
        """Estimate the seconds to encode so many characters, from the speed observed so far."""
        return n_characters / self.characters_per_second if self.characters_per_second else 0.0

    def decode(self, ids: Sequence[int]) -> str | Refusal:
        """Return the text the target decodes the ids to."""
        answer: str | Refusal = self.ask("decode", ids=list(ids))
        return answer
