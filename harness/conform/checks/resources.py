"""How time and memory grow with the text: exponents by family of texts, and peak memory per byte of text.

The exponent is the slope of time against length on logarithmic axes: 1 is linear, 2 quadratic. Time is processor time
where the target reports it, so that a busy machine does not distort the slope.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from harness.conform.case import Case
from harness.conform.client import TargetClient
from harness.conform.reference import Refusal
from harness.conform.texts import prose
from harness.conform.verdicts import CheckVerdict, FailingInput
from harness.data.generated import ADVERSARIAL, generate
from harness.measure.stats import Exponent, fit_exponent

FAMILIES = ("words", *ADVERSARIAL)
SIZES = tuple(1024 << step for step in range(8))
"""Characters: 1 KB to 128 KB."""
MOST_EXPONENT = 1.7
_SURE_EXPONENT = 1.4
"""The lower end of the interval must exceed this as well."""
_LEAST_SECONDS = 0.05
"""If the longest pass is shorter than this, it says nothing about growth."""
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
    """Of the longest text."""
    text: str

    @property
    def is_quadratic(self) -> bool:
        steep = self.exponent.value >= MOST_EXPONENT and self.exponent.low >= _SURE_EXPONENT
        return steep and self.seconds >= _LEAST_SECONDS


def growth(case: Case) -> CheckVerdict:
    """Check that the exponent of time is below 1.7 on every family, or no larger than the reference's."""
    found: list[tuple[float, str]] = []
    excused: list[str] = []
    n_inputs = 0
    for what, seconds_of, reference_seconds in (
        ("encode", _encoding_seconds, _reference_encoding),
        ("decode", _decoding_seconds, _reference_decoding),
    ):
        for family in FAMILIES:
            texts = _Texts(family, case)
            grown = _grown(lambda text: seconds_of(case, text), texts, case)  # noqa: B023 (called at once)
            if grown is None:
                continue
            n_inputs += 1
            found.append((grown.exponent.value, family if what == "encode" else f"decoding {family}"))
            if not grown.is_quadratic:
                continue
            again = _grown(lambda text: seconds_of(case, text), texts, case)  # noqa: B023
            if again is None or not again.is_quadratic:
                continue  # something else kept the machine busy
            known = _grown(lambda text: reference_seconds(case, text), texts, case)  # noqa: B023
            if known is not None and known.exponent.value > grown.exponent.value - 0.4:
                excused.append(f"{found[-1][1]}: {grown.exponent.value:.1f}, the reference {known.exponent.value:.1f}")
                continue
            return _too_steep(found[-1][1], again, n_inputs)
    if excused:
        reason = "; ".join(excused)
        return CheckVerdict(status="same as reference", reason=reason, exceptions=excused, n_inputs=n_inputs)
    shown = ", ".join(f"{name} {value:.1f}" for value, name in sorted(found, reverse=True)[:_SHOWN])
    reason = f"exponents, the greatest of {n_inputs}: {shown}" if found else "too slow, or refused, on every family"
    return CheckVerdict(status="passed", reason=reason, n_inputs=n_inputs)


def _too_steep(name: str, grown: _Growth, n_inputs: int) -> CheckVerdict:
    low, high = grown.exponent.low, grown.exponent.high
    return CheckVerdict(
        status="failed",
        stage="resources",
        reason=f"on {name} time grows as length to the {grown.exponent.value:.1f} ({low:.1f}–{high:.1f})",
        counterexample=FailingInput.of(
            grown.text, expected="about 1", got=f"{grown.seconds:.2f} s for {len(grown.text):,} characters"
        ),
        n_inputs=n_inputs,
        n_failed=1,
    )


class _Texts:
    """Texts of one family, each new: a cache of whole texts has none of them."""

    def __init__(self, family: str, case: Case) -> None:
        self._family, self._seed = family, case.seed
        self._left_out = 7  # characters; a round length may have occurred in another check

    def of(self, size: int) -> str:
        """Return a new text of slightly fewer than `size` characters."""
        self._left_out += 1
        whole = (
            prose(size, self._seed + 5) if self._family == "words" else "".join(generate(f"gen/{self._family}:{size}"))
        )
        return whole[self._left_out :]


def _grown(seconds_of: Callable[[str], float | None], texts: _Texts, case: Case) -> _Growth | None:
    """Measure how time grows, up to a second or a refusal; None with fewer than three sizes."""
    points: list[tuple[float, float]] = []
    text = ""
    for size in SIZES:
        taken: list[float] = []
        for _ in range(_PASSES):
            text = texts.of(size)
            seconds = seconds_of(text)
            if seconds is not None:
                taken.append(seconds)
            if taken and taken[-1] > _PASS_SECONDS:
                break
        if not taken or case.out_of_time:
            break
        points.append((float(size), max(min(taken), 1e-7)))
        if points[-1][1] > _PASS_SECONDS:
            break
    if len(points) < 3:
        return None
    exponent = fit_exponent(points, last=5)
    return None if exponent is None else _Growth(exponent, points[-1][1], text)


def _encoding_seconds(case: Case, text: str) -> float | None:
    client = case.client
    if client.offers("timed_encode"):
        return _number(client.ask("timed_encode", text=text, loops=1))
    began = time.perf_counter()
    answer = client.ids(text)
    return None if isinstance(answer, Refusal) else time.perf_counter() - began


def _decoding_seconds(case: Case, text: str) -> float | None:
    client, ids = case.client, case.reference.ask(text)
    if isinstance(ids, Refusal):
        return None
    if client.offers("timed_decode"):
        return _number(client.ask("timed_decode", ids=ids))
    began = time.perf_counter()
    answer = client.decode(ids)
    return None if isinstance(answer, Refusal) else time.perf_counter() - began


def _number(answer: object) -> float | None:
    return float(answer) if isinstance(answer, int | float) else None


def _reference_encoding(case: Case, text: str) -> float | None:
    began = time.process_time()
    answer = case.reference.ask(text)
    return None if isinstance(answer, Refusal) else time.process_time() - began


def _reference_decoding(case: Case, text: str) -> float | None:
    ids = case.reference.ask(text)
    began = time.process_time()
    return (
        None
        if isinstance(ids, Refusal) or isinstance(case.reference.decode(ids), Refusal)
        else (time.process_time() - began)
    )


def memory(case: Case) -> CheckVerdict:
    """Check that a megabyte of text takes less than a thousand times its size on top of the process's memory before."""
    with case.client.another({}) as alone:
        return _memory(case, alone)


def _memory(case: Case, alone: TargetClient) -> CheckVerdict:
    alone.ids("hello world")
    before = alone.peak_memory_bytes
    if not before:
        return CheckVerdict(status="not asked", reason="the memory of its process cannot be read here")
    n = _MEMORY_CHARACTERS
    while n > 1_000 and not case.affordable(n):
        n //= 2
    text = prose(n, case.seed + 2)
    n_bytes = len(text.encode())
    answer = alone.ids(text)
    if isinstance(answer, Refusal):
        return CheckVerdict(
            status="failed", stage="resources", reason=f"a text of {n_bytes:,} bytes ends in {answer}", n_failed=1,
            counterexample=FailingInput.of(text, expected="ids", got=answer),
        )  # fmt: skip
    grown = max(0, alone.peak_memory_bytes - before)
    reason = f"{grown / n_bytes:.0f} bytes a byte of text, {before / 1e6:.0f} MB before"
    if grown > MOST_BYTES_A_BYTE * n_bytes:
        return CheckVerdict(
            status="failed", stage="resources", reason=reason, n_failed=1,
            counterexample=FailingInput.of(text, expected=f"at most {MOST_BYTES_A_BYTE}", got=reason),
        )  # fmt: skip
    return CheckVerdict(status="passed", reason=reason, n_inputs=1)
