"""A target compared with a reference: the state every check works with, and the shrinking of a wrong text.

A wrong answer may depend on the text alone or on what the process encoded before. So a shrunk text is encoded again in
a fresh process; if the answer is right there, the earlier text that causes the fault is searched for.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from itertools import accumulate, chain, islice
from math import inf
from typing import Any, TypeVar

from harness.common_prefix import common_prefix_length
from harness.conform.client import Asked, TargetClient
from harness.conform.locate import ids_afresh, locate
from harness.conform.reference import Answer, Reference
from harness.conform.verdicts import Fault, GaveUp, Incomplete, NothingToCompare, Stage
from harness.conform.wording import answered, expression, has_surrogate
from harness.generators.texts import prose
from harness.judge import Encoded, judge
from harness.minimize import Budget, least, smallest_sequence, smallest_text
from harness.outcome import Outcome
from harness.process.session import Failed
from impls.core.errors import plural

S = TypeVar("S", str, tuple[Any, ...])
T = TypeVar("T")
Judge = Callable[[str, Answer], bool]
"""Returns whether the target's answer to a text is wrong."""

SHRINK_SECONDS = 10.0
OVERTIME_SECONDS = 30.0
"""How long the search for the smallest input of a fault may take past the end of its check."""
_BATCH_TRIALS = 40
"""Trials of the search for the fewest texts of a batch, each of which needs a fresh process."""
_NOT_SHRUNK = "; not shrunk further: stopped at the time limit"
_OF_ANOTHER_KIND = ("TypeError", "NotImplementedError", "Unsupported", "unknown operation")
"""Errors of a method that does not exist for this tokenizer, or takes other arguments; any other is a fault."""
_TIMED, _TIMES = 2_000, 5
"""Characters to encode, and how often, to time a target whose speed is not known yet."""


@dataclass(slots=True)
class Case:
    """A target, a reference, and what earlier checks found."""

    client: TargetClient
    reference: Reference
    seed: int = 0
    known: dict[str, None] = field(default_factory=dict)
    """Small texts on which an earlier check failed."""
    longest_piece: float = inf
    """Length in characters from which a piece takes the target too long."""
    is_cut: bool = False
    """Whether the clock made the current check ask less at a time."""
    n_known: int = 0
    """How many wrong texts of the current check hold one of `known`."""
    n_inputs: int = 0
    """How many inputs the current check has judged."""
    excused: list[str] = field(default_factory=list)
    """A few inputs on which target and reference behave alike, though neither as required."""
    remarks: list[str] = field(default_factory=list)
    """What the current check did not ask or judge, and why."""

    def begin(self, seconds: float) -> None:
        """Begin a check that may take `seconds`."""
        self.n_inputs, self.n_known, self.excused, self.remarks, self.is_cut = 0, 0, [], [], False
        self.client.begin_check(seconds)

    def affordable(self, n_characters: int) -> bool:
        """Return whether the target can encode so many characters in a request; time it if its speed is unknown."""
        client = self.client
        if not client.characters_per_second:
            client.digests(prose(_TIMED, self.seed + more) for more in range(_TIMES))
        seconds = n_characters / (client.characters_per_second or inf)
        self.is_cut |= client.seconds_a_call <= seconds < client.session.limits.call_seconds / 2
        return seconds < client.seconds_a_call

    def quick(self, texts: Iterable[str]) -> list[str]:
        """Leave out texts that take target or reference long: of too many characters, or with too long a piece."""
        texts, longest = list(texts), self.reference.longest
        some = [text for text in texts if len(text) <= longest and self.affordable(4 * len(text))]
        if self.longest_piece < inf:
            pieces = self.reference.pieces
            some = [text for text in some if max(map(len, pieces(text)), default=0) < self.longest_piece]
        if len(some) < len(texts):
            left_out = f"{plural(len(texts) - len(some), 'text')}, long or with a long piece"
            self.remarks.append(f"not asked: {left_out}, since the target or reference is slow")
        return some

    def affordable_part(self, texts: list[str], n_times: int) -> list[str]:
        """Return the texts, or every second, fourth, … of them, if one request encodes each of them so many times."""
        part = texts
        while len(part) > 1 and not self.affordable(n_times * sum(map(len, part))):
            part = part[::2]
        if len(part) < len(texts):
            self.remarks.append(f"{len(part):,} of {len(texts):,} texts, which take it long enough")
        return part

    def lacks(self, operation: str, **arguments: Any) -> str:
        """Return why the target does not have an operation after all, or an empty string.

        Raises a fault if the first call ends its process.
        """
        answer = self.client.ask(operation, **arguments)
        if isinstance(answer, Failed) and answer.outcome.ends_process:
            raise Fault("process", f"the first call of {operation} ends in {answer}")
        return str(answer) if isinstance(answer, Failed) and answer.error in _OF_ANOTHER_KIND else ""

    @property
    def special_names(self) -> list[str]:
        """Return the model's special tokens, the shortest first."""
        return sorted(self.reference.model.special_tokens, key=lambda name: (len(name), name))

    # --- is an answer wrong? -------------------------------------------------------------------------------

    def has_wrong_ids(self, text: str, answer: Answer) -> bool:
        """Return whether the ids are not the reference's; what the reference refuses is not judged."""
        expected = self.reference.ids(text)
        if isinstance(expected, Failed):
            return False
        if isinstance(answer, Failed):
            return answer.outcome.ends_process or not has_surrogate(text)
        return judge([Encoded(text, answer)], [expected], self.reference.model).outcome is Outcome.MISMATCH

    def comes_back_wrong(self, text: str, answer: Answer) -> bool:
        """Return whether ids decode to neither the text nor what the reference decodes its own to."""
        if isinstance(answer, Failed):
            return self.has_wrong_ids(text, answer)
        return (back := self.client.decode(answer)) != text and back != self.reference.back(text)

    def smallest_fault(
        self, given: S, fault_of: Callable[[S], Fault | None], at_first: Fault, simpler: Iterable[S] = ()
    ) -> Fault:
        """Return the fault of the smallest input found within `given`, or within a wrong one of `simpler`.

        If `given` is not answered wrongly again, return `at_first` with a note.
        """
        latest = at_first

        def is_wrong(candidate: S) -> bool:
            nonlocal latest
            with suppress(NothingToCompare):
                if (fault := fault_of(candidate)) is not None:
                    latest = fault
                    return True
            return False

        self.begin_overtime()
        try:
            for wrong in filter(is_wrong, chain(simpler, (given,))):
                smallest: Any = smallest_text if isinstance(wrong, str) else smallest_sequence
                budget = Budget(400, SHRINK_SECONDS)
                if is_wrong(smallest(wrong, lambda candidate: bool(candidate) and is_wrong(candidate), budget)):
                    return latest
        except Incomplete:
            latest.reason += _NOT_SHRUNK
            return latest
        at_first.reason += "; asked again, the answer is right"
        return at_first

    def begin_overtime(self) -> None:
        """Give the search for the smallest input of a fault its time, whatever its check has left."""
        self.client.deadline, self.client.share = max(self.client.deadline, time.monotonic() + OVERTIME_SECONDS), inf

    def in_overtime(self, explained: Callable[[], Fault], otherwise: Fault) -> Fault:
        """Return the fault that a search explains, or `otherwise` where the clock stops it."""
        self.begin_overtime()
        try:
            return explained()
        except Incomplete:
            otherwise.reason += _NOT_SHRUNK
            return otherwise

    # --- from a wrong text to the smallest -----------------------------------------------------------------

    def explain(self, text: str, answer: Answer, is_wrong: Judge) -> Fault:
        """Return the fault of a text whose `answer` was wrong in the current process, with its smallest input."""
        if isinstance(answer, Failed) and answer.outcome is Outcome.TIMEOUT:  # each trial would take as long again
            return self._fault(*locate(text, answer, self.client, self.reference), text, answer)
        at_first = self._fault("pieces or merges", "a wrong answer", text, answer)
        try:
            return self.in_overtime(lambda: self._explain(text, answer, is_wrong), at_first)
        except GaveUp as error:
            return self._fault("process", f"a wrong answer, not shrunk: {error.reason}", text, answer)

    def _fault(self, stage: Stage, reason: str, text: str, got: Answer, after: tuple[str, ...] = ()) -> Fault:
        return Fault(stage, reason, text=text, after=after, expected=self.reference.ids(text), got=got)

    def _explain(self, text: str, answer: Answer, is_wrong: Judge) -> Fault:
        def wrong(candidate: str) -> bool:
            return is_wrong(candidate, self.client.ids(candidate))

        before = list(self.client.history)
        for known in list(self.known):
            if wrong(known) and (fault := self._located(known, is_wrong)):
                return fault
        self.client.fresh()
        if not wrong(text):
            return self._of_history(text, answer, before, is_wrong)
        small = smallest_text(text, wrong, Budget(max_seconds=SHRINK_SECONDS), self._places(text))
        answer = self.client.ids(small)
        before = self.client.history[:-1]
        return self._located(small, is_wrong) or self._of_history(small, answer, before, is_wrong)

    def _located(self, text: str, is_wrong: Judge) -> Fault | None:
        """Locate the fault on `text` in a fresh process; None if it is answered rightly there."""
        answer = ids_afresh(self.client, text)
        if not is_wrong(text, answer):
            return None
        expected = self.reference.ids(text)
        self.known[text] = None
        if isinstance(answer, list) and (answer == expected or isinstance(expected, Failed)):
            back = self.client.decode(answer)
            if back != text:
                reason = f"the ids are right, but they decode to {answered(back)}"
                wanted = answered(self.reference.back(text))
                return Fault("decode", reason, text=text, ids=answer, expected=wanted, got=answered(back))
        return self._fault(*locate(text, answer, self.client, self.reference), text, answer)

    def _places(self, text: str) -> list[int]:
        """Return the characters of `text` at which the answers first and last differ."""
        expected, got = self.reference.ids(text), self.client.ids(text)
        if isinstance(expected, Failed) or isinstance(got, Failed):
            return []
        by_id = self.reference.bytes_by_id
        ends = [0, *accumulate(len(by_id.get(i, b"")) for i in expected)]
        first = common_prefix_length(expected, got)
        last = len(expected) - common_prefix_length(expected[::-1], got[::-1]) - 1
        data = text.encode("utf-8", "replace")
        return [len(data[: ends[k]].decode("utf-8", "replace")) for k in dict.fromkeys((first, max(0, last)))]

    # --- what depends on earlier texts -----------------------------------------------------------------------

    def _of_history(self, text: str, wrong: Answer, before: list[Asked], is_wrong: Judge) -> Fault:
        """Explain why `text` got the answer `wrong` after the texts `before` but the right one in a fresh process."""
        if wrong == self.reference.ids(text) and isinstance(wrong, list) and is_wrong != self.has_wrong_ids:
            reason = "the ids are right, but were decoded differently after other lists of ids"
            return Fault("cache", reason, text=text, ids=wrong, expected=expression(text))

        def spoil(earlier: list[Asked]) -> bool:
            """Return whether `text` is answered wrongly in a fresh process that has encoded `earlier`."""
            self.client.repeat(earlier)
            return is_wrong(text, self.client.ids(text))

        met = [before[:k] for k, earlier in enumerate(before) if k and earlier == text][:4]
        spoiled = next(filter(spoil, (before, *met)), [])
        if not spoiled:
            reason = f"was answered differently after {len(before):,} texts, which cannot be reproduced"
            return self._fault("determinism", reason, text, wrong)
        for piece in self.reference.pieces(text):  # the fault shows in this process
            answer = self.client.ids(piece)
            if is_wrong(piece, answer):
                text, wrong = piece, answer
                break
        alone = (earlier for earlier in spoiled if isinstance(earlier, str))
        pieces = dict.fromkeys(piece for earlier in alone for piece in self.reference.pieces(earlier))
        with_its_ids = [piece for piece in islice(pieces, 300_000) if self.reference.ids(piece) == wrong]
        batches = [earlier for earlier in spoiled if isinstance(earlier, tuple)]
        likely: list[Asked] = [*sorted(with_its_ids, key=len)[:5], *batches[:-4:-1]]
        cause = next((earlier for earlier in likely if spoil([earlier])), None)
        if cause is None:
            n_before, note = _searched(partial(least, len(spoiled)), lambda n: spoil(spoiled[:n]), len(spoiled))
            cause = spoiled[n_before - 1]
            if note or not spoil([cause]):
                reason = f"right in a fresh process, wrong after {n_before:,} other texts{note}"
                return self._fault("determinism", reason, text, wrong)
        if isinstance(cause, str):
            return self._of_pair(cause, text, wrong, is_wrong)
        search = partial(smallest_sequence, cause, budget=Budget(_BATCH_TRIALS, inf))
        few, note = _searched(search, lambda texts: spoil([texts]), cause)
        reason = f"right in a fresh process, wrong after a batch of {plural(len(few), 'text')}{note}"
        return self._fault("cache", reason, text, wrong, after=few)

    def _of_pair(self, earlier: str, text: str, wrong: Answer, is_wrong: Judge) -> Fault:
        joined = earlier + text
        if self.reference.pieces(joined) == [earlier, text]:
            answer = ids_afresh(self.client, joined)
            if is_wrong(joined, answer):
                self.known[joined] = None
                reason = f"each piece alone is right; after {expression(earlier)}, {expression(text)} gets wrong ids"
                return self._fault("cache", reason, joined, answer)
        reason = f"right in a fresh process, wrong after {expression(earlier)}"
        return self._fault("cache", reason, text, wrong, after=(earlier,))


def _searched(search: Callable[[Callable[[T], bool]], object], holds: Callable[[T], bool], first: T) -> tuple[T, str]:
    """Return the last candidate of a search that holds, `first` if none does, and a note where the clock stops it."""
    latest = first

    def noted(candidate: T) -> bool:
        nonlocal latest
        if is_so := holds(candidate):
            latest = candidate
        return is_so

    try:
        search(noted)
    except Incomplete:
        return latest, _NOT_SHRUNK
    return latest, ""
