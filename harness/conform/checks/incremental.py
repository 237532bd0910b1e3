"""Are the ids of a text that grows and is edited those of the whole text, and do stable ones stay whatever follows?"""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import Any

from harness.conform.case import Case
from harness.conform.checks.over_texts import over, texts_for
from harness.conform.verdicts import Fault, NotAsked, NothingToCompare
from harness.conform.wording import expression, joined
from harness.generators.texts import prose
from harness.process.session import Failed

_N_TEXTS = 500
_MOST_CHARACTERS = 200
_MOST_STEPS = 40
_LONG, _LONGER = 12_000, 8  # characters; of each part more, for 200 of the text
_FEW = 20
_FOLLOWING = (
    *("a", "A", "1", " ", "  a", "\n", "\r\n", "\n ", ".", "/", "'", "s", "'s"),
    *("\u0301", "é", "日", "가", "\U0001f600"),
)
"""Texts that may change the ids before them: they continue with a word, number, white space, contraction or letter."""

Step = tuple[Any, ...]
"""("append", object, text), ("replace", object, start, stop, text) or ("copy", object), which makes the next object."""
Steps = tuple[Step, ...]


def incremental(case: Case) -> str:
    """Check the ids of every object after every step, and that no text appended later changes what it called stable."""
    begun = ("append", 0, "ab")
    if why := case.lacks("incremental", steps=[begun]):
        raise NotAsked(f"its incremental() cannot be used: {why}")
    kinds = ("replace", 0, 0, 1, "x"), ("copy", 0)
    has = {step[0] for step in kinds if not case.lacks("incremental", steps=[begun, step])}

    def fault_of(steps: Steps) -> Fault | None:
        try:
            wanted = _texts(steps)
        except IndexError:  # a shrunk script that refers to a missing object or place
            return None
        return _fault(case, steps, wanted, case.client.ask("incremental", steps=steps))

    scripts = list(_scripts(case, has))
    remark = over(case, scripts, fault_of, lambda steps: scripts[_FEW:] if len(steps) > _MOST_STEPS // 2 else ())
    lacks = [f"no {name}" for name in ("replace", "copy") if name not in has]
    return joined(remark, *lacks)


def _scripts(case: Case, has: set[str]) -> Iterator[Steps]:
    """Yield scripts over short texts, and after a few of them over a long one; in none a special token arises."""
    random, specials = Random(f"incremental:{case.seed}"), case.reference.model.special_tokens
    texts = [text for text in texts_for(case) if 1 < len(text) <= _MOST_CHARACTERS]
    texts = texts[:: max(1, len(texts) // _N_TEXTS)]
    for text in (*texts[:_FEW], *filter(case.can_ask, [prose(_LONG, case.seed + 10)]), *texts[_FEW:]):
        steps = _script(random, text, has)
        if not any(name in text for texts in _texts(steps) for text in texts for name in specials):
            yield steps


def _script(random: Random, text: str, has: set[str]) -> Steps:
    """Return steps over one text and its copies: appended in parts cut anywhere, edited anywhere."""
    longer = len(text) // _MOST_CHARACTERS * _LONGER
    steps: list[Step] = []
    lengths = [0]
    at = 0
    while at < len(text) and len(steps) < _MOST_STEPS:
        on, part = random.randrange(len(lengths)), text[at : at + random.choice((0, 1, 1, 2, 3, 5, 8, 20)) + longer]
        chosen = random.random()
        if chosen < 0.1 and "copy" in has and len(lengths) < 3:
            steps.append(("copy", on))
            lengths.append(lengths[on])
        elif chosen < 0.3 and "replace" in has and lengths[on]:
            start = random.randrange(lengths[on])
            stop = min(lengths[on], start + random.choice((0, 1, 1, 3, 10)))
            new = part if random.random() < 0.8 else ""
            steps.append(("replace", on, start, stop, new))
            lengths[on] += len(new) - (stop - start)
        else:
            steps.append(("append", on, part))
            lengths[on] += len(part)
            at += len(part)
    return tuple(steps)


def _texts(steps: Steps) -> list[list[str]]:
    """Return the text of every object after each step; raise IndexError for a missing object or place."""
    texts, found = [""], []
    for kind, on, *arguments in steps:
        if kind == "copy":
            texts.append(texts[on])
        elif kind == "append":
            texts[on] += arguments[0]
        else:
            start, stop, text = arguments
            if stop > len(texts[on]):
                raise IndexError(stop)
            texts[on] = texts[on][:start] + text + texts[on][stop:]
        found.append(list(texts))
    return found


def _fault(case: Case, steps: Steps, wanted: list[list[str]], found: object) -> Fault | None:
    """Return what is wrong with the states after each step, or None; other checks judge `encode` itself."""
    if isinstance(found, Failed):
        if any(isinstance(case.reference.ids(text), Failed) for texts in wanted for text in texts):
            raise NothingToCompare
        return Fault("refusal", str(found), text=wanted[-1][0])
    if not isinstance(found, list) or list(map(len, found)) != list(map(len, wanted)):
        return Fault("incremental", f"not a state of each object after each of {len(steps)} steps", text=wanted[-1][0])
    for step, texts, states in zip(steps, wanted, found, strict=True):
        for number, (text, state) in enumerate(zip(texts, states, strict=True)):
            on_copy = number != step[1] and step[0] != "copy"
            if (reason := _wrong(case, text, *state)) is not None:
                after = f"after {step[0]}{' on a copy' if on_copy else ''}"
                return Fault(
                    "incremental", f"{after} {reason}", text=text, expected=case.reference.ids(text), got=state[1]
                )
    return None


def _wrong(case: Case, text: str, held: str | None, ids: list[int], n_stable: int) -> str | None:
    """Return what is wrong with the state of a text, or None. Raises `NothingToCompare`."""
    expected = case.reference.ids(text)
    if isinstance(expected, Failed) or (ids != expected and case.client.ids(text) == ids):
        raise NothingToCompare
    if ids != expected:
        return "the ids are not those of the text"
    if held is not None and held != text:
        return f"it holds the text {expression(held)}"
    for more in _FOLLOWING:
        later = case.reference.ids(text + more)
        if not isinstance(later, Failed) and later[:n_stable] != ids[:n_stable]:
            return f"{n_stable} of {len(ids)} ids are called stable, but {expression(more)} changes them"
    return None if 0 <= n_stable <= len(ids) else f"{n_stable} of {len(ids)} ids are called stable"
