"""Third-party tokenizers, right and wrong, found through the entry points beside this file."""

from __future__ import annotations

import os

import impls


class Right:
    """The least a plug-in must have."""

    def __init__(self, model: impls.Model) -> None:
        self._inner = impls.load("priority", model)

    def encode(self, text: str) -> list[int]:
        return self._inner.encode(text, disallowed_special=())

    def decode(self, ids: list[int]) -> str:
        return self._inner.decode(ids)


class OneInAMillion(Right):
    """Swaps two neighbouring ids, but only behind a rare character."""

    def encode(self, text: str) -> list[int]:
        ids = super().encode(text)
        if "q" in text:
            ids[0], ids[1] = ids[1], ids[0]
        return ids


class Lossy(Right):
    """Reads every text in lower case."""

    def encode(self, text: str) -> list[int]:
        return super().encode(text.lower())


class AllWrong(Right):
    """Gives every id but the right one, and decodes its own."""

    def encode(self, text: str) -> list[int]:
        return [id ^ 1 for id in super().encode(text)]

    def decode(self, ids: list[int]) -> str:
        return super().decode([id ^ 1 for id in ids])


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


class OwnIds(Right):
    """Numbers its tokens in a way of its own, past those of the model."""

    def encode(self, text: str) -> list[int]:
        return [id + 100_000 for id in super().encode(text)]

    def decode(self, ids: list[int]) -> str:
        return super().decode([id - 100_000 for id in ids])


class Dying(Right):
    """Takes its process with it."""

    def encode(self, text: str) -> list[int]:
        os._exit(3)


class _Panic(BaseException):
    pass


class Panicking(Right):
    """Raises what no `except Exception` catches."""

    def encode(self, text: str) -> list[int]:
        raise _Panic("index out of bounds")


class Leaving(Right):
    """Ends the interpreter, as it thinks, and with success."""

    def encode(self, text: str) -> list[int]:
        raise SystemExit(0)


class NoIds(Right):
    """Gives words in place of ids."""

    def encode(self, text: str) -> list[int]:
        return ["a", "b"]  # type: ignore[list-item]


class Nothing(Right):
    """Forgets to return."""

    def encode(self, text: str) -> list[int]:  # type: ignore[empty-body]
        pass


class Unloadable(Right):
    """Fails while it is set up."""

    def __init__(self, model: impls.Model) -> None:
        raise RuntimeError("no such device")
