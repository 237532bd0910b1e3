"""What an error is called in a verdict, wherever it was caught."""

from __future__ import annotations

import pytest

from harness.failures import reason_of, status_of
from harness.outcome import Outcome
from impls.core.errors import LibraryFailed


class PanicException(BaseException):
    """As a panic of Rust code arrives."""


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (PanicException("index"), "panic"),
        (LibraryFailed("tiktoken", "the library panicked: index", panicked=True), "panic"),
        (LibraryFailed("tiktoken", "the library failed: stack"), "crash"),
        (ValueError("no"), "crash"),
        (MemoryError(), "out-of-memory"),
    ],
)
def test_a_panic_is_one_word_whoever_caught_it(error: BaseException, status: str) -> None:
    assert status_of(error) == status


def test_a_failure_of_a_library_is_reported_in_its_own_words() -> None:
    failed = LibraryFailed("tiktoken", "the library panicked: index", panicked=True)
    reason = reason_of(status_of(failed), type(failed).__name__, str(failed))
    assert reason == "tiktoken: the library panicked: index"
    assert "which is not an Exception" in reason_of(Outcome.PANIC, "PanicException", "index")
