"""Tokenizers as other people write them: two methods, over single bytes or over one of ours."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import impls
from impls import Model


class Right:
    """The least a tokenizer must have, over one of ours."""

    by = "priority"

    def __init__(self, model: Model) -> None:
        self._inner = impls.load(self.by, model)

    def encode(self, text: str) -> list[int]:
        return self._inner.encode(text, disallowed_special=())

    def decode(self, ids: list[int]) -> str:
        return self._inner.decode(ids)


def foreign(
    encode: Callable[[str], Any] = lambda text: list(text.encode()),
    decode: Callable[[Any], str] = lambda ids: bytes(ids).decode(),
) -> type:
    """Return a class to be made of a model, with nothing but `encode` and `decode`."""

    class Foreign:
        def __init__(self, model: Model) -> None:
            self.model = model

        def encode(self, text: str) -> Any:
            return encode(text)

        def decode(self, ids: Any) -> str:
            return decode(ids)

    return Foreign
