"""What wrong tokenizers do to texts, to the keys of caches and to bytes, by name."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial, reduce
from operator import itemgetter
from unicodedata import normalize
from zlib import crc32

import regex

from harness.generators.alphabets import CATEGORIES

Change = Callable[[str], str]


def _replacing(characters: str, by: str = "") -> Change:
    expression = regex.compile(characters)
    return lambda text: expression.sub(by, text)


NORMALISING: dict[str, Change] = {
    **{form: partial(normalize, form) for form in ("NFC", "NFD", "NFKC", "NFKD")},
    "small letters": str.lower,
    "case folded": str.casefold,
    "first letter small": lambda text: text[:1].lower() + text[1:],
    "stripped": str.strip,
    "stripped at the start": str.lstrip,
    "stripped at the end": str.rstrip,
    "without a last line end": lambda text: text.removesuffix("\n"),
    "without a last character": lambda text: text[:-1],
    "a space in front": lambda text: f" {text}",
    "a space in front of a letter": lambda text: f" {text}" if text[:1].isalpha() else text,
    "cut at NUL": lambda text: text.partition("\0")[0],
    "without NUL": _replacing("\0"),
    "without control characters": _replacing(r"[\x01-\x08\x0e-\x1f\x7f]"),
    "without a byte order mark": lambda text: text.removeprefix("\ufeff"),
    "without marks": _replacing(r"\p{Mn}"),
    "without format characters": _replacing(r"\p{Cf}"),
    "without U+200B": _replacing("\u200b"),
    "without U+200D": _replacing("\u200d"),
    "without U+00AD": _replacing("\u00ad"),
    "without variation selectors": _replacing("[\ufe00-\ufe0f]"),
    "without unassigned characters": _replacing(r"\p{Cn}"),
    "CR LF is LF": _replacing("\r\n", "\n"),
    "CR is LF": _replacing("\r", "\n"),
    "other line ends are LF": _replacing("[\u0085\u2028\u2029]", "\n"),
    "one space of several": _replacing("  +", " "),
    "one line end of several": _replacing("\n\n+", "\n"),
    "tabs are spaces": _replacing("\t", " "),
    "other spaces are spaces": _replacing(r"(?! )\p{Zs}", " "),
    "U+00A0 is a space": _replacing("\u00a0", " "),
    "U+2581 is a space": _replacing("\u2581", " "),
    "a space is U+2581": _replacing(" ", "\u2581"),
    "quotation marks are plain": _replacing("[\u2018\u2019]", "'"),
    "full width is ASCII": lambda text: "".join(chr(ord(c) - 0xFEE0) if "\uff01" <= c <= "\uff5e" else c for c in text),
    "only 16 bits of a code point": lambda text: "".join(chr(ord(c) & 0xFFFF) for c in text),
    "U+FFFD beyond U+FFFF": _replacing(r"[\U00010000-\U0010ffff]", "\ufffd"),
    "U+FFFD for noncharacters": _replacing(r"[\ufffe\uffff\ufdd0-\ufdef]", "\ufffd"),
    "digits are ASCII": lambda text: "".join(str(int(c)) if c.isdecimal() else c for c in text),
}

_SCRIPTS = (
    "Arabic Armenian Bengali Bopomofo Cyrillic Devanagari Ethiopic Georgian Greek Gujarati Gurmukhi Han Hangul Hebrew "
    "Hiragana Kannada Katakana Khmer Lao Malayalam Mongolian Myanmar Sinhala Tamil Telugu Thai Tibetan Cherokee Deseret"
)
PLACED = {
    **{f"characters of {name}": rf"\p{{{name}}}" for name in (*CATEGORIES, "Cn")},
    **{f"{name} letters": rf"(?V1)[\p{{Script={name}}}&&\p{{L}}]" for name in _SCRIPTS.split(" ")},
    "letters beyond ASCII": r"(?V1)[\p{L}--[\x00-\x7f]]",
    "letters beyond U+00FF": r"(?V1)[\p{L}--[\x00-\xff]]",
    "letters beyond U+FFFF": r"(?V1)[\p{L}&&[\U00010000-\U0010ffff]]",
    "digits beyond ASCII": r"(?V1)[\p{Nd}--[\x00-\x7f]]",
    "white space beyond ASCII": r"(?V1)[\s--[\x00-\x7f]]",
    "U+200C, U+200D": "[\u200c\u200d]",
    "the underscore": "_",
    "U+0085": "\u0085",
    "U+001C to U+001F": r"[\x1c-\x1f]",
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
_AFTER_DECODING = (
    "NFC", "NFKC", "stripped", "stripped at the end", "without a last line end", "without a last character",
    "cut at NUL", "without NUL", "without control characters", "without format characters", "CR LF is LF",
    "one space of several", "U+2581 is a space", "only 16 bits of a code point", "U+FFFD beyond U+FFFF",
    "U+FFFD for noncharacters",
)  # fmt: skip
WRITTEN: dict[str, Change] = {
    **{name: NORMALISING[name] for name in _AFTER_DECODING},
    "a space at the start is dropped": lambda text: text.removeprefix(" "),
    "spaces before marks are dropped": _replacing(r" (?=[.,!?]|n't|'m|'s|'ve|'re)"),
    "U+0120 is a space": _replacing("\u0120", " "),
    "</w> is a space": _replacing("</w>", " "),
    "@@ joins": _replacing("@@ "),
    "<0x41> is A": _replacing("<0x41>", "A"),
}
