"""The common prefix of two sequences."""

from __future__ import annotations

from collections.abc import Sequence


def common_prefix_length(a: Sequence[object], b: Sequence[object]) -> int:
    """Return the number of elements that two sequences have in common at their beginning.

    >>> common_prefix_length("abcd", "abx"), common_prefix_length([1, 2], [1, 2, 3])
    (2, 2)
    """
    return next((k for k, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))
