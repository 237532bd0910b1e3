"""Where the frequency of merges flattens out: how many merges are worth learning."""

from __future__ import annotations

from collections.abc import Sequence


def plateau(counts: Sequence[float]) -> int | None:
    """Return the merge (from 0) at the knee of the curve of merge counts, or None for fewer than three merges.

    The knee is the point furthest below the straight line from the first to the last count, both axes scaled to
    [0, 1] (Satopaa et al. 2011, "Finding a 'Kneedle' in a Haystack", without its smoothing); of a curve that rises, the
    point furthest above.
    """
    last = len(counts) - 1
    if last < 2 or counts[0] == counts[last]:
        return None
    fall = counts[0] - counts[last]
    return max(range(len(counts)), key=lambda i: (counts[0] - counts[i]) / fall - i / last)
