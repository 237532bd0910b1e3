"""Choose the cases of a model: few texts and lists of ids by which every mutant dies."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import chain, islice, takewhile
from random import Random

import regex

import impls
from harness.conform.checks.specials import texts_around
from harness.conform.questions import PIECE_BYTES, many_pieces, pieces, spellings
from harness.conform.transitions import transitions
from harness.conform.vectors.file import Vector, Vectors, vectors_of
from harness.conform.vectors.merge_mutants import chosen_ids, overlapping
from harness.conform.vectors.mutants import chosen_specials, mutants
from harness.conform.vectors.rules import CACHE_KEYS, PLACED, RULES
from harness.conform.vectors.steps import Kind, Mutant, Steps, right_steps
from harness.conform.wording import expression, has_surrogate
from harness.generators import texts as material
from harness.printable import text_of
from impls.core.errors import Unsupported
from impls.core.model.model import Model

ENOUGH = 5
"""Cases by which each mutant dies, where as many tell it apart."""
_MOST_KILLERS = 60
_N_TRANSITIONS, _N_LISTS, _N_SPELLINGS = 1_500, 200, 600
_MANY_BYTES, _LONG = 300, 5_000
_LONGEST_PIECE = 65_537

TEXTS = RULES["texts"]
Name = tuple[Kind, str]
"""The kind and the name of a mutant."""


def choose(name: str, model: Model) -> Vectors:
    """Return the vectors of a model. Raises `Unsupported` if its ids are not those of the steps, one after another."""
    right, tokenizer = right_steps(model), impls.load("compiled", model)
    alike = {key_name: list(_alike(right, key)) for key_name, key in CACHE_KEYS.items()}
    pool = list(_pool(tokenizer, right, chain.from_iterable(chain.from_iterable(alike.values()))))
    n_first, known = len(pool), {case.text for case in pool}
    further = (text for text in dict.fromkeys(transitions(model)) if text not in known and not has_surrogate(text))
    pool += [_case(tokenizer, right, text) for text in further]
    killers: dict[Name, list[int]] = {}
    for mutant in mutants(model, right):
        asked = (k for k in range(n_first) if mutant.kind == "merges" or _size(pool[k]) <= _LONG)
        dead_by = list(islice((k for k in asked if is_killed(mutant, pool[k])), _MOST_KILLERS))
        if not dead_by and mutant.kind == "pieces":
            dead_by = list(islice((k for k in range(n_first, len(pool)) if is_killed(mutant, pool[k])), ENOUGH))
        killers[mutant.kind, mutant.name] = dead_by
    chosen = dict.fromkeys(_cover(killers, [_size(case) for case in pool]))
    places = {case.text: k for k, case in enumerate(pool) if not case.allowed_special}
    for key_name, pairs in alike.items():  # a cache of whole texts shows in two of them
        both = [places[text] for text in pairs[0][1:]] if pairs else []
        killers["cache", f"texts are remembered by {key_name}"] = both
        chosen |= dict.fromkeys(both)
    hardest_first = sorted(killers, key=lambda name: len(killers[name]))
    for k in chosen:
        pool[k].chosen_for([name for name in hardest_first if k in killers[name]])
    survivors = [": ".join(name) for name, some in killers.items() if not some]
    return vectors_of(name, model, [pool[k] for k in chosen], dict(Counter(kind for kind, _ in killers)), survivors)


def is_killed(mutant: Mutant, case: Vector) -> bool:
    """Return whether a mutant answers a case wrongly, or not at all."""
    try:
        if mutant.kind == "decode":
            return mutant.steps.decode(case.ids) != case.decoded
        allowed = _allowed(mutant.steps.model, case)
        return case.text is not None and mutant.steps.ids(case.text, allowed) != case.ids
    except (ArithmeticError, LookupError, ValueError):
        return True


def _allowed(model: Model, case: Vector) -> set[str]:
    return set(model.special_tokens if case.allowed_special == "all" else case.allowed_special)


def _size(case: Vector) -> int:
    return len(case.decoded.encode())


def _cover(killers: dict[Name, list[int]], sizes: Sequence[int]) -> list[int]:
    """Return cases by which each mutant dies often enough, mostly small ones; none of them redundant."""
    needed = {name: ENOUGH if sizes[some[0]] <= _LONG else 1 for name, some in killers.items() if some}
    kills: dict[int, list[Name]] = {}
    for name, some in killers.items():
        for k in some:
            kills.setdefault(k, []).append(name)
    chosen: dict[int, None] = {}
    for name in sorted(needed, key=lambda name: len(killers[name])):
        cheapest = sorted(killers[name], key=lambda k: (150 + 8 * sizes[k]) / len(kills[k]))
        n_more = max(0, needed[name] - len(chosen.keys() & cheapest))
        chosen |= dict.fromkeys([k for k in cheapest if k not in chosen][:n_more])
    for k in sorted(chosen, key=lambda k: -sizes[k]):
        if all(len(chosen.keys() & killers[name]) > needed[name] for name in kills[k]):
            del chosen[k]
    return list(chosen)


# --- the pool --------------------------------------------------------------------------------------------------


def _case(tokenizer: impls.Tokenizer, right: Steps, text: str, allowed: Sequence[str] = ()) -> Vector:
    """Return the case of a text. Raises `Unsupported` if the steps do not lead to the same ids and text."""
    case = Vector(text=text, allowed_special="all" if "all" in allowed else [*allowed], ids=[], decoded="")
    names = _allowed(right.model, case)
    case.ids = tokenizer.encode(text, allowed_special=names, disallowed_special=())
    case.decoded = tokenizer.decode(case.ids)
    if right.ids(text, names) != case.ids or right.decode(case.ids) != case.decoded:
        why = f"{expression(text)} is not cut, normalised, split and merged one after another"
        raise Unsupported("vectors", why)
    return case


def _pool(tokenizer: impls.Tokenizer, right: Steps, more: Iterator[str]) -> Iterator[Vector]:
    """Yield the candidates, small ones first."""
    model = tokenizer.model
    names = chosen_specials(model)
    around = list(texts_around(names)) if names else []
    asked: set[tuple[str, tuple[str, ...]]] = {(text, ()) for text in chain(around, more, _texts(model))}
    asked.update((text, allowed) for text in around for allowed in ((names[0],), ("all",)))
    for text, allowed in sorted(asked, key=lambda question: (len(question[0]), question)):
        if not has_surrogate(text):
            yield _case(tokenizer, right, text, allowed)
    random, some = Random("vectors"), material.RandomIds(model)
    parts = [[i] for i in material.parts_of_characters(model.bytes_by_id())[:256]]
    for ids in [*parts, *(some.draw(random) for _ in range(_N_LISTS))]:
        if text_of(data := tokenizer.decode_bytes(ids)) is None:
            yield Vector(data=data, allowed_special=[], ids=ids, decoded=tokenizer.decode(ids))


_LEADS = (*range(0x80, 0x800, 0x40), *range(0x800, 0xD800, 0x1000), *range(0x10000, 0x110000, 0x40000))
"""A code point of each lead byte in UTF-8."""


def _texts(model: Model) -> Iterator[str]:
    learned = [text for token in model.tokens if token and (text := text_of(token)) and len(text) > 1]
    odd = [text for text in learned if not (text.isascii() and text.isalnum())]
    for characters in PLACED.values():
        expression = regex.compile(characters)
        members = (chr(code) for code in range(0x110000) if not 0xD800 <= code < 0xE000)
        some = islice(filter(expression.match, members), 2)
        yield from (frame.replace("*", c) for c in some for frame in TEXTS["of_placed"])
        joined = list(filter(expression.search, odd))  # where a token joins them a wrong cut shows
        for text in joined[:: 1 + len(joined) // 24]:
            yield from (text, text * 2, f" {text}", f"1{text}a", f"!{text}a", f"{text}a")
    yield from (f"a{chr(code)}" for code in (*range(0x80, 0x100), *_LEADS))
    yield from map(chr, range(0x80))
    yield from (frame.replace("*", c) for c in TEXTS["between"] for frame in TEXTS["frames"])
    every = list(transitions(model))
    yield from every[:: max(1, len(every) // _N_TRANSITIONS)]
    yield from islice(spellings(), _N_SPELLINGS)
    yield from material.hard_texts()
    yield from material.model_texts(model, 0, 100)
    yield from (f"{before}{text}" for text in overlapping(model) for before in ("", " "))
    yield from ((model.tokens[i] or b"").decode() for i in chosen_ids(model))
    assert _LONGEST_PIECE in PIECE_BYTES
    lengths = enumerate(takewhile(lambda piece: len(piece.encode()) <= _LONGEST_PIECE, pieces(model)))
    yield from (piece for k, piece in lengths if (k % 7 == 0 if len(piece) <= _MANY_BYTES else _is_long_run(piece)))


def _is_long_run(piece: str) -> bool:
    return piece.isascii() and piece.isalpha() and (len(set(piece)) == 1 or len(piece) in (4_097, _LONGEST_PIECE))


def _words() -> Iterator[str]:
    """Yield pieces that are alike: short words, and long ones that differ at their ends, in case or in form."""
    yield from islice(many_pieces(), 30_000)
    letters = "etaoinshrdlu" * 11
    for some in (letters[:n] for n in range(2, 131)):
        half = len(some) // 2
        for last in "tn":
            yield from (f" {some}{last}", f" {last}{some}", f" {some[:half]}{last}{some[half:]}")
        yield from (f" {some}", f" {some.title()}", f" {some[::-1]}")
    yield from TEXTS["words"]


def _alike(right: Steps, key: Callable[[str], object]) -> Iterator[tuple[str, str, str]]:
    """Yield pieces that have a key of a cache in common, and not their ids: both in one text, and each alone."""
    known: dict[object, str] = {}
    n_left = 2 * ENOUGH
    for word in _words():
        other = known.setdefault(key(word), word)
        if other != word and right.split(other + word) == [other, word] and right.merge(other) != right.merge(word):
            yield other + word, other, word
            if not (n_left := n_left - 1):
                return
