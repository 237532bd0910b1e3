"""How an error is reported as an outcome."""

from __future__ import annotations

from harness.outcome import Outcome
from impls.core.errors import LibraryFailed, Missing, Unsupported


def status_of(error: BaseException) -> Outcome:
    """Return the outcome of an error that escaped an implementation.

    A Rust panic is a `panic` whether it arrives as itself, which is not an `Exception`, or as a `LibraryFailed`.
    """
    if isinstance(error, MemoryError):
        return Outcome.OUT_OF_MEMORY
    if isinstance(error, LibraryFailed):
        return Outcome.PANIC if error.panicked else Outcome.CRASH
    return Outcome.CRASH if isinstance(error, Exception) else Outcome.PANIC


def loading_status(error: BaseException) -> Outcome:
    """Return the outcome of an error raised while an implementation is loaded or trained, which it may decline."""
    if isinstance(error, Missing):
        return Outcome.MISSING
    return Outcome.REFUSED if isinstance(error, Unsupported) else status_of(error)


def message_of(error: BaseException) -> str:
    """Return the message of an error on one line of at most 500 characters."""
    try:
        return " ".join(str(error).split())[:500]
    except Exception:
        return "(its message cannot be read)"


def describe(error: BaseException) -> str:
    """Return the type and message of an error on one line."""
    return f"{type(error).__name__}: {message_of(error)[:200]}"


def reason_of(outcome: Outcome, kind: str, message: str) -> str:
    """Return the one-line reason of an outcome that an error of type `kind` led to."""
    if outcome.did_not_run:
        return message
    if outcome is Outcome.OUT_OF_MEMORY:
        return f"ended in {kind}"
    if kind == LibraryFailed.__name__:
        return message
    return f"raised {kind}{', which is not an Exception' if outcome is Outcome.PANIC else ''}: {message}"
