"""Time by stage (splitting, merging, output) of implementations that expose their stages.

An implementation that works piece by piece is timed from outside: its splitter alone, merging over the finished pieces,
and the whole; the remainder is output and bookkeeping. Others may report their own times with `stage_seconds(text)`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from statistics import median
from time import perf_counter
from typing import Protocol, runtime_checkable

from impls import Tokenizer
from impls.core.errors import Unsupported

_PASSES = 5


@runtime_checkable
class TimesItself(Protocol):
    """An implementation that reports its time by stage."""

    def stage_seconds(self, text: str) -> dict[str, float]:
        """Return the seconds by stage of one encoding of `text`."""


def stage_shares(tokenizer: Tokenizer, text: str) -> dict[str, float]:
    """Return seconds per stage of one encoding of `text`, medians over several; raise `Unsupported` without stages."""
    if isinstance(tokenizer, TimesItself):
        samples = [tokenizer.stage_seconds(_new(text)) for _ in range(_PASSES)]
        return {stage: median(sample[stage] for sample in samples) for stage in samples[0]}
    if type(tokenizer).encode_piece is Tokenizer.encode_piece or type(tokenizer)._encode_text is not (
        Tokenizer._encode_text
    ):
        raise Unsupported(tokenizer.name, "does not expose its stages")
    whole = _seconds(lambda: tokenizer.encode(_new(text), disallowed_special=()))
    split = _seconds(lambda: tokenizer.pieces(_new(text)))
    pieces = tokenizer.pieces(text)
    merge = _seconds(lambda: _merge(tokenizer, pieces))
    return {"split": split, "merge": merge, "output": max(0.0, whole - split - merge)}


def _new(text: str) -> str:
    return text[:1] + text[1:] if len(text) > 1 else text


def _merge(tokenizer: Tokenizer, pieces: Iterable[str]) -> None:
    for piece in pieces:
        tokenizer.encode_piece(piece)


def _seconds(work: Callable[[], object]) -> float:
    samples = []
    for _ in range(_PASSES):
        start = perf_counter()
        work()
        samples.append(perf_counter() - start)
    return median(samples)
