"""Texts for any tokenizer: hard, sampled, random, made of the model's tokens, or very long; and lists of ids.

Deterministic: the same seed gives the same texts on every machine.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from importlib.resources import files
from itertools import chain, product
from random import Random

from harness.data import load_corpus
from harness.data.generated import generate
from harness.generators import families
from harness.generators.alphabets import is_assigned
from harness.generators.families import Family
from harness.printable import text_of
from impls.core.model.model import Model

PAST_A_MEGABYTE = 1_250_000
"""Characters of the longest text."""

_TEXTS = tomllib.loads((files("harness.generators") / "texts.toml").read_text(encoding="utf-8"))
_HARD = _TEXTS["hard"]
_LONGEST_RANDOM = 60  # characters


def hard_texts() -> list[str]:
    """Return texts known to break tokenizers, and runs of lengths at which algorithms change."""
    runs = ((unit * (n // len(unit) + 1))[:n] for unit in _TEXTS["runs"] for n in _TEXTS["run_lengths"])
    framed = (f"x{unit * 3}y {unit}" for unit in _TEXTS["runs"])
    return list(dict.fromkeys([*_HARD, *framed, *runs]))


def sample_texts() -> list[str]:
    """Return the suite's own samples, whole and by line."""
    documents = list(load_corpus("samples").documents())
    lines = (line for document in documents for line in document.splitlines(keepends=True))
    return list(dict.fromkeys([*documents, *lines, *generate("gen/mixed:20000")]))


def random_texts(seed: int, n_texts: int) -> Iterator[str]:
    """Yield texts of 1 to 60 assigned characters of one or several families, or from the hard texts."""
    random = Random(f"conform:{seed}")
    single = [family for name, family in families.DIRECT.items() if name not in ("surrogates", "unassigned")]
    members = [*single, families.mixture(single), families.mixture(single), *[joined_hard] * len(single)]
    for family in random.choices(members, k=n_texts):
        yield "".join([each for each in family(random)[:_LONGEST_RANDOM] if is_assigned(each)]) or "?"


def joined_hard(random: Random) -> str:
    """Return two to five of the hard texts, cut and joined."""
    gaps = random.choices(("", " ", "\n"), k=random.randint(2, 5))
    return "".join(random.choice(_HARD)[:20] + gap for gap in gaps)


def model_texts(model: Model, seed: int, n_texts: int) -> list[str]:
    """Return the model's own tokens, joined and cut, and all short texts of the first letters it merges."""
    readable = [text for token in model.tokens if token and (text := text_of(token)) is not None]
    if not readable:
        return []
    random = Random(f"conform:{seed}:{len(readable)}")
    texts: list[str] = []
    for _ in range(n_texts):
        parts = [random.choice(readable) for _ in range(random.randint(1, 4))]
        if random.random() < 0.3:
            parts.append(parts[0])
        joined = "".join(parts)
        texts.append(joined[random.randrange(2) :] or joined)
    return list(dict.fromkeys([*_short_texts(model), *texts]))


def _short_texts(model: Model) -> Iterator[str]:
    """Yield all texts of up to 6 of the first 2 letters, and of up to 4 of the first 4, that the first merges join."""
    parts = (model.tokens[part] or b"" for merge in model.merges[:6] for part in merge)
    letters = list(dict.fromkeys(chain.from_iterable(text for part in parts if (text := text_of(part)))))
    for n_letters, longest in ((2, 6), (4, 4)):
        for length in range(1, longest + 1):
            yield from map("".join, product(letters[:n_letters], repeat=length))


def prose(n_characters: int, seed: int) -> str:
    """Return lines of random words of the samples; no passage repeats."""
    random = Random(f"prose:{seed}:{n_characters}")
    words = [w for part in ("en", "tr") for text in load_corpus(f"samples/{part}").documents() for w in text.split()]
    parts: list[str] = []
    room = n_characters
    while room > 0:
        line = " ".join(random.choices(words, k=12)) + random.choice((".\n", ", ", " 1", "\n\n"))
        parts.append(line)
        room -= len(line)
    return "".join(parts)[:n_characters]


def _between_tokens(model: Model, seed: int) -> str:
    """Return a long text of words and tokens with white space after their first character.

    Wherever a text is cut at white space, its pieces change.
    """
    tokens = [text for token in model.tokens if token and (text := text_of(token)) is not None]
    gaps = [text for text in tokens if any(map(str.isspace, text[1:]))] or ["!\n\n"]
    random = Random(f"gaps:{seed}")
    words = prose(PAST_A_MEGABYTE, seed + 1).split()
    pairs = zip(words, random.choices(gaps, k=len(words)), strict=True)
    return "".join(chain.from_iterable(pairs))[:PAST_A_MEGABYTE]


def long_texts(model: Model, seed: int) -> list[str]:
    """Return texts of up to a million characters and more that are cut into pieces unlike words."""
    digits, ideographs = (Random(f"{name}:{seed}").choices for name in ("digits", "cjk"))
    return [
        " " * 100_000 + "x",
        "".join(digits("0123456789", k=100_000)),
        "".join(map(chr, ideographs(range(0x4E00, 0x9FA6), k=20_000))),
        _between_tokens(model, seed),
    ]


_N_PARTS, _LONGEST_PART = 6_000, 6
_SMALLEST_SIZE, _GREATEST_SIZE = 1 << 9, 1 << 20
_FIRST_SIZE = 1 << 16
_ROUNDS_A_DOUBLING = 4
_LONGEST_LIST = 12
_LENGTHS_OF_REPEATS = (2, 3, 9, 17, 65, 257)


def short_parts(families: Sequence[Family]) -> list[str]:
    """Return short prefixes of texts of every family, the same each time."""
    random = Random("parts")
    return [random.choice(families)(random)[:_LONGEST_PART] for _ in range(_N_PARTS)]


def pairs_of_parts(parts: Sequence[str], n_texts: int, random: Random) -> list[str]:
    """Yield texts of two parts each, so many that a fault on one text in a million is found in minutes."""
    first, second = random.choices(parts, k=n_texts), random.choices(parts, k=n_texts)
    gaps = random.choices(("", "", " ", " ", "\n", "'", "-"), k=n_texts)
    return [a + gap + b for a, gap, b in zip(first, gaps, second, strict=True)]


def of_bytes(text: str, n_bytes: int) -> str:
    """Return a prefix of `text`, padded with `x` to exactly `n_bytes` of UTF-8."""
    head = text[:n_bytes].encode()[:n_bytes].decode("utf-8", "ignore")
    return head + "x" * (n_bytes - len(head.encode()))


def texts_by_size(family: Family, round: int, random: Random) -> list[str]:
    """Return texts of 2^n bytes or characters, one less, and one more, for every n up to the largest of the round.

    The largest size grows with the round.
    """
    greatest = min(_GREATEST_SIZE, _FIRST_SIZE << round // _ROUNDS_A_DOUBLING)
    powers = range(_SMALLEST_SIZE.bit_length() - 1, greatest.bit_length())
    return [_of_size(family, (random.choice((1, 1, 1, 3)) << n) + random.choice((-1, 0, 0, 1)), random) for n in powers]


def _of_size(family: Family, size: int, random: Random) -> str:
    parts: list[str] = []
    room = size
    while room > 0:
        parts.append(family(random)[:400])
        room -= len(parts[-1]) or 1
    text = "".join(parts).encode("utf-8", "replace").decode()
    return text[:size] if random.random() < 0.5 else of_bytes(text, size)


def parts_of_characters(by_id: Mapping[int, bytes]) -> list[int]:
    """Return the ids, in order, whose bytes are not whole characters."""
    return [i for i in sorted(by_id) if "\ufffd" in by_id[i].decode("utf-8", "replace")]


class RandomIds:
    """Lists of ids of a model in any order: ordinary ids, parts of characters, special tokens, runs."""

    def __init__(self, model: Model) -> None:
        by_id = model.bytes_by_id()
        self.every = sorted(by_id)
        self.cut = parts_of_characters(by_id) or self.every
        self._special = sorted(set(model.whole_token_ids.values())) or self.every

    def draw(self, random: Random) -> list[int]:
        """Return one list."""
        if random.random() < 0.1:
            return [random.choice(random.choice((self.every, self.cut)))] * random.choice(_LENGTHS_OF_REPEATS)
        pools = random.choices((self.every, self.cut, self._special), (5, 4, 1), k=random.randint(1, _LONGEST_LIST))
        return [random.choice(pool) for pool in pools]
