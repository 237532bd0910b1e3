"""Wrong tokenizers of a model, made by rule: each changes one step of a right one.

A right one cuts at special tokens, normalises, splits, merges and decodes. Nothing here knows a text or a target.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import accumulate, chain, pairwise, product
from typing import Any

import regex

from harness.conform.transitions import CLASS
from harness.conform.vectors.merge_mutants import of_merging, renamings
from harness.conform.vectors.pattern_mutants import changed_patterns
from harness.conform.vectors.rules import CACHE_KEYS, NORMALISING, PLACED, READ, WRITTEN
from harness.conform.vectors.steps import Change, Decode, Fits, Mutant, Split, Steps, decoder
from impls.core.model.model import Model
from impls.core.text.patterns import Splitter
from impls.core.text.stages import with_gaps, without_gaps


def mutants(model: Model, right: Steps) -> Iterator[Mutant]:
    """Yield the mutants of a model, by kind."""
    for name, steps in _of_specials(model, right):
        yield Mutant("special tokens", name, steps)
    for name, change in NORMALISING.items():
        yield Mutant("normalisation", name, replace(right, normal=partial(_then, right.normal, change)))
    if model.normalization is not None:
        yield Mutant("normalisation", f"without {model.normalization}", replace(right, normal=str))
    for name, split in _of_splitting(model, right.split):
        yield Mutant("pieces", name, replace(right, split=split))
    for name, merge in of_merging(model, right.merge):
        yield Mutant("merges", name, replace(right, merge=merge))
    for name, key in CACHE_KEYS.items():
        yield Mutant("cache", f"pieces are remembered by {name}", replace(right, split=_cached(right.split, key)))
    for name, decode in _of_decoding(model, right.decode):
        yield Mutant("decode", name, replace(right, decode=decode))


def _then(change: Change, first: Callable[[Any], str], given: Any) -> str:
    return change(first(given))


def _cached(split: Split, key: Callable[[str], object]) -> Split:
    """Return a function that takes a piece for the first one in the text with the same key."""

    def changed(text: str) -> list[str]:
        known: dict[object, str] = {}
        return [known.setdefault(key(piece), piece) for piece in split(text)]

    return changed


# --- special tokens --------------------------------------------------------------------------------------------

_FITS: dict[str, Fits] = {
    "not recognised inside words": lambda text, start, end: (
        None if any(map(str.isalnum, text[max(0, start - 1) : start] + text[end : end + 1])) else (start, end)
    ),
    "recognised at the start only": lambda text, start, end: None if start else (start, end),
    "not recognised at the end": lambda text, start, end: None if end == len(text) else (start, end),
    "swallow white space after them": lambda text, start, end: (start, len(text) - len(text[end:].lstrip())),
    "swallow white space before them": lambda text, start, end: (len(text[:start].rstrip()), end),
    "swallow a line end after them": lambda text, start, end: (start, end + text.startswith("\n", end)),
    "recognised only once side by side": lambda text, start, end: (
        None if text[:start].endswith(text[start:end]) else (start, end)
    ),
}


def chosen_specials(model: Model) -> list[str]:
    """Return a few special tokens: the shortest, the longest, and those that begin another or are begun by one."""
    names = sorted(model.special_tokens, key=lambda name: (len(name), name))
    nested = [pair for pair in product(names, repeat=2) if pair[0] != pair[1] and pair[1].startswith(pair[0])]
    return list(dict.fromkeys([*names[:3], *names[-1:], *chain.from_iterable(nested)]))[:8]


def _of_specials(model: Model, right: Steps) -> Iterator[tuple[str, Steps]]:
    if not (names := set(model.special_tokens)):
        return
    for lost in chosen_specials(model):
        yield f"{lost} is lost", replace(right, recognised=partial(_without, {lost}))
    longer = {name for name in names if any(other != name and name.startswith(other) for other in names)}
    yield "all are recognised where none is allowed", replace(right, recognised=lambda allowed: allowed or names)
    yield "all are recognised where some are allowed", replace(right, recognised=lambda allowed: allowed and names)
    yield "of two the shorter is recognised", replace(right, recognised=partial(_without, longer))
    for name, fits in _FITS.items():
        yield f"special tokens are {name}", replace(right, fits=fits)


def _without(lost: set[str], allowed: Collection[str]) -> set[str]:
    return {*allowed} - lost


# --- splitting -------------------------------------------------------------------------------------------------


def _of_splitting(model: Model, split: Split) -> Iterator[tuple[str, Split]]:
    """Yield the changed patterns, then the characters taken for others, which are put into other classes."""
    for k, stage in enumerate(model.pattern):
        where = f"stage {k + 1}: " if len(model.pattern) > 1 else ""
        for name, changed in changed_patterns(without_gaps(stage)):
            yield where + name, Splitter((*model.pattern[:k], with_gaps(changed), *model.pattern[k + 1 :])).split
    classes = [regex.compile(name) for name in dict.fromkeys(CLASS.findall(" ".join(model.pattern)))]
    for name, characters in PLACED.items():
        expression = regex.compile(characters)
        first = next(chr(code) for code in chain(range(0xD800), range(0xE000, 0x110000)) if expression.match(chr(code)))
        by_classes = {tuple(bool(members.match(c)) for members in classes): c for c in "\n !1Aa" + first}
        for other in sorted({*by_classes.values()} - {first}):
            yield f"{name} are split like {other!a}", _split_as_if(split, expression, other)


def _split_as_if(split: Split, characters: regex.Pattern[str], other: str) -> Split:
    def changed(text: str) -> list[str]:
        ends = accumulate(map(len, split(characters.sub(other, text))), initial=0)
        return [text[start:end] for start, end in pairwise(ends)]

    return changed


# --- decoding --------------------------------------------------------------------------------------------------


def _of_decoding(model: Model, decode: Decode) -> Iterator[tuple[str, Decode]]:
    by_id, special = model.bytes_by_id(), set(model.whole_token_ids.values())
    for name, read in READ.items():
        yield name, decoder(model, read)
    for name, change in WRITTEN.items():
        yield name, partial(_then, change, decode)
    for name, between in (("each token is read alone", ""), ("a space between tokens", " ")):
        yield name, partial(_singly, by_id, between)
    if special:
        yield "special tokens are left out", lambda ids: decode([i for i in ids if i not in special])
    yield "equal neighbours are one", lambda ids: decode([i for i, after in pairwise([*ids, -1]) if i != after])
    for name, names in renamings(model):
        yield name, partial(_renamed, decode, names)


def _singly(by_id: Mapping[int, bytes], between: str, ids: Sequence[int]) -> str:
    return between.join(by_id[i].decode("utf-8", "replace") for i in ids)


def _renamed(decode: Decode, names: Mapping[int, int], ids: Sequence[int]) -> str:
    return decode([names.get(i, i) for i in ids])
