"""Wrong tokenizers of a model, made by rule: each changes one step of a right one.

A right one cuts at special tokens, normalises, splits, merges and decodes. Nothing here knows a text or a target.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import accumulate, chain, pairwise, product
from typing import Any

import regex

from harness.conform.transitions import CLASS
from harness.conform.vectors.merge_mutants import BYTES, chosen_ids, of_merging
from harness.conform.vectors.pattern_mutants import changed_patterns
from harness.conform.vectors.rules import CACHE_KEYS, NORMALISING, PLACED, READ, WRITTEN
from harness.conform.vectors.steps import Mutant, Split, Steps, decoder, each, segments
from impls.core.model.model import Model
from impls.core.text.patterns import Splitter
from impls.core.text.stages import with_gaps, without_gaps

Decode = Callable[[Sequence[int]], str]


def mutants(model: Model, right: Steps) -> Iterator[Mutant]:
    """Yield the mutants of a model, by kind."""
    for name, cut in _of_specials(model):
        yield Mutant("special tokens", name, replace(right, segments=cut))
    for name, change in NORMALISING.items():
        yield Mutant("normalisation", name, replace(right, normal=_after(change, right.normal)))
    if model.normalization is not None:
        yield Mutant("normalisation", f"without {model.normalization}", replace(right, normal=str))
    for name, split in _of_splitting(model, right.split):
        yield Mutant("pieces", name, replace(right, split=split))
    for name, merge in of_merging(model, right):
        yield Mutant("merges", name, replace(right, merged=each(merge)))
    for name, key in CACHE_KEYS.items():
        yield Mutant("cache", f"pieces are remembered by {name}", replace(right, merged=_cached(right.merged, key)))
    for name, decode in _of_decoding(model, right):
        yield Mutant("decode", name, replace(right, decode=decode))


def _after(change: Callable[[str], str], normal: Callable[[str], str]) -> Callable[[str], str]:
    return lambda text: normal(change(text))


# --- special tokens --------------------------------------------------------------------------------------------

_MOST_LOST = 8


def _all_but(lost: str, allowed: tuple[str, ...]) -> set[str]:
    return set(allowed) - {lost}


def chosen_specials(model: Model) -> list[str]:
    """Return a few special tokens: the shortest, the longest, and those that begin another or are begun by one."""
    names = sorted(model.special_tokens, key=lambda name: (len(name), name))
    nested = [pair for pair in product(names, repeat=2) if pair[0] != pair[1] and pair[1].startswith(pair[0])]
    return list(dict.fromkeys([*names[:3], *names[-1:], *chain.from_iterable(nested)]))[:_MOST_LOST]


def _of_specials(model: Model) -> Iterator[tuple[str, Callable[[str, tuple[str, ...]], list[str | int]]]]:
    names = sorted(model.special_tokens)
    if not names:
        return
    for lost in chosen_specials(model):
        yield f"{lost} is lost", segments(model, partial(_all_but, lost))
    yield "all are recognised where none is allowed", segments(model, lambda allowed: allowed or names)
    yield "all are recognised where some are allowed", segments(model, lambda allowed: names if allowed else ())
    longer = {name for name in names if any(other != name and name.startswith(other) for other in names)}
    yield "of two the shorter is recognised", segments(model, lambda allowed: set(allowed) - longer)

    def alone(text: str, start: int, end: int) -> tuple[int, int] | None:
        beside = text[start - 1 : start] + text[end : end + 1]
        return None if any(map(str.isalnum, beside)) else (start, end)

    def with_space(text: str, start: int, end: int) -> tuple[int, int]:
        return start, end + len(text[end:]) - len(text[end:].lstrip())

    moved: dict[str, Callable[[str, int, int], tuple[int, int] | None]] = {
        "are not recognised inside words": alone,
        "are recognised at the start only": lambda text, start, end: None if start else (start, end),
        "are not recognised at the end": lambda text, start, end: None if end == len(text) else (start, end),
        "swallow white space after them": with_space,
        "swallow white space before them": lambda text, start, end: (len(text[:start].rstrip()), end),
        "swallow a line end after them": lambda text, start, end: (start, end + (text[end : end + 1] == "\n")),
        "are recognised only once side by side": lambda text, start, end: (
            None if text[:start].endswith(text[start:end]) else (start, end)
        ),
    }
    for name, fits in moved.items():
        yield f"special tokens {name}", segments(model, lambda allowed: allowed, fits)
    yield "their ids are one more", segments(model, lambda allowed: allowed, shift=1)
    lowered = segments(model, lambda allowed: map(str.lower, allowed))
    yield "they are recognised in small letters", lambda text, allowed: lowered(text.lower(), allowed)


# --- splitting -------------------------------------------------------------------------------------------------

_TAKEN_FOR = ("a", "A", "1", "!", " ", "\n")


def _of_splitting(model: Model, split: Split) -> Iterator[tuple[str, Split]]:
    """Yield the changed patterns, then the characters taken for others, which are put into other classes."""
    for k, stage in enumerate(model.pattern):
        where = f"stage {k + 1}: " if len(model.pattern) > 1 else ""
        for name, changed in changed_patterns(without_gaps(stage)):
            stages = (*model.pattern[:k], with_gaps(changed), *model.pattern[k + 1 :])
            yield where + name, Splitter(stages).split
    classes = [regex.compile(name) for name in dict.fromkeys(CLASS.findall(" ".join(model.pattern)))]
    for name, characters in PLACED.items():
        expression = regex.compile(characters)
        first = next(chr(code) for code in chain(range(0xD800), range(0xE000, 0x110000)) if expression.match(chr(code)))
        seen = [[bool(one.match(first)) for one in classes]]
        for other in _TAKEN_FOR:
            classified = [bool(one.match(other)) for one in classes]
            if classified not in seen:
                seen.append(classified)
                yield f"{name} are split like {other!a}", _split_as_if(split, expression, other)


def _split_as_if(split: Split, characters: Any, other: str) -> Split:
    def changed(text: str) -> list[str]:
        ends = accumulate(map(len, split(characters.sub(other, text))), initial=0)
        return [text[start:end] for start, end in pairwise(ends)]

    return changed


# --- caching ---------------------------------------------------------------------------------------------------


def _cached(merged: Callable[[list[str]], list[int]], key: Callable[[str], object]) -> Callable[[list[str]], list[int]]:
    def changed(pieces: list[str]) -> list[int]:
        known: dict[object, list[int]] = {}
        return [i for piece in pieces for i in known.setdefault(key(piece), merged([piece]))]

    return changed


# --- decoding --------------------------------------------------------------------------------------------------


def _of_decoding(model: Model, right: Steps) -> Iterator[tuple[str, Decode]]:
    decode, by_id, special = right.decode, model.bytes_by_id(), set(model.whole_token_ids.values())
    for name, read in READ.items():
        yield name, decoder(model, read)
    for name, change in WRITTEN.items():
        yield name, partial(_then, decode, change)
    yield "each token is read alone", lambda ids: "".join(by_id[i].decode("utf-8", "replace") for i in ids)
    yield "a space between tokens", lambda ids: " ".join(by_id[i].decode("utf-8", "replace") for i in ids)
    if special:
        yield "special tokens are left out", lambda ids: decode([i for i in ids if i not in special])
    yield "equal neighbours are one", lambda ids: decode([i for i, after in pairwise([*ids, -1]) if i != after])
    for n in (16, 17):
        if model.vocab_size > 1 << n:
            yield f"ids of {n} bits", partial(_of_bits, decode, n)
    for i in chosen_ids(model):
        yield f"id {i} is nothing", partial(_renamed, decode, {i: None})
    for byte in BYTES if model.alphabet == "bytes" else ():
        one, other = (model.id_by_token[bytes([byte + k])] for k in (0, 1))
        yield f"byte {byte:#04x} is the next", partial(_renamed, decode, {one: other})


def _then(decode: Decode, change: Callable[[str], str], ids: Sequence[int]) -> str:
    return change(decode(ids))


def _of_bits(decode: Decode, n: int, ids: Sequence[int]) -> str:
    return decode([i % (1 << n) for i in ids])


def _renamed(decode: Decode, names: Mapping[int, int | None], ids: Sequence[int]) -> str:
    return decode([i for i in (names.get(i, i) for i in ids) if i is not None])
