"""GPT-2's map of the 256 bytes to printable characters, and the id order Hugging Face derives from it.

Source: Radford et al. 2019, "Language Models are Unsupervised Multitask Learners", the released encoder.
"""

from __future__ import annotations

_PRINTABLE = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
_OTHERS = [byte for byte in range(256) if byte not in _PRINTABLE]

GPT2_BYTE_ORDER: tuple[int, ...] = (*_PRINTABLE, *_OTHERS)
"""Bytes in the order of their characters' code points: 21-7E, A1-AC, AE-FF, then 00-20, 7F-A0, AD."""

_CHARACTERS = map(chr, (*_PRINTABLE, *range(0x100, 0x100 + len(_OTHERS))))
BYTE_TO_CHARACTER: dict[int, str] = dict(zip(GPT2_BYTE_ORDER, _CHARACTERS, strict=True))
CHARACTER_TO_BYTE: dict[str, int] = {character: byte for byte, character in BYTE_TO_CHARACTER.items()}


def to_printable(token: bytes) -> str:
    """Return the printable form of a token: b' the' -> 'Ġthe'."""
    return token.decode("latin-1").translate(BYTE_TO_CHARACTER)


def from_printable(token: str) -> bytes:
    """Return the bytes of a printable token; raise KeyError with the first character that maps to no byte."""
    return bytes([CHARACTER_TO_BYTE[character] for character in token])
