"""Third-party tokenizers, right and wrong, found through the entry points beside this file."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from foreign import Right

import impls


def changed(encode: Callable[[str, list[int]], Any], decode: Callable[[Any], Any] = lambda ids: ids) -> type[Right]:
    """Return a plug-in that gives different ids, and decodes them after `decode` has changed them."""
    return type("Changed", (Right,), {
        "encode": lambda self, text: encode(text, Right.encode(self, text)),
        "decode": lambda self, ids: Right.decode(self, decode(ids)),
    })  # fmt: skip


def raising(error: BaseException) -> type[Right]:
    def encode(self: Right, text: str) -> list[int]:
        raise error

    return type("Raising", (Right,), {"encode": encode})


swaps_at_q = changed(lambda text, ids: [ids[1], ids[0], *ids[2:]] if "q" in text else ids)
all_wrong = changed(lambda text, ids: [i ^ 1 for i in ids], lambda ids: [i ^ 1 for i in ids])
own_ids = changed(lambda text, ids: [i + 100_000 for i in ids], lambda ids: [i - 100_000 for i in ids])
dying = changed(lambda text, ids: os._exit(3))
words = changed(lambda text, ids: ["a", "b"])
nothing = changed(lambda text, ids: None)
panicking = raising(type("_Panic", (BaseException,), {})("index out of bounds"))
leaving = raising(SystemExit(0))


class Lossy(Right):
    """Reads every text in lower case."""

    def encode(self, text: str) -> list[int]:
        return super().encode(text.lower())


class LastText(Right):
    """Decodes to the text it encoded last, whatever the ids."""

    last = ""

    def encode(self, text: str) -> list[int]:
        self.last = text
        return super().encode(text)

    def decode(self, ids: list[int]) -> str:
        return self.last


class TextsByIds(Right):
    """Keeps every text by its ids, and by their beginning and end, and has no decoder."""

    kept: dict[tuple[int, ...], str] = {}  # noqa: RUF012

    def encode(self, text: str) -> list[int]:
        ids = super().encode(text)
        self.kept[tuple(ids)] = text
        self.kept[tuple(ids * 2)] = text * 2
        return ids

    def decode(self, ids: list[int]) -> str:
        return self.kept.get(tuple(ids), "")


class Unloadable(Right):
    """Fails while it is set up."""

    def __init__(self, model: impls.Model) -> None:
        raise RuntimeError("no such device")
