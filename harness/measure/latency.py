"""A compact histogram of call times: counts in bins 2 % wide, and the percentiles read from them."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping

_WIDTH = 1.02
_LOG_WIDTH = math.log(_WIDTH)


def binned(seconds: Iterable[float]) -> Counter[int]:
    """Count times by bin; bin b holds 1.02^b to 1.02^(b+1) nanoseconds."""
    return Counter(math.floor(math.log(max(1.0, time * 1e9)) / _LOG_WIDTH) for time in seconds)


def percentile(bins: Mapping[int, int], share: float) -> float:
    """Return the seconds that `share` of the times do not exceed, within 1 %; raise `ValueError` without times."""
    total = sum(bins.values())
    if not total:
        raise ValueError("no times")
    passed = 0
    for number in sorted(bins):
        passed += bins[number]
        if passed >= share * total:
            break
    return float(_WIDTH ** (number + 0.5)) / 1e9
