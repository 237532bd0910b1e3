"""Adapt a Python object to the operations of the protocol; operations beyond encode and decode are discovered."""

from __future__ import annotations

import base64
import inspect
import operator
import pickle
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from math import inf
from time import process_time
from typing import Any

import impls
from harness.conform.digests import DIGEST, Digests, Methods, digests, held, in_a_child, in_time
from harness.conform.values import faults_of_values, from_threads
from harness.failures import message_of, status_of
from harness.targets.operations import SHAPES
from harness.targets.spec import NotLoadable

ANY_OPTION = "any_option"
"""Listed among the operations of a target that takes `**kwargs`: it may ignore options it does not know."""
_OPTIONS = {"encode": ("allowed_special", "disallowed_special"), "truncate": ("side", "whole"), "count": ("at_most",)}
"""Operation -> options that are passed if its method names them."""
_BY_PLACE = ("text", "ids", "texts", "n_tokens", "token")
"""Arguments passed by position; all others are options, passed by name."""
_OF_BYTES, _BYTES = ("decode_bytes", "token_bytes"), bytes | bytearray | memoryview
_AS_THEY_ARE = ("decode", "truncate", "fits")
_ALTERNATIVE_NAMES = {"token_bytes": "decode_single_token_bytes"}
_TIMED = {"timed_encode": "encode", "timed_decode": "decode", "timed_encode_batch": "encode_batch"}
_OF_EVERY_OBJECT = ("timed_encode", "timed_decode", "python_values", "digests", "decoded", "held")
_MADE_BY = {"decode_stream": "decoder", "incremental": "incremental", "timed_encode_batch": "encode_batch"}
"""Operation -> the method of the object that the adapter needs to carry it out."""
_METHODS = SHAPES.keys() - {"describe", "encode_each", *_OF_EVERY_OBJECT, *_MADE_BY}
"""Operations that call the method of the same name."""
N_THREADS = {"thread": 1, "threads": 8, "many threads": 128}
_UNKNOWN = 1 << 31


class ObjectAdapter:
    """One object; `answer` calls it and lets its exceptions through."""

    def __init__(self, make: Callable[[], Any], model: impls.Model | None = None) -> None:
        """Adapt what `make` returns, of ours with a model. Raises `NotLoadable` if it lacks `encode` or `decode`."""
        target = make()

        def method(name: str) -> Any:
            return getattr(target, name, None) or getattr(target, _ALTERNATIVE_NAMES.get(name, ""), None)

        for needed in ("encode", "decode"):
            if not callable(method(needed)):
                kind = target.__name__ if inspect.ismodule(target) else type(target).__name__
                raise NotLoadable(
                    f"{kind} has no method {needed}; encode(str) -> list[int] and decode(list[int]) -> str are needed"
                )
        self.target, self.described_by = target, model or target
        self.make, self.others = make, list[ObjectAdapter]()
        methods = {name: method(name) for name in _METHODS}
        self.methods: Methods = {name: call for name, call in methods.items() if callable(call)}
        self.own = {*_OF_EVERY_OBJECT, *(operation for operation, name in _MADE_BY.items() if callable(method(name)))}

    def describe(self) -> dict[str, Any]:
        """Describe which operations the object offers."""
        n_vocab = _stated(self.described_by, "n_vocab", "vocab_size")
        special = _stated(self.described_by, "special_tokens")
        tokens = special.items() if isinstance(special, Mapping) else ()
        return {
            "operations": sorted({*self.methods, *self.own, *_options(self.methods)}),
            "special_tokens": {str(text): operator.index(i) for text, i in tokens},
            "n_vocab": n_vocab if type(n_vocab) is int else None,
            "time_exponent": getattr(self.target, "time_exponent", 1.0),
        }

    def answer(self, operation: str, arguments: dict[str, Any]) -> Any:
        """Return the result of an operation as plain values."""
        if operation in _TIMED:
            start = process_time()
            self.answer(_TIMED[operation], arguments)
            return process_time() - start
        if operation in self.own or operation == "describe":
            return getattr(self, operation)(**arguments)
        if operation not in self.methods:
            raise LookupError(f"no operation {operation}")
        by_place = [arguments.pop(name) for name in _BY_PLACE if name in arguments]
        options = {name: set(value) if isinstance(value, list) else value for name, value in arguments.items()}
        result = self.methods[operation](*by_place, **options)
        if operation in _OF_BYTES:
            return base64.b64encode(result).decode() if isinstance(result, _BYTES) else {"not": "bytes"}
        return result if operation in _AS_THEY_ARE else _plain(result)

    # --- the operations ------------------------------------------------------------------------------------

    def digests(self, texts: list[str], calls: list[str], seconds_left: float = inf, where: str = "here") -> Digests:
        """Return digests of these calls; `where`: here, in a child, a new thread, by another object, by a copy.

        On `threads` and `many threads`, which start at once, each with another text first: all answers, by thread.
        """
        special = partial(self.target.encode, allowed_special="all", disallowed_special=())
        encoders: dict[str, Callable[..., Any]] = {"special": special, **self.methods}
        methods = {name: call if name in (*_OF_BYTES, "decode") else _listing(call) for name, call in encoders.items()}

        def answer(first: int = 0) -> Digests:
            turned = digests(methods, texts[first:] + texts[:first], calls, seconds_left if where == "here" else inf)
            back = len(turned["encode"]) - first
            return {call: numbers[back:] + numbers[:back] for call, numbers in turned.items()}

        if where == "another object":
            self.others.append(ObjectAdapter(self.make))
            return self.others[-1].digests(texts, calls)
        if where == "copy":
            return ObjectAdapter(self._copy).digests(texts, calls)
        if where == "child":
            return in_a_child(answer, seconds_left)
        if where == "here":
            return answer()
        n_threads = N_THREADS[where]
        parts = from_threads(answer, [k * len(texts) // n_threads for k in range(n_threads)], n_threads)
        return {call: [number for part in parts for number in part[call]] for call in parts[0]}

    def _copy(self) -> Any:
        """Return what unpickling gives, as a pool of processes does. Raises `TypeError` if it cannot be pickled."""
        try:
            return pickle.loads(pickle.dumps(self.target))
        except Exception as error:
            raise TypeError(f"cannot be pickled: {error}") from None

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
        """Return for each call what equal calls leave behind; see `digests.held`."""
        given = {"encode": text, "decode": _plain(self.target.encode(text)), "count": text, "encode_array": text}
        given["encode_batch"] = [text]
        calls = {name: (self.methods[name], argument) for name, argument in given.items() if name in self.methods}
        try:
            self.target.decode([_UNKNOWN])
        except Exception:
            calls["decode of an unknown id"] = self.target.decode, [_UNKNOWN]
        except BaseException:
            pass  # a panic, after which it need not continue
        return {what: held(*call, n_calls, seconds_left) for what, call in calls.items()}

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
            copied = _member(followed[on], kind)(*arguments)
            followed += [copied] if kind == "copy" else []
            states.append([_state(each) for each in followed])
        return states

    def python_values(self, texts: list[str]) -> list[str]:
        """Return what is wrong with the values passed in and out, apart from their equality; see `values`."""
        return faults_of_values(self.target, self.methods, texts)


def failure(error: BaseException) -> dict[str, Any]:
    """Return an error in the form the protocol prescribes."""
    status = status_of(error)
    status_given = "error" if status == "crash" else status
    return {"error": type(error).__name__, "message": message_of(error), "status": status_given}


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


def _listing(call: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda given: _plain(call(given))


def _member(owner: Any, name: str) -> Any:
    """Return an attribute of a decoder or of an incremental text. Raises `TypeError` if it has none of that name."""
    if not hasattr(owner, name):
        raise TypeError(f"{type(owner).__name__} has no {name}")
    return getattr(owner, name)


def _state(followed: Any) -> list[Any]:
    return [getattr(followed, "text", None), _plain(_member(followed, "ids")), _plain(getattr(followed, "n_stable", 0))]


# --- operations and attributes of an object ------------------------------------------------------------------------


def _options(methods: Methods) -> Iterator[str]:
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


def _stated(target: Any, *names: str) -> Any:
    """Return the first of these attributes that there is, or what it returns if it is a method; None without any."""
    value = next((value for name in names if (value := getattr(target, name, None)) is not None), None)
    return value() if callable(value) else value
