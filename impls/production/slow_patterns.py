"""Detects patterns with catastrophic backtracking, by trial.

Libraries cannot be interrupted while they split, so an unknown pattern is tried once with an engine that can be: on its
own characters, repeated, with an end that does not match. This detects only growth far beyond quadratic. Named patterns
are trusted.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from functools import lru_cache

import regex

from impls.core.errors import Unsupported
from impls.core.text.patterns import NAMED

TRIAL_SECONDS = 1.0
"""Limit for all texts together; a pattern in use takes 0.01."""
_LENGTH = 256
_KINDS = ("a", "A", "1", " ", "\n", "'", ".", "é", "中", "aA", "a1", "a ", " \n", "a'")
_ENDS = ("!", "\u2603", "\n")
_MOST_RUNS = 40
_RUN = regex.compile(r"[^\\()\[\]{}*+?|.^$]+")
_TRUSTED = frozenset(NAMED.values())


def check_stages(implementation: str, stages: tuple[str, ...]) -> None:
    """Raise `Unsupported` naming a split stage that takes too long on short texts."""
    if stages in _TRUSTED:
        return
    slow = next(filter(is_too_slow, stages), None)
    if slow is not None:
        reason = f"a text of {_LENGTH} characters may take for ever under the pattern {slow[:200]!r}"
        raise Unsupported(implementation, f"it cannot be interrupted while it splits, and {reason}")


@lru_cache(maxsize=64)
def is_too_slow(stage: str) -> bool:
    """Return whether a trial of `stage` exceeds `TRIAL_SECONDS`."""
    expression = regex.compile(stage)
    end = time.thread_time() + TRIAL_SECONDS
    for text in _texts(stage):
        try:
            expression.findall(text, timeout=max(end - time.thread_time(), 0.001))
        except TimeoutError:
            return True
    return False


def _texts(stage: str) -> Iterator[str]:
    """Yield texts of repeated characters, and runs of characters, of `stage`."""
    runs = _RUN.findall(stage)[:_MOST_RUNS]
    units = dict.fromkeys([*_KINDS, *"".join(runs)[: 2 * _MOST_RUNS], *runs])
    for unit in units:
        repeated = unit * (_LENGTH // len(unit) + 1)
        for end in _ENDS:
            yield repeated[:_LENGTH] + end
