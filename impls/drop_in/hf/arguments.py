"""Checks of arguments by the rules of `tokenizers`: its exception types for wrong types and numbers out of range."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Collection, Sequence
from functools import wraps
from inspect import signature
from typing import Annotated, Any, Literal, ParamSpec, TypeVar

import msgspec

from impls.core.arguments import unsigned, wrong_type

P = ParamSpec("P")
R = TypeVar("R")
Texts = str | Sequence[str]
Count = Annotated[int, msgspec.Meta(ge=0)]
Direction = Literal["Right", "Left"]
DIRECTIONS = ("right", "left")


def flag(name: str, given: object) -> bool:
    """Return `given`; raise TypeError unless it is a bool: like the library, accept no number."""
    if not isinstance(given, bool) and type(given).__name__ not in ("bool_", "bool"):  # NumPy's
        raise wrong_type(name, "True or False", given)
    return bool(given)


def text(name: str, given: object) -> str:
    """Return `given`; raise TypeError unless it is a str, UnicodeEncodeError for a lone surrogate."""
    if not isinstance(given, str):
        raise wrong_type(name, "a str", given)
    if not given.isascii():
        given.encode()
    return given


def encodable(name: str, given: object) -> str:
    """Return `given`; raise TypeError unless it is a str without lone surrogates."""
    try:
        return text(name, given)
    except UnicodeEncodeError as error:
        raise TypeError(f"{name} contains a lone surrogate at character {error.start}; it has no UTF-8 form") from None


def items(name: str, given: Any) -> Sequence[Any]:
    """Return `given`; raise TypeError unless it is a sequence, or an array, and not a str."""
    if type(given).__module__ == "numpy":
        given = given.tolist()
    if isinstance(given, str) or not isinstance(given, Sequence):
        raise wrong_type(name, "a list", given)
    return given


def id_list(name: str, given: Any) -> list[int]:
    """Return a sequence of ids as a list; raise TypeError, or OverflowError for a number out of range."""
    return [unsigned(f"{name}[{k}]", i, 32) for k, i in enumerate(items(name, given))]


def one_of(name: str, given: object, known: Collection[str]) -> str:
    """Return `given`; raise TypeError unless it is a str, ValueError unless it is one of `known`."""
    if (value := text(name, given)) not in known:
        raise ValueError(f"{name} must be one of {', '.join(known)}, not {value!r}")
    return value


def written(name: str) -> Any:
    """Return a direction or a strategy as in tokenizer.json."""
    return "".join(map(str.capitalize, name.split("_")))


def ignoring_others(method: Callable[P, R]) -> Callable[P, R]:
    """Return a method that warns about keyword arguments that it does not have, which the library ignores too."""
    known = signature(method).parameters

    @wraps(method)
    def lenient(*arguments: P.args, **given: P.kwargs) -> R:
        for name in given.keys() - known:
            warnings.warn(f"the argument {name!r} is unknown and ignored", UserWarning, stacklevel=2)
            del given[name]
        return method(*arguments, **given)

    return lenient


def sequence_input(given: Any, is_pretokenized: bool) -> Texts:
    """Return a text, or with `is_pretokenized` its words; raise TypeError for anything else."""
    if not is_pretokenized:
        return encodable("sequence", given)
    if not isinstance(given, list | tuple):
        raise wrong_type("sequence", "a list or tuple of words", given)
    return [encodable(f"sequence[{k}]", word) for k, word in enumerate(given)]


def batch_input(given: Any, is_pretokenized: bool) -> tuple[Texts, Texts | None]:
    """Return one item of a batch as a sequence and its pair, or None; raise TypeError for anything else."""
    is_pair = isinstance(given, list | tuple) and len(given) == 2
    if not is_pair or (is_pretokenized and all(isinstance(part, str) for part in given)):
        return sequence_input(given, is_pretokenized), None
    return sequence_input(given[0], is_pretokenized), sequence_input(given[1], is_pretokenized)
