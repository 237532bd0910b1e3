"""Wraps a third-party tokenizer: any object with `encode(str) -> list[int]` and `decode(list[int]) -> str`."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Protocol

from impls.core.arguments import check_text, checked_ids
from impls.core.errors import Unsupported
from impls.core.model import Model
from impls.interface import Tokenizer
from impls.operations.streaming import StreamDecoder


class Minimal(Protocol):
    """The methods a tokenizer must have to be checked."""

    def encode(self, text: str) -> list[int]:
        """Return the ids of `text`."""

    def decode(self, ids: list[int]) -> str:
        """Return the text of `ids`."""


def wrap(name: str, factory: Callable[[Model], Minimal]) -> type[Tokenizer]:
    """Return a `Tokenizer` class around `factory`, named `name`."""

    class Plugin(Tokenizer):
        time_exponent = getattr(factory, "time_exponent", 1.0)
        summary = f"plug-in {getattr(factory, '__module__', '')}:{getattr(factory, '__qualname__', factory)}"

        def __init__(self, model: Model) -> None:
            super().__init__(model)
            self.target: Any = factory(model)

        def __reduce__(self) -> tuple[Callable[..., Tokenizer], tuple[object, ...]]:
            return _rebuilt, (name, factory, self.model)

        def encode_normalized(self, text: str) -> list[int]:
            return list(self.target.encode(text))

        def decode_bytes(self, ids: Iterable[int]) -> bytes:
            if hasattr(self.target, "decode_bytes"):
                return bytes(self.target.decode_bytes(checked_ids(ids)))
            return str(self.target.decode(checked_ids(ids))).encode("utf-8", "surrogatepass")

        def decode(self, ids: Iterable[int], errors: str = "replace") -> str:
            check_text(errors, "errors")
            return str(self.target.decode(checked_ids(ids)))

        def decoder(self, *_: Any, **__: Any) -> StreamDecoder:
            raise Unsupported(name, "it decodes by its own rule, under which a later id may change earlier text")

    Plugin.name = name
    Plugin.__name__ = Plugin.__qualname__ = f"Plugin_{name}"
    return Plugin


def _rebuilt(name: str, factory: Callable[[Model], Minimal], model: Model) -> Tokenizer:
    return wrap(name, factory)(model)
