"""What texts cost: whether time grows faster than n log n on any family, and how much memory a text takes.

Time is processor time where the target reports it, so that a busy machine does not distort it.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from itertools import product
from math import log

from harness.conform import questions
from harness.conform.case import Case
from harness.conform.verdicts import Fault, Incomplete, NotAsked
from harness.generators.texts import prose
from harness.process.session import Failed

_MOST_EXPONENT = 1.4
"""Of n log n it is 1.1 over these sizes."""
_LEAST_SECONDS = 0.02
"""If the longest text takes less than this, its time says nothing about growth."""
_MOST_SECONDS = 2.0
_TIMES = 2
MOST_BYTES_A_BYTE = 1_000
_MEMORY_CHARACTERS = 1_000_000

Times = list[tuple[int, float]]
"""(characters, seconds) by size."""


def cost(case: Case) -> str:
    """Check that time grows no faster than n log n, over four sizes, on every family, or as the reference's does."""
    families = questions.costly()
    not_timed: list[str] = []
    for n_done, (decoding, (name, text)) in enumerate(product((False, True), families.items())):
        if case.out_of_time:
            raise Incomplete(f"stopped by the clock after {n_done} of {2 * len(families)} families")
        times = _times(case, text, decoding, _seconds)
        what = f"decoding {name}" if decoding else name
        if len(times) < 2:
            not_timed.append(what)
            continue
        case.n_inputs += 1
        if _exponent(times) <= _MOST_EXPONENT:
            continue
        again = _times(case, text, decoding, _seconds, first=10)
        if _exponent(again) <= _MOST_EXPONENT:
            continue  # other work on the machine
        known = _exponent(_times(case, text, decoding, _reference_seconds))
        if _exponent(again) < known + 0.3:
            case.excused.append(f"{what}: length to the power of {_exponent(again):.1f}, the reference {known:.1f}")
            continue
        shown = ", ".join(f"{seconds:.2g} s for {size:,}" for size, seconds in again)
        reason = f"on {what} time grows with length to the power of {_exponent(again):.1f}: {shown} characters"
        raise Fault("resources", reason, text=text(again[-1][0], 0), expected="at most n log n", got=shown)
    return f"not timed, since it refuses them: {', '.join(not_timed)}" if not_timed else ""


def _times(
    case: Case,
    text: Callable[[int, int], str],
    decoding: bool,
    seconds_of: Callable[[Case, str, bool], float | None],
    first: int = 0,
) -> Times:
    """Return the least time of each size, each of new texts; up to a refusal, or until one takes long."""
    times: Times = []
    for size in questions.COST_SIZES:
        taken = []
        for number in range(first, first + _TIMES):
            seconds = seconds_of(case, text(size, number), decoding)
            if seconds is None:
                return times
            taken.append(seconds)
            if seconds > _MOST_SECONDS:
                break
        times.append((size, max(min(taken), 1e-7)))
        if times[-1][1] > _MOST_SECONDS:
            break
    return times


def _exponent(times: Times) -> float:
    """Return the exponent between the last size and one two sizes before; 1 if the times are too short to say."""
    if len(times) < 2 or times[-1][1] < _LEAST_SECONDS:
        return 1.0
    (small, fast), (large, slow) = times[max(0, len(times) - 3)], times[-1]
    return log(slow / fast) / log(large / small)


def _seconds(case: Case, text: str, decoding: bool) -> float | None:
    """Return how long the target takes to encode a text, or to decode its ids; None for a refusal."""
    client, ids = case.client, case.reference.encode(text) if decoding else []
    if isinstance(ids, Failed):
        return None
    if client.offers("timed_decode" if decoding else "timed_encode"):
        taken = client.ask("timed_decode", ids=ids) if decoding else client.ask("timed_encode", text=text, loops=1)
        return None if isinstance(taken, Failed) else float(taken)
    began = time.perf_counter()
    answer = client.decode(ids) if decoding else client.ids(text)
    return None if isinstance(answer, Failed) else time.perf_counter() - began


def _reference_seconds(case: Case, text: str, decoding: bool) -> float | None:
    began = time.process_time()
    ids = case.reference.encode(text)
    if decoding and isinstance(ids, list):
        began = time.process_time()
        case.reference.decode(ids)
    return None if isinstance(ids, Failed) else time.process_time() - began


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
    if isinstance(answer, Failed) and not answer.outcome.ends_process:
        refused = case.reference.ids(text[: case.reference.longest])
        if isinstance(refused, Failed):
            raise NotAsked(f"the reference refuses the text as well: {refused}")
    case.n_inputs += 1
    if isinstance(answer, Failed):
        reason = f"a text of {n_bytes:,} bytes ends in {answer}"
        raise Fault("resources", reason, text=text, expected="ids", got=answer)
    more = f"{grown / n_bytes:.0f} bytes of memory for each byte of text"
    reason = f"{more}, beside the {before / 1e6:.0f} MB of the process"
    if grown > MOST_BYTES_A_BYTE * n_bytes:
        raise Fault("resources", reason, text=text, expected=f"at most {MOST_BYTES_A_BYTE}", got=reason)
    return reason
