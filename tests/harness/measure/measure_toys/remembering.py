"""Implementations that answer from memory of whole texts, and an honest one that remembers pieces.

Work is 40 ms a call whatever it is given; memory costs nothing: more than a hundred times apart.
"""

from __future__ import annotations

import hashlib
import pickle
import tempfile
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from impls import Model, Tokenizer

SECONDS = 0.04


def burn() -> None:
    """Do what costs time."""
    end = time.perf_counter() + SECONDS
    while time.perf_counter() < end:
        pass


class Working(Tokenizer):
    """Works at every call: right on a model without merges. `work` may be replaced by something that counts."""

    name = "toy-working"
    work: Callable[[], None] = staticmethod(burn)

    def _encode_text(self, text: str) -> list[int]:
        self.work()
        return list(text.encode())

    def decode_bytes(self, ids: Iterable[int]) -> bytes:
        self.work()
        return bytes(ids)


class Remembering(Working):
    """Remembers the ids of every text."""

    name = "toy-remembering"

    def __init__(self, model: Model) -> None:
        super().__init__(model)
        self.kept: dict[Hashable, Any] = {}

    def key(self, text: str) -> Hashable:
        return text

    def _encode_text(self, text: str) -> list[int]:
        key = self.key(text)
        if key not in self.kept:
            self.kept[key] = super()._encode_text(text)
        return list(self.kept[key])


class RememberingHashes(Remembering):
    """Remembers ids by a digest of the text."""

    name = "toy-remembering-hashes"

    def key(self, text: str) -> Hashable:
        return hashlib.blake2b(text.encode(), digest_size=8).digest()


class RememberingObjects(Remembering):
    """Remembers ids by the very object, which it keeps alive."""

    name = "toy-remembering-objects"

    def _encode_text(self, text: str) -> list[int]:
        ids = super()._encode_text(text)
        self.kept.setdefault(("alive", id(text)), text)
        return ids

    def key(self, text: str) -> Hashable:
        return id(text)


class RememberingTheLast(Working):
    """Remembers the last two texts alone."""

    name = "toy-remembering-the-last"

    def __init__(self, model: Model) -> None:
        super().__init__(model)
        self.kept: OrderedDict[str, list[int]] = OrderedDict()

    def _encode_text(self, text: str) -> list[int]:
        if text not in self.kept:
            self.kept[text] = super()._encode_text(text)
        self.kept.move_to_end(text)
        while len(self.kept) > 2:
            self.kept.popitem(last=False)
        return list(self.kept[text])


class RememberingTheSecondTime(Remembering):
    """Keeps a text only when it is met again."""

    name = "toy-remembering-the-second-time"

    def _encode_text(self, text: str) -> list[int]:
        seen = ("seen", hash(text))
        if seen in self.kept:
            return super()._encode_text(text)
        self.kept[seen] = True
        return Working._encode_text(self, text)


class RememberingLines(Working):
    """Remembers lines: a text of lines met before costs nothing, in whatever order they come."""

    name = "toy-remembering-lines"

    def __init__(self, model: Model) -> None:
        super().__init__(model)
        self.kept: set[str] = set()

    def _encode_text(self, text: str) -> list[int]:
        lines = text.splitlines(keepends=True)
        if not self.kept.issuperset(lines):
            self.work()
            self.kept.update(lines)
        return list(text.encode())


class RememberingBatches(Working):
    """Remembers documents inside batches, and only there."""

    name = "toy-remembering-batches"

    def __init__(self, model: Model) -> None:
        super().__init__(model)
        self.kept: set[str] = set()

    def encode_batch(self, texts: Sequence[str], threads: int | None = None, **_: Any) -> list[list[int]]:
        if not self.kept.issuperset(texts):
            self.work()
            self.kept.update(texts)
        return [list(text.encode()) for text in texts]


class RememberingArrays(Working):
    """Remembers arrays, and only those."""

    name = "toy-remembering-arrays"

    def __init__(self, model: Model) -> None:
        super().__init__(model)
        self.arrays: dict[str, np.ndarray] = {}

    def encode_array(self, text: str, **_: Any) -> np.ndarray:
        if text not in self.arrays:
            self.arrays[text] = np.array(self._encode_text(text), dtype=np.uint32)
        return self.arrays[text]


class RememberingIds(Working):
    """Remembers the text of ids it decodes."""

    name = "toy-remembering-ids"

    def __init__(self, model: Model) -> None:
        super().__init__(model)
        self.texts: dict[bytes, bytes] = {}

    def decode_bytes(self, ids: Iterable[int]) -> bytes:
        key = bytes(ids)
        if key not in self.texts:
            self.texts[key] = super().decode_bytes(key)
        return self.texts[key]


class RememberingEncoded(RememberingIds):
    """Decodes what it has encoded from memory, and works for everything else."""

    name = "toy-remembering-encoded"

    def _encode_text(self, text: str) -> list[int]:
        ids = super()._encode_text(text)
        self.texts[bytes(ids)] = text.encode()
        return ids

    def decode_bytes(self, ids: Iterable[int]) -> bytes:
        key = bytes(ids)
        return self.texts[key] if key in self.texts else Working.decode_bytes(self, key)


class RememberingOnDisk(Working):
    """Keeps what it met in a file, for the processes after it; remembers nothing within one."""

    name = "toy-remembering-on-disk"
    folder = Path(tempfile.gettempdir())

    def __init__(self, model: Model) -> None:
        super().__init__(model)
        self.file = self.folder / "texts-met.pickle"
        self.earlier: set[str] = pickle.loads(self.file.read_bytes()) if self.file.exists() else set()
        self.kept = set(self.earlier)

    def _encode_text(self, text: str) -> list[int]:
        if text in self.earlier:
            return list(text.encode())
        self.kept.add(text)
        self.file.write_bytes(pickle.dumps(self.kept))
        return super()._encode_text(text)


class CachingPieces(Working):
    """Remembers pieces, as it may: works for each that is new to it."""

    name = "toy-caching-pieces"

    def __init__(self, model: Model) -> None:
        super().__init__(model)
        self.pieces: set[str] = set()

    def _encode_text(self, text: str) -> list[int]:
        pieces = text.split(" ")
        for _ in set(pieces) - self.pieces:
            self.work()
        self.pieces.update(pieces)
        self.work()
        return list(text.encode())
