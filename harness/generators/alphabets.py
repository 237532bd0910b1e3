"""The alphabets of fuzzed text: code points by general category and by script, and hand-picked oddities.

Categories and scripts are those of Unicode 16 on every Python and with every `regex`.
"""

from __future__ import annotations

import sys
from functools import cache

import regex

from impls.core.text.unicode_16 import as_unicode_16

CATEGORIES = (
    *("Lu", "Ll", "Lt", "Lm", "Lo", "Mn", "Mc", "Me", "Nd", "Nl", "No", "Pc", "Pd", "Ps", "Pe", "Pi", "Pf", "Po"),
    *("Sm", "Sc", "Sk", "So", "Zs", "Zl", "Zp", "Cc", "Cf", "Co"),
)
"""General categories whose code points can be text; for `Cn` see `unassigned`."""

SCRIPTS = (
    *("Latin", "Greek", "Cyrillic", "Armenian", "Hebrew", "Arabic", "Syriac", "Devanagari", "Bengali", "Tamil"),
    *("Telugu", "Malayalam", "Sinhala", "Thai", "Lao", "Tibetan", "Myanmar", "Georgian", "Hangul", "Ethiopic"),
    *("Cherokee", "Khmer", "Mongolian", "Hiragana", "Katakana", "Han", "Braille", "Tangut", "Cuneiform", "Adlam"),
)

WHITE_SPACE = "".join(
    map(chr, [*range(0x09, 0x0E), *range(0x1C, 0x21), 0x85, 0xA0, 0x1680, *range(0x2000, 0x200B)])
) + "\u2028\u2029\u202f\u205f\u3000"  # fmt: skip
LOOKS_LIKE_SPACE = "\u200b\u180e\u2060\ufeff\u200c\u00ad\u2800\u3164"
"""Characters that look like a space or nothing but are not white space."""
DIGIT_OTHERS = "٠١٢٣٤٥٦٧٨٩०१२३۷𝟗𝟘０９²³¹½¼Ⅷⅷↂ①㊿〇一二三" + ".,_:/-+eEx"
APOSTROPHES = "'''''’‘ʼ＇´`′"
CONTRACTIONS = tuple(str.split("s t re ve m ll d S T RE Ve M LL lL D ſ ſs da nın te"))
WORDS = tuple(
    str.split(
        "a I o we don THE Don token HTTPServer snake_case İ ı İstanbul ığdır şöyle слово Ёлка שלום مرحبا नमस्ते สวัสดี "
        "日本語 한국어 straße ǅ ﬁ ΑΣ ʰa ªb Ⅻ ⓐ"
    )
)
EMOJI = "👍👩👨👧🤝❤🏴☺🐻🏽🏿🇹🇷🇺#1*🫩©™🀄"
EMOJI_JOINTS = ("\u200d", "\ufe0f", "\ufe0e", "\u20e3", "🏽", "🏿", "\U000e0067", "\U000e007f", "\u200d❄\ufe0f", "")
MARKS = (
    "\u0301\u0300\u0308\u0327\u0307\u0328\u05b7\u064b\u0670\u093c\u0940\u0e31\u0e49\u1abe\u20dd\u302a\U0001d165\u034f"
)
MARKED = "aeioun EİıΩяאبकกあ가\u1112\u1161\u11ab1'"
DIRECTED = ("שלום", "עולם", "مرحبا", "سلام", "abc", "12", " ", ".", "\n", "'s")
DIRECTIONS = "\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u061c"
CODE = (
    *str.split(
        "return x = == != -> => :: // /* */ self. _name camelCase MAX_VALUE 0x1F 1e-9 <div> </p> &nbsp; #include $HOME"
    ),
    *str.split("' '' %s @x [0] ; \\n \\u00e9 https:// .com/ ?a=1&b=2 3.14 ... ---- ==== //// ~ ^ | `"),
    *('"', '"' * 3),
    *("def ", "if (", "{\n", "}\n", ");\n", "():\n", "\n    ", "\n\t", "\n\n\n", "\r\n", "  ", "        "),
)
SPECIAL_PARTS = tuple(str.split("<| |> < | > endoftext fim_prefix endofprompt im_start <s> </s> <unk>"))
BESIDE = (
    "a", "A", "é", "中", "字", "1", "٣", " ", "  ", "\n", "\r\n", "\t", "\u00a0", "\u3000", ".", "<", "<|", "|", ">",
    "_", "'s", "\u0301", "\u200d", "\u200b", "\ufeff", "👍", "▁", "Ġ", "\x00",
)  # fmt: skip
"""Neighbours of a special token: one of every class of character."""
LONE_SURROGATES = ("\ud800", "\udbff", "\udc00", "\udfff", "\ud83d", "\udc4d", "\ud83d\udc4d", "\udc4d\ud83d")
RUN_LENGTHS = (2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 33, 48, 49, 50, 63, 64, 65, 80, 81, 99, 100, 101, 127, 128, 129)
LONG_RUN_LENGTHS = (255, 256, 257, 400, 512, 1000, 1023, 1025, 4100)
EDGES = "\x00\x7f\x80\u07ff\u0800\ud7ff\ue000\ufdd0\ufffd\uffff\U00010000\U0001ffff\U000e0001\U0010ffff"
"""First and last code points of each length in UTF-8, and non-characters."""

_NON_CHARACTERS = {*range(0xFDD0, 0xFDF0), *(plane << 16 | last for plane in range(17) for last in (0xFFFE, 0xFFFF))}
_UNASSIGNED = regex.compile(r"\p{Cn}")


@cache
def _every_character() -> str:
    return "".join(map(chr, [*range(0xD800), *range(0xE000, sys.maxunicode + 1)]))


@cache
def _every_character_of_16() -> str:
    return as_unicode_16(_every_character())


@cache
def of_property(name: str) -> str:
    """Return every code point of a general category (`Lu`) or script (`Script=Greek`), in order."""
    matched = regex.finditer(rf"\p{{{name}}}+", _every_character_of_16())
    return "".join([_every_character()[match.start() : match.end()] for match in matched])


@cache
def unassigned() -> tuple[str, ...]:
    """Return, for each of the first four planes, the code points that Unicode 16 leaves unassigned."""
    planes = ("".join(map(chr, range(plane << 16, (plane + 1) << 16))) for plane in range(1, 4))
    texts = [_every_character()[:0xF800], *planes]  # the first plane has no surrogates there
    return tuple("".join(filter(is_newer, text)) for text in texts)


def is_newer(character: str) -> bool:
    """Return whether Unicode 16 does not assign the character, so that only a newer version may classify it."""
    return not is_assigned(character) and ord(character) not in _NON_CHARACTERS


def is_assigned(character: str) -> bool:
    """Return whether Unicode 16 assigns the character."""
    return _UNASSIGNED.match(as_unicode_16(character)) is None
