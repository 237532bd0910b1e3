"""Growing texts: what a pass of `append`, `chat` and `keystrokes` does. Reads no clock.

A pass begins with a text whose ids are known and ends, after some steps, with the workload's text; the ids after the
last step are verified against those of `encode`. Our own implementations, and those with an `incremental` of their own,
update their ids; any other encodes the whole text again after every step.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import accumulate, pairwise
from random import Random
from typing import Any, NamedTuple

from harness.measure.workloads import Task
from impls import Tokenizer

APPENDED_CHARACTERS = 20
N_APPENDS = 20
N_TURNS = 8
TURN_CHARACTERS = (200, 2_000)
N_KEYS = 20
_MISTAKE_EVERY = 5
"""Number of keys after which a wrong one is pressed and deleted again."""

Edit = tuple[int, int, str]
"""Replaces the code points from start to stop by a text."""


class Plan(NamedTuple):
    """The text that a pass begins with, and its steps."""

    begun: str
    edits: list[Edit]


def plan(task: Task, text: str) -> Plan:
    """Return the steps that end in `text`: some at its end or, for `keystrokes`, in its middle."""
    if task == "keystrokes":
        return _keystrokes(text)
    if task == "append":
        n_parts = max(1, min(N_APPENDS, len(text) // (2 * APPENDED_CHARACTERS)))
        lengths = [APPENDED_CHARACTERS] * n_parts
    else:
        chance = Random(0)
        lengths = [chance.randint(*TURN_CHARACTERS) for _ in range(N_TURNS)]
    first = max(0, len(text) - sum(lengths))
    ends = [min(len(text), end) for end in accumulate(lengths, initial=first)]
    return Plan(text[:first], [(start, start, text[start:end]) for start, end in pairwise(ends)])


def _keystrokes(text: str) -> Plan:
    middle = len(text) // 2
    typed = text[middle : middle + N_KEYS]
    edits: list[Edit] = []
    for place, key in enumerate(typed, middle):
        if (place - middle) % _MISTAKE_EVERY == _MISTAKE_EVERY - 1:
            edits += [(place, place, "x"), (place, place + 1, "")]
        edits.append((place, place, key))
    return Plan(text[:middle] + text[middle + len(typed) :], edits)


def follows(tokenizer: Tokenizer) -> bool:
    """Return whether the implementation updates the ids of a growing text itself."""
    return tokenizer.kind in ("pure", "compiled") or type(tokenizer).incremental is not Tokenizer.incremental


class GrowingPass:
    """The passes over some texts by one tokenizer: fresh inputs, the steps, and the ids after them."""

    def __init__(self, task: Task, tokenizer: Tokenizer, texts: Sequence[str]) -> None:
        self._tokenizer = tokenizer
        self._plans = [plan(task, text) for text in texts]
        self.n_steps = sum(len(one.edits) for one in self._plans)
        self._begun = (
            [tokenizer.incremental(one.begun, disallowed_special=()) for one in self._plans]
            if follows(tokenizer)
            else None
        )
        self._edits = task == "keystrokes"

    def fresh(self, _: list[bytes]) -> list[Any]:
        """Return the inputs of a pass: texts with their ids, or all texts to be encoded."""
        if self._begun is not None:
            return [begun.copy() for begun in self._begun]
        return [list(_texts(one)) for one in self._plans]

    @property
    def run(self) -> Callable[[Sequence[Any]], list[Any]]:
        """Run one pass over the inputs."""
        if self._begun is None:
            return self._encode_again
        return self._replace if self._edits else self._append

    def ids(self, answer: list[Any]) -> list[list[int]]:
        """Return the ids in the result of a pass."""
        return answer if self._begun is None else [followed.ids for followed in answer]

    def _append(self, inputs: Sequence[Any]) -> list[Any]:
        for followed, one in zip(inputs, self._plans, strict=True):
            for _, _, text in one.edits:
                followed.append(text)
        return list(inputs)

    def _replace(self, inputs: Sequence[Any]) -> list[Any]:
        for followed, one in zip(inputs, self._plans, strict=True):
            for edit in one.edits:
                followed.replace(*edit)
        return list(inputs)

    def _encode_again(self, inputs: Sequence[Any]) -> list[Any]:
        encode = self._tokenizer.encode
        return [[encode(text, disallowed_special=()) for text in texts][-1] for texts in inputs]


def _texts(one: Plan) -> Sequence[str]:
    """Return the text after each step."""
    text = one.begun
    found = []
    for start, stop, new in one.edits:
        text = text[:start] + new + text[stop:]
        found.append(text)
    return found
