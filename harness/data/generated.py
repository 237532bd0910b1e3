"""Generated corpora: families of texts that show how an algorithm scales; the same on every machine.

Source of randomness: Python's Mersenne Twister, seeded by the family's name and the size.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterator, Sequence
from importlib.resources import files
from random import Random

from harness.data.errors import DataError
from impls.core.errors import UnknownName

DEFAULT_CHARACTERS = 100_000
MAX_CHARACTERS = 1_000_000_000
_MIXED_DOCUMENT_CHARACTERS = 1_000

_Family = Callable[[int, Random], Iterator[str]]


def _repeated(part: str, end: str = "") -> _Family:
    """Return a generator of `part` repeated up to the size, followed by `end`."""
    return lambda size, random: iter([(part * (size // len(part) + 1))[: size - len(end)] + end])


def _drawn(characters: Sequence[str]) -> _Family:
    """Return a generator of random characters."""
    return lambda size, random: iter(["".join(random.choices(characters, k=size))])


def _surrogates(size: int, random: Random) -> Iterator[str]:
    parts = [*"ab ıЖ字\n", "\ud83d", "\udc4d", "\ud83d\udc4d", "👍", "\udfff", "\ud800"]
    yield "".join(random.choices(parts, k=size))[:size]


_PARTS = tomllib.loads((files("harness.data") / "generated.toml").read_text(encoding="utf-8"))


def _mixed(size: int, random: Random) -> Iterator[str]:
    while size > 0:
        length = min(size, _MIXED_DOCUMENT_CHARACTERS)
        text = ""
        while len(text) < length:
            text += random.choice(_PARTS["mixed"]) + random.choice(("", " ", " "))
        yield text[:length]
        size -= length


_STRING_LENGTHS = (1, 2, 3, 5, 8, 13, 30)
_STRING_RANGES = ((0x20, 0x7F), (0xA0, 0x1000), (0x4E00, 0xA000), (0xAC00, 0xD7A4), (0x1F300, 0x1F700), (0, 0xD800))


def _strings(size: int, random: Random) -> Iterator[str]:
    while size > 0:
        length = min(size, random.choice(_STRING_LENGTHS))
        kind = random.randrange(4)
        if kind < 2:
            text = "".join(random.choices(_PARTS["characters"], k=length))
        elif kind == 2:
            text = "".join(chr(random.randrange(*random.choice(_STRING_RANGES))) for _ in range(length))
        else:
            text = "".join(random.choices(_PARTS["mixed"], k=length))[:length]
        yield text
        size -= length


FAMILIES: dict[str, tuple[_Family, str]] = {
    "repeats": (_repeated("ab"), "`ab` repeated: one piece, quadratic where merging is"),
    "letters": (_drawn("abcdefghijklmnopqrstuvwxyz"), "random letters without a space: one piece that merges little"),
    "spaces": (_repeated(" "), "spaces only"),
    "digits": (_drawn("0123456789"), "random digits: cut in threes or one piece, depending on the pattern"),
    "cjk": (_drawn([chr(code) for code in range(0x4E00, 0x9FA6)]), "random CJK ideographs without a space"),
    "one-letter": (_repeated("a"), "one letter: every pair ties with every other"),
    "hundreds": (
        _repeated(f"{'a' * 99} {'a' * 100} {'a' * 101} "),
        "words of 99, 100 and 101 letters: tiktoken switches to another algorithm at 100 bytes",
    ),
    "tabs": (_repeated("\t  ", "x"), "tab and two spaces repeated, then a letter: the space before it belongs to it"),
    "line-ends": (_repeated("\r\n"), "carriage return and line feed repeated"),
    "punctuation": (_repeated("-="), "one run of punctuation"),
    "apostrophes": (_repeated("'s"), "contractions without a word: the shortest pieces there are"),
    "marks": (_repeated("\u0301"), "combining accents without a letter"),
    "emoji": (_repeated("\U0001f468\u200d\U0001f469\u200d\U0001f467"), "a family of joined emoji repeated"),
    "right-to-left": (_repeated("\u200f\u05e9\u05dc\u05d5\u05dd"), "a Hebrew word after its direction mark, no space"),
    "surrogates": (_surrogates, "letters, lone surrogates and surrogate pairs"),
    "mixed": (_mixed, "words, numbers, emoji and white space of many scripts, 1000 characters a document"),
    "strings": (_strings, "random strings of 1 to 30 characters, each a document: common ones, any of a script, words"),
}
"""Family -> its generator of documents, and its description."""


ADVERSARIAL = tuple(family for family in FAMILIES if family not in ("surrogates", "mixed", "strings"))
"""Families of one long text each, which show where an algorithm or a library breaks."""


def generated_names() -> list[str]:
    """Return `gen/FAMILY` for every family."""
    return [f"gen/{family}" for family in FAMILIES]


def generate(name: str) -> Iterator[str]:
    """Generate the documents of `gen/FAMILY` or `gen/FAMILY:CHARACTERS`; raise `UnknownName`, `DataError`."""
    family, colon, size_text = name.removeprefix("gen/").partition(":")
    if family not in FAMILIES:
        raise UnknownName("generated corpus", name, generated_names())
    size = DEFAULT_CHARACTERS
    if colon:
        digits = size_text.replace("_", "")
        if not re.fullmatch("[0-9]+", digits) or not 1 <= int(digits) <= MAX_CHARACTERS:
            raise DataError(f"{name}: the size must be 1 to {MAX_CHARACTERS} characters, as in gen/{family}:1000000")
        size = int(digits)
    return FAMILIES[family][0](size, Random(f"{family}:{size}"))
