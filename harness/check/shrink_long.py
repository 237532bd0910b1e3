"""Shrink texts of a megabyte in few, costly trials: by window, repeat, beginning and end before single characters.

`smallest_text` removes blocks of characters and suits a few thousand of them. A longer text is first reduced by
searches of logarithmic cost: a window around the place of the difference; the shortest repeat of one short text that
differs as well (which fits on a line); the shortest beginning and end that differ.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence

from harness.check.shrink import MAX_SECONDS, MAX_TRIALS, smallest_text

SHORT_ENOUGH = 3_000
"""Texts of up to this many UTF-8 bytes go straight to `smallest_text`."""
_LEAST_TRIALS = 60
"""For a text that stays long, where each trial takes long."""
UNITS = (" token", "x y ", " a", "0", "\n", "é", "中", "a")
_MARGINS = (4, 16, 64, 256, 1_024)


def smallest_long_text(
    text: str,
    differs: Callable[[str], bool],
    places: Sequence[int] = (),
    max_seconds: float = MAX_SECONDS,
    units: Sequence[str] = UNITS,
) -> str:
    """Return the smallest text found that differs, starting from the likely `places` (character offsets) in `text`.

    `differs(text)` must hold. Where only long texts differ, the result is the shortest repeat of one of `units` that
    does (provided that every longer repeat does too); otherwise a part of `text`.
    """
    deadline = time.monotonic() + max_seconds
    if _n_bytes(text) > SHORT_ENOUGH:
        text = next((window for window in _windows(text, places) if differs(window)), text)
    if _n_bytes(text) > SHORT_ENOUGH:
        run = _shortest_run(text, differs, units, places, deadline)
        if run is not None:
            return run
        text = _shortest_beginning(text, differs, deadline)
        text = _shortest_end(text, differs, deadline)
    left = max(0.0, deadline - time.monotonic())
    trials = max(_LEAST_TRIALS, MAX_TRIALS * SHORT_ENOUGH // max(SHORT_ENOUGH, _n_bytes(text)))
    return smallest_text(text, differs, trials, left)


def _windows(text: str, places: Sequence[int]) -> Iterator[str]:
    for margin in _MARGINS:
        for place in places:
            yield text[max(0, place - margin) : place + margin]


def _shortest_run(
    text: str, differs: Callable[[str], bool], units: Sequence[str], places: Sequence[int], deadline: float
) -> str | None:
    """Return the shortest repeat of one of `units` that differs and is no longer than `text`, or None."""
    for unit in units:
        for times in dict.fromkeys((len(text) // len(unit), _n_bytes(text) // _n_bytes(unit))):
            if time.monotonic() > deadline:
                return None
            if differs(unit * times):
                guesses = [place // len(unit) + more for place in places for more in (1, 2)]
                return _least_repeat(unit, times, differs, guesses, deadline)
    return None


def _n_bytes(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))


def _least_repeat(unit: str, most: int, differs: Callable[[str], bool], guesses: Sequence[int], deadline: float) -> str:
    """Return the shortest repeat that differs; lengths near the place of the difference are tried before bisection."""
    for guess in guesses:
        if 1 < guess < most and differs(unit * guess):
            most = guess
            if not differs(unit * (guess - 1)):
                return unit * guess
    return unit * _least(most, lambda times: differs(unit * times), deadline)


def _shortest_beginning(text: str, differs: Callable[[str], bool], deadline: float) -> str:
    return text[: _least(len(text), lambda n: differs(text[:n]), deadline)]


def _shortest_end(text: str, differs: Callable[[str], bool], deadline: float) -> str:
    return text[-_least(len(text), lambda n: differs(text[-n:]), deadline) :]


def _least(most: int, holds: Callable[[int], bool], deadline: float) -> int:
    """Return, by bisection, the least number from 1 to `most` from which on `holds`; it must hold for `most`."""
    least = 1
    while least < most and time.monotonic() <= deadline:
        middle = (least + most) // 2
        if holds(middle):
            most = middle
        else:
            least = middle + 1
    return most
