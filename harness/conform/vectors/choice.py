"""Choose the cases of a model: few texts and lists of ids by which every mutant dies."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from heapq import heapify, heappop, heappush
from itertools import islice, takewhile
from random import Random

import regex

import impls
from harness.conform.checks.specials import texts_around
from harness.conform.questions import PIECE_BYTES, many_pieces, pieces, spellings
from harness.conform.transitions import transitions
from harness.conform.vectors.merge_mutants import chosen_ids, overlapping
from harness.conform.vectors.mutants import chosen_specials, mutants
from harness.conform.vectors.rules import CACHE_KEYS, PLACED
from harness.conform.vectors.steps import Kind, Mutant, Steps, right_steps
from harness.conform.wording import expression
from harness.generators import texts as material
from impls.core.errors import Unsupported
from impls.core.model.model import Model

ENOUGH = 5
"""Cases by which each mutant dies, where as many tell it apart."""
_MOST_KILLERS = 60
_N_TRANSITIONS, _N_LISTS, _N_SPELLINGS = 1_500, 200, 600
_MANY_BYTES, _LONG = 300, 5_000
_LONGEST_PIECE = 65_537
_WORDS = 30_000


@dataclass(eq=False, slots=True)
class Case:
    """A text with its ids, or ids that decode to no text."""

    text: str | None
    allowed: tuple[str, ...]
    ids: list[int]
    decoded: str
    data: bytes
    """What the ids decode to."""
    kills: list[tuple[Kind, str]] = field(default_factory=list)
    """The mutants that it was chosen for."""

    @property
    def size(self) -> int:
        """Return about how many bytes it takes in a file."""
        return 150 + 2 * len(self.data) + 6 * len(self.ids)


@dataclass(frozen=True, slots=True)
class Choice:
    """The chosen cases, and the mutants."""

    cases: list[Case]
    mutants: dict[Kind, int]
    survivors: list[tuple[Kind, str]]
    """Mutants that no text of the pool tells apart: the same function, or a fault that shows elsewhere."""


def choose(model: Model) -> Choice:
    """Choose the cases. Raises `Unsupported` for a model whose ids are not those of the steps, one after another."""
    right = right_steps(model)
    pool = list(_pool(model, right))
    place = {id(case): k for k, case in enumerate(pool)}
    killers: dict[tuple[Kind, str], list[int]] = {}
    short = [case for case in pool if len(case.data) <= _LONG]
    for mutant in mutants(model, right):
        asked = pool if mutant.kind == "merges" else short
        dead_by = (place[id(case)] for case in asked if is_killed(mutant, case))
        killers[mutant.kind, mutant.name] = list(islice(dead_by, _MOST_KILLERS))
    chosen = [pool[k] for k in _cover(killers, [case.size for case in pool])]
    for case, mutant_names in zip(chosen, _kills(killers, pool, chosen), strict=True):
        case.kills = mutant_names
    of_texts = dict(_of_texts(pool, chosen))
    counts = Counter(kind for kind, _ in killers)
    counts["cache"] += len(of_texts)
    survivors = [name for name, some in {**killers, **of_texts}.items() if not some]
    return Choice(chosen, dict(counts), survivors)


def is_killed(mutant: Mutant, case: Case) -> bool:
    """Return whether a mutant answers a case wrongly, or not at all."""
    try:
        if mutant.kind == "decode":
            return mutant.steps.decode(case.ids) != case.decoded
        return case.text is not None and mutant.steps.ids(case.text, case.allowed) != case.ids
    except (ArithmeticError, LookupError, ValueError):
        return True


def _pool(model: Model, right: Steps) -> Iterator[Case]:
    """Yield the candidates, small ones first."""
    tokenizer = impls.load("compiled", model)
    asked = {(text, allowed): None for text, allowed in _questions(model, right) if not _SURROGATE.search(text)}
    for text, allowed in sorted(asked, key=lambda question: (len(question[0]), question)):
        ids = tokenizer.encode(text, allowed_special=set(allowed), disallowed_special=())
        decoded = tokenizer.decode(ids)
        if right.ids(text, allowed) != ids or right.decode(ids) != decoded:
            why = f"{expression(text)} is not cut, normalised, split and merged one after another"
            raise Unsupported("vectors", why)
        yield Case(text, allowed, ids, decoded, tokenizer.decode_bytes(ids))
    for ids in _lists(model):
        data = tokenizer.decode_bytes(ids)
        if material.text_of(data) is None:
            yield Case(None, (), ids, tokenizer.decode(ids), data)


_SURROGATE = regex.compile("[\ud800-\udfff]")


def _questions(model: Model, right: Steps) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield texts, and the special tokens that are allowed in them."""
    names = chosen_specials(model)
    every = tuple(sorted(model.special_tokens))
    for text in texts_around(names) if names else ():
        yield from ((text, ()), (text, (names[0],)), (text, every))
    yield from ((text, ()) for text in _texts(model, right))


_BETWEEN = (
    "'\u2019_\u200b\u200c\u200d\ufeff\x1c\x1f\u0085\u00a0\u3000\t\v\f\r\n ./-!1"
    "\u00bd\u0662\u0301\u0903\u017f\u212a\u02bc"
)
_FRAMES = (
    "*s", "a*t", "a*re", "a*ve b", "A*LL", "x*m", "x*d", "1*1", "12*34", "**", " *a", "* a", "a *", "a *b", "!*!",
    " *!", "a*\n", "\n*\n", "*\n*", "*1", " *1", "* 1", "  *  a", "a* *b", "*aB", "Aa*Aa", " *\n\n", "!*\n/*",
)  # fmt: skip
"""Characters that one class or another may hold, and where they are put."""


def _texts(model: Model, right: Steps) -> Iterator[str]:
    for characters in PLACED.values():
        expression = regex.compile(characters)
        codes = (code for code in range(0x110000) if not 0xD800 <= code < 0xE000 and expression.match(chr(code)))
        for c in map(chr, islice(codes, 2)):
            yield from (c, f"a{c}b1{c}2 {c}\n", f"{c}a{c}", f"{c}{c}", f" {c}", f"'{c}", f"a{c}", f"{c}s", f"1{c}1")
    yield from (_JOINED.replace("*", chr(code)) for code in (*range(0x80, 0x100), *_LEADS))
    yield from map(chr, range(0x80))
    yield from _joined_by_tokens(model)
    for c in _BETWEEN:
        yield from (frame.replace("*", c) for frame in _FRAMES)
    every = list(transitions(model))
    yield from every[:: max(1, len(every) // _N_TRANSITIONS)]
    yield from islice(spellings(), _N_SPELLINGS)
    yield from material.hard_texts()
    yield from material.model_texts(model, 0, 100)
    yield from (f"{before}{text}" for text in overlapping(model) for before in ("", " "))
    yield from ((model.tokens[i] or b"").decode() for i in chosen_ids(model))
    yield from _pieces(model)
    yield from _colliding(right)


_JOINED = "a*"
_LEADS = (*range(0x80, 0x800, 0x40), *range(0x800, 0xD800, 0x1000), *range(0x10000, 0x110000, 0x40000))
"""A code point of each lead byte in UTF-8."""


def _joined_by_tokens(model: Model) -> Iterator[str]:
    """Yield tokens of several characters, for each class that may be misplaced: only in these a wrong cut shows."""
    texts = [text for token in model.tokens if token and (text := material.text_of(token)) and len(text) > 1]
    left = dict.fromkeys(map(regex.compile, PLACED.values()), 2)
    for text in texts:
        if text.isascii() and text.isalnum():
            continue
        for characters in [some for some in left if some.search(text)]:
            yield from (text, f" {text}", f"1{text}a")
            left[characters] -= 1
            if not left[characters]:
                del left[characters]


def _pieces(model: Model) -> Iterator[str]:
    some = takewhile(lambda piece: len(piece.encode()) <= _LONGEST_PIECE, pieces(model))
    assert _LONGEST_PIECE in PIECE_BYTES
    for k, piece in enumerate(some):
        if k % 7 == 0 if len(piece) <= _MANY_BYTES else _is_long_run(piece):
            yield piece


def _is_long_run(piece: str) -> bool:
    return piece.isascii() and piece.isalpha() and (len(set(piece)) == 1 or len(piece) in (4_097, _LONGEST_PIECE))


def _words() -> Iterator[str]:
    """Yield pieces that are alike: short words, and long ones that differ at their ends, in case or in form."""
    yield from islice(many_pieces(), _WORDS)
    letters = "etaoinshrdlu" * 11
    for n in range(2, 131):
        yield from (f" {letters[:n]}{last}" for last in "tn")
        yield from (f" {first}{letters[:n]}" for first in "tn")
        yield from (f" {letters[: n // 2]}{middle}{letters[n // 2 : n]}" for middle in "tn")
        yield from (f" {letters[:n]}", f" {letters[:n].title()}", f" {letters[n - 1 :: -1]}")
    yield from (" caf\u00e9", " cafe\u0301", " \u212b", " \u00c5", " \ufb01t", " fit", " \u0430b", " 0b")
    yield from ("word", " word", " Word", " WORD", " w\u0169rd", " wird")


def _colliding(right: Steps) -> Iterator[str]:
    """Yield for each key of a cache texts of two pieces that have it in common, and not their ids."""
    words = list(_words())
    for key in CACHE_KEYS.values():
        known: dict[object, str] = {}
        n_left = 2 * ENOUGH
        for word in words:
            other = known.setdefault(key(word), word)
            if other == word or right.split(other + word) != [other, word]:
                continue
            if right.merged([other]) != right.merged([word]):
                yield from (other + word, other, word)
                if not (n_left := n_left - 1):
                    break


def _lists(model: Model) -> Iterator[list[int]]:
    """Yield lists of ids, of which many decode to no text."""
    random, some = Random("vectors"), material.RandomIds(model)
    yield from ([i] for i in material.parts_of_characters(model.bytes_by_id())[:256])
    yield from (some.draw(random) for _ in range(_N_LISTS))


# --- the cover -------------------------------------------------------------------------------------------------


def _cover(killers: dict[tuple[Kind, str], list[int]], sizes: Sequence[int]) -> list[int]:
    """Return cases by which each mutant dies often enough, the most per byte first; none of them redundant."""
    needed = {mutant: _needed([sizes[k] for k in some]) for mutant, some in killers.items()}
    left = dict(needed)
    kills: dict[int, list[tuple[Kind, str]]] = {}
    for mutant, some in killers.items():
        for k in some:
            kills.setdefault(k, []).append(mutant)

    def worth(k: int) -> float:
        return -sum(left[mutant] > 0 for mutant in kills[k]) / sizes[k]

    heap = [(worth(k), k) for k in sorted(kills)]
    heapify(heap)
    chosen: list[int] = []
    while heap and any(left.values()):
        _, k = heappop(heap)
        now = worth(k)
        if heap and now > heap[0][0]:  # it has become worth less since
            heappush(heap, (now, k))
            continue
        chosen.append(k)
        for mutant in kills[k]:
            left[mutant] = max(0, left[mutant] - 1)
    n_dead_by = Counter(mutant for k in chosen for mutant in kills[k])
    for k in sorted(chosen, key=lambda k: (-sizes[k], k)):
        if all(n_dead_by[mutant] > needed[mutant] for mutant in kills[k]):
            chosen.remove(k)
            n_dead_by.subtract(kills[k])
    return chosen


def _needed(sizes: Sequence[int]) -> int:
    """Return by how many cases of these sizes a mutant should die."""
    return min(ENOUGH, len(sizes)) if min(sizes, default=0) <= _LONG else 1


def _kills(
    killers: dict[tuple[Kind, str], list[int]], pool: Sequence[Case], chosen: Sequence[Case]
) -> Iterator[list[tuple[Kind, str]]]:
    """Yield the mutants that die by each of the cases, the hardest to kill first."""
    of: dict[int, list[tuple[Kind, str]]] = {id(case): [] for case in chosen}
    for mutant in sorted(killers, key=lambda mutant: len(killers[mutant])):
        for k in killers[mutant]:
            if (names := of.get(id(pool[k]))) is not None:
                names.append(mutant)
    return (of[id(case)] for case in chosen)


def _of_texts(pool: Sequence[Case], chosen: list[Case]) -> Iterator[tuple[tuple[Kind, str], bool]]:
    """Yield the mutants that remember whole texts, and whether they die; add two texts for each that does not yet."""
    for name, key in CACHE_KEYS.items():
        pair = _pair(chosen, key) or _pair([case for case in pool if len(case.ids) < _MANY_BYTES], key)
        mutant: tuple[Kind, str] = ("cache", f"texts are remembered by {name}")
        for case in pair or ():
            if case not in chosen:
                chosen.append(case)
                case.kills = [mutant]
        yield mutant, pair is not None


def _pair(cases: Sequence[Case], key: object) -> tuple[Case, Case] | None:
    """Return two texts that a cache with this key takes for one."""
    known: dict[object, Case] = {}
    for case in cases:
        if case.text is not None and not case.allowed:
            other = known.setdefault(key(case.text), case)  # type: ignore[operator]
            if other.ids != case.ids:
                return other, case
    return None
