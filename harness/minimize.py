"""The smallest text, sequence or model that still shows a difference: parts are removed as long as it remains.

Delta debugging (Zeller and Hildebrandt 2002). It suits a few thousand elements. A longer text is first reduced by
searches of logarithmic cost: a window around the place of the difference; the shortest repeat of one short text that
differs as well, alone or beside the few characters at that place (which fits on a line); the shortest beginning and end
that differ.

The caller defines what a difference is; nothing here knows implementations, targets or records.
"""

from __future__ import annotations

import time
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import chain, combinations, product
from typing import Any, TypeVar

from impls.core.errors import InvalidModel
from impls.core.model.model import Model

S = TypeVar("S", str, tuple[Any, ...])

MAX_TRIALS = 4000
MAX_SECONDS = 10.0
SHORT_ENOUGH = 3_000
"""Texts of up to this many UTF-8 bytes are minimised by removing blocks alone."""
_LEAST_TRIALS = 60
"""Trials for a text that stays long, since each then takes long."""
_UNITS = (" token", "x y ", " a", "0", "\n", "é", "中", "a")
_WINDOWS, _FILLERS = ((0, 1), (0, 2), (1, 1), (2, 2)), ("x ", "x")
"""Characters before and after a place, and what they are put beside."""
_MARGINS = (4, 16, 64, 256, 1_024)
_PAIRS_UP_TO = 24
"""In sequences of up to this many elements, pairs are removed too (a bracket and its partner)."""
_REMEMBERED_UP_TO = 200
"""Failed candidates of up to this many elements are remembered."""


class Budget:
    """Limits on the trials and the time of a search."""

    def __init__(self, max_trials: int = MAX_TRIALS, max_seconds: float = MAX_SECONDS) -> None:
        self.trials_left = max_trials
        self._deadline = time.monotonic() + max_seconds

    @property
    def exhausted(self) -> bool:
        """Return whether no trial is left."""
        return self.trials_left <= 0 or time.monotonic() > self._deadline

    def counted(self, holds: Callable[[S], bool]) -> Callable[[S], bool]:
        """Return `holds` with its trials counted, False once none is left; repeated short candidates are free."""
        failed: set[object] = set()

        def trial(candidate: S) -> bool:
            if candidate in failed or self.exhausted:
                return False
            self.trials_left -= 1
            if holds(candidate):
                return True
            if len(candidate) <= _REMEMBERED_UP_TO:
                failed.add(candidate)
            return False

        return trial


def smallest_text(
    text: str, differs: Callable[[str], bool], budget: Budget | None = None, places: Sequence[int] = ()
) -> str:
    """Return a text from which no character, and if short no two, can be removed without losing the difference.

    `differs(text)` must hold; `places` are character offsets at which the difference is likely. What remains is
    simplified (letters to `a`, digits to `0`, white space to a space) where the difference survives. If only long texts
    differ, the result is the shortest repeat of a few characters that does (provided that every longer repeat does
    too). With an exhausted `budget` it is the smallest text found so far; with infinite seconds it depends on nothing
    but the arguments.
    """

    budget = budget or Budget()
    trial: Callable[[str], bool] = budget.counted(lambda candidate: bool(candidate) and differs(candidate))
    if _n_bytes(text) > SHORT_ENOUGH:
        windows = (text[max(0, place - margin) : place + margin] for margin in _MARGINS for place in places)
        text = next(filter(trial, windows), text)
    if _n_bytes(text) > SHORT_ENOUGH:
        run = _shortest_run(text, trial, places)
        if run is not None and _n_bytes(run) > SHORT_ENOUGH:
            return run
        text = run or _shortest_part(text, trial)
    # Trials of a text that stayed long take long, so it gets fewer.
    trials = max(_LEAST_TRIALS, MAX_TRIALS * SHORT_ENOUGH // max(SHORT_ENOUGH, _n_bytes(text)))
    budget.trials_left = min(budget.trials_left, trials)
    while True:
        shorter = _reduced(text, trial, budget)
        text = _plainer(shorter, trial, budget)
        if text == shorter or budget.exhausted:
            return text


def smallest_sequence(items: S, holds: Callable[[S], bool], budget: Budget) -> S:
    """Return a subsequence of `items` from which no element can be removed without `holds` becoming false.

    In a long one its shortest beginning and end are searched first, which takes few trials where only a number counts.
    """
    trial = budget.counted(holds)
    return _reduced(_shortest_part(items, trial) if len(items) > _PAIRS_UP_TO else items, trial, budget)


def least(most: int, holds: Callable[[int], bool]) -> int:
    """Return, by bisection, the least number from 1 to `most` from which on `holds`; it must hold for `most`."""
    return 1 + bisect_left(range(1, most), True, key=holds)


def _reduced(items: S, trial: Callable[[S], bool], budget: Budget) -> S:
    size = max(1, len(items) // 2)
    while not budget.exhausted:
        before = len(items)
        start = 0
        while start < len(items) and not budget.exhausted:
            candidate = items[:start] + items[start + size :]
            if trial(candidate):
                items = candidate
            else:
                start += size
        if len(items) < before:
            size = max(1, min(size, len(items) // 2))
        elif size > 1:
            size //= 2
        elif (smaller := next(filter(trial, _without_two(items)), None)) is not None:
            items = smaller
        else:
            break
    return items


def _without_two(items: S) -> Iterator[S]:
    if len(items) <= _PAIRS_UP_TO:
        for i, j in combinations(range(len(items)), 2):
            yield items[:i] + items[i + 1 : j] + items[j + 1 :]


def _shortest_run(text: str, trial: Callable[[str], bool], places: Sequence[int]) -> str | None:
    """Return the shortest repeat of a unit that differs and is not longer than `text`, or None.

    It stands alone, or after or before a few characters that `text` has at one of the places.
    """
    few = [text[max(0, place - before) : place + after] for place, (before, after) in product(places, _WINDOWS)]
    for some, unit, order in chain(product([""], _UNITS, [1]), product(few, _FILLERS, (1, -1))):
        for most in dict.fromkeys((len(text) // len(unit), _n_bytes(text) // _n_bytes(unit))):
            build = partial(_beside, some, unit, order)
            if trial(build(most)):
                return build(least(most, lambda n, build=build: trial(build(n))))  # type: ignore[misc]
    return None


def _beside(some: str, unit: str, order: int, n: int) -> str:
    return "".join((some, unit * n)[::order])


def _shortest_part(items: S, trial: Callable[[S], bool]) -> S:
    """Return the shortest end of the shortest beginning of a text or a sequence that differs."""
    beginning = items[: least(len(items), lambda n: trial(items[:n]))]
    return beginning[-least(len(beginning), lambda n: trial(beginning[-n:])) :]


def _n_bytes(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))


def _plainer(text: str, trial: Callable[[str], bool], budget: Budget) -> str:
    for index, character in enumerate(text):
        if budget.exhausted:
            break
        candidates = (text[:index] + plain + text[index + 1 :] for plain in _plain_for(character))
        text = next(filter(trial, candidates), text)
    return text


def _plain_for(character: str) -> str:
    """Return simpler replacements for a character, the simplest first; none if it is already simple."""
    if character.isdigit():
        plain = "0"
    elif character.isalpha():
        plain = "aA" if character.isascii() else "aAé"
    else:
        plain = " \n" if character.isspace() else "a.\ufffd"
    return plain.partition(character)[0]


Item = tuple[bytes, bytes]
"""A merge as its two parts, or a token that no merge makes, with an empty second part."""


def smallest_model(model: Model, differs: Callable[[Model], bool], budget: Budget) -> Model:
    """Return a model with as few merges and tokens as still satisfy `differs`; ids are renumbered in the same order.

    `differs(model)` must hold. Models with an unknown token or an end-of-word suffix are returned unchanged.
    """
    if model.unknown is not None or model.end_of_word is not None:
        return model
    changes: dict[str, Any]
    for changes in ({"special_tokens": {}, "added_tokens": {}}, {"pattern": ()}, {"ignore_merges": False}):
        simpler = model.with_(merge_counts=None, **changes)
        if not budget.exhausted and differs(simpler):
            model = simpler

    def holds(items: Sequence[Item]) -> bool:
        try:
            candidate = _with_only(model, items)
        except InvalidModel:
            return False
        return differs(candidate)

    items = _items(model)
    return _with_only(model, smallest_sequence(items, holds, budget)) if holds(items) else model


def _items(model: Model) -> tuple[Item, ...]:
    derived = {model.tokens[i] for i in model.merge_results} | _fixed(model)
    merges = ((model.tokens[left] or b"", model.tokens[right] or b"") for left, right in model.merges)
    return (*merges, *((token, b"") for token in model.tokens if token is not None and token not in derived))


def _fixed(model: Model) -> set[bytes]:
    return {bytes([byte]) for byte in range(256)} if model.alphabet == "bytes" else set()


def _with_only(model: Model, items: Sequence[Item]) -> Model:
    """Reduce `model` to `items`; a merge is removed with either of its parts."""
    alone = _fixed(model) | {token for token, rest in items if not rest}
    merges = [item for item in items if item[1]]
    while True:
        known = alone | {left + right for left, right in merges}
        kept = [(left, right) for left, right in merges if left in known and right in known]
        if len(kept) == len(merges):
            break
        merges = kept
    tokens = [token for token in model.tokens if token in known]
    ids = {token: i for i, token in enumerate(tokens)}
    others = {text: len(tokens) + n for n, text in enumerate(model.whole_token_ids)}
    return model.with_(
        tokens=tuple(tokens),
        merges=tuple((ids[left], ids[right]) for left, right in merges),
        merge_counts=None,
        special_tokens={text: others[text] for text in model.special_tokens},
        added_tokens={text: others[text] for text in model.added_tokens},
    )
