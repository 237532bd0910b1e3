"""Checks of the arguments of a tokenizer's methods, and the one TypeError they raise.

    encode(b"x")       text must be a str, not bytes b'x'
    decode([7, 1.0])   ids[1] must be a whole number, not 1.0

A text is a `str`; an id, `threads` and the like are whole numbers: int, or any type with `__index__` (NumPy's
integers), so that True is 1, as everywhere in Python. Knows no model and no algorithm.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import partial
from operator import index
from typing import Any, Literal, SupportsIndex, TypedDict, TypeVar

SpecialSet = Collection[str] | Literal["all"]


class Special(TypedDict, total=False):
    """Which special tokens are encoded as their id, and which are refused: the arguments of `Tokenizer.encode`."""

    allowed_special: SpecialSet
    disallowed_special: SpecialSet


Ids = TypeVar("Ids")

_SHOWN = 20


def wrong_type(name: str, wanted: str, given: object) -> TypeError:
    """Return the error for the argument `name`."""
    return TypeError(f"{name} must be {wanted}, not {_described(given)}")


def _described(given: object) -> str:
    """Return the value of an argument if it is short, else its type."""
    if given is None or isinstance(given, int | float):
        return repr(given)
    if isinstance(given, str | bytes):
        return f"{type(given).__name__} {given[:_SHOWN]!r}"
    return type(given).__name__


def check_text(text: object, name: str = "text") -> None:
    """Raise TypeError unless `text` is a str."""
    if not isinstance(text, str):
        raise wrong_type(name, "a str", text)


def checked_bytes(data: object) -> bytes:
    """Return `data`, a bytes-like object, as bytes; raise TypeError for anything else."""
    if not isinstance(data, bytes | bytearray | memoryview):
        raise wrong_type("data", "bytes", data)
    return bytes(data)


def text_sequence(texts: Iterable[str]) -> Sequence[str]:
    """Return the texts of a batch as a sequence, since they are read more than once; raise TypeError for a single text
    or an object that is not iterable."""
    if isinstance(texts, list | tuple):
        return texts
    return list(iterated("texts", "several texts", texts))


def texts_in_turn(texts: Iterable[str]) -> Iterator[str]:
    """Yield the texts of a corpus, reading them once; raise TypeError for a single text, an object that is not
    iterable, and, when it is reached, an item that is not a str."""
    for position, text in enumerate(iterated("texts", "several texts", texts)):
        if type(text) is not str:
            check_text(text, f"texts[{position}]")
        yield text


def check_texts(texts: Sequence[object]) -> None:
    """Raise TypeError naming the first of `texts` that is not a str."""
    for position, text in enumerate(texts):
        if type(text) is not str:
            check_text(text, f"texts[{position}]")


def encoded_batch(encode: Callable[[list[str], int], Ids], texts: Iterable[str], threads: int | None) -> Ids:
    """Return `encode(texts, threads)`; if it raises TypeError, name the first item that is not a str instead."""
    given, n_threads = list(text_sequence(texts)), thread_count(threads)
    try:
        return encode(given, n_threads)
    except TypeError:
        check_texts(given)
        raise


def id_list(ids: Iterable[SupportsIndex]) -> list[Any]:
    """Return `ids` as a list, without a copy if it is one; raise TypeError if it is not iterable.

    The items are not checked.
    """
    if type(ids) is list:
        return ids
    if isinstance(ids, str | bytes | bytearray):
        raise wrong_type("ids", "several whole numbers", ids)
    if getattr(getattr(ids, "dtype", None), "kind", None) in ("i", "u", "b"):
        return id_list(ids.tolist())  # type: ignore[attr-defined]
    return list(iterated("ids", "several whole numbers", ids))


def checked_ids(ids: Iterable[SupportsIndex]) -> list[int]:
    """Return `ids` as a list of int; raise TypeError naming the first item that is not a whole number."""
    listed = id_list(ids)
    if set(map(type, listed)) <= {int}:
        return listed
    return [whole_number(f"ids[{position}]", i) for position, i in enumerate(listed)]


def iterated(name: str, wanted: str, given: Iterable[Any]) -> Iterable[Any]:
    """Return an iterator over the argument `name`; raise TypeError for a single text, or if there is none."""
    if isinstance(given, str | bytes | bytearray):
        raise TypeError(f"{name} must be {wanted}, not one {type(given).__name__}; put it into a list")
    try:
        return iter(given)
    except TypeError:
        raise wrong_type(name, wanted, given) from None


def whole_number(name: str, given: SupportsIndex, wanted: str = "a whole number") -> int:
    """Return `given` as an int; raise TypeError if it is not a whole number."""
    try:
        return int(index(given))
    except TypeError:
        raise wrong_type(name, wanted, given) from None


def unsigned(name: str, given: Any, bits: int = 64) -> int:
    """Return a whole number of `bits` bits; raise TypeError, or OverflowError for a number out of range."""
    number = whole_number(name, given)
    if not 0 <= number < 1 << bits:
        raise OverflowError(f"{name} must be from 0 to {(1 << bits) - 1}, not {number}")
    return number


def at_least(least: int, name: str, given: SupportsIndex, or_none: str = "") -> int:
    """Return `given`, the argument `name`, as an int; raise ValueError below `least`."""
    number = whole_number(name, given, f"a whole number{or_none}")
    if number < least:
        raise ValueError(f"{name} must be at least {least}{or_none}, not {number}")
    return number


token_limit = partial(at_least, 0)
"""Takes the name of an argument and its value."""


def thread_count(threads: int | None) -> int:
    """Return `threads`, or the number of cores for None; raise ValueError below 1."""
    return (os.cpu_count() or 1) if threads is None else at_least(1, "threads", threads, " or None")


def check_special_sets(allowed_special: SpecialSet, disallowed_special: SpecialSet) -> None:
    """Raise TypeError for an argument that is neither a collection of texts nor "all"; empty or None means no tokens.

    An implementation may delay this check until a text contains special text: `Compiled` does for single texts.
    """
    if not allowed_special and disallowed_special in ("all", ()):
        return
    for name, given in (("allowed_special", allowed_special), ("disallowed_special", disallowed_special)):
        if given and given != "all" and (isinstance(given, str | bytes) or not isinstance(given, Collection)):
            raise wrong_type(name, "a set of texts or 'all'", given)
