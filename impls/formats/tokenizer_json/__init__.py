"""Hugging Face's tokenizer.json: byte-level BPE, and BPE over the characters of the text.

`reader` and `writer` convert the file, `split_stages` its pre_tokenizer, `space_steps` its normalizer and steps for
white space, `oniguruma` the dialect of its patterns.
"""

from __future__ import annotations

from impls.formats.tokenizer_json.decoder_steps import DecoderIgnored
from impls.formats.tokenizer_json.document import OtherDocument
from impls.formats.tokenizer_json.reader import (
    FORMAT,
    DropoutIgnored,
    OtherIds,
    TemplateIgnored,
    read,
    read_content,
)
from impls.formats.tokenizer_json.space_steps import OlderUnicode
from impls.formats.tokenizer_json.writer import losses, write, write_compact

__all__ = [
    "FORMAT",
    "DecoderIgnored",
    "DropoutIgnored",
    "OlderUnicode",
    "OtherDocument",
    "OtherIds",
    "TemplateIgnored",
    "losses",
    "read",
    "read_content",
    "write",
    "write_compact",
]
