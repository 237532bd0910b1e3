"""What is asked: texts of each kind, complete by construction, as pure functions of a model and a seed.

Nothing here knows a target. A kind is complete when each of its members (a code point at a place, a token, a transition
of the pattern's automaton, a length) is in some text; tests check that, so a check need not be run to know it.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from importlib.resources import files
from itertools import islice, product, zip_longest
from random import Random
from string import ascii_lowercase

import regex

from harness.generators.texts import of_bytes, prose
from harness.printable import text_of
from impls.core.model.model import Model
from impls.core.text.normal_forms import normal_form

N_CODE_POINTS = 0x110000


def within(codes: Iterable[int]) -> Iterator[str]:
    """Yield blocks of code points at one place: each first occurs between letters, between digits, or after a space.

    One text for all places would not show what is wrong with the first of a text at the second place. Between digits
    each occurs again.
    """
    codes = iter(codes)
    while block := list(islice(codes, 64)):
        for place in ("a*b\n", "1*2*", " *\n"):
            yield "".join(place.replace("*", chr(code)) for code in block)


def at_both_ends(codes: Sequence[int]) -> Iterator[str]:
    """Yield for each two code points a text that begins with one and ends with the other, and the reverse."""
    for first, last in zip_longest(codes[::2], codes[1::2], fillvalue=ord("b")):
        yield from (f"{chr(first)}a{chr(last)}", f"{chr(last)}a{chr(first)}")


# --- tokens ----------------------------------------------------------------------------------------------------


def tokens(model: Model) -> Iterator[str]:
    """Yield the text of every token that has one; special tokens are left out."""
    special = set(model.whole_token_ids.values())
    for i, data in model.bytes_by_id().items():
        if i not in special and (text := text_of(data)):
            yield text


def tokens_and_zero(model: Model) -> Iterator[str]:
    """Yield the text of every sixteenth token followed by U+0000, at which a string of C ends."""
    return (f"{text}\0" for text in islice(tokens(model), 0, None, 16))


def decoded_lists(model: Model) -> Iterator[list[int]]:
    """Yield every id alone, and every id between its neighbours."""
    ids = sorted(model.bytes_by_id())
    yield from ([i] for i in ids)
    yield from (list(some) for some in zip([ids[-1], *ids], ids, [*ids[1:], ids[0]], strict=False))


# --- lengths ---------------------------------------------------------------------------------------------------

PIECE_BYTES = (
    *range(1, 66), 99, 100, 101, 127, 128, 129, 255, 256, 257, 511, 512, 513, 999, 1000, 1001, 1023, 1024, 1025,
    4095, 4096, 4097, 65_535, 65_536, 65_537, 400_000, 1_000_000,
)  # fmt: skip
_FEW_BEYOND = 65_537
_SMALL_LETTER = regex.compile(r"[\p{Ll}\p{Lo}]+")
_FALLBACK = {1: ascii_lowercase, 2: "éабвñü", 3: "中文的一是", 4: "\U00010428\U00010429\U0001042a"}
_OTHER_RUNS = (" ", "\n", "=", "1", "\t", "\u00a0", "\u3000")


def letters_of(model: Model, n_bytes: int) -> str:
    """Return the letters of so many bytes that tokens of several letters consist of; common ones where there are none.

    Upper case is left out, since patterns cut at it.
    """
    letters: dict[str, None] = {}
    for text in tokens(model):
        if len(text) > 1 and _SMALL_LETTER.fullmatch(text):
            letters.update(dict.fromkeys(character for character in text if len(character.encode()) == n_bytes))
    return "".join(letters) or _FALLBACK[n_bytes]


def pieces(model: Model, seed: int = 0) -> Iterator[str]:
    """Yield single pieces of every length class, shortest first, that merge as late as can be.

    They are made of letters of each length in UTF-8: random ones, the latest tokens joined, one letter, two in turn; up
    to 65,537 bytes also of white space, digits and symbols.
    """
    random = Random(f"pieces:{seed}")
    alphabets = [letters_of(model, n_bytes) for n_bytes in range(1, 5)]
    latest = [_latest(model, letters) or letters[:1] for letters in alphabets]
    for n in PIECE_BYTES:
        for letters, late in zip(alphabets, latest, strict=True):
            yield _padded("".join(random.choices(letters, k=n // len(letters[0].encode()))), n)
            yield _padded("".join(random.choices(late, k=n // len(late[0].encode()) + 1)), n)
            if n <= _FEW_BEYOND:
                yield _padded(letters[0] * n, n)
                yield _padded(letters[:2] * n, n)
        if n <= _FEW_BEYOND:
            yield from (_padded(unit * n, n) for unit in _OTHER_RUNS)


def _latest(model: Model, letters: str) -> list[str]:
    """Return the tokens of several of these letters that are made last."""
    known = set(letters)
    texts = [text for text in tokens(model) if len(text) > 1 and known.issuperset(text)]
    return texts[-200:]


def _padded(text: str, n_bytes: int) -> str:
    """Return the last whole characters of a text that fit into the bytes, with letters before them for the rest."""
    end = text[-n_bytes:].encode()[-n_bytes:].decode("utf-8", "ignore")
    return "a" * (n_bytes - len(end.encode())) + end


_EVERY_LENGTH = 300
_LAST = ("", " ", "é", "中", "👍", "\u0301", "\n")
_TEXT_LENGTHS = tuple(
    sorted({(1 << power) + more for power in range(9, 21) for more in (-1, 0, 1)} | {100_000, 400_000, 1_250_000})
)


def lengths(seed: int = 0) -> Iterator[str]:
    """Yield texts of every length to 300 bytes with each kind of character last, then around the powers of two."""
    words = prose(_EVERY_LENGTH + 8, seed + 3).encode("ascii", "ignore").decode()
    for n_bytes in range(1, _EVERY_LENGTH):
        for last in _LAST:
            if (head := n_bytes - len(last.encode())) >= 0:
                yield words[:head] + last
    text = prose(_TEXT_LENGTHS[-1] + 80, seed + 4)
    for n in _TEXT_LENGTHS:
        yield of_bytes(text, n)
        if n < 1 << 18:
            yield text[7 : 7 + n]


# --- spellings -------------------------------------------------------------------------------------------------

SPELLINGS = (
    "\r\n", "\r", "\n\r", "\u0085", "\u2028", "\u2029", "\x0b", "\x0c", "e\u0301", "\u00e9", "\u212b", "\u212a",
    "\u1100\u1161\u11a8", "\uac01", "q\u0323\u0307", "q\u0307\u0323", "\u0958", "\ufb01", "\u00bd", "\uff21", "\ufeff",
    "\0", "\ud83d\udc4d", "\ud83d", "\udc4d", "\udc4d\ud83d", "👍", "\u00a0", "\u3000", "\u200b", "\u00ad", "  ", "\t",
    "\u0130", "i\u0307", "\u0131", "\u00df", "\u017f", "\u2581", "\u0120", "\ufffd", "\ufffe", "\u201c", "\u2026",
)  # fmt: skip
"""What is another spelling of something else, or disappears, where a text is normalised, read as a file or cut at 0."""
LONG_SPELLINGS = {5_003: 1, 100_003: 4, 1_000_003: 22}
"""Characters of long texts -> how many spellings each of them holds."""
_FRAMES = ("*", "a*", "*a", "a*b", "x * y", "**", "***", "*\n*", "1*2")
_APART = 97


def spellings(seed: int = 0) -> Iterator[str]:
    """Yield each spelling in short texts, and at the start, the end and throughout of texts of three lengths.

    Between them every character that can be composed, decomposed.
    """
    for spelling in SPELLINGS:
        yield from (frame.replace("*", spelling) for frame in _FRAMES)
    yield from (f"{first}{second}" for first, second in product(SPELLINGS, repeat=2))
    yield from (parts for c in map(chr, range(N_CODE_POINTS)) if (parts := normal_form("NFD", c)) != c)
    for n, n_spellings in LONG_SPELLINGS.items():
        text = prose(n, seed + 6)
        gaps = [text[start : start + _APART] for start in range(0, n, _APART)]
        for first in range(0, len(SPELLINGS), n_spellings):
            some = SPELLINGS[first : first + n_spellings]
            yield "".join([some[0], *(gap + some[k % len(some)] for k, gap in enumerate(gaps)), some[0]])


# --- state -----------------------------------------------------------------------------------------------------

N_PIECES = (1 << 20) + 10_000
_N_ALONE, _WORDS_A_TEXT = 200_000, 64


def many_pieces(n_pieces: int = N_PIECES) -> Iterator[str]:
    """Yield texts with so many distinct pieces in all: a space and three to five small letters.

    Each of the first 200,000 is a text of its own.
    """
    words = (f" {''.join(word)}" for n in (3, 4, 5) for word in product("etaoinshrdlucmfwypvbgkjqxz", repeat=n))
    chosen = islice(words, n_pieces)
    yield from islice(chosen, _N_ALONE)
    while some := list(islice(chosen, _WORDS_A_TEXT)):
        yield "".join(some)


def in_turn(seed: int = 0) -> Iterator[str]:
    """Yield two texts several times each, then texts of every length, right after a text of each length."""
    yield from (word for word in ("hello world", "the end") for _ in range(5))
    text, starts = prose(100_000, seed + 7), Random(f"lengths:{seed}")
    for both in product((1, 2, 17, 300, 5_000, 70_000), repeat=2):
        for length in both:
            start = starts.randrange(len(text) - length)
            yield text[start : start + length]


def alike(seed: int = 0) -> Iterator[str]:
    """Yield texts of each length that differ in one character: a cache must compare them whole."""
    random = Random(f"alike:{seed}")
    for length in (20, 40, 90, 300, 1_000, 5_000, 70_000):
        text = prose(length, seed + 9)
        yield text
        for at in (0, 1, length // 3, length // 2, length - 2, length - 1, *random.choices(range(length), k=5)):
            yield text[:at] + ("y" if text[at] == "x" else "x") + text[at + 1 :]


# --- what a text costs -----------------------------------------------------------------------------------------

COST_SIZES = (125, 500, 2_000, 8_000, 32_000, 128_000)
"""Characters; a slow target shows its growth in the small ones."""


def costly(units: Iterable[str] = ()) -> dict[str, Callable[[int, int], str]]:
    """Map a family, also of runs of these units, to a function of (size, number): a new text for each number."""
    data = tomllib.loads((files("harness.conform") / "costly.toml").read_text(encoding="utf-8"))
    families: dict[str, Callable[[int, int], str]] = {"words": lambda size, number: prose(size, 50 + number)}
    families |= {f"random {name}": partial(_random_text, letters) for name, letters in data["alphabets"].items()}
    return families | {f"runs of {unit!a}": partial(_run, unit) for unit in [*data["units"], *units]}


def costly_batches() -> dict[str, Callable[[int, int], list[str]]]:
    """Map kinds of batches to functions of (characters, number), as `costly` does texts; each text has four."""
    return {
        "a batch of short texts": lambda size, number: [f"{number * size + k:4x}" for k in range(size // 4)],
        "a batch of equal texts": lambda size, number: [f"{number:4x}"] * (size // 4),
    }


def _random_text(letters: str, size: int, number: int) -> str:
    return "".join(Random(f"{letters}:{size}:{number}").choices(letters, k=size))


def _run(unit: str, size: int, number: int) -> str:
    return (unit * size)[: size - 3 * number]
