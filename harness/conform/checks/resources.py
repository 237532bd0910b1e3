"""How time and memory grow with the text: exponents by family of texts, and peak memory by the byte of text.

The exponent is the slope of time against length on logarithmic axes: 1 is linear, 2 quadratic. Time is that of the
processor where the target can tell it, so that a busy machine does not bend the slope.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from harness.conform.case import Case
from harness.conform.reference import Refused
from harness.conform.subject import Subject
from harness.conform.texts import prose
from harness.conform.verdicts import Counterexample, Verdict
from harness.data.generated import generate
from harness.measure.stats import Exponent, fit_exponent

FAMILIES = ("repeats", "letters", "spaces", "cjk", "digits")
SIZES = tuple(1024 << step for step in range(8))
"""Characters: 1 KB to 128 KB."""
MOST_EXPONENT = 1.7
_SURE_EXPONENT = 1.4
"""What the lower end of the interval must exceed besides."""
_LEAST_SECONDS = 0.05
"""A largest pass shorter than this says nothing about growth."""
_PASS_SECONDS = 1.0
_LOOPS = 3
_SHORT = 20_000
MOST_BYTES_A_BYTE = 1_000
_MEMORY_CHARACTERS = 1_000_000


def growth(case: Case) -> Verdict:
    """The exponent of time is below 1.7 on every family, or no larger than the reference's."""
    told: list[str] = []
    excused: list[str] = []
    for family in FAMILIES:
        found, seconds, n = _exponent(lambda text: _target_seconds(case.subject, text), family, case)
        if found is None:
            told.append(f"{family}: too fast or refused")
            continue
        told.append(f"{family} {found.value:.1f}")
        if seconds < _LEAST_SECONDS or found.value < MOST_EXPONENT or found.low < _SURE_EXPONENT:
            continue
        again, _, _ = _exponent(lambda text: _target_seconds(case.subject, text), family, case)
        if again is None or again.value < MOST_EXPONENT or again.low < _SURE_EXPONENT:
            continue  # something else kept the machine busy
        known, _, _ = _exponent(lambda text: _reference_seconds(case, text), family, case)
        if known is not None and known.value > found.value - 0.4:
            excused.append(f"{family}: {found.value:.1f}, the reference {known.value:.1f}")
            continue
        text = "".join(generate(f"gen/{family}:{n}"))
        return Verdict(
            status="failed",
            stage="resources",
            reason=f"on {family} time grows as length to the {found.value:.1f} ({found.low:.1f}–{found.high:.1f})",
            counterexample=Counterexample.of(text, expected="about 1", got=f"{seconds:.2f} s for {n:,} characters"),
            n_failed=1,
        )
    if excused:
        return Verdict(status="same as reference", reason="; ".join(excused), exceptions=excused)
    return Verdict(status="passed", reason="exponents: " + ", ".join(told), n_inputs=len(FAMILIES))


def _exponent(seconds_of: Callable[[str], float | None], family: str, case: Case) -> tuple[Exponent | None, float, int]:
    """The exponent, and the time and length of the longest text; growth stops at a second, or at a refusal."""
    points: list[tuple[float, float]] = []
    for size in SIZES:
        text = "".join(generate(f"gen/{family}:{size}"))
        passes = [seconds_of(text), seconds_of(text[1:] + text[:1])]
        taken = [seconds for seconds in passes if seconds is not None]
        if len(taken) < len(passes):
            break
        points.append((float(size), max(min(taken), 1e-7)))
        if points[-1][1] > _PASS_SECONDS or case.out_of_time:
            break
    if len(points) < 3:
        return None, 0.0, 0
    return fit_exponent(points, last=5), points[-1][1], int(points[-1][0])


def _target_seconds(subject: Subject, text: str) -> float | None:
    if subject.offers("timed_encode"):
        told = subject.ask("timed_encode", text=text, loops=_LOOPS if len(text) <= _SHORT else 1)
        return float(told) if isinstance(told, int | float) else None
    began = time.perf_counter()
    answer = subject.ids(text)
    return None if isinstance(answer, Refused) else time.perf_counter() - began


def _reference_seconds(case: Case, text: str) -> float | None:
    began = time.process_time()
    answer = case.reference.ask(text)
    return None if isinstance(answer, Refused) else time.process_time() - began


def memory(case: Case) -> Verdict:
    """A megabyte of text takes less than a thousand times its size beyond what the process held before."""
    with case.subject.another({}) as alone:
        return _memory(case, alone)


def _memory(case: Case, alone: Subject) -> Verdict:
    alone.ids("hello world")
    before = alone.peak_memory_bytes
    if not before:
        return Verdict(status="not run", reason="the memory of its process cannot be read here")
    n = _MEMORY_CHARACTERS
    while n > 1_000 and not case.affordable(n):
        n //= 2
    text = prose(n, case.seed + 2)
    n_bytes = len(text.encode())
    answer = alone.ids(text)
    if isinstance(answer, Refused):
        return Verdict(
            status="failed", stage="resources", reason=f"a text of {n_bytes:,} bytes ends in {answer}", n_failed=1,
            counterexample=Counterexample.of(text, expected="ids", got=answer),
        )  # fmt: skip
    grown = max(0, alone.peak_memory_bytes - before)
    told = f"{grown / n_bytes:.0f} bytes a byte of text, {before / 1e6:.0f} MB before"
    if grown > MOST_BYTES_A_BYTE * n_bytes:
        return Verdict(
            status="failed", stage="resources", reason=told, n_failed=1,
            counterexample=Counterexample.of(text, expected=f"at most {MOST_BYTES_A_BYTE}", got=told),
        )  # fmt: skip
    return Verdict(status="passed", reason=told, n_inputs=1)
