"""Texts of a megabyte shrunk in few trials, each of which is dear: a place, a repeat, a beginning, before characters.

`smallest_text` leaves out blocks of characters and is right for a few thousand of them. A longer text is first cut
down by what costs the logarithm of its length: a window around the place of the difference; the shortest run of
one short text that differs as well (which can be told in a line); the shortest beginning and end that differ.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence

from harness.check.shrink import MAX_SECONDS, MAX_TRIALS, smallest_text

SHORT_ENOUGH = 3_000
"""UTF-8 bytes up to which a text is left to `smallest_text`."""
_LEAST_TRIALS = 60
"""Of a text that stays long, each of which takes long."""
UNITS = (" token", "x y ", " a", "0", "\n", "é", "中", "a")
_MARGINS = (4, 16, 64, 256, 1_024)


def smallest_long_text(
    text: str,
    differs: Callable[[str], bool],
    places: Sequence[int] = (),
    max_seconds: float = MAX_SECONDS,
    units: Sequence[str] = UNITS,
) -> str:
    """The smallest text found that differs, begun at the likely `places` (offsets in characters) in `text`.

    `differs(text)` must hold. Where only long texts differ, the result is a repeat of one of `units` if one does, and
    then the shortest, provided that every longer repeat differs too; no worse than a part of `text` else.
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
    """The shortest repeat of one of `units` that differs, of no more characters or bytes than `text`; None for none."""
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
    """The shortest repeat that differs; what lies at the place of the difference is tried before halving."""
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
    """The least number from 1 to `most` from which on `holds` (it holds for `most`), by halving."""
    least = 1
    while least < most and time.monotonic() <= deadline:
        middle = (least + most) // 2
        if holds(middle):
            most = middle
        else:
            least = middle + 1
    return most
