"""The smallest text that still shows a difference: delta debugging over characters (Zeller and Hildebrandt, 2002)."""

from __future__ import annotations

import time
from collections.abc import Callable

MAX_TRIALS = 4000
MAX_SECONDS = 10.0


def smallest_text(
    text: str,
    differs: Callable[[str], bool],
    max_trials: int = MAX_TRIALS,
    max_seconds: float = MAX_SECONDS,
) -> str:
    """A text from which no single character can be left out without losing the difference.

    `differs(text)` must hold. Ever smaller blocks of characters are left out, then what remains is made plainer
    (letters to `a`, digits to `0`) where the difference survives. Stops after `max_trials` calls of `differs`
    or `max_seconds`, with the smallest text found so far.
    """
    trials = 0
    deadline = time.monotonic() + max_seconds

    def exhausted() -> bool:
        return trials >= max_trials or time.monotonic() > deadline

    def still(candidate: str) -> bool:
        nonlocal trials
        trials += 1
        return differs(candidate)

    text = _leave_out_blocks(text, still, exhausted)
    for index in range(len(text)):
        if exhausted():
            break
        plain = "0" if text[index].isdigit() else "a" if text[index].isalpha() else text[index]
        candidate = text[:index] + plain + text[index + 1 :]
        if candidate != text and still(candidate):
            text = candidate
    return text


def _leave_out_blocks(text: str, still: Callable[[str], bool], exhausted: Callable[[], bool]) -> str:
    size = len(text) // 2
    while size:
        start, shrunk = 0, False
        while start < len(text) and not exhausted():
            candidate = text[:start] + text[start + size :]
            if candidate and still(candidate):
                text, shrunk = candidate, True
            else:
                start += size
        if exhausted():
            break
        if not shrunk or size > len(text) // 2:
            size = min(size // 2 if not shrunk else size, len(text) // 2)
    return text
