"""tiktoken once more, and once more with every call made 5 % longer: can a run tell which is which?

    PYTHONPATH=tests/planted bpebench run --profile rigorous -e '^(tiktoken|same|slow5)$' \
        -w '^encode/cl100k_base/(english|turkish)$' --out results/local/planted
"""

from __future__ import annotations

from time import perf_counter

from impls.production.tiktoken import Tiktoken

SHARE = 0.05


class Same(Tiktoken):
    """tiktoken under another name."""

    name = "same"


class Slow5(Tiktoken):
    """tiktoken, then idle for a twentieth of the time it took."""

    name = "slow5"

    def _encode_text(self, text: str) -> list[int]:
        start = perf_counter()
        ids = super()._encode_text(text)
        end = perf_counter()
        while perf_counter() < end + SHARE * (end - start):
            pass
        return ids
