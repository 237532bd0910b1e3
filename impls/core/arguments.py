"""What the arguments of a tokenizer's methods may be, and the one TypeError for what is of another type.

    encode(b"x")       text must be a str, not bytes b'x'
    decode([7, 1.0])   ids[1] must be a whole number, not 1.0

A text is a `str`; an id, `threads` and the like are whole numbers: int, and whatever else stands for one exactly
(`__index__`: NumPy's integers), so that True is 1, as everywhere in Python. Knows no model and no algorithm.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from numbers import Real
from operator import index
from typing import Any, Literal, SupportsIndex, TypeVar

SpecialSet = Collection[str] | Literal["all"]

Ids = TypeVar("Ids")

_SHOWN = 20


def wrong_type(name: str, wanted: str, given: object) -> TypeError:
    """The error for the argument `name`."""
    return TypeError(f"{name} must be {wanted}, not {_described(given)}")


def _described(given: object) -> str:
    """Its value where that is short to say, else its type."""
    if given is None or isinstance(given, int | float):
        return repr(given)
    if isinstance(given, str | bytes):
        return f"{type(given).__name__} {given[:_SHOWN]!r}"
    return type(given).__name__


def check_text(text: object, name: str = "text") -> None:
    """Raise TypeError for what is no text."""
    if not isinstance(text, str):
        raise wrong_type(name, "a str", text)


def checked_bytes(data: object) -> bytes:
    """`data`, bytes or what holds them; TypeError for anything else."""
    if not isinstance(data, bytes | bytearray | memoryview):
        raise wrong_type("data", "bytes", data)
    return bytes(data)


def text_sequence(texts: Iterable[str]) -> Sequence[str]:
    """The texts of a batch, which are read more than once; TypeError for one text and for what is no batch."""
    if isinstance(texts, list | tuple):
        return texts
    if isinstance(texts, str | bytes | bytearray):
        raise TypeError(f"texts must be several texts, not one {type(texts).__name__}; put it into a list")
    return list(_iterated("texts", "several texts", texts))


def texts_in_turn(texts: Iterable[str]) -> Iterator[str]:
    """The texts of a corpus, which are read once; TypeError for one text, for what is no corpus, and for a text that
    is none, when it is met."""
    if isinstance(texts, str | bytes | bytearray):
        text_sequence(texts)
    for position, text in enumerate(_iterated("texts", "several texts", texts)):
        if type(text) is not str:
            check_text(text, f"texts[{position}]")
        yield text


def check_texts(texts: Sequence[object]) -> None:
    """Raise TypeError that names the first of `texts` that is none."""
    for position, text in enumerate(texts):
        if type(text) is not str:
            check_text(text, f"texts[{position}]")


def encoded_batch(encode: Callable[[list[str], int], Ids], texts: Iterable[str], threads: int | None) -> Ids:
    """`encode(texts, threads)`, which raises TypeError for what is no text; here the error is made to say which."""
    given, n_threads = list(text_sequence(texts)), thread_count(threads)
    try:
        return encode(given, n_threads)
    except TypeError:
        check_texts(given)
        raise


def id_list(ids: Iterable[SupportsIndex]) -> list[Any]:
    """`ids` as a list, itself where it is one; what is in it is not looked at. TypeError for what is no sequence."""
    if type(ids) is list:
        return ids
    if isinstance(ids, str | bytes | bytearray):
        raise wrong_type("ids", "several whole numbers", ids)
    if getattr(getattr(ids, "dtype", None), "kind", None) in ("i", "u", "b"):
        return id_list(ids.tolist())  # type: ignore[attr-defined]
    return list(_iterated("ids", "several whole numbers", ids))


def checked_ids(ids: Iterable[SupportsIndex]) -> list[int]:
    """`ids` as a list of int; TypeError that names the first that is no whole number."""
    found = id_list(ids)
    if set(map(type, found)) <= {int}:
        return found
    return [whole_number(f"ids[{position}]", i) for position, i in enumerate(found)]


def _iterated(name: str, wanted: str, given: Iterable[Any]) -> Iterable[Any]:
    try:
        return iter(given)
    except TypeError:
        raise wrong_type(name, wanted, given) from None


def whole_number(name: str, given: SupportsIndex, wanted: str = "a whole number") -> int:
    """`given` as an int."""
    try:
        return int(index(given))
    except TypeError:
        raise wrong_type(name, wanted, given) from None


def check_number(name: str, given: object) -> None:
    """Raise TypeError for what is no number."""
    if not isinstance(given, Real):
        raise wrong_type(name, "a number", given)


def thread_count(threads: int | None) -> int:
    """`threads`, or all cores for None; ValueError below 1."""
    if threads is None:
        return os.cpu_count() or 1
    if type(threads) is not int:
        threads = whole_number("threads", threads, "a whole number or None")
    if threads < 1:
        raise ValueError(f"threads must be at least 1 or None, not {threads}")
    return threads


def token_limit(max_tokens: int) -> int:
    """`max_tokens`; ValueError below 0."""
    max_tokens = whole_number("max_tokens", max_tokens)
    if max_tokens < 0:
        raise ValueError(f"max_tokens must be at least 0, not {max_tokens}")
    return max_tokens


def check_special_sets(allowed_special: SpecialSet, disallowed_special: SpecialSet) -> None:
    """Raise TypeError for what is neither a collection of texts nor "all"; what is empty, or None, is nothing.

    An implementation may leave this until a text holds special text: `Compiled` does for single texts.
    """
    if not allowed_special and disallowed_special in ("all", ()):
        return
    for name, given in (("allowed_special", allowed_special), ("disallowed_special", disallowed_special)):
        if given and given != "all" and (isinstance(given, str | bytes) or not isinstance(given, Collection)):
            raise wrong_type(name, "a set of texts or 'all'", given)


def check_errors(errors: object) -> None:
    """Raise TypeError for what is no name of an error handler."""
    check_text(errors, "errors")
