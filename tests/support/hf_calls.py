"""The same calls to Hugging Face's `Tokenizer` and to ours, and whether their answers differ."""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Callable, Iterable
from typing import Any

import tokenizers
from tokenizer_json_shapes import (
    FALL_BACK,
    LLAMA,
    MARKS_REMOVED,
    Document,
    a_file,
    added,
    chain,
)

from impls.drop_in import hf

os.environ.setdefault("RUST_BACKTRACE", "0")  # the library's panics are expected here, and their traces long

BYTE_LEVEL = {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True}
MARKS_REMOVER = {"type": "Sequence", "decoders": MARKS_REMOVED}
MARKS_FILE = a_file("chars", FALL_BACK, added_tokens=added("chars"), normalizer=chain(*LLAMA), decoder=MARKS_REMOVER)
Call = Callable[[Any], Any]
"""What is asked of either tokenizer."""


def both(content: Document, implementation: str = "priority") -> tuple[hf.Tokenizer, Any]:
    """Our tokenizer of a tokenizer.json, and the library's."""
    written = json.dumps(content)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ours = hf.Tokenizer.from_str(written, implementation=implementation)
    return ours, tokenizers.Tokenizer.from_str(written)


def shown(encoding: Any) -> dict[str, Any]:
    """All that an encoding says of itself."""
    rows = ("ids", "tokens", "word_ids", "offsets", "type_ids", "special_tokens_mask", "attention_mask")
    rows = (*rows, "sequence_ids", "n_sequences")
    return {row: getattr(encoding, row) for row in rows} | {"overflowing": [shown(e) for e in encoding.overflowing]}


def assert_alike(ours: hf.Tokenizer, theirs: Any, some: Iterable[str]) -> None:
    """Assert that the encodings of texts say the same."""
    for text in some:
        assert shown(ours.encode(text)) == shown(theirs.encode(text)), ascii(text)


def outcome(call: Call, tokenizer: Any) -> Any:
    """What a call returns, or the exception it raises."""
    try:
        return call(tokenizer)
    except BaseException as error:
        return error


def differs(ours: Any, theirs: Any) -> bool:
    """Whether outcomes differ; an exception may be a subclass, and anything may be in place of the library's panic."""
    if type(theirs).__name__ == "PanicException":
        return False
    if isinstance(theirs, BaseException) or isinstance(ours, BaseException):
        return not (isinstance(theirs, BaseException) and isinstance(ours, type(theirs)))
    return bool(ours != theirs)
