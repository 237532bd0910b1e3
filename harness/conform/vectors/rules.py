"""What wrong tokenizers do to texts, to the keys of caches and to bytes, by name; expressions are in rules.toml."""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from functools import partial, reduce
from importlib.resources import files
from operator import itemgetter
from typing import Any
from unicodedata import normalize
from zlib import crc32

import regex

from harness.generators.alphabets import ALPHABETS

Change = Callable[[str], str]
RULES: dict[str, Any] = tomllib.loads((files("harness.conform.vectors") / "rules.toml").read_text(encoding="utf-8"))


def _changes(by_name: dict[str, Change], rules: dict[str, list[str]]) -> dict[str, Change]:
    """Return the change of each rule: of its expression, or the one of its name."""
    return {
        name: partial(regex.compile(rule[0]).sub, rule[1]) if rule else by_name[name] for name, rule in rules.items()
    }


_FUNCTIONS: dict[str, Change] = {
    **{form: partial(normalize, form) for form in ("NFC", "NFD", "NFKC", "NFKD")},
    "small letters": str.lower,
    "case folded": str.casefold,
    "first letter small": lambda text: text[:1].lower() + text[1:],
    "stripped": str.strip,
    "stripped at the start": str.lstrip,
    "stripped at the end": str.rstrip,
    "a space in front of a letter": lambda text: f" {text}" if text[:1].isalpha() else text,
    "full width is ASCII": lambda text: "".join(chr(ord(c) - 0xFEE0) if "\uff01" <= c <= "\uff5e" else c for c in text),
    "only 16 bits of a code point": lambda text: "".join(chr(ord(c) & 0xFFFF) for c in text),
    "digits are ASCII": lambda text: "".join(str(int(c)) if c.isdecimal() else c for c in text),
}
NORMALISING = _changes(_FUNCTIONS, RULES["normalising"])
WRITTEN = _changes(NORMALISING, RULES["written"])
PLACED: dict[str, str] = {
    **{f"characters of {name}": rf"\p{{{name}}}" for name in (*ALPHABETS["categories"], "Cn")},
    **{f"{name} letters": rf"(?V1)[\p{{Script={name}}}&&\p{{L}}]" for name in RULES["scripts"].split()},
    **RULES["placed"],
}
"""Characters that a pattern's classes may misplace, as expressions."""

CACHE_KEYS: dict[str, Callable[[str], object]] = {
    **{f"their first {n} characters": itemgetter(slice(n)) for n in (4, 7, 8, 12, 15, 16, 24, 31, 32, 63, 64, 128)},
    **{f"their last {n} characters": itemgetter(slice(-n, None)) for n in (3, 4, 7, 8, 16, 32)},
    "length, first and last character": lambda text: (len(text), text[:1], text[-1:]),
    "length and first 8 characters": lambda text: (len(text), text[:8]),
    "their middle": lambda text: text[1:-1],
    "small letters": str.lower,
    "NFC": partial(normalize, "NFC"),
    "NFKC": partial(normalize, "NFKC"),
    "all but white space": str.strip,
    "the set of their characters": lambda text: "".join(sorted(set(text))),
    "their characters, in any order": lambda text: "".join(sorted(text)),
    "8 bits of each character": lambda text: bytes(ord(character) & 0xFF for character in text),
    "the sum of their bytes": lambda text: sum(text.encode()),
    "16 bits of a hash": lambda text: crc32(text.encode()) & 0xFFFF,
    "20 bits of a hash": lambda text: crc32(text.encode()) & 0xFFFFF,
    "16 bits of a hash by 31": lambda text: reduce(lambda h, c: (31 * h + ord(c)) & 0xFFFF, text, 7),
    "a hash modulo 1,009": lambda text: crc32(text.encode()) % 1009,
}


def _marking(by: str, mark: str) -> Callable[[bytes], str]:
    """Return a reading of bytes with `mark`, an expression of U+E000 for each bad byte, replaced."""
    bad, marks = regex.compile("[\udc80-\udcff]"), regex.compile(mark)
    return lambda data: marks.sub(by, bad.sub("\ue000", data.decode("utf-8", "surrogateescape")))


READ: dict[str, Callable[[bytes], str]] = {
    "bad bytes are left out": lambda data: data.decode("utf-8", "ignore"),
    "bad bytes are U+FFFD each": _marking("\ufffd", "\ue000"),
    "bad bytes in a row are one U+FFFD": _marking("\ufffd", "\ue000+"),
    "bad bytes are question marks": _marking("?", "\ue000"),
    "bad bytes are refused": lambda data: data.decode("utf-8"),
    "bytes are Latin-1": lambda data: data.decode("latin-1"),
    "a byte order mark is dropped": lambda data: data.decode("utf-8-sig", "replace"),
    "bytes of surrogates are let through": lambda data: data.decode("utf-8", "surrogatepass"),
}
