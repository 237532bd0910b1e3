"""One target held against one reference: what every check works with, and how a wrong text becomes a counterexample.

A wrong answer may hang on the text alone or on what the process had encoded before. So a shrunk text is asked again
in a fresh process; where it is right there, the earlier text that spoils it is looked for.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, islice
from typing import Literal

from harness.check.shrink_long import smallest_long_text
from harness.conform.locate import Located, Questions, locate
from harness.conform.reference import Answer, Reference, Refused
from harness.conform.subject import GaveUp, Subject
from harness.conform.texts import prose
from harness.conform.verdicts import Counterexample
from harness.conform.wording import expression

Judgement = Literal["right", "wrong", "excused"]
"""`excused`: not as asked, but the reference does no better."""
Judge = Callable[[str, Answer], Judgement]
"""Judges the target's ids of a text."""

SHRINK_SECONDS = 10.0
HISTORY_SECONDS = 20.0
_MOST_EARLIER_PIECES = 300_000
_KEPT_EXCEPTIONS = 5
_MOST_MET = 4
_TIMED = 1_000
"""Characters by which a target nothing is known of is timed."""


@dataclass(slots=True)
class Case:
    """A target, a reference, and what is known so far."""

    subject: Subject
    reference: Reference
    seed: int = 0
    deadline: float = float("inf")
    """When the present check should end (`time.monotonic`)."""
    known: list[str] = field(default_factory=list)
    """Small texts an earlier check failed on."""
    known_ids: list[tuple[int, ...]] = field(default_factory=list)
    """Short lists of ids an earlier check found decoded wrongly."""

    @property
    def out_of_time(self) -> bool:
        """Whether the present check has used up its time."""
        return time.monotonic() > self.deadline

    def affordable(self, n_characters: int) -> bool:
        """Whether the target is fast enough to encode so much within the present check; it is timed where need be."""
        if not self.subject.characters_per_second:
            for _ in self.subject.ids_of_all([prose(_TIMED, self.seed)]):
                pass
        return self.subject.seconds_for(n_characters) < self.deadline - time.monotonic()

    def can_ask(self, text: str) -> bool:
        """Whether target and reference are fast enough for a text so long."""
        return len(text) <= self.reference.longest and self.affordable(2 * len(text))

    # --- judging texts -------------------------------------------------------------------------------------

    def agrees(self, text: str, answer: Answer) -> Judgement:
        """Whether the ids are the reference's. Where it refuses, any answer will do; who refuses with it is excused."""
        expected = self.reference.ids(text)
        if isinstance(expected, Refused):
            return "excused" if isinstance(answer, Refused) else "right"
        if isinstance(answer, Refused):
            return "excused" if has_surrogate(text) and not answer.fatal else "wrong"
        return "right" if answer == expected else "wrong"

    def comes_back(self, text: str, answer: Answer) -> Judgement:
        """Whether decoding the ids gives the text; excused where the reference gives the same back, or refuses too."""
        if isinstance(answer, Refused):
            return self.agrees(text, answer)
        back = self.subject.decode(answer)
        if back == text:
            return "right"
        return "excused" if back == self.reference_back(text) else "wrong"

    def reference_back(self, text: str) -> str | Refused:
        """What the reference gives back of `text`."""
        ids = self.reference.ids(text)
        return ids if isinstance(ids, Refused) else self.reference.decode(ids)

    # --- from a wrong text to the smallest -----------------------------------------------------------------

    def explain(self, text: str, answer: Answer, judge: Judge) -> tuple[Located, Counterexample]:
        """The stage and the smallest counterexample of a text whose `answer` was wrong in the process there is now."""

        if isinstance(answer, Refused) and answer.kind == "timeout":  # each trial would take as long again
            expected = self.reference.ids(text)
            return locate(text, answer, self._questions, self.reference), Counterexample.of(
                text, expected=expected, got=answer
            )
        self.subject.counting = False
        try:
            return self._explain(text, answer, judge)
        except GaveUp as error:
            found = Located("process", f"a wrong answer, not made smaller: {error.reason}")
            return found, Counterexample.of(text, expected=self.reference.ids(text), got=answer)
        finally:
            self.subject.counting = True

    def _explain(self, text: str, answer: Answer, judge: Judge) -> tuple[Located, Counterexample]:
        def wrong(candidate: str) -> bool:
            return judge(candidate, self.subject.ids(candidate)) == "wrong"

        before = list(self.subject.history)
        for small in self.known:
            if wrong(small) and (found := self._located(small, judge)):
                return found
        self.subject.fresh()
        if not wrong(text):
            return self._of_history(text, answer, before, judge)
        small = smallest_long_text(text, wrong, self._places(text), SHRINK_SECONDS)
        answer = self.subject.ids(small)
        before = self.subject.history[:-1]
        return self._located(small, judge) or self._of_history(small, answer, before, judge)

    def _located(self, text: str, judge: Judge) -> tuple[Located, Counterexample] | None:
        """What is wrong about `text` in a fresh process; None where it is right there."""
        self.subject.fresh()
        answer = self.subject.ids(text)
        if judge(text, answer) != "wrong":
            return None
        expected = self.reference.ids(text)
        if text not in self.known:
            self.known.append(text)
        if isinstance(answer, list) and (answer == expected or isinstance(expected, Refused)):
            back = self.subject.decode(answer)
            if back != text:
                return self._of_decoding(text, answer, back)
        found = locate(text, answer, self._questions, self.reference)
        return found, Counterexample.of(text, expected=expected, got=answer)

    @property
    def _questions(self) -> Questions:
        return Questions(self.subject.ids, self._afresh, self.subject.decode)

    def _afresh(self, text: str) -> Answer:
        self.subject.fresh()
        return self.subject.ids(text)

    def _of_decoding(self, text: str, ids: list[int], back: str | Refused) -> tuple[Located, Counterexample]:
        shown = str(back) if isinstance(back, Refused) else expression(back)
        wanted = self.reference_back(text)
        if tuple(ids) not in self.known_ids:
            self.known_ids.append(tuple(ids))
        told = wanted if isinstance(wanted, Refused) else expression(wanted)
        reason = f"the ids are right, but they decode to {shown}"
        return Located("decode", reason), Counterexample.of(text, ids=ids, expected=told, got=shown)

    def _places(self, text: str) -> list[int]:
        """Where in `text` (characters) the answers first and last differ."""
        expected, got = self.reference.ids(text), self.subject.ids(text)
        if isinstance(expected, Refused) or isinstance(got, Refused):
            return []
        by_id = self.reference.bytes_by_id
        ends = list(accumulate(len(by_id.get(i, b"")) for i in expected))
        first = next(
            (k for k, (a, b) in enumerate(zip(expected, got, strict=False)) if a != b), min(len(expected), len(got))
        )
        backwards = zip(reversed(expected), reversed(got), strict=False)
        last = len(expected) - next((k for k, (a, b) in enumerate(backwards) if a != b), 0) - 1
        data = text.encode("utf-8", "replace")
        places = [ends[k - 1] if k > 0 else 0 for k in (first, max(0, last))]
        return [len(data[:place].decode("utf-8", "replace")) for place in dict.fromkeys(places)]

    # --- what hangs on earlier texts -----------------------------------------------------------------------

    def _of_history(
        self, text: str, wrong: Answer, before: Sequence[str], judge: Judge
    ) -> tuple[Located, Counterexample]:
        """`text` got the answer `wrong` after the texts `before`, and is right in a fresh process."""
        deadline = time.monotonic() + HISTORY_SECONDS
        if wrong == self.reference.ids(text) and isinstance(wrong, list):
            reason = "the ids are right, and were decoded otherwise after other lists of ids"
            return Located("cache", reason), Counterexample.of(text, ids=wrong, expected=expression(text))

        def spoils(earlier: Iterable[str]) -> Answer | None:
            """The wrong answer to `text` in a fresh process that has encoded `earlier`, or None for a right one."""
            self.subject.fresh()
            for _ in self.subject.ids_of_all(list(earlier)):
                pass
            answer = self.subject.ids(text)
            return answer if judge(text, answer) == "wrong" else None

        met = [before[:k] for k, earlier in enumerate(before) if earlier == text][:_MOST_MET]
        spoiled = next((some for some in (before, *met) if spoils(some) is not None), None)
        if spoiled is None:
            reason = f"was answered otherwise after {len(before):,} texts, and does not do so again"
            return Located("determinism", reason), Counterexample.of(text, expected=self.reference.ids(text), got=wrong)
        before = spoiled
        for piece in self.reference.pieces(text):  # the process is spoiled now
            answer = self.subject.ids(piece)
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
        return Located("determinism", reason), Counterexample.of(text, expected=self.reference.ids(text), got=wrong)

    def _with_ids(self, texts: Sequence[str], ids: Answer) -> list[str]:
        """Pieces of `texts` whose right ids are `ids`, the shortest first."""
        if isinstance(ids, Refused):
            return []
        pieces = dict.fromkeys(piece for text in texts for piece in self.reference.pieces(text))
        found = [piece for piece in islice(pieces, _MOST_EARLIER_PIECES) if self.reference.ids(piece) == ids]
        return sorted(found, key=len)[:_KEPT_EXCEPTIONS]

    def _of_pair(self, earlier: str, text: str, wrong: Answer, judge: Judge) -> tuple[Located, Counterexample]:
        located = Located("cache", f"right in a fresh process, wrong after {expression(earlier)}")
        joined = earlier + text
        if self.reference.pieces(joined) == [earlier, text]:
            self.subject.fresh()
            answer = self.subject.ids(joined)
            if judge(joined, answer) == "wrong":
                if joined not in self.known:
                    self.known.append(joined)
                reason = f"each piece alone is right; behind {expression(earlier)}, {expression(text)} gets other ids"
                return Located("cache", reason), Counterexample.of(
                    joined, expected=self.reference.ids(joined), got=answer
                )
        return located, Counterexample.of(text, after=(earlier,), expected=self.reference.ids(text), got=wrong)


def has_surrogate(text: str) -> bool:
    """Whether `text` holds a surrogate: then it is no Unicode text, and to refuse it is right."""
    return any(0xD800 <= ord(character) <= 0xDFFF for character in text)
