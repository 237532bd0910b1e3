"""What a conformance run says: one verdict a check, each failure with its stage and its smallest counterexample.

Data only, with its JSON form. Knows no target and no reference.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import msgspec

from harness.conform.wording import expression, printable
from harness.records import Text

Status = Literal["passed", "failed", "same as reference", "not offered", "not asked"]
Stage = Literal[
    "process", "refusal", "normalisation", "special tokens", "pieces", "unicode version", "merges", "vocabulary",
    "decode", "offsets", "batch", "threads", "values", "cache", "determinism", "saving", "bad input", "resources",
]  # fmt: skip
"""Where a failure arises, in the order a text passes through a tokenizer.

`process`: it ended, hung, or broke the protocol; `refusal`: an error on a text the reference encodes; `values`: equal
to what is right, but of another type, or in a list that changes later; `cache`: the answer depends on what was encoded
before it; `determinism`: the same call answers differently for no visible reason.
"""

_SHOWN_ALIKE = 8
MAX_IDS_KEPT = 40
"""Of longer answers only the head is kept, with its length beside it."""


class Counterexample(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The smallest input found that shows a failure."""

    text: Text | None = None
    """The text given, or None where ids were given."""
    expression: str = ""
    """The text as a Python expression, short even where the text is not."""
    after: list[Text] = msgspec.field(default_factory=list)
    """Texts encoded before it in the same process (or beside it, for threads), where it takes them."""
    ids: list[int] | None = None
    """The ids given to decode."""
    expected: str = ""
    got: str = ""

    @property
    def n_characters(self) -> int:
        """Characters of all its texts together; the number of ids where it has no text."""
        texts = [*self.after, *([self.text] if self.text is not None else [])]
        return sum(len(text.text) for text in texts) if texts else len(self.ids or ())

    @classmethod
    def of(
        cls,
        text: str | None = None,
        *,
        after: tuple[str, ...] = (),
        ids: list[int] | None = None,
        expected: object = "",
        got: object = "",
    ) -> Counterexample:
        """One over plain values; answers that are lists of ids are written out, long ones cut."""
        skipped = ""
        if isinstance(expected, list) and isinstance(got, list):
            expected, got, skipped = _around_the_difference(expected, got)
        return cls(
            text=None if text is None else Text.of(text),
            expression="" if text is None else expression(text),
            after=[Text.of(earlier) for earlier in after],
            ids=None if ids is None else ids[:MAX_IDS_KEPT],
            expected=skipped + printable(written(expected)),
            got=skipped + printable(written(got)),
        )


class Asked(msgspec.Struct, frozen=True):
    """How much the target was asked, in every process of it."""

    calls: int = 0
    """Requests to its process."""
    texts: int = 0
    """Texts to encode and lists of ids to decode."""
    bytes: int = 0
    """UTF-8 bytes of the texts."""

    def since(self, before: Asked) -> Asked:
        """What was asked after `before`."""
        return Asked(self.calls - before.calls, self.texts - before.texts, self.bytes - before.bytes)


class Verdict(msgspec.Struct, kw_only=True, omit_defaults=True):
    """What one check found."""

    check: str = ""
    question: str = ""
    """What was asked, in a few words."""
    status: Status
    reason: str = ""
    """For a failure what is wrong; else why it was not asked, or what is worth knowing."""
    stage: Stage | None = None
    counterexample: Counterexample | None = None
    n_inputs: int = 0
    """Cases judged; a verdict of `passed` has at least one."""
    n_failed: int = 0
    asked: Asked = msgspec.field(default_factory=lambda: Asked())
    """What it rests on."""
    same_as: str = ""
    """For a failure: the check that has shown the same fault before; empty for a fault shown first here."""
    exceptions: list[str] = msgspec.field(default_factory=list)
    """Inputs on which the target does as the reference does, where neither does what was asked; a few of them."""
    seconds: float = 0.0


class Report(msgspec.Struct, kw_only=True):
    """A whole run."""

    target: str
    reference: str
    model: str
    verdicts: list[Verdict]
    seconds: float
    n_failures: int = 0
    """How often the process of the target failed and had to be replaced."""
    about: dict[str, str] = msgspec.field(default_factory=dict)
    """What the target says of itself."""

    @property
    def failed(self) -> list[Verdict]:
        """The failures, in the order of the checks."""
        return [verdict for verdict in self.verdicts if verdict.status == "failed"]

    @property
    def conforms(self) -> bool:
        """Whether nothing failed."""
        return not self.failed

    @property
    def faults(self) -> list[Verdict]:
        """The failures without those that show a fault again."""
        return [verdict for verdict in self.failed if not verdict.same_as]

    @property
    def first(self) -> Verdict | None:
        """The fault to look at first: what is wrong each time before what comes and goes, then the smallest input."""
        return min(self.faults, key=_difficulty, default=None)


def _difficulty(verdict: Verdict) -> tuple[bool, bool, int]:
    example = verdict.counterexample
    size = 0 if example is None else example.n_characters
    return verdict.stage in ("determinism", "process", "resources"), example is None, size


def mark_repeated(verdicts: Sequence[Verdict]) -> None:
    """Note in `same_as`, for each failure, the first check that failed for the same fault."""
    faults: list[Verdict] = []
    for verdict in verdicts:
        if verdict.status != "failed":
            continue
        first = next((fault for fault in faults if _is_same_fault(fault, verdict)), None)
        if first is None:
            faults.append(verdict)
        else:
            verdict.same_as = first.check


def _is_same_fault(a: Verdict, b: Verdict) -> bool:
    """Whether two failures show one fault, as far as their inputs, answers and stages say."""
    x, y = a.counterexample, b.counterexample
    if x is not None and y is not None:
        if x.text is not None and x.text == y.text and (a.stage == b.stage or x.got == y.got):
            return True
        if x.ids is not None and y.ids is not None and a.stage == b.stage:
            return a.stage == "cache" or _holds(x.ids, y.ids) or _holds(y.ids, x.ids)
    if a.stage == "resources":
        return b.stage == a.stage and _is_of_time(a) and _is_of_time(b)
    return a.stage == b.stage and (a.stage == "determinism" or a.reason == b.reason)


def _is_of_time(verdict: Verdict) -> bool:
    return "time" in verdict.reason or " µs " in verdict.reason


def _holds(whole: Sequence[int], part: Sequence[int]) -> bool:
    starts = range(len(whole) - len(part) + 1)
    return any(list(whole[start : start + len(part)]) == list(part) for start in starts)


def n_alike(a: Sequence[int], b: Sequence[int]) -> int:
    """How many ids two lists begin with alike."""
    pairs = enumerate(zip(a, b, strict=False))
    return next((k for k, (x, y) in pairs if x != y), min(len(a), len(b)))


def _around_the_difference(expected: list[int], got: list[int]) -> tuple[list[int], list[int], str]:
    """Two long lists of ids without what they begin with alike, and how much that is."""
    same = next(
        (k for k, (a, b) in enumerate(zip(expected, got, strict=False)) if a != b), min(len(expected), len(got))
    )
    kept = max(0, same - 3)
    return (expected[kept:], got[kept:], f"({kept:,} ids alike) ") if kept > _SHOWN_ALIKE else (expected, got, "")


def written(answer: object) -> str:
    """An answer on one line: ids apart by spaces, texts as a short expression, anything else as it prints."""
    if isinstance(answer, list) and all(isinstance(i, int) for i in answer):
        head = " ".join(map(str, answer[:MAX_IDS_KEPT]))
        return head + (f" … ({len(answer)} ids)" if len(answer) > MAX_IDS_KEPT else "") if answer else "no ids"
    return str(answer)
