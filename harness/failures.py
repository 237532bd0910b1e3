"""What an error is called in a verdict."""

from __future__ import annotations

from typing import Literal


def status_of(error: BaseException) -> Literal["out-of-memory", "crash", "panic"]:
    """The verdict on an error that escaped an implementation; a Rust panic is no `Exception`."""
    if isinstance(error, MemoryError):
        return "out-of-memory"
    return "crash" if isinstance(error, Exception) else "panic"


def told(error: BaseException) -> str:
    """What the error says, on one line of at most 500 characters."""
    try:
        return " ".join(str(error).split())[:500]
    except Exception:
        return "(its message cannot be had)"
