"""How time and memory grow with the text: exponents by family of texts, and peak memory per byte of text.

The exponent is the slope of time against length on logarithmic axes: 1 is linear, 2 quadratic. Time is processor time
where the target reports it, so that a busy machine does not distort the slope.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from itertools import count, product

from harness.conform.case import Case
from harness.conform.checks.over_texts import most_of
from harness.conform.reference import Answer, Refusal
from harness.conform.verdicts import Fault, NotAsked
from harness.data.generated import ADVERSARIAL, generate
from harness.generators.texts import prose
from harness.measure.stats import Exponent, fit_exponent

FAMILIES = ("words", *ADVERSARIAL)
SIZES = tuple(1024 << step for step in range(8))
"""Characters: 1 KB to 128 KB."""
MOST_EXPONENT = 1.7
_SURE_EXPONENT = 1.4
"""A fault also requires that the lower end of the interval exceeds this."""
_LEAST_SECONDS = 0.05
"""If the longest text takes less than this, its time says nothing about growth."""
_PASS_SECONDS = 1.0
_PASSES = 3
_SHOWN = 5
MOST_BYTES_A_BYTE = 1_000
_MEMORY_CHARACTERS = 1_000_000


@dataclass(frozen=True, slots=True)
class _Growth:
    """The growth of time on one family."""

    exponent: Exponent
    seconds: float
    """Time of the longest text."""
    text: str

    @property
    def is_quadratic(self) -> bool:
        steep = self.exponent.value >= MOST_EXPONENT and self.exponent.low >= _SURE_EXPONENT
        return steep and self.seconds >= _LEAST_SECONDS


def growth(case: Case) -> str:
    """Check that the exponent of time is below 1.7 on every family, or no larger than the reference's."""
    found: list[tuple[float, str]] = []
    left_out: list[str] = []
    for decoding, family in product((False, True), FAMILIES):
        texts = _new_texts(family, case.seed)

        def seconds(text: str, decoding: bool = decoding) -> float | None:
            return _seconds(case, text, decoding)

        name = f"decoding {family}" if decoding else family
        grown = _grown(seconds, texts, case)
        if grown is None:
            left_out.append(name)
            continue
        case.n_inputs += 1
        found.append((grown.exponent.value, name))
        again = _grown(seconds, texts) if grown.is_quadratic else None
        if again is None or not again.is_quadratic:
            continue  # a quadratic first measurement was due to other work on the machine
        known = _grown(lambda text: _reference_seconds(case, text, decoding), texts)  # noqa: B023 (called at once)
        if known is None or known.exponent.value <= grown.exponent.value - 0.4:
            slope, of = again.exponent, f"{again.seconds:.2f} s for {len(again.text):,} characters"
            reason = (
                f"on {name} time grows with length to the power of {slope.value:.1f} ({slope.low:.1f}–{slope.high:.1f})"
            )
            raise Fault("resources", reason, text=again.text, expected="about 1", got=of)
        case.excused.append(f"{name}: {grown.exponent.value:.1f}, the reference {known.exponent.value:.1f}")
    n_families, slow = len(found) + len(left_out), f"too slow, or refused, on {', '.join(left_out)}" if left_out else ""
    clock = most_of(len(found), n_families, "families") if case.out_of_time else ""
    if 2 * len(found) < n_families:
        raise NotAsked(slow)
    shown = ", ".join(f"{name} {value:.1f}" for value, name in sorted(found, reverse=True)[:_SHOWN])
    remarks = case.excused or [f"exponents, the greatest of {len(found)}: {shown}"]
    return "; ".join([*remarks, *filter(None, [clock, slow])])


def _new_texts(family: str, seed: int) -> Callable[[int], str]:
    """Return a function that makes texts of slightly less than a given length, each new to a cache of texts."""
    left_out = count(8)  # characters; a round length may have occurred in another check

    def text(size: int) -> str:
        whole = prose(size, seed + 5) if family == "words" else "".join(generate(f"gen/{family}:{size}"))
        return whole[next(left_out) :]

    return text


def _grown(
    seconds_of: Callable[[str], float | None], texts: Callable[[int], str], case: Case | None = None
) -> _Growth | None:
    """Measure how time grows, up to a second, a refusal or the end of the check, where that is given.

    Returns None if fewer than three sizes were timed.
    """
    points: list[tuple[float, float]] = []
    text = ""
    for size in SIZES:
        taken: list[float] = []
        for _ in range(_PASSES):
            text = texts(size)
            seconds = seconds_of(text)
            if seconds is not None:
                taken.append(seconds)
            if taken and taken[-1] > _PASS_SECONDS:
                break
        if not taken or (case is not None and case.out_of_time):
            break
        points.append((float(size), max(min(taken), 1e-7)))
        if points[-1][1] > _PASS_SECONDS:
            break
    if len(points) < 3:
        return None
    exponent = fit_exponent(points, last=5)
    return None if exponent is None else _Growth(exponent, points[-1][1], text)


def _seconds(case: Case, text: str, decoding: bool) -> float | None:
    """Return how long the target takes to encode a text, or to decode its ids; None for a refusal."""
    client, ids = case.client, case.reference.encode(text) if decoding else []
    if isinstance(ids, Refusal):
        return None
    if client.offers("timed_decode" if decoding else "timed_encode"):
        taken = client.ask("timed_decode", ids=ids) if decoding else client.ask("timed_encode", text=text, loops=1)
        return None if isinstance(taken, Refusal) else float(taken)
    began = time.perf_counter()
    answer = client.decode(ids) if decoding else client.ids(text)
    return None if isinstance(answer, Refusal) else time.perf_counter() - began


def _reference_seconds(case: Case, text: str, decoding: bool) -> float | None:
    began = time.process_time()
    answer: Answer | str = case.reference.encode(text)
    if decoding and isinstance(answer, list):
        began = time.process_time()
        answer = case.reference.decode(answer)
    return None if isinstance(answer, Refusal) else time.process_time() - began


def memory(case: Case) -> str:
    """Check that a megabyte of text takes less than a thousand times its size on top of the process's memory before."""
    with case.client.another({}) as alone:
        alone.ids("hello world")
        before = alone.peak_memory_bytes
        if not before:
            raise NotAsked("the memory of its process cannot be read here")
        n = _MEMORY_CHARACTERS
        while n > 1_000 and not case.affordable(n):
            n //= 2
        text = prose(n, case.seed + 2)
        n_bytes = len(text.encode())
        answer = alone.ids(text)
        grown = max(0, alone.peak_memory_bytes - before)
    if isinstance(answer, Refusal) and not answer.fatal:
        refused = case.reference.ids(text[: case.reference.longest])
        if isinstance(refused, Refusal):
            raise NotAsked(f"the reference refuses the text as well: {refused}")
    case.n_inputs += 1
    if isinstance(answer, Refusal):
        reason = f"a text of {n_bytes:,} bytes ends in {answer}"
        raise Fault("resources", reason, text=text, expected="ids", got=answer)
    reason = (
        f"{grown / n_bytes:.0f} bytes of memory for each byte of text, beside the {before / 1e6:.0f} MB of the process"
    )
    if grown > MOST_BYTES_A_BYTE * n_bytes:
        raise Fault("resources", reason, text=text, expected=f"at most {MOST_BYTES_A_BYTE}", got=reason)
    return reason
