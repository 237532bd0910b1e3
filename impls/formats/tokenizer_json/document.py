"""The fields of a tokenizer.json."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec

Part = Annotated[str, msgspec.Meta(min_length=1)]


class AddedEntry(msgspec.Struct):
    """An entry of `added_tokens`."""

    content: str
    id: int
    special: bool = False
    single_word: bool = False
    lstrip: bool = False
    rstrip: bool = False
    normalized: bool = False


class BpeSettings(msgspec.Struct):
    """The settings of a file's `model`."""

    dropout: float | None = None
    unk_token: str | None = None
    continuing_subword_prefix: str | None = None
    end_of_word_suffix: str | None = None
    fuse_unk: bool | None = False
    byte_fallback: bool | None = False
    ignore_merges: bool | None = False


class Bpe(BpeSettings):
    """The `model` of a file."""

    type: str | None = "BPE"
    vocab: Any = None
    merges: Any = None


class _MergesOnly(msgspec.Struct):
    merges: list[str | tuple[Part, Part]]


class MergesFile(msgspec.Struct):
    """The fields of a file that hold its merges."""

    model: _MergesOnly


class File(msgspec.Struct):
    """The fields of a file that are read."""

    model: Bpe
    added_tokens: list[AddedEntry] | None = None
    normalizer: Any = None
    pre_tokenizer: Any = None
    post_processor: Any = None
    decoder: Any = None


class OtherDocument(Exception):
    """The content of a file is JSON, but no tokenizer.json."""

    def __init__(self, document: Any) -> None:
        self.document = document
        super().__init__()
