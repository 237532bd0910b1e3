"""A target compared with a reference: what every check works with, and how a wrong text becomes a counterexample.

A wrong answer may depend on the text alone or on what the process encoded before. So a shrunk text is encoded again
in a fresh process; where it is right there, the earlier text that causes the fault is searched for.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, islice
from typing import Literal

from harness.check.shrink_long import smallest_long_text
from harness.common_prefix import common_prefix_length
from harness.conform.client import GaveUp, TargetClient
from harness.conform.locate import FaultLocation, TargetCalls, locate
from harness.conform.reference import Answer, Reference, Refusal
from harness.conform.texts import prose
from harness.conform.verdicts import FailingInput
from harness.conform.wording import expression

Judgement = Literal["right", "wrong", "excused"]
"""`excused`: not as required, but the reference does no better."""
Judge = Callable[[str, Answer], Judgement]
"""Judges the target's answer to a text."""

SHRINK_SECONDS = 10.0
HISTORY_SECONDS = 20.0
_MOST_EARLIER_PIECES = 300_000
_KEPT_EXCEPTIONS = 5
_MOST_MET = 4
_TIMED = 1_000
"""Characters used to time a target whose speed is not known yet."""


@dataclass(slots=True)
class Case:
    """A target, a reference, and what earlier checks found."""

    client: TargetClient
    reference: Reference
    seed: int = 0
    deadline: float = float("inf")
    """When the current check should end (`time.monotonic`)."""
    known: list[str] = field(default_factory=list)
    """Small texts on which an earlier check failed."""
    known_ids: list[tuple[int, ...]] = field(default_factory=list)
    """Short lists of ids that an earlier check found wrongly decoded."""

    @property
    def out_of_time(self) -> bool:
        """Whether the current check has used up its time."""
        return time.monotonic() > self.deadline

    def affordable(self, n_characters: int) -> bool:
        """Whether the target can encode so much within the current check; times it if its speed is unknown."""
        if not self.client.characters_per_second:
            for _ in self.client.ids_of_all([prose(_TIMED, self.seed)]):
                pass
        return self.client.seconds_for(n_characters) < self.deadline - time.monotonic()

    def can_ask(self, text: str) -> bool:
        """Whether target and reference are fast enough for a text of this length."""
        return len(text) <= self.reference.longest and self.affordable(2 * len(text))

    # --- judging texts -------------------------------------------------------------------------------------

    def agrees(self, text: str, answer: Answer) -> Judgement:
        """Judge whether the ids are the reference's. Where that refuses, any ids are right and a refusal is excused."""
        expected = self.reference.ids(text)
        if isinstance(expected, Refusal):
            return "excused" if isinstance(answer, Refusal) else "right"
        if isinstance(answer, Refusal):
            return "excused" if has_surrogate(text) and not answer.fatal else "wrong"
        return "right" if answer == expected else "wrong"

    def comes_back(self, text: str, answer: Answer) -> Judgement:
        """Judge whether decoding gives the text; excused where the reference gives the same back or refuses too."""
        if isinstance(answer, Refusal):
            return self.agrees(text, answer)
        back = self.client.decode(answer)
        if back == text:
            return "right"
        return "excused" if back == self.reference_back(text) else "wrong"

    def reference_back(self, text: str) -> str | Refusal:
        """Return what the reference decodes its ids of `text` to."""
        ids = self.reference.ids(text)
        return ids if isinstance(ids, Refusal) else self.reference.decode(ids)

    # --- from a wrong text to the smallest -----------------------------------------------------------------

    def explain(self, text: str, answer: Answer, judge: Judge) -> tuple[FaultLocation, FailingInput]:
        """Return the stage and smallest counterexample of a text whose `answer` was wrong in the current process."""
        if isinstance(answer, Refusal) and answer.kind == "timeout":  # each trial would take as long again
            expected = self.reference.ids(text)
            return locate(text, answer, self._calls, self.reference), FailingInput.of(
                text, expected=expected, got=answer
            )
        self.client.counting = False
        try:
            return self._explain(text, answer, judge)
        except GaveUp as error:
            found = FaultLocation("process", f"a wrong answer, not shrunk: {error.reason}")
            return found, FailingInput.of(text, expected=self.reference.ids(text), got=answer)
        finally:
            self.client.counting = True

    def _explain(self, text: str, answer: Answer, judge: Judge) -> tuple[FaultLocation, FailingInput]:
        def wrong(candidate: str) -> bool:
            return judge(candidate, self.client.ids(candidate)) == "wrong"

        before = list(self.client.history)
        for small in self.known:
            if wrong(small) and (found := self._located(small, judge)):
                return found
        self.client.fresh()
        if not wrong(text):
            return self._of_history(text, answer, before, judge)
        small = smallest_long_text(text, wrong, self._places(text), SHRINK_SECONDS)
        answer = self.client.ids(small)
        before = self.client.history[:-1]
        return self._located(small, judge) or self._of_history(small, answer, before, judge)

    def _located(self, text: str, judge: Judge) -> tuple[FaultLocation, FailingInput] | None:
        """Locate the fault on `text` in a fresh process; None where it is right there."""
        self.client.fresh()
        answer = self.client.ids(text)
        if judge(text, answer) != "wrong":
            return None
        expected = self.reference.ids(text)
        if text not in self.known:
            self.known.append(text)
        if isinstance(answer, list) and (answer == expected or isinstance(expected, Refusal)):
            back = self.client.decode(answer)
            if back != text:
                return self._of_decoding(text, answer, back)
        found = locate(text, answer, self._calls, self.reference)
        return found, FailingInput.of(text, expected=expected, got=answer)

    @property
    def _calls(self) -> TargetCalls:
        return TargetCalls(self.client.ids, self._afresh, self.client.decode)

    def _afresh(self, text: str) -> Answer:
        self.client.fresh()
        return self.client.ids(text)

    def _of_decoding(self, text: str, ids: list[int], back: str | Refusal) -> tuple[FaultLocation, FailingInput]:
        shown = str(back) if isinstance(back, Refusal) else expression(back)
        wanted = self.reference_back(text)
        if tuple(ids) not in self.known_ids:
            self.known_ids.append(tuple(ids))
        expected = wanted if isinstance(wanted, Refusal) else expression(wanted)
        reason = f"the ids are right, but they decode to {shown}"
        return FaultLocation("decode", reason), FailingInput.of(text, ids=ids, expected=expected, got=shown)

    def _places(self, text: str) -> list[int]:
        """Return the characters of `text` at which the answers first and last differ."""
        expected, got = self.reference.ids(text), self.client.ids(text)
        if isinstance(expected, Refusal) or isinstance(got, Refusal):
            return []
        by_id = self.reference.bytes_by_id
        ends = list(accumulate(len(by_id.get(i, b"")) for i in expected))
        first = common_prefix_length(expected, got)
        backwards = zip(reversed(expected), reversed(got), strict=False)
        last = len(expected) - next((k for k, (a, b) in enumerate(backwards) if a != b), 0) - 1
        data = text.encode("utf-8", "replace")
        places = [ends[k - 1] if k > 0 else 0 for k in (first, max(0, last))]
        return [len(data[:place].decode("utf-8", "replace")) for place in dict.fromkeys(places)]

    # --- what depends on earlier texts -----------------------------------------------------------------------

    def _of_history(
        self, text: str, wrong: Answer, before: Sequence[str], judge: Judge
    ) -> tuple[FaultLocation, FailingInput]:
        """Explain why `text` got the answer `wrong` after the texts `before` but is right in a fresh process."""
        deadline = time.monotonic() + HISTORY_SECONDS
        if wrong == self.reference.ids(text) and isinstance(wrong, list):
            reason = "the ids are right, but were decoded differently after other lists of ids"
            return FaultLocation("cache", reason), FailingInput.of(text, ids=wrong, expected=expression(text))

        def spoils(earlier: Iterable[str]) -> Answer | None:
            """Return the wrong answer to `text` in a fresh process that has encoded `earlier`; None for a right one."""
            self.client.fresh()
            for _ in self.client.ids_of_all(list(earlier)):
                pass
            answer = self.client.ids(text)
            return answer if judge(text, answer) == "wrong" else None

        met = [before[:k] for k, earlier in enumerate(before) if earlier == text][:_MOST_MET]
        spoiled = next((some for some in (before, *met) if spoils(some) is not None), None)
        if spoiled is None:
            reason = f"was answered differently after {len(before):,} texts, which cannot be reproduced"
            return FaultLocation("determinism", reason), FailingInput.of(
                text, expected=self.reference.ids(text), got=wrong
            )
        before = spoiled
        for piece in self.reference.pieces(text):  # the fault shows in this process
            answer = self.client.ids(piece)
            if judge(piece, answer) == "wrong":
                text, wrong = piece, answer
                break
        for earlier in self._with_ids(before, wrong):
            if spoils([earlier]) is not None:
                return self._of_pair(earlier, text, wrong, judge)
        least = 1
        most = len(before)
        while least < most and time.monotonic() < deadline:
            middle = (least + most) // 2
            if spoils(before[:middle]) is not None:
                most = middle
            else:
                least = middle + 1
        if spoils(before[most - 1 : most]) is not None:
            return self._of_pair(before[most - 1], text, wrong, judge)
        reason = f"right in a fresh process, wrong after {most:,} other texts"
        return FaultLocation("determinism", reason), FailingInput.of(text, expected=self.reference.ids(text), got=wrong)

    def _with_ids(self, texts: Sequence[str], ids: Answer) -> list[str]:
        """Return pieces of `texts` whose correct ids are `ids`, the shortest first."""
        if isinstance(ids, Refusal):
            return []
        pieces = dict.fromkeys(piece for text in texts for piece in self.reference.pieces(text))
        found = [piece for piece in islice(pieces, _MOST_EARLIER_PIECES) if self.reference.ids(piece) == ids]
        return sorted(found, key=len)[:_KEPT_EXCEPTIONS]

    def _of_pair(self, earlier: str, text: str, wrong: Answer, judge: Judge) -> tuple[FaultLocation, FailingInput]:
        located = FaultLocation("cache", f"right in a fresh process, wrong after {expression(earlier)}")
        joined = earlier + text
        if self.reference.pieces(joined) == [earlier, text]:
            self.client.fresh()
            answer = self.client.ids(joined)
            if judge(joined, answer) == "wrong":
                if joined not in self.known:
                    self.known.append(joined)
                reason = f"each piece alone is right; after {expression(earlier)}, {expression(text)} gets other ids"
                return FaultLocation("cache", reason), FailingInput.of(
                    joined, expected=self.reference.ids(joined), got=answer
                )
        return located, FailingInput.of(text, after=(earlier,), expected=self.reference.ids(text), got=wrong)


def has_surrogate(text: str) -> bool:
    """Whether `text` contains a surrogate: it is then not valid Unicode, and refusing it is right."""
    return any(0xD800 <= ord(character) <= 0xDFFF for character in text)
