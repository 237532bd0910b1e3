"""Converts a library's own errors and panics into one error that names the pattern."""

from __future__ import annotations

from impls.core.errors import LibraryFailed
from impls.core.model import Model

_PLAIN = (Exception, ValueError, RuntimeError)
"""Generic errors, of exactly these classes; subclasses are more specific and are not converted."""
_LONGEST = 200


def is_panic(error: BaseException) -> bool:
    """Return whether `error` is a panic of Rust code, whose class is different in every library."""
    return type(error).__name__ == "PanicException"


def failure(implementation: str, model: Model, error: BaseException) -> BaseException:
    """Return a `LibraryFailed` for a panic or a plain error, and any other error as it is."""
    if not is_panic(error) and type(error) not in _PLAIN:
        return error
    how = "the library panicked" if is_panic(error) else "the library failed"
    pattern = " then ".join(map(repr, model.pattern)) or "none"
    shown = pattern if len(pattern) <= _LONGEST else pattern[:_LONGEST] + "..."
    return LibraryFailed(implementation, f"{how}: {first_line(error)}; the pattern is {shown}", is_panic(error))


def first_line(error: BaseException) -> str:
    """Return the first line of the message of `error`, or its class name."""
    return next(iter(str(error).splitlines()), "") or type(error).__name__
