"""Adapt a Python object to the operations of the protocol; operations beyond encode and decode are discovered."""

from __future__ import annotations

import base64
import inspect
import operator
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from math import inf
from time import process_time
from typing import Any

import impls
from harness.conform.digests import DIGEST, Digests, digests, held, in_a_child, in_time
from harness.conform.values import faults_of_values, from_threads
from harness.failures import message_of, status_of

ANY_OPTION = "any_option"
"""Listed among the operations of a target that takes `**kwargs`: it may ignore options it does not know."""
_OPTIONS = {
    "encode": ("allowed_special", "disallowed_special"),
    "truncate": ("side", "whole"),
    "count": ("at_most",),
}
"""Operation -> options that are passed if its method names them."""
_BY_PLACE = ("text", "ids", "texts", "n_tokens", "token")
"""Arguments passed by position; all others are options, passed by name."""
_OF_BYTES = ("decode_bytes", "token_bytes")
_AS_THEY_ARE = ("decode", "truncate", "fits")
_METHODS = (
    *("encode", "encode_batch", "encode_array", "count", "pieces", "decode_with_offsets", "encode_with_offsets"),
    *_OF_BYTES,
    *_AS_THEY_ARE,
)
"""Operations that call the method of the same name."""
_ALTERNATIVE_NAMES = {"token_bytes": "decode_single_token_bytes"}
_OF_EVERY_OBJECT = ("encode_each", "timed_encode", "timed_decode", "python_values", "digests", "decoded", "held")
_MADE_BY = {"decode_stream": "decoder", "incremental": "incremental"}
"""Operation -> the method of the object that the adapter needs to carry it out."""
N_THREADS = 8


class NotATokenizer(Exception):
    """An object without `encode` and `decode`."""


class ObjectAdapter:
    """One object; `answer` calls it and lets its exceptions through."""

    def __init__(self, target: Any, model: impls.Model | None = None) -> None:
        """Adapt `target`, of ours if it has a model. Raises `NotATokenizer` if it lacks `encode` or `decode`."""

        def method(name: str) -> Any:
            return getattr(target, name, None) or getattr(target, _ALTERNATIVE_NAMES.get(name, ""), None)

        for needed in ("encode", "decode"):
            if not callable(method(needed)):
                kind = target.__name__ if inspect.ismodule(target) else type(target).__name__
                raise NotATokenizer(
                    f"{kind} has no method {needed}; encode(str) -> list[int] and decode(list[int]) -> str are needed"
                )
        self.target, self.model = target, model
        self.methods: dict[str, Callable[..., Any]] = {
            name: call for name in _METHODS if callable(call := method(name))
        }
        built = {operation for operation, name in _MADE_BY.items() if callable(method(name))}
        self.own = {*_OF_EVERY_OBJECT, *built, "describe"}
        self.operations = {*self.methods, *_OF_EVERY_OBJECT, *built, *_options(self.methods)}

    def describe(self) -> dict[str, Any]:
        """Describe which operations the object offers."""
        return {
            "operations": sorted(self.operations),
            "special_tokens": dict(self.model.special_tokens) if self.model else _special_tokens(self.target),
            "n_vocab": self.model.vocab_size if self.model else _n_vocab(self.target),
        }

    def answer(self, operation: str, arguments: dict[str, Any]) -> Any:
        """Return the result of an operation as plain values."""
        if operation in self.own:
            return getattr(self, operation)(**arguments)
        if operation not in self.methods:
            raise LookupError(f"no operation {operation}")
        by_place = [arguments[name] for name in _BY_PLACE if name in arguments]
        options = {name: _given(value) for name, value in arguments.items() if name not in _BY_PLACE}
        result = self.methods[operation](*by_place, **options)
        if operation in _OF_BYTES:
            return _as_base64(result)
        return result if operation in _AS_THEY_ARE else _plain(result)

    # --- the operations ------------------------------------------------------------------------------------

    def encode_each(self, texts: list[str], seconds_left: float = inf, **options: Any) -> list[Any]:
        """Return the ids of each text, or its error, for as many texts as fit into the time, at least one."""
        answers: list[Any] = []
        for text in in_time(texts, seconds_left):
            try:
                answers.append(self.answer("encode", {"text": text, **options}))
            except BaseException as error:
                answers.append(failure(error))
                if answers[-1]["status"] != "error":
                    break
        return answers

    def digests(self, texts: list[str], calls: list[str], seconds_left: float = inf, where: str = "here") -> Digests:
        """Return digests of these calls; `where`: here, in a forked child, in a new thread.

        On `threads`, which start at once, each with another text first: one after the other, all that they give.
        """
        methods = {name: call if name in (*_OF_BYTES, "decode") else _listing(call) for name, call in self._methods()}

        def answer(first: int = 0) -> Digests:
            turned = digests(methods, texts[first:] + texts[:first], calls, seconds_left if where == "here" else inf)
            back = len(turned["encode"]) - first
            return {call: numbers[back:] + numbers[:back] for call, numbers in turned.items()}

        if where == "child":
            return in_a_child(answer, seconds_left)
        if where == "here":
            return answer()
        n_threads = N_THREADS if where == "threads" else 1
        parts = from_threads(answer, [k * len(texts) // n_threads for k in range(n_threads)], n_threads)
        return {call: [number for part in parts for number in part[call]] for call in parts[0]}

    def _methods(self) -> list[tuple[str, Callable[..., Any]]]:
        """Return the methods that digests are made of; `special` encodes with all special tokens allowed."""
        special = partial(self.target.encode, allowed_special="all", disallowed_special=())
        return [*self.methods.items(), ("special", special)]

    def decoded(self, lists: list[list[int]], call: str = "decode", seconds_left: float = inf) -> list[int | None]:
        """Return the digest of what each list of ids decodes to, for as many as there is time for, at least one."""
        numbers: list[int | None] = []
        for ids in in_time(lists, seconds_left):
            try:
                numbers.append(DIGEST[call](self.methods[call](ids)))
            except Exception:
                numbers.append(None)
        return numbers

    def held(self, text: str, n_calls: int, seconds_left: float) -> dict[str, tuple[int, float, int]]:
        """Return for encode, decode and count what equal calls leave behind; see `digests.held`."""
        given = {"encode": text, "decode": _plain(self.target.encode(text)), "count": text}
        return {
            name: held(self.methods[name], argument, n_calls, seconds_left)
            for name, argument in given.items()
            if name in self.methods
        }

    def decode_stream(self, lists: list[list[int]]) -> Any:
        """Return the results of a new decoder's `push` for each list of ids, and of its `finish` after them."""
        decoder = self.target.decoder()
        push, finish = _member(decoder, "push"), _member(decoder, "finish")
        return [*[push(ids) for ids in lists], finish()]

    def incremental(self, steps: list[list[Any]]) -> Any:
        """Return the state of every object after each step; see PROTOCOL.md."""
        followed = [self.target.incremental()]
        states: list[Any] = []
        for kind, on, *arguments in steps:
            if kind not in ("append", "replace", "copy"):
                raise LookupError(f"no step {kind}")
            made = _member(followed[on], kind)(*arguments)
            followed += [made] if kind == "copy" else []
            states.append([_state(each) for each in followed])
        return states

    def timed_encode(self, text: str) -> float:
        """Return the processor time in seconds of one call."""
        return _processor_seconds(self.target.encode, text)

    def timed_decode(self, ids: list[int]) -> float:
        """Return the processor time in seconds of one call."""
        return _processor_seconds(self.target.decode, ids)

    def python_values(self, texts: list[str]) -> list[str]:
        """Return what is wrong with the values passed in and out, apart from their equality; see `values`."""
        return faults_of_values(self.target, self.methods, texts)


def _processor_seconds(call: Callable[[Any], Any], argument: Any) -> float:
    start = process_time()
    call(argument)
    return process_time() - start


def failure(error: BaseException) -> dict[str, str]:
    """Return an error in the form the protocol prescribes."""
    status = status_of(error)
    return {
        "error": type(error).__name__,
        "message": message_of(error),
        "status": "error" if status == "crash" else status,
    }


def _given(value: Any) -> Any:
    """Return an option as Python expects it: a JSON list becomes a set."""
    return set(value) if isinstance(value, list) else value


# --- results as plain values; those of a wrong kind are left for the other side to reject ------------------------


_INTEGERS = frozenset({int})


def _plain(result: Any) -> Any:
    """Return integers of any type as int, and arrays, tuples and other iterables as lists."""
    if type(result) is list and _INTEGERS.issuperset(map(type, result)):
        return result.copy()  # the target may overwrite its own
    if hasattr(result, "tolist"):
        result = result.tolist()
    if result is None or isinstance(result, int | str | bytes | Mapping):
        return result
    if hasattr(result, "__iter__"):
        return [_plain(value) for value in result]
    try:
        return operator.index(result)
    except TypeError:
        return result


def _listing(call: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *given: _plain(call(*given))


def _member(made: Any, name: str) -> Any:
    """Return an attribute of a decoder or of an incremental text. Raises `TypeError` if it has none of that name."""
    if not hasattr(made, name):
        raise TypeError(f"{type(made).__name__} has no {name}")
    return getattr(made, name)


def _state(followed: Any) -> list[Any]:
    return [getattr(followed, "text", None), _plain(_member(followed, "ids")), _plain(getattr(followed, "n_stable", 0))]


def _as_base64(result: Any) -> Any:
    return base64.b64encode(result).decode() if isinstance(result, bytes | bytearray | memoryview) else {"not": "bytes"}


# --- operations and attributes of an object ------------------------------------------------------------------------


def _options(methods: Mapping[str, Callable[..., Any]]) -> Iterator[str]:
    """Yield the options the methods name; all for an `encode` with `**kwargs`: checks find out if it heeds them."""
    for operation, names in _OPTIONS.items():
        try:
            parameters = inspect.signature(methods[operation]).parameters
        except (KeyError, TypeError, ValueError):
            continue
        takes_any = any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters.values())
        if operation == "encode" and takes_any:
            yield from (*names, ANY_OPTION)
        yield from (name for name in names if name in parameters)


def _stated(target: Any, name: str) -> Any:
    """Return the value of an attribute or of a method without arguments, None if there is none."""
    value = getattr(target, name, None)
    return value() if callable(value) else value


def _n_vocab(target: Any) -> int | None:
    """Return the number of ids, if the object states it."""
    stated = (_stated(target, name) for name in ("n_vocab", "vocab_size"))
    return next((value for value in stated if isinstance(value, int) and not isinstance(value, bool)), None)


def _special_tokens(target: Any) -> dict[str, int]:
    """Return special tokens by text, if the object states them."""
    tokens = _stated(target, "special_tokens")
    return {str(text): operator.index(i) for text, i in tokens.items()} if isinstance(tokens, Mapping) else {}
