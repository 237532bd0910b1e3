"""The resources a child process may use, and the verdict on one that exceeded them or died."""

from __future__ import annotations

import re
import signal
from dataclasses import dataclass

from harness.outcome import Outcome

MEMORY_SHARE = 0.6
"""Share of the machine's memory that a worker may use."""
_PATH = re.compile(r"(?:[A-Za-z]:|~|\.{1,2})?(?:[\\/][^\s\\/:'\",()]+)+[\\/]")
_TELLING = re.compile(r"error|exception|panic|fatal|abort|fail|cannot", re.IGNORECASE)

_NO_MEMORY = re.compile(r"out of memory|memory allocation of \d+|bad_alloc|MemoryError|cannot allocate", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Limits of a child; None means unlimited."""

    call_seconds: float = 10.0
    start_seconds: float = 30.0
    memory_bytes: int | None = 2 << 30
    """Most resident memory of the process."""
    output_bytes: int = 64 << 20
    """Most bytes of one answer."""


DEFAULT_LIMITS = Limits()


def worker_limits(memory_bytes: int | None = None) -> Limits:
    """Return the limits of a process of ours; the default for memory is `MEMORY_SHARE` of this machine's."""
    import psutil

    memory_bytes = memory_bytes or int(psutil.virtual_memory().total * MEMORY_SHARE)
    return Limits(memory_bytes=memory_bytes, output_bytes=1 << 30)


class NotStarted(Exception):
    """The command cannot be started."""


def without_paths(text: str) -> str:
    """Remove the folders of every path in `text`: records must not name places on this machine."""
    return _PATH.sub("", text)


def excerpt(line: bytes | bytearray) -> str:
    """Return the first 80 bytes of a line, in ASCII."""
    return ascii(bytes(line[:80]).decode("utf-8", "replace")) + ("…" if len(line) > 80 else "")


def last_words(output: str) -> str:
    """Return the most informative of the last lines: the last that mentions an error, else the last."""
    lines = [line for line in output.splitlines() if line.strip()][-50:]
    telling = [line for line in lines if _TELLING.search(line)]
    return (telling or lines or [""])[-1].strip()[:300]


def verdict_on_end(exit_status: int, output: str, unended: bytes | bytearray) -> tuple[Outcome, str]:
    """Return the verdict on a process that ended by itself, and the reason.

    `exit_status` is negative for a signal, `output` what it wrote to standard error, `unended` the beginning of an
    answer.
    """
    reason = f"the process ended with exit status {exit_status}"
    if exit_status < 0:
        known = {number.value: number.name for number in signal.Signals}
        reason = f"killed by {known.get(-exit_status, f'signal {-exit_status}')}"
    if exit_status and _NO_MEMORY.search(output):
        return Outcome.OUT_OF_MEMORY, reason
    if unended and exit_status >= 0:
        return Outcome.PROTOCOL, f"{reason} in the middle of a line: {excerpt(unended)}"
    return Outcome.CRASH, reason
