"""How an error is reported in a verdict."""

from __future__ import annotations

from typing import Literal

from impls.core.errors import LibraryFailed

Status = Literal["out-of-memory", "crash", "panic"]


def status_of(error: BaseException) -> Status:
    """Return the verdict on an error that escaped an implementation.

    A Rust panic is a `panic` whether it arrives as itself, which is not an `Exception`, or as a `LibraryFailed`.
    """
    if isinstance(error, MemoryError):
        return "out-of-memory"
    if isinstance(error, LibraryFailed):
        return "panic" if error.panicked else "crash"
    return "crash" if isinstance(error, Exception) else "panic"


def message_of(error: BaseException) -> str:
    """Return the message of an error on one line of at most 500 characters."""
    try:
        return " ".join(str(error).split())[:500]
    except Exception:
        return "(its message cannot be read)"


def describe(error: BaseException) -> str:
    """Return the type and message of an error on one line."""
    return f"{type(error).__name__}: {message_of(error)[:200]}"


def reason_of(status: Status, kind: str, message: str) -> str:
    """Return the one-line reason of a verdict on an error of type `kind`."""
    if status == "out-of-memory":
        return f"ended in {kind}"
    if kind == LibraryFailed.__name__:
        return message
    return f"raised {kind}{', which is not an Exception' if status == 'panic' else ''}: {message}"
