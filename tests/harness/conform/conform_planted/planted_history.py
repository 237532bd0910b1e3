"""Wrong tokenizers made by rule in what calls leave behind: later answers, memory, files."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from functools import partial
from typing import Any

from planted_wrapper import Full, Right, changed


def wrong_ids(ids: list[int]) -> list[int]:
    """Return other ids: the last one lost or, of a single one, doubled."""
    return ids[:-1] if len(ids) > 1 else [*ids, *ids]


def when(holds: Callable[[Any, str], object], base: type[Right] = Full) -> type[Right]:
    """Return a class that is wrong on the texts for which `holds(self, text)`."""
    return changed(base, encode=lambda self, text, ids, *options: wrong_ids(ids) if holds(self, text) else ids)


def _after_pieces(n_pieces: int) -> type[Right]:
    def holds(self: Any, text: str) -> bool:
        known = self.kept.setdefault("pieces", set())
        if len(known) <= n_pieces:
            known.update(map(hash, text.split(" ")))
        return len(known) > n_pieces and len(text) > 1

    return when(holds)


def _after_a_batch(self: Any, texts: list[str], lists: list[list[int]]) -> list[list[int]]:
    self.latest = len(texts) > 1
    return lists


def _elsewhere(where: Callable[[], object], then: Callable[[str], object] = lambda text: len(text) > 1) -> type[Right]:
    """Wrong where `where` is not what it was at first."""
    return when(lambda self, text: self.kept.setdefault("home", where()) != where() and then(text))


class _OfHashSeed(Full):
    def __init__(self) -> None:
        super().__init__()
        self.latest = os.environ.get("PYTHONHASHSEED") == "0"


def _reverse_earlier(self: Any, text: str, ids: list[int], *options: Any) -> list[int]:
    for earlier in self.latest:
        earlier.reverse()
    self.latest = [ids]
    return ids


class _OpensFiles(Full):
    def __del__(self) -> None:
        for descriptor in self.latest:  # for the tests that follow
            os.close(descriptor)


def _open_a_file(self: Any, text: str, ids: list[int], *options: Any) -> list[int]:
    self.latest += [] if next(self.numbers) % 500 else [os.open(os.devnull, os.O_RDONLY)]
    return ids


def _leaks(n_bytes: int, of: str) -> type[Right]:
    kept: list[bytes] = []
    return changed(Full, **{of: lambda self, given, right, *options: (kept.append(bytes(n_bytes)), right)[1]})


def left_behind(number: int) -> type[Right]:
    """Something that was done before changes an answer, or stays in memory."""
    rules: tuple[Callable[[], type[Right]], ...] = (
        *(
            partial(when, lambda self, text, n=n: next(self.numbers) > n and len(text) > 1)
            for n in (600, 60, 1_100, 2_000)
        ),
        *(partial(_after_pieces, n) for n in (20_000, 5_000, 60_000)),
        lambda: changed(when(lambda self, text: self.latest and len(text) > 1), encode_batch=_after_a_batch),
        *(partial(_elsewhere, where) for where in (threading.get_ident, os.getpid)),
        partial(_elsewhere, os.getpid, lambda text: os._exit(3)),
        lambda: when(lambda self, text: self.latest and len(text) > 1, _OfHashSeed),
        *(partial(changed, Full, encode=_reverse_earlier), partial(changed, _OpensFiles, encode=_open_a_file)),
        *(partial(_leaks, n, of) for n in (200, 5_000) for of in ("encode", "decode", "count")),
    )
    return rules[number]()
