"""Shared by adapters of libraries: failures as one error that names the pattern, ranks, options set by environment
variables, and refusal of patterns under which the library would not return.

Libraries cannot be interrupted while they split, so an unknown pattern is tried once with an engine that can be
interrupted: on repetitions of its own characters, with an end that does not match. This detects only growth far beyond
quadratic. Named patterns are trusted.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache

import regex

from impls.core.errors import BPEError, LibraryFailed, Unsupported
from impls.core.model import Model
from impls.core.model.derivations import concatenation_differs
from impls.core.text.patterns import NAMED
from impls.formats.tiktoken_ranks import ranks_of
from impls.formats.tokenizer_json.oniguruma import tried

_PLAIN = (Exception, ValueError, RuntimeError)
"""Generic errors, of exactly these classes; subclasses are more specific and are not converted."""
_LONGEST_PATTERN = 200
"""Most characters of a pattern shown in a message."""

_LENGTH = 256
_KINDS = ("a", "A", "1", " ", "\n", "'", ".", "é", "中", "aA", "a1", "a ", " \n", "a'")
_ENDS = ("!", "\u2603", "\n")
_MOST_RUNS = 40
_RUN = regex.compile(r"[^\\()\[\]{}*+?|.^$]+")
_TRUSTED = frozenset(NAMED.values())


def is_panic(error: BaseException) -> bool:
    """Return whether `error` is a panic of Rust code, whose class is different in every library."""
    return type(error).__name__ == "PanicException"


def failure(implementation: str, stages: Sequence[str], error: BaseException) -> BaseException:
    """Return a `LibraryFailed` for a panic or a plain error, and any other error unchanged."""
    if not is_panic(error) and type(error) not in _PLAIN:
        return error
    how = "the library panicked" if is_panic(error) else "the library failed"
    pattern = " then ".join(map(repr, stages)) or "none"
    shown = pattern if len(pattern) <= _LONGEST_PATTERN else pattern[:_LONGEST_PATTERN] + "..."
    return LibraryFailed(implementation, f"{how}: {first_line(error)}; the pattern is {shown}", is_panic(error))


def first_line(error: BaseException) -> str:
    """Return the first line of the message of `error`, or its class name."""
    return next(iter(str(error).splitlines()), "") or type(error).__name__


@contextmanager
def loading(name: str) -> Iterator[None]:
    """Convert an error or panic of a library that reads a model into `Unsupported`, with its first line, and the
    `Unsupported` of a format into one of the implementation `name`."""
    try:
        yield
    except Unsupported as error:
        if error.implementation == name:
            raise
        raise Unsupported(name, f"as {error.implementation}: {error.reason}") from None
    except (BPEError, OSError, MemoryError):
        raise
    except BaseException as error:
        if not isinstance(error, Exception) and not is_panic(error):
            raise
        raise Unsupported(name, f"it refuses the model: {first_line(error)}") from None


def ranks_for(name: str, model: Model) -> dict[bytes, int]:
    """Return ranks by token, for a library that looks up joined bytes and splits by one pattern.

    Raise `Unsupported` if it would give different ids; that of the format is converted by `loading`.
    """
    if len(model.pattern) > 1:
        raise Unsupported(name, f"it splits by one pattern; this model has {len(model.pattern)} split stages")
    ranks = ranks_of(model)
    if why := concatenation_differs(model):
        raise Unsupported(name, f"it merges by joined bytes, which gives different ids here: {why}")
    return ranks


@contextmanager
def environment(name: str, value: str) -> Iterator[None]:
    """Set an environment variable inside the `with` block, and restore it afterwards."""
    before = os.environ.get(name)
    os.environ[name] = value
    try:
        yield
    finally:
        if before is None:
            del os.environ[name]
        else:
            os.environ[name] = before


def check_stages(implementation: str, stages: tuple[str, ...]) -> None:
    """Raise `Unsupported` naming a split stage that takes too long on short texts."""
    for stage in () if stages in _TRUSTED else stages:
        if is_too_slow(stage):
            reason = f"a text of {_LENGTH} characters may never finish under the pattern {stage[:_LONGEST_PATTERN]!r}"
            raise Unsupported(implementation, f"it cannot be interrupted while it splits, and {reason}")


@lru_cache(maxsize=64)
def is_too_slow(stage: str) -> bool:
    """Return whether a trial of `stage` takes too long."""
    try:
        for _ in tried(stage, _texts(stage)):
            pass
    except TimeoutError:
        return True
    return False


def _texts(stage: str) -> Iterator[str]:
    """Yield texts of repeated characters, and runs of characters, of `stage`."""
    runs = _RUN.findall(stage)[:_MOST_RUNS]
    for unit in dict.fromkeys([*_KINDS, *"".join(runs)[: 2 * _MOST_RUNS], *runs]):
        yield from ((unit * _LENGTH)[:_LENGTH] + end for end in _ENDS)
