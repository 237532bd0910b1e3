"""The fields of a tokenizer.json, and parsing it."""

from __future__ import annotations

from itertools import chain
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
    merges: Any = None


class Merges(msgspec.Struct):
    """The `model` of a file, its merges only."""

    merges: list[str | tuple[Part, Part]]


class MergesFile(msgspec.Struct):
    """The fields of a file that hold its merges."""

    model: Merges


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


def parse_document(content: bytes) -> Any:
    """Parse a file like `parse_json`, by a faster parser, which names no error.

    Of equal keys it would take the last. So the colons are counted: every key has one, texts have all others.
    """
    check_json_size(content)
    try:
        document = msgspec.json.decode(content)
        bpe = document["model"]
        vocab, merges = bpe["vocab"], bpe["merges"]
        rest = msgspec.json.encode(document | {"model": bpe | {"vocab": None, "merges": None}})
        texts = "".join(chain(vocab, merges if set(map(type, merges)) == {str} else chain.from_iterable(merges)))
        n_colons = rest.count(b":") + texts.count(":") + len(vocab)
    except (msgspec.MsgspecError, AttributeError, LookupError, RecursionError, TypeError, UnicodeError):
        return parse_json(content)
    if content.count(b":") != n_colons or b"\\u003" in content:  # a colon may be written so
        return parse_json(content)
    return document
