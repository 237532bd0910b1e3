"""What texts cost: whether time grows faster than n log n on any family, and how much memory a text takes.

Time is processor time, so that a busy machine does not distort it: as the target reports it, or of its process.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import takewhile
from math import log
from typing import Any

from harness.conform import questions
from harness.conform.case import Case
from harness.conform.verdicts import Fault, Incomplete, NotAsked
from harness.generators.texts import prose
from harness.outcome import Outcome
from harness.process.memory import cpu_seconds
from harness.process.session import Failed
from impls.core.errors import plural

_MOST_EXPONENT = 1.4
"""Of n log n it is 1.1 over these sizes."""
_LEAST_SECONDS = 0.02
"""If the longest text takes less than this, its time says nothing about growth."""
_MOST_SECONDS, _CLEAR_SECONDS = 2.0, 0.25
"""A longer text is not timed after one that took so long; if that shows too fast growth, the second is long enough."""
_NUMBERS, _NUMBERS_AGAIN = range(2), range(10, 16)
"""Of the texts of each size: a few, and more where their times look wrong, as other work on the machine may be why."""
MOST_BYTES_A_BYTE = 1_000
_SHOWN = 8  # texts of a batch
_MEMORY_CHARACTERS = (1_000_000, 500_000, 250_000, 125_000, 62_500)
"""Beside a shorter text what any call takes would count."""

Family = Callable[[int, int], Any]
"""Returns a text, or the texts of a batch, of so many characters; another one for each number."""
Times = list[tuple[int, float]]
"""(characters, seconds) by size."""


def cost(case: Case) -> None:
    """Check that time grows no faster than n log n on every family, on an allowed special token and on a batch.

    Growth with the length of a piece that a target declares is noted, once.
    """
    families = questions.costly(case.special_names[:1] if case.client.offers("allowed_special") else ())
    timed: list[tuple[str, str, Family]] = [("encode", name, text) for name, text in families.items()]
    timed += [("decode", f"decoding {name}", text) for name, text in families.items()]
    if case.client.offers("encode_batch"):
        timed += [("encode_batch", name, texts) for name, texts in questions.costly_batches().items()]
    not_timed: list[str] = []
    as_declared: list[str] = []
    n_in_part = 0
    for call, what, family in timed:
        may_declare = call == "encode" and _is_one_piece(case, family)
        extra = case.client.description.time_exponent - 1 if may_declare else 0.0
        for numbers in (_NUMBERS, _NUMBERS_AGAIN):
            times = _times(case, call, family, numbers)
            if (power := _exponent(times)) <= _MOST_EXPONENT + extra:
                break
        if len(times) < 2:
            not_timed.append(what)
            continue
        case.n_inputs += 1
        n_in_part += times[-1][0] < questions.COST_SIZES[-1]
        if power <= _MOST_EXPONENT:
            continue
        shown = ", ".join(f"{seconds:.2g} s for {size:,}" for size, seconds in times)
        if power > _MOST_EXPONENT + extra:
            reason = f"on {what} time grows with length to the power of {power:.1f}: {shown} characters"
            if may_declare and power <= _MOST_EXPONENT + 1:
                reason += "; if that is by design, declare time_exponent = 2.0"
            given = family(times[-1][0], 0)
            example: dict[str, Any] = {"text": given} if isinstance(given, str) else {"after": given[:_SHOWN]}
            raise Fault("resources", reason, **example, expected="at most n log n", got=shown)
        as_declared.append(f"{shown} characters of {what}, the power of {power:.1f}")
    if as_declared:
        n_families = plural(len(as_declared), "family", "families")
        case.remarks.append(f"as it declares for long pieces: {as_declared[0]} (this or similar for {n_families})")
    if not_timed:
        case.remarks.append(f"not timed, since it refuses them or is too slow: {', '.join(not_timed)}")
    if n_in_part:
        case.remarks.append(f"{plural(n_in_part, 'family', 'families')} timed at fewer sizes, since it is slow")


def _is_one_piece(case: Case, text: Family) -> bool:
    """Return whether the texts of a family are mostly one piece."""
    size = questions.COST_SIZES[0]
    return max(map(len, case.reference.pieces(text(size, 0)))) > size / 2


def _times(case: Case, call: str, family: Family, numbers: range) -> Times:
    """Return the least time of each size, each of new texts; up to a refusal, or until one takes long."""
    times: Times = []
    for size in takewhile(case.affordable, questions.COST_SIZES):
        taken = []
        for number in numbers:
            seconds = _seconds(case, call, family(size, number))
            if isinstance(seconds, Failed):
                return times
            taken.append(seconds)
            if seconds > _MOST_SECONDS:
                break
        times.append((size, max(min(taken), 1e-7)))
        if min(taken) > (_MOST_SECONDS if _exponent(times) <= _MOST_EXPONENT else _CLEAR_SECONDS):
            break
    return times


def _exponent(times: Times) -> float:
    """Return the exponent between the last size and one two sizes before; 1 if the times are too short to say."""
    if len(times) < 2 or times[-1][1] < _LEAST_SECONDS:
        return 1.0
    (small, fast), (large, slow) = times[max(0, len(times) - 3)], times[-1]
    return log(slow / fast) / log(large / small)


def _seconds(case: Case, call: str, asked: str | list[str]) -> float | Failed:
    """Return the processor time of a call: as the target reports it, or as its process has used it.

    Where that is next to nothing, other processes work for it, and the time until it answers counts.
    """
    given: dict[str, Any]
    if isinstance(asked, list):
        given = {"texts": asked}
    elif call == "encode":
        given = {"text": asked} | ({"allowed_special": "all"} if asked.startswith(tuple(case.special_names)) else {})
    elif len(asked) > case.reference.longest:
        return Failed(Outcome.REFUSED, "too long for the reference")
    else:
        given = {"ids": case.reference.encode(asked)}
    if isinstance(refused := given.get("ids"), Failed):
        return refused
    used, taken = cpu_seconds(case.client.session.pid), case.client.busy_seconds
    answer = case.client.ask(f"timed_{call}" if case.client.offers(f"timed_{call}") else call, **given)
    if isinstance(answer, Failed | float):
        return answer
    used, taken = cpu_seconds(case.client.session.pid) - used, case.client.busy_seconds - taken
    return used if used > 0.1 * taken else taken


def memory(case: Case) -> None:
    """Check that a megabyte of text takes less than a thousand times its size on top of the process's memory before."""
    with case.client.another({}) as alone:
        alone.ids("hello world")
        before = alone.session.peak_memory_bytes
        if not before:
            raise NotAsked("the memory of its process cannot be read here")
        n = next(filter(case.affordable, _MEMORY_CHARACTERS), 0)
        if not n:
            raise Incomplete(f"one text of {_MEMORY_CHARACTERS[-1]:,} characters would take too long")
        text = prose(n, case.seed + 2)
        n_bytes = len(text.encode())
        answer = alone.ids(text)
        grown = max(0, alone.session.peak_memory_bytes - before)
    if isinstance(answer, Failed) and not answer.outcome.ends_process:
        refused = case.reference.ids(text[: case.reference.longest])
        if isinstance(refused, Failed):
            raise NotAsked(f"the reference refuses the text as well: {refused}")
    case.n_inputs += 1
    if isinstance(answer, Failed):
        reason = f"a text of {n_bytes:,} bytes ends in {answer}"
        raise Fault("resources", reason, text=text, expected="ids", got=answer)
    reason = f"{grown / n_bytes:.0f} bytes of memory for each byte of text, and {before / 1e6:.0f} MB before any"
    if grown > MOST_BYTES_A_BYTE * n_bytes:
        raise Fault("resources", reason, text=text, expected=f"at most {MOST_BYTES_A_BYTE}", got=reason)
    case.remarks.append(reason)
    if n < _MEMORY_CHARACTERS[0]:
        case.remarks.append(f"on a text of {n:,} characters, since the target is slow")
