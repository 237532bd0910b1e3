"""Wrong tokenizers made by rule in what calls leave behind: later answers, memory, files."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from functools import partial
from typing import Any

from planted_bugs import Full, Right


def wrong_ids(ids: list[int]) -> list[int]:
    """Return other ids: the last one lost or, of a single one, doubled."""
    return ids[:-1] if len(ids) > 1 else [*ids, *ids]


class _Counting(Full):
    """Wrong once `is_spoiled`."""

    is_spoiled = False
    n_calls = 0

    def encode(self, text: str, allowed_special: Any = (), disallowed_special: Any = ()) -> list[int]:
        self.n_calls += 1
        self.note(text)
        ids = super().encode(text, allowed_special, disallowed_special)
        return wrong_ids(ids) if self.is_spoiled and self.goes_wrong(text) else ids

    def note(self, text: str) -> None:
        """See each text before it is encoded."""

    def goes_wrong(self, text: str) -> bool:
        return len(text) > 1


def _after_calls(n_calls: int) -> type[Right]:
    class Wrong(_Counting):
        def note(self, text: str) -> None:
            self.is_spoiled = self.n_calls > n_calls

    return Wrong


def _after_pieces(n_pieces: int) -> type[Right]:
    class Wrong(_Counting):
        def __init__(self) -> None:
            super().__init__()
            self.known: set[int] = set()

        def note(self, text: str) -> None:
            if len(self.known) <= n_pieces:
                self.known.update(map(hash, text.split(" ")))
            self.is_spoiled = len(self.known) > n_pieces

    return Wrong


class _AfterABatch(_Counting):
    def encode_batch(self, texts: list[str]) -> list[list[int]]:
        answers = super().encode_batch(texts)
        self.is_spoiled = len(texts) > 1
        return answers


def _elsewhere(where: Callable[[], object]) -> type[Right]:
    """Wrong where `where` is not what it was at first."""

    class Wrong(_Counting):
        def __init__(self) -> None:
            super().__init__()
            self.home = where()

        def note(self, text: str) -> None:
            self.is_spoiled = where() != self.home

    return Wrong


class _ChildDies(_elsewhere(os.getpid)):  # type: ignore[misc]
    def goes_wrong(self, text: str) -> bool:
        os._exit(3)


class _ByHashSeed(_Counting):
    def __init__(self) -> None:
        super().__init__()
        self.is_spoiled = os.environ.get("PYTHONHASHSEED") == "0"


class _ChangesLater(Full):
    def __init__(self) -> None:
        super().__init__()
        self.kept: list[list[int]] = []

    def encode(self, text: str, allowed_special: Any = (), disallowed_special: Any = ()) -> list[int]:
        ids = super().encode(text, allowed_special, disallowed_special)
        for earlier in self.kept:
            earlier.reverse()
        self.kept = [ids]
        return ids


def _leaks(n_bytes: int, of: str) -> type[Right]:
    kept: list[bytes] = []

    def call(self: Any, *given: Any, **options: Any) -> Any:
        kept.append(bytes(n_bytes))
        return getattr(Full, of)(self, *given, **options)

    return type("Wrong", (Full,), {of: call})


class _LeavesFilesOpen(Full):
    def __init__(self) -> None:
        super().__init__()
        self.files: list[int] = []
        self.n_calls = 0

    def encode(self, text: str, allowed_special: Any = (), disallowed_special: Any = ()) -> list[int]:
        self.n_calls += 1
        if not self.n_calls % 500:
            self.files.append(os.open(os.devnull, os.O_RDONLY))
        return super().encode(text, allowed_special, disallowed_special)

    def __del__(self) -> None:
        for descriptor in self.files:  # for the tests that follow
            os.close(descriptor)


def left_behind(number: int) -> type[Right]:
    """Something that was done before changes an answer, or stays in memory."""
    rules: tuple[Callable[[], type[Right]], ...] = (
        *(partial(_after_calls, n) for n in (600, 60, 1_100, 2_000)),
        *(partial(_after_pieces, n) for n in (20_000, 5_000, 60_000)),
        *(lambda: _AfterABatch, partial(_elsewhere, threading.get_ident), partial(_elsewhere, os.getpid)),
        *(lambda: _ChildDies, lambda: _ByHashSeed, lambda: _ChangesLater, lambda: _LeavesFilesOpen),
        *(partial(_leaks, n, of) for n in (200, 5_000) for of in ("encode", "decode", "count")),
    )
    return rules[number]()
