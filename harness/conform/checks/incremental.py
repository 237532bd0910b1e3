"""Are the ids of a text that grows and is edited those of the whole text, and do stable ones stay whatever follows?"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from random import Random
from typing import Any

from harness.conform.case import Case
from harness.conform.checks.over_texts import over, texts_for
from harness.conform.verdicts import Fault, NotAsked, NothingToCompare
from harness.conform.wording import expression
from harness.generators.texts import prose
from harness.process.session import Failed
from impls.core.text.text import special_matcher

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
    n_ids = n_stable = 0

    def fault_of(steps: Steps) -> Fault | None:
        nonlocal n_ids, n_stable
        try:
            _texts(steps)
        except IndexError:  # a shrunk script that refers to a missing object or place
            return None
        found = case.client.ask("incremental", steps=steps)
        if not isinstance(found, Failed) and found:
            n_ids += sum(len(ids) for _, ids, _ in found[-1])
            n_stable += sum(stable for *_, stable in found[-1])
        return _fault(case, steps, found)

    short, long = _scripts(case, has)

    def simpler(steps: Steps) -> Iterable[Steps]:
        return short[_FEW:] if steps in long else _one_by_one(steps)

    remark = over(case, [*short[:_FEW], *long, *short[_FEW:]], fault_of, simpler)
    lacks = [f"no {name}" for name in ("replace", "copy") if name not in has]
    return "; ".join([*filter(None, [remark]), f"{n_stable / max(1, n_ids):.0%} of the ids stable", *lacks])


def _scripts(case: Case, has: set[str]) -> tuple[list[Steps], list[Steps]]:
    """Return scripts over short texts and over long ones; in neither does a special token arise."""
    random = Random(f"incremental:{case.seed}")
    texts = [text for text in texts_for(case) if 1 < len(text) <= _MOST_CHARACTERS]
    long = [text for text in [prose(_LONG, case.seed + 10)] if case.can_ask(text)]
    specials = frozenset(case.reference.model.special_tokens)

    def scripts(texts: Iterable[str]) -> list[Steps]:
        made = [_script(random, text, has) for text in texts]
        if not specials:
            return made
        special = special_matcher(specials)
        return [steps for steps in made if not any(special.search(text) for state in _texts(steps) for text in state)]

    return scripts(texts[:: max(1, len(texts) // _N_TEXTS)]), scripts(long)


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


def _fault(case: Case, steps: Steps, found: object) -> Fault | None:
    """Return what is wrong with the states after each step, or None; other checks judge `encode` itself."""
    wanted = _texts(steps)
    if isinstance(found, Failed):
        if any(isinstance(case.reference.ids(text), Failed) for texts in wanted for text in texts):
            raise NothingToCompare
        return Fault("refusal", str(found), text=wanted[-1][0])
    if not isinstance(found, list) or len(found) != len(wanted):
        return Fault("incremental", f"not one state for each of {len(steps)} steps", text=wanted[-1][0])
    n_left_out = 0
    for step, texts, states in zip(steps, wanted, found, strict=True):
        for number, (text, state) in enumerate(zip(texts, states, strict=False)):
            try:
                fault = _fault_of_state(case, text, state, _worded(step, number))
            except NothingToCompare:
                n_left_out += 1
                continue
            if fault is not None:
                return fault
        if len(states) != len(texts):
            return Fault("incremental", f"{len(states)} objects after {_worded(step, 0)}", text=texts[-1])
    if n_left_out:
        raise NothingToCompare
    return None


def _fault_of_state(case: Case, text: str, state: tuple[str | None, list[int], int], after: str) -> Fault | None:
    held, ids, n_stable = state
    expected = case.reference.ids(text)
    if isinstance(expected, Failed):
        raise NothingToCompare
    if ids != expected:
        if case.client.ids(text) == ids:
            raise NothingToCompare
        return Fault("incremental", f"{after} the ids are not those of the text", text=text, expected=expected, got=ids)
    if held is not None and held != text:
        return Fault("incremental", f"{after} it holds the text {expression(held)}", text=text)
    if not 0 <= n_stable <= len(ids):
        return Fault("incremental", f"{after} it calls {n_stable} of {len(ids)} ids stable", text=text)
    for more in _FOLLOWING:
        later = case.reference.ids(text + more)
        if not isinstance(later, Failed) and later[:n_stable] != ids[:n_stable]:
            reason = f"{n_stable} of {len(ids)} ids are called stable, but appending {expression(more)} changes them"
            return Fault("incremental", reason, text=text, expected=later, got=ids)
    return None


def _worded(step: Step, number: int) -> str:
    kind, on, *_ = step
    if number == on or kind == "copy":
        return f"after {kind}"
    return f"after {kind} on a copy"


def _one_by_one(steps: Steps) -> Iterator[Steps]:
    """Yield the steps with each character appended separately, unless that is too many."""
    singly: list[Step] = []
    for step in steps:
        appended = step[2] if step[0] == "append" and len(step[2]) <= _MOST_CHARACTERS else ""
        singly += [("append", step[1], character) for character in appended] or [step]
    yield tuple(singly)
