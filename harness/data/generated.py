"""Generated corpora: families of texts that show how an algorithm scales; the same on every machine.

Source of randomness: Python's Mersenne Twister, seeded by the family's name and the size.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterator
from importlib.resources import files
from random import Random

from harness.data.errors import DataError
from impls.core.errors import UnknownName

DEFAULT_CHARACTERS = 100_000
MAX_CHARACTERS = 1_000_000_000
_MIXED_DOCUMENT_CHARACTERS = 1_000

_Family = Callable[[int, Random], Iterator[str]]


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


_FUNCTIONS: dict[str, _Family] = {"surrogates": _surrogates, "mixed": _mixed, "strings": _strings}


def _family(name: str, *, repeated: str = "", end: str = "", drawn: str = "") -> _Family:
    """Return a generator of `repeated` up to the size, with `end`; or of random characters of the range `drawn`."""
    if repeated:
        return lambda size, random: iter([(repeated * (size // len(repeated) + 1))[: size - len(end)] + end])
    if drawn:
        characters = list(map(chr, range(ord(drawn[0]), ord(drawn[-1]) + 1)))
        return lambda size, random: iter(["".join(random.choices(characters, k=size))])
    return _FUNCTIONS[name]


FAMILIES: dict[str, tuple[_Family, str]] = {
    name: (_family(name, **settings), about) for name, (about, settings) in _PARTS["families"].items()
}
"""Family -> its generator of documents, and its description."""
ADVERSARIAL = tuple(family for family in FAMILIES if family not in _FUNCTIONS)
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
