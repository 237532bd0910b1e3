"""Wrong tokenizers in what calls leave behind: later answers, memory, files."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from typing import Any

from planted_wrapper import Full, Right, changed, fault


def wrong_ids(ids: list[int]) -> list[int]:
    """Return different ids: the last one lost or, of a single one, doubled."""
    return ids[:-1] if len(ids) > 1 else [*ids, *ids]


def when(holds: Callable[[Any, str], object], base: type[Right] = Full) -> type[Right]:
    """Return a class that is wrong on the texts for which `holds(self, text)`."""
    return changed(base, encode=lambda self, text, ids, *options: wrong_ids(ids) if holds(self, text) else ids)


def _elsewhere(where: Callable[[], object], then: Callable[[str], object] = lambda text: len(text) > 1) -> type[Right]:
    """Return a class that is wrong where `where` is not what it was at first."""
    return when(lambda self, text: self.kept.setdefault("home", where()) != where() and then(text))


class _OfHost(Full):
    def __init__(self) -> None:
        super().__init__()
        self.latest = (os.environ.get("PYTHONHASHSEED"), os.environ.get("LC_ALL")) == ("0", "C")


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


def _leak(self: Any, ids: list[int], text: str) -> str:
    self.numbers = self.numbers, bytes(5_000)
    return text


def _begun(self: Any, texts: list[str], lists: list[list[int]], *options: Any) -> list[list[int]]:
    self.kept["many"] = self.kept.get("many") or len(texts) >= 100
    return lists


def _leave(self: Any, ids: list[int]) -> str:
    try:
        return self.tokenizer.decode(ids)
    except Exception:
        self.numbers = self.numbers, bytes(5_000)
        raise


def _asked_often(self: Any, text: str) -> bool:
    n = self.kept[text] = self.kept.get(text, 0) + 1
    return n > 1_000 and len(text) > 1


class _Newest(Full):
    def __init__(self) -> None:
        super().__init__()
        _Newest.newest = self


def _unpickled() -> Any:
    return when(lambda self, text: len(text) > 1)()


fault("after a batch of 100 texts longer ones are wrong", "state · cache", reason="wrong after a batch of 100 texts",
      base=when(lambda self, text: self.kept.get("many") and len(text) > 30), encode_batch=_begun)  # fmt: skip
fault("of two objects the earlier is wrong", "state · determinism", reason="after another object was made",
      base=when(lambda self, text: len(text) > 1 and _Newest.newest is not self, _Newest))  # fmt: skip
fault("a pickled copy is wrong", "state · determinism", type("Pickled", (Full,), {"__reduce__": lambda self: (
      _unpickled, ())}), "by a pickled copy")  # fmt: skip
fault("after a thousand equal calls a text is wrong", "state · cache", when(_asked_often), "after many equal calls")
fault("after 5,000 texts all are wrong", "state", when(
      lambda self, text: next(self.numbers) > 5_000 and len(text) > 1))  # fmt: skip
fault("another thread has different ids", "state", _elsewhere(threading.get_ident))
fault("a forked process ends", "state", _elsewhere(os.getpid, lambda text: os._exit(3)))
fault("the hash seed and the locale are seen", "state", when(lambda self, text: self.latest and len(text) > 1, _OfHost))
fault("the ids of the call before are reversed", "python-values", encode=_reverse_earlier)
OpensFiles = changed(_OpensFiles, encode=_open_a_file)
LeaksMemory = changed(Full, decode=_leak)
LeaksErrors = type("LeaksErrors", (Full,), {"decode": _leave})
