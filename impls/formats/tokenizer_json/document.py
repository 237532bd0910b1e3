"""The fields of a tokenizer.json, and parsing it."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec

from impls.formats.files import check_json_size, parse_json

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
    merges: list[str | tuple[Part, Part]] | None = None


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


class _LongModel(msgspec.Struct):
    merges: msgspec.Raw


class _LongFile(msgspec.Struct):
    model: _LongModel


_LONG = 1 << 16
"""Bytes of merges; shorter ones may occur elsewhere in the file too."""


def parse_document(content: bytes) -> Any:
    """Parse a file like `parse_json`, its merges by a faster parser that does not name what is wrong."""
    check_json_size(content)
    try:
        merges = bytes(msgspec.json.decode(content, type=_LongFile).model.merges)
        pairs = msgspec.json.decode(merges, type=list[str | tuple[str, str]])
    except (msgspec.MsgspecError, RecursionError, UnicodeError):
        return parse_json(content)
    if len(merges) < _LONG:
        return parse_json(content)
    before, _, after = content.partition(merges)
    document = parse_json(before + b"null" + after)
    document["model"]["merges"] = pairs
    return document
