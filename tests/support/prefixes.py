"""What several texts begin with."""

from __future__ import annotations

from collections.abc import Sequence


def common_prefix(texts: Sequence[str]) -> str:
    first, last = min(texts), max(texts)
    n = next((k for k, pair in enumerate(zip(first, last, strict=False)) if pair[0] != pair[1]), len(first))
    return first[:n]
