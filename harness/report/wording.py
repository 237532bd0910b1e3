"""Format figures, names and texts for people: one place, so that all tables and charts agree.

Knows no record and no table. Figures get three significant digits, absent values are dashes, and unprintable text is
escaped.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import wraps
from typing import Literal, get_args

from harness.outcome import Outcome
from harness.printable import printable

ABSENT = "—"
Kind = Literal["pure", "compiled", "production", "peer"]
KINDS: tuple[Kind, ...] = get_args(Kind)


Spread = tuple[float | None, float | None, float | None]
"""A figure and the ends of its 95 % interval."""


def _or_absent(write: Callable[[float], str]) -> Callable[[float | Spread | None], str]:
    """Return `write`, made to return a dash for a missing value, and to leave an interval out."""

    @wraps(write)
    def written(value: float | Spread | None) -> str:
        value = value[0] if isinstance(value, tuple) else value
        return ABSENT if value is None or math.isnan(value) else write(value)

    return written


@_or_absent
def figure(value: float) -> str:
    """Format three significant digits, thousands separated: 0.00123, 1.23, 12.3, 1,230."""
    if not math.isfinite(value):
        return "∞" if value > 0 else "-∞"
    if value == 0:
        return "0"
    exponent = math.floor(math.log10(abs(value)))
    value = round(value, 2 - exponent)
    exponent = math.floor(math.log10(abs(value)))
    return f"{value:.2e}" if exponent < -4 else f"{value:,.{max(0, 2 - exponent)}f}"


@_or_absent
def count(value: float) -> str:
    """Format a whole number, thousands separated."""
    return f"{int(value):,}"


@_or_absent
def percent(value: float) -> str:
    """Format a share in per cent, with at most three significant digits and two decimals."""
    if 0 < abs(value) < 0.0001:
        return "<0.01 %"
    decimals = 0 if abs(value) >= 0.9995 else 1 if abs(value) >= 0.1 else 2
    return f"{100 * value:.{decimals}f} %"


@_or_absent
def money(value: float) -> str:
    """Format an amount in the user's currency: two decimals from 1 on, three significant digits below."""
    decimals = 2 if value == 0 or abs(value) >= 1 else 2 - math.floor(math.log10(abs(value)))
    return f"{value:,.{decimals}f}"


def _in_units(value: float, scales: dict[str, float]) -> str:
    """Format a figure in the largest unit that it holds once; without one, in the smallest."""
    unit = next((unit for unit, scale in scales.items() if abs(value) >= scale), list(scales)[-1])
    return f"{figure(value / scales[unit])} {unit}"


@_or_absent
def size(value: float) -> str:
    """Format bytes in decimal units: 512 B, 12.3 kB, 1.23 MB."""
    return _in_units(value, {"GB": 1e9, "MB": 1e6, "kB": 1e3}) if abs(value) >= 1e3 else f"{int(value)} B"


@_or_absent
def duration(value: float) -> str:
    """Format seconds in a suitable unit: 1.23 s, 45.6 ms, 789 µs."""
    return _in_units(value, {"s": 1.0, "ms": 1e-3, "µs": 1e-6, "ns": 1e-9}) if value else "0 s"


def plus_minus(value: Spread) -> str:
    """Format a figure (value, low, high) and half the width of its 95 % interval: 3.55 ± 0.014, `± ?` without one; a
    figure without error, as the ratio of a text to itself, alone."""
    middle, low, high = value
    if middle is None:
        return ABSENT
    if low is not None and low == high:
        return figure(middle)
    half = "?" if low is None or high is None else f"{(high - low) / 2:.2g}"
    return f"{figure(middle)} ± {half}"


def interval(low: float | None, high: float | None) -> str:
    """Format the ends of an interval: 1.20–1.30; — without one, as of a single pass."""
    return ABSENT if low is None or high is None or math.isclose(low, high) else f"{figure(low)}–{figure(high)}"


def compared(value: float | None, is_claimed: bool | None) -> str:
    """Format a figure, preceded by ≈ if the difference to what it is compared with may not be claimed."""
    return f"≈ {figure(value)}" if is_claimed is False else figure(value)


def word_or_figure(value: float | str | None) -> str:
    """Format a figure, or return the word that stands in its place."""
    return value if isinstance(value, str) else figure(value)


def sure(probability: float | None, is_claimed: bool) -> str:
    """Format the probability of a place, ≈ if the place may not be claimed."""
    return percent(probability) if is_claimed or probability is None else "≈"


def pair(first: float | None, second: float | None) -> str:
    """Format two figures beside each other."""
    return ABSENT if first is None else f"{figure(first)} · {figure(second)}"


def growth(exponent: float | None, low: float | None, high: float | None, bound: float | None) -> str:
    """Format an exponent with its interval, and its bound if the next size timed out."""
    if exponent is None:
        return ABSENT
    shown = f"{exponent:.2f}" if low is None else f"{exponent:.2f} ({low:.2f}–{high:.2f})"
    return shown if bound is None else f"{shown}, then ≥ {bound:.2f}"


def verdict(status: Outcome, reason: str, exact: bool | None = None) -> str:
    """Return why there is no figure, or why it has no rank; empty if there is one."""
    if status is not Outcome.RIGHT:
        return f"{status}: {reason}" if reason else str(status)
    return "different ids by design; not ranked" if exact is False else ""


def text(value: object) -> str:
    """Format any text on one line; unprintable characters become backslash escapes."""
    return ABSENT if value is None else printable(value)


def ids(value: list[int] | None, at_most: int = 12) -> str:
    """Format token ids, only the first ones if there are many."""
    if value is None:
        return ABSENT
    shown = " ".join(map(str, value[:at_most]))
    return shown if len(value) <= at_most else f"{shown} … ({len(value)})"


def quoted(value: str, at_most: int = 120) -> str:
    """Format a text in quotes, only its beginning if it is long."""
    shown = text(value)
    return f"'{shown}'" if len(shown) <= at_most else f"'{shown[:at_most]}… ({len(shown):,} characters)'"


def places(value: str, at_most: int = 3) -> str:
    """Format place names, separated by commas, only the first ones if there are many."""
    every = value.split(", ")
    shown = text(", ".join(every[:at_most]))
    return shown if len(every) <= at_most else f"{shown} and {len(every) - at_most:,} more"


WORDS: dict[Outcome, str] = {outcome: outcome for outcome in Outcome} | {
    Outcome.REFUSED: "refuses", Outcome.MISMATCH: "wrong", Outcome.OUT_OF_MEMORY: "memory", Outcome.TIMEOUT: "time",
}  # fmt: skip
"""Verdict -> the word in a cell."""


_PRODUCTION = ("tiktoken", "tokenizers", "sentencepiece")


def kind_of(implementation: str) -> Kind:
    """Return the kind of an implementation; anything that is neither ours nor a production library is a peer.

    Decided by the name alone: a report must not import the implementations, nor depend on what is installed.
    """
    import impls

    if implementation in _PRODUCTION:
        return "production"
    if implementation not in impls.default_names():
        return "peer"
    return "compiled" if implementation.startswith("compiled") else "pure"
