"""What an error is called in a verdict."""

from __future__ import annotations

from typing import Literal

from impls.core.errors import LibraryFailed

Status = Literal["out-of-memory", "crash", "panic"]


def status_of(error: BaseException) -> Status:
    """The verdict on an error that escaped an implementation.

    A Rust panic is a `panic` whether it came as it was, which is no `Exception`, or was named by our adapter.
    """
    if isinstance(error, MemoryError):
        return "out-of-memory"
    if isinstance(error, LibraryFailed):
        return "panic" if error.panicked else "crash"
    return "crash" if isinstance(error, Exception) else "panic"


def told(error: BaseException) -> str:
    """What the error says, on one line of at most 500 characters."""
    try:
        return " ".join(str(error).split())[:500]
    except Exception:
        return "(its message cannot be had)"


def named(error: BaseException) -> str:
    """Its type and what it says, on one line."""
    return f"{type(error).__name__}: {told(error)[:200]}"


def reason_of(status: Status, kind: str, message: str) -> str:
    """The reason of a verdict on an error of type `kind`, on one line."""
    if status == "out-of-memory":
        return f"ended in {kind}"
    if kind == LibraryFailed.__name__:
        return message
    return f"raised {kind}{', which is no Exception' if status == 'panic' else ''}: {message}"
