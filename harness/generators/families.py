"""Families of texts, generated or taken from real text and mutated. A family is a function from a `Random` to a text.

`mixture` joins texts of several families, because most differences occur where two kinds of text meet.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random

from harness.generators import alphabets
from harness.generators.alphabets import ALPHABETS

Family = Callable[[Random], str]

_MOST_CHARACTERS = 4_000


def length(random: Random) -> int:
    """Return a random length: mostly small, sometimes up to two hundred."""
    return random.randint(1, 8) if random.random() < 0.8 else random.randint(9, 200)


def _of(longest: int, *pools: Sequence[str], mean: int = 1) -> Family:
    """Return the family that takes one character of each of `pools` in turn, repeatedly, up to `longest` times."""

    def family(random: Random) -> str:
        times = min(longest, mean * length(random))
        return "".join(random.choice(pool) for _ in range(times) for pool in pools)

    return family


def _categories(random: Random) -> str:
    chosen = list(map(alphabets.of_property, random.choices(ALPHABETS["categories"], k=random.randint(1, 4))))
    return "".join(random.choice(random.choice(chosen)) for _ in range(length(random)))


def _scripts(random: Random) -> str:
    parts: list[str] = []
    for script in random.choices(ALPHABETS["scripts"], k=random.randint(1, 3)):
        letters = alphabets.of_property(f"Script={script}")
        start = random.randrange(len(letters))
        parts += random.choices(letters[start : start + 80], k=random.randint(1, 12))
        parts.append(random.choice(("", " ", "'", "\u200d", "\n", "-")))
    return "".join(parts)


def _spaces(random: Random) -> str:
    few = random.choices(ALPHABETS["white_space"], k=5)
    parts = random.choices(few, k=length(random))
    for other in random.choices((*ALPHABETS["looks_like_space"], "a", "1", ".", "'s", "/"), k=random.randint(0, 3)):
        parts.insert(random.randint(0, len(parts)), other)
    return "".join(parts)


def _digits(random: Random) -> str:
    digits = "0123456789" if random.random() < 0.6 else ALPHABETS["digit_others"]
    parts = random.choices(digits, k=length(random))
    if random.random() < 0.4:
        other = ALPHABETS["digit_others"] + " a" + ALPHABETS["edges"]
        parts.insert(random.randint(0, len(parts)), random.choice(other))
    return "".join(parts)


def _marks(random: Random) -> str:
    parts: list[str] = []
    for _ in range(random.randint(1, 8)):
        parts.append(random.choice(ALPHABETS["marked"]))
        parts += random.choices(ALPHABETS["marks"], k=random.choice((0, 1, 1, 2, 3, 12)))
    random.shuffle(parts) if random.random() < 0.2 else None
    return "".join(parts)


def _runs(random: Random) -> str:
    unit = random.choice(ALPHABETS["run_units"])
    lengths = ALPHABETS["run_lengths"] if random.random() < 0.95 else ALPHABETS["long_run_lengths"]
    run: str = unit * random.choice(lengths)
    return random.choice(("", "", "x", " ", "1", "\n")) + run + random.choice(("", "", "x", " ", "1", "\n", "'s"))


def _unassigned(random: Random) -> str:
    """Put code points newer than Unicode 16 where their class matters: beside letters, digits, spaces, contractions."""
    around = ALPHABETS["around_unassigned"]
    before, behind = random.choices(around, k=random.randint(0, 2)), random.choices(around, k=random.randint(1, 3))
    plane = random.choice(alphabets.unassigned())
    start = random.randrange(len(plane))
    return "".join([*before, plane[start : start + random.randint(1, 3)], *behind])


_ANYTHING = sorted(
    {*ALPHABETS["white_space"], *ALPHABETS["looks_like_space"], *ALPHABETS["digit_others"], *ALPHABETS["apostrophes"]}
    | {*ALPHABETS["marks"], *ALPHABETS["directions"], *ALPHABETS["emoji"], *map(chr, range(128))}
)


_NEXT_TO = (*[""] * 16, *ALPHABETS["beside"])


def specials(texts: Sequence[str]) -> Family:
    """Return the family of special tokens: whole, cut, doubled and overlapping, beside every class of character."""

    def family(random: Random) -> str:
        parts: list[str] = []
        for _ in range(random.randint(1, 4)):
            special = random.choice(texts if texts and random.random() < 0.7 else ALPHABETS["special_parts"])
            if random.random() < 0.5:
                start = random.randrange(len(special))
                special = special[start : random.randint(start + 1, len(special))]
            parts += [random.choice(_NEXT_TO), special, random.choice(_NEXT_TO)]
        return "".join(parts)

    return family


def tokens(vocabulary: Sequence[bytes]) -> Family:
    """Return the family of joined tokens of the model, which meet in ways that no real text has."""

    def family(random: Random) -> str:
        joined = b"".join(random.choices(vocabulary, k=min(30, length(random))))
        return joined.decode("utf-8", random.choice(("ignore", "replace")))

    return family


def mixture(families: Sequence[Family]) -> Family:
    """Return the family of two to five texts of `families`, joined."""
    return lambda random: "".join(member(random) for member in random.choices(families, k=random.randint(2, 5)))


def nested(families: Sequence[Family]) -> Family:
    """Return the family of texts of `families` that are joined, repeated and changed in case, recursively."""

    def family(random: Random, depth: int = 3) -> str:
        if depth == 0 or random.random() < 0.25:
            return random.choice(families)(random)
        text = random.choice((_joined, _repeated, _changed))(lambda: family(random, depth - 1), random)
        return text[:_MOST_CHARACTERS]

    return family


def _joined(part: Callable[[], str], random: Random) -> str:
    joint = random.choice(("", "", " ", "\n", "'", "1", "\r\n", "\u200d", "  "))
    return joint.join(part() for _ in range(random.randint(2, 4)))


def _repeated(part: Callable[[], str], random: Random) -> str:
    return part() * random.randint(2, 40)


def _changed(part: Callable[[], str], random: Random) -> str:
    text = part()
    change = random.choice((str.upper, str.lower, str.title, str.swapcase, None))
    if change is not None:
        return change(text)
    return random.choice((text[::-1], "".join(character * 2 for character in text)))


DIRECT: dict[str, Family] = {
    "categories": _categories,
    "scripts": _scripts,
    "spaces": _spaces,
    "digits": _digits,
    "contractions": _of(
        4, (*ALPHABETS["words"], "", " ", "1", "?"), ALPHABETS["apostrophes"], ALPHABETS["contractions"],
        ("", "", " ", "\n", "x", "X", "'"),
    ),
    "emoji": _of(24, ALPHABETS["emoji"], ALPHABETS["emoji_joints"]),
    "marks": _marks,
    "directions": _of(6, ALPHABETS["directed"], *[("", "", "", *ALPHABETS["directions"])] * 2),
    "runs": _runs,
    "code": _of(40, ALPHABETS["code"], mean=2),
    "surrogates": _of(20, (*alphabets.LONE_SURROGATES, "a", " ", "\n", "👍", "é")),
    "edges": _of(20, ALPHABETS["edges"] + "a 1'"),
    "unassigned": _unassigned,
    "any": _of(200, _ANYTHING),
}  # fmt: skip
"""Name -> family, of those that need neither model nor corpus."""


_LONGEST_SLICE = 1_500
_TIMES = 12

_INSERTED: tuple[str, ...] = (
    *ALPHABETS["white_space"], *ALPHABETS["looks_like_space"], *ALPHABETS["marks"], *ALPHABETS["directions"],
    *ALPHABETS["emoji_joints"], *alphabets.LONE_SURROGATES, *ALPHABETS["edges"], *"'’.,;:!?0123456789_/<>|",
    *("'s", "’t", "'LL", "\r\n", "  ", "<|", "|>"),
)  # fmt: skip

_CHANGES = ("delete", "repeat", "move", "case", "insert", "insert", "spaces", "shift")


def mutated(text: str, random: Random) -> str:
    """Return a text with one mutation, mostly of a stretch of up to a dozen characters."""
    start = random.randrange(len(text) + 1)
    end = min(len(text), start + random.randint(0, 12))
    before, stretch, after = text[:start], text[start:end], text[end:]
    match random.choice(_CHANGES):
        case "delete":
            return before + after
        case "repeat":
            return before + stretch * random.choice((2, 3, 4, 31)) + after
        case "move":
            rest = before + after
            to = random.randint(0, len(rest))
            return rest[:to] + stretch + rest[to:]
        case "case":
            change = random.choice((str.upper, str.lower, str.title, str.swapcase))
            return before + change(stretch) + after
        case "insert":
            return before + random.choice(_INSERTED) + stretch + after
        case "spaces":
            new = random.choice(ALPHABETS["white_space"] + ALPHABETS["looks_like_space"])
            return text.replace(" ", new * random.randint(1, 3), random.randint(1, 5))
        case _ if start < len(text):  # one character is replaced by a near neighbour in code-point order
            code = ord(text[start]) + random.choice((-32, -16, -1, 1, 2, 16, 32))
            return text[:start] + chr(min(max(0, code), 0x10FFFF)) + text[start + 1 :]
    return text


def mutations(documents: Sequence[str]) -> Family:
    """Return the family of slices of `documents`, sometimes two spliced, mutated up to a dozen times."""

    def family(random: Random) -> str:
        text = _slice(random.choice(documents), random)
        if random.random() < 0.1:
            text += _slice(random.choice(documents), random)
        for _ in range(random.randint(0, _TIMES)):
            text = mutated(text, random)
        return text

    return family


def _slice(document: str, random: Random) -> str:
    size = random.choice((20, 60, 200, _LONGEST_SLICE))
    start = random.randrange(max(1, len(document) - size))
    return document[start : start + size]
