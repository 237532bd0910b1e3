"""Wrong tokenizers of which one method, or one kind of call, ends the process or raises an error of its own.

No check may take these for methods that are not there, or that do something else.
"""

from __future__ import annotations

from typing import Any

from planted_bugs import Full, Right
from planted_incremental import Growing, Grown


class Death(BaseException):
    """Ends the process, as a Rust panic does."""


class TruncatingDies(Right):
    def truncate(self, text: str, n_tokens: int) -> str:
        raise Death("died of it")


class TruncatingFails(Right):
    def truncate(self, text: str, n_tokens: int) -> str:
        raise ZeroDivisionError("bug")


class DecoderDies(Right):
    def decoder(self) -> Any:
        raise Death("died of it")


class DecoderFails(Right):
    def decoder(self) -> Any:
        raise ZeroDivisionError("bug")


class IncrementalDies(Right):
    def incremental(self) -> Any:
        raise Death("died of it")


class ReplacingDies(Growing):
    class grown(Grown):  # noqa: N801
        def replace(self, start: int, stop: int, text: str) -> None:
            raise Death("died of it")


class CopyingFails(Growing):
    class grown(Grown):  # noqa: N801
        def copy(self) -> Any:
            raise AttributeError("bug")


class CountingSpecialsDies(Right):
    def count(self, text: str) -> int:
        if "<s>" in text:
            raise Death("died of it")
        return len(self.encode(text))


class SpansOfSpecialsDie(Right):
    def encode_with_offsets(self, text: str) -> Any:
        if "<s>" in text:
            raise Death("died of it")
        return self.tokenizer.encode_with_offsets(text, disallowed_special=())


class AnyOptionDies(Right):
    def encode(self, text: str, **options: Any) -> list[int]:
        if options:
            raise Death("died of it")
        return super().encode(text)


class AllowedBatchDies(Full):
    def encode_batch(self, texts: list[str], **options: Any) -> list[list[int]]:
        if options:
            raise Death("died of it")
        return [self.encode(text) for text in texts]


class AllowedBatchIsEmpty(Full):
    def encode_batch(self, texts: list[str], **options: Any) -> list[list[int]]:
        return [] if options else [self.encode(text) for text in texts]
