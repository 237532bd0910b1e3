"""Are the ids of a text that grows and is edited those of the whole text, and do stable ones stay whatever follows?"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import cycle
from typing import Any

from harness.conform.case import Case
from harness.conform.checks.over_texts import over, texts_for
from harness.conform.verdicts import Fault, Incomplete, NotAsked, NothingToCompare
from harness.conform.wording import expression
from harness.generators.texts import prose
from harness.process.session import Failed

_MOST_CHARACTERS = 200
_LONG, _LONGER = 12_000, 6  # characters; of each part more, for 200 of the text
_PARTS = (1, 1, 2, 3, 5, 8, 20)
_FOLLOWING = (*str.split("a A 1 . / ' s 's \u0301 é 日 가 \U0001f600"), " ", "  a", "\n", "\r\n", "\n ")
"""Texts that may change the ids before them: they continue with a word, number, white space, contraction or letter."""

Step = tuple[Any, ...]
"""("append", object, text), ("replace", object, start, stop, text) or ("copy", object), which makes the next object."""


def incremental(case: Case) -> None:
    """Check the ids of every object after every step, and that no text appended later changes what it called stable."""
    begun = ("append", 0, "ab")
    if why := case.lacks("incremental", steps=[begun]):
        raise NotAsked(f"its incremental() cannot be used: {why}")
    kinds = ("replace", 0, 0, 1, "x"), ("copy", 0)
    has = {step[0] for step in kinds if not case.lacks("incremental", steps=[begun, step])}
    texts = [text for text in texts_for(case, 600) if 1 < len(text) <= _MOST_CHARACTERS]
    case.remarks += [f"no {name}" for name in ("replace", "copy") if name not in has]
    over(case, [*texts[:20], *case.quick([prose(_LONG, case.seed + 10)]), *texts[20:]], partial(_fault, case, has))


def _steps(text: str, has: set[str]) -> Iterator[tuple[Step, list[str]]]:
    """Yield steps over one text and its copy, appended in parts and edited, and the text of each object after them."""
    longer = len(text) // _MOST_CHARACTERS * _LONGER
    texts, at = [""], 0
    for k, n in enumerate(cycle(_PARTS)):
        if at >= len(text):
            return
        on, part = k % len(texts), text[at : at + n + longer]
        at += len(part)
        texts[on] += part
        yield ("append", on, part), [*texts]
        if k == 2 and "copy" in has:
            texts.append(texts[0])
            yield ("copy", 0), [*texts]
        if k % 3 == 2 and "replace" in has:
            before, new = texts[on], part if k % 2 else ""
            start, stop = len(before) // 2, min(len(before) // 2 + n, len(before))
            texts[on] = before[:start] + new + before[stop:]
            yield ("replace", on, start, stop, new), [*texts]
        if k == 3:
            yield ("append", on, ""), [*texts]


def _fault(case: Case, has: set[str], text: str) -> Fault | None:
    """Return what is wrong with the states after each step, or None; other checks judge `encode` itself."""
    steps, wanted = zip(*_steps(text, has), strict=True)
    if any(name in text for texts in wanted for text in texts for name in case.reference.model.special_tokens):
        raise NothingToCompare
    answer = case.client.ask("incremental", steps=steps)
    if isinstance(answer, Failed):
        if any(isinstance(case.reference.ids(text), Failed) for texts in wanted for text in texts):
            raise NothingToCompare
        return Fault("refusal", str(answer), text=text)
    if list(map(len, answer)) != list(map(len, wanted)):
        return Fault("incremental", f"not a state of each object after each of {len(steps)} steps", text=text)
    for (kind, on, *_), texts, states in zip(steps, wanted, answer, strict=True):
        if case.client.seconds_left <= 0:  # the reference may be slow
            raise Incomplete
        for number, (held, state) in enumerate(zip(texts, states, strict=True)):
            if (reason := _wrong(case, held, *state)) is not None:
                after = f"after {kind}{' on a copy' if number != on and kind != 'copy' else ''} {reason}"
                return Fault("incremental", after, text=held, expected=case.reference.ids(held), got=state[1])
    return None


def _wrong(case: Case, text: str, held: str | None, ids: list[int], n_stable: int) -> str | None:
    """Return what is wrong with the state of a text, or None. Raises `NothingToCompare`."""
    expected = case.reference.ids(text)
    if isinstance(expected, Failed) or (ids != expected and case.client.ids(text) == ids):
        raise NothingToCompare
    if ids != expected:
        return "the ids are not those of the text"
    if held is not None and held != text:
        return f"its text is {expression(held)}"
    for more in _FOLLOWING:
        later = case.reference.ids(text + more)
        if not isinstance(later, Failed) and later[:n_stable] != ids[:n_stable]:
            return f"{n_stable} of {len(ids)} ids are called stable, but {expression(more)} changes them"
    return None if 0 <= n_stable <= len(ids) else f"{n_stable} of {len(ids)} ids are called stable"
