"""Decoders, which turn the tokens of ids into text: the steps of tokenizer.json's `decoder`, as in the library."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from itertools import groupby
from typing import Any

import regex

from impls.core.errors import InvalidModel
from impls.core.streaming import StreamRules
from impls.core.text.byte_alphabet import from_printable
from impls.core.text.sentencepiece_rules import SPACE_MARK
from impls.drop_in.hf.arguments import items, text
from impls.drop_in.hf.parts import Part
from impls.formats.tokenizer_json.space_steps import DECODER_STEPS, STRIP_STEP, flat_steps, read_replaced

Step = Callable[[list[str]], list[str]]


class Decoder(Part):
    """The `decoder` of tokenizer.json; raise `InvalidModel` naming the step that is not supported."""

    kind = "decoder"
    __slots__ = ("_steps",)

    def __init__(self, document: dict[str, Any]) -> None:
        super().__init__(document)
        steps = tuple(_read(step, where) for where, step in flat_steps(document, "decoder", "decoders"))
        object.__setattr__(self, "_steps", steps)

    def decode(self, tokens: Sequence[str]) -> str:
        """Return the text of tokens; raise TypeError for anything else."""
        written = [text(f"tokens[{k}]", token) for k, token in enumerate(items("tokens", tokens))]
        for step in self._steps:
            written = step(written)
        return "".join(written)


def read_decoder(document: Any) -> Decoder | None:
    """Return the `decoder` of tokenizer.json; raise `InvalidModel` naming the step that is not supported."""
    return None if document is None else Decoder(document)


def bytes_of(token: str) -> bytes:
    """Return the bytes of a token of printable characters, or the UTF-8 of any other token."""
    try:
        return from_printable(token)
    except KeyError:
        return token.encode()


def byte_of(token: str) -> int | None:
    """Return the byte that a token such as <0x0A> represents, or None."""
    if len(token) != 6 or not token.startswith("<0x") or not token.endswith(">"):
        return None
    digits = token[3:5].removeprefix("+")
    return int(digits, 16) if digits and all(digit in "0123456789abcdefABCDEF" for digit in digits) else None


def _read(step: dict[str, Any], where: str) -> Step:
    match step:
        case {"type": "ByteLevel"}:
            return lambda tokens: [b"".join(map(bytes_of, tokens)).decode("utf-8", "replace")]
        case {"type": "ByteFallback"}:
            return _with_bytes
        case {"type": "Fuse"}:
            return lambda tokens: ["".join(tokens)]
        case {"type": "Replace", "pattern": {"String": str(old)} | {"Regex": str(old)} as pattern, "content": str(new)}:
            expression = regex.compile(read_replaced(old, where, literal="String" in pattern))
            return lambda tokens: [expression.sub(lambda _: new, token) for token in tokens]
        case {"type": "Strip", "content": str(character), "start": int(start), "stop": int(stop)}:
            return lambda tokens: [_stripped(token, character, start, stop) for token in tokens]
        case {"type": "BPEDecoder", "suffix": str(suffix)}:
            return lambda tokens: [
                token.replace(suffix, " " if k < len(tokens) else "") for k, token in enumerate(tokens, 1)
            ]
        case {"type": "Metaspace", "replacement": str(mark), "prepend_scheme": str(scheme)}:
            first = " " if scheme == "never" else ""
            return lambda tokens: [token.replace(mark, " " if k else first) for k, token in enumerate(tokens)]
        case {"type": "WordPiece", "prefix": str(prefix), "cleanup": False}:
            return lambda tokens: [
                token if k == 0 else token.removeprefix(prefix) if token.startswith(prefix) else f" {token}"
                for k, token in enumerate(tokens)
            ]
    known = "ByteLevel, ByteFallback, Fuse, Replace, Strip, BPEDecoder, Metaspace, WordPiece without cleanup"
    raise InvalidModel(f"{where}: {step.get('type')!r} is not supported as it is given here; supported are {known}")


def _with_bytes(tokens: list[str]) -> list[str]:
    """Return the tokens with each run of byte tokens as its text, or as one U+FFFD per byte if it is not UTF-8."""
    written: list[str] = []
    for are_bytes, run in groupby(tokens, key=lambda token: byte_of(token) is not None):
        part = list(run)
        if are_bytes:
            data = bytes(byte for token in part if (byte := byte_of(token)) is not None)
            try:
                part = [data.decode()]
            except UnicodeDecodeError:
                part = ["\ufffd"] * len(data)
        written += part
    return written


def _stripped(token: str, character: str, start: int, stop: int) -> str:
    """Return `token` without up to `start` characters at its beginning and `stop` at its end."""
    token = token[:start].lstrip(character) + token[start:]
    kept = max(len(token) - stop, 0)
    return token[:kept] + token[kept:].rstrip(character)


def stream_rules(names: Mapping[int, str], special: Collection[int], decoder: Decoder | None) -> StreamRules | None:
    """Return how the ids of tokens are decoded one by one, or None if each text may depend on all of them."""
    steps = None if decoder is None else [step for _, step in flat_steps(decoder.document, "decoder", "decoders")]
    if steps is not None and [step.get("type") for step in steps] == ["ByteLevel"]:
        by_id = {i: bytes_of(name) for i, name in names.items()}
        byte_ids, marked = None, frozenset[int]()
    elif steps in (DECODER_STEPS, [*DECODER_STEPS, STRIP_STEP]):
        byte_by_id = {i: byte for i, name in names.items() if (byte := byte_of(name)) is not None}
        by_id = {i: name.replace(SPACE_MARK, " ").encode() for i, name in names.items()}
        by_id |= {i: bytes([byte]) for i, byte in byte_by_id.items()}
        byte_ids = frozenset(byte_by_id)
        marked = frozenset(i for i, data in by_id.items() if data.startswith(b" ") and steps != DECODER_STEPS)
    else:
        return None
    single = {data for i, data in by_id.items() if byte_ids is None or i in byte_ids}
    return StreamRules(
        bytes_by_id=by_id,
        special_ids=special,
        unknown_id=None,
        ids_with_mark=marked,
        removes_all_marks=False,
        removes_first_marks=False,
        byte_ids=byte_ids,
        has_all_bytes=all(bytes([byte]) in single for byte in range(256)),
    )
