"""How an implementation decodes ids one by one, and cuts a text: by its own call, or else as its users do by hand."""

from __future__ import annotations

import codecs
from collections.abc import Callable, Sequence

from impls import Tokenizer
from impls.core.decoding import Decoder

OWN = ("pure", "compiled")
"""Kinds of implementations whose calls these are; libraries inherit them, and are not to be timed by them."""


def streaming(tokenizer: Tokenizer) -> Callable[[Sequence[int]], str]:
    """Return a call that decodes ids one by one and returns their joined text.

    Ours push each id to a decoder, a library with a stream of its own (`decode_stream`) uses that. A library that gives
    bytes has those of each id read by Python's incremental decoder, any other decodes the ids since the last but one
    text that was complete, and takes what is new, unless it ends in U+FFFD.
    """
    if tokenizer.kind in OWN:
        return lambda ids: _pushed(tokenizer, ids)
    if (own := getattr(tokenizer, "decode_stream", None)) is not None:
        return lambda ids: "".join(list(own(ids)))
    if tokenizer.kind != "third-party" and type(tokenizer).decode_bytes is not Decoder.decode_bytes:
        return lambda ids: _read_singly(tokenizer.decode_bytes, ids)
    return lambda ids: _since_last(tokenizer.decode, ids)


def _pushed(tokenizer: Tokenizer, ids: Sequence[int]) -> str:
    decoder = tokenizer.decoder()
    parts = [decoder.push((i,)) for i in ids]
    return "".join([*parts, decoder.finish()])


def _read_singly(decode_bytes: Callable[[Sequence[int]], bytes], ids: Sequence[int]) -> str:
    read = codecs.getincrementaldecoder("utf-8")("replace").decode
    parts = [read(decode_bytes((i,))) for i in ids]
    return "".join([*parts, read(b"", final=True)])


def _since_last(decode: Callable[[Sequence[int]], str], ids: Sequence[int]) -> str:
    parts: list[str] = []
    start = shown = 0
    for end in range(1, len(ids) + 1):
        text, before = decode(ids[start:end]), decode(ids[start:shown])
        if len(text) > len(before) and (end == len(ids) or not text.endswith("\ufffd")):
            parts.append(text[len(before) :])
            start, shown = shown, end
    return "".join(parts)


def truncating(tokenizer: Tokenizer, n_tokens: int) -> Callable[[str], str]:
    """Return a call that cuts a text to `n_tokens`: ours by `truncate`, others by decoding the first ids of all."""
    if tokenizer.kind in OWN:
        return lambda text: tokenizer.truncate(text, n_tokens)

    def cut(text: str) -> str:
        ids = tokenizer.encode(text, disallowed_special=())
        return text if len(ids) <= n_tokens else tokenizer.decode(ids[:n_tokens]).rstrip("\ufffd")

    return cut
