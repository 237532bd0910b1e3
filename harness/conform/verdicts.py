"""The verdict of a check: a failure with its stage and smallest counterexample.

Plain data with a JSON form, and the exceptions that end a check or the judging of one input; independent of targets and
references.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import msgspec

from harness.common_prefix import common_prefix_length
from harness.conform.wording import expression
from harness.printable import readable
from harness.records import Text

Status = Literal["passed", "failed", "same as reference", "incomplete", "not offered", "not asked"]
Stage = Literal[
    "process", "refusal", "normalisation", "special tokens", "pieces", "unicode version", "pieces or merges", "merges",
    "vocabulary", "decode", "offsets", "incremental", "batch", "derived", "truncation", "threads", "values", "cache",
    "determinism", "bad input", "memory", "resources",
]  # fmt: skip
"""Where a failure arises, in the order in which a text passes through a tokenizer.

`process`: it ended, hung, or broke the protocol; `refusal`: an error on a text the reference encodes; `values`: equal
to the right value but of another type, or in a list that changes later; `cache`: the answer depends on what was
encoded before; `determinism`: the same call gives different answers for no visible reason.
"""

_SHOWN_ALIKE = 8
MAX_IDS_KEPT = 40
"""Longer answers are cut to this many ids, with their length noted."""


class FailingInput(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The smallest input found that shows a failure."""

    text: Text | None = None
    """The text given, or None where ids were given."""
    expression: str = ""
    """The text as a Python expression, short even where the text is not."""
    after: list[Text] = msgspec.field(default_factory=list)
    """Texts that must be encoded before it in the same process (or at the same time, for threads)."""
    ids: list[int] | None = None
    """The ids given to decode."""
    expected: str = ""
    got: str = ""

    @classmethod
    def of(
        cls, text: str | None = None, *, after: Sequence[str] = (), ids: Sequence[int] | None = None,
        expected: object = "", got: object = "",
    ) -> FailingInput:  # fmt: skip
        """Create one from plain values; answers that are lists of ids are written out, long ones cut."""
        skipped = ""
        if isinstance(expected, list) and isinstance(got, list):
            kept = max(0, common_prefix_length(expected, got) - 3)
            if kept > _SHOWN_ALIKE:
                expected, got, skipped = expected[kept:], got[kept:], f"({kept:,} equal ids) "
        return cls(
            text=None if text is None else Text.of(text),
            expression="" if text is None else expression(text),
            after=[Text.of(earlier) for earlier in after],
            ids=None if ids is None else list(ids[:MAX_IDS_KEPT]),
            expected=skipped + readable(written(expected)),
            got=skipped + readable(written(got)),
        )


class Fault(Exception):
    """A wrong answer: the stage in which it arises, the reason, and the smallest input found that shows it."""

    def __init__(self, stage: Stage, reason: str, **example: Any) -> None:
        """Store the stage and reason; `example` are the arguments of `FailingInput.of`, empty for no example."""
        self.stage, self.reason = stage, reason
        self.example = FailingInput.of(**example) if example else None
        super().__init__(reason)

    @property
    def text(self) -> str:
        """Return the text that shows it, empty if there is no single text."""
        return self.example.text.text if self.example and self.example.text else ""


class GaveUp(Fault):
    """The target failed too often for this check to continue; `TargetClient.given_up` says whether the run can."""


class NotAsked(Exception):
    """A check that could not judge its target; the message is the reason."""


class Incomplete(Exception):
    """A check that its deadline cut; the message says of what, where that is not the number of its inputs."""


class NothingToCompare(Exception):
    """An input that a check has nothing to compare for: refused, or with wrong ids, which the check `ids` judges."""


class CheckVerdict(msgspec.Struct, kw_only=True, omit_defaults=True):
    """The verdict of one check."""

    check: str = ""
    question: str = ""
    """What the check asks, in a few words."""
    status: Status
    reason: str = ""
    """For a failure what is wrong; otherwise why the check was not run, or a remark."""
    stage: Stage | None = None
    counterexample: FailingInput | None = None
    n_inputs: int = 0
    """Cases judged; at least one for `passed`."""
    same_as: str = ""
    """For a failure: the earlier check that showed the same fault; empty if this is the first."""
    exceptions: list[str] = msgspec.field(default_factory=list)
    """A few inputs on which target and reference behave alike, though neither as required."""
    seconds: float = 0.0


def written(answer: object) -> str:
    """Return an answer on one line: ids separated by spaces, anything else as it prints."""
    if isinstance(answer, list) and all(isinstance(i, int) for i in answer):
        head = " ".join(map(str, answer[:MAX_IDS_KEPT]))
        return head + (f" … ({len(answer)} ids)" if len(answer) > MAX_IDS_KEPT else "") if answer else "no ids"
    return str(answer)
