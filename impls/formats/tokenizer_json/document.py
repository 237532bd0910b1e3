"""The fields of a tokenizer.json, and parsing it."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec

from impls.core.errors import InvalidModel
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


Merges = list[str | tuple[Part, Part]]


class _MergesOnly(msgspec.Struct):
    merges: Merges


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


class _BpeOutline(msgspec.Struct):
    vocab: msgspec.Raw
    merges: msgspec.Raw


class _Outline(msgspec.Struct):
    model: _BpeOutline


_LEAD = 99  # bytes


def parse_document(content: bytes) -> Any:
    """Parse a file like `parse_json`, its vocabulary and merges by a faster parser, which names no error; merges that
    are pairs become tuples.

    Of equal tokens it would take the last. So colons are counted: every entry has one, and tokens have all others.
    """
    check_json_size(content)
    try:
        bpe = msgspec.json.decode(content, type=_Outline).model
        vocab = msgspec.json.decode(bpe.vocab)
        merges = msgspec.json.decode(bpe.merges, type=Merges)
        entries = bytes(bpe.vocab)
        if entries.count(b":") == len(vocab) + "".join(vocab).count(":") and b"\\u003" not in entries:
            document = parse_json(_without(_without(content, bytes(bpe.merges)), entries))
            document["model"] |= {"vocab": vocab, "merges": merges}
            return document
    except (InvalidModel, msgspec.MsgspecError, RecursionError, TypeError, ValueError):
        pass
    return parse_json(content)


def _without(content: bytes, part: bytes) -> bytes:
    """Return `content` with null in the place of `part`; raise ValueError if its beginning occurs twice."""
    lead = part[:_LEAD]
    at = content.index(lead)
    rest = b"%bnull%b" % (content[:at], content[at + len(part) :])
    if not content.startswith(part, at) or lead in rest:
        raise ValueError("two places")
    return rest
