"""Adapt a Python object to the operations of the protocol; operations beyond encode and decode are discovered."""

from __future__ import annotations

import base64
import inspect
import operator
import sys
from collections.abc import Callable, Iterator, Mapping
from time import monotonic, process_time
from typing import Any

from harness.conform.digests import Digests, beside, digests, held, in_a_child, in_a_thread, of_text
from harness.conform.values import faults_of_threads, faults_of_values, from_threads
from harness.failures import message_of, status_of

ANY_OPTION = "any_option"
"""Listed among the operations of a target that takes `**kwargs`: it may ignore options it does not know."""
_OPTIONS = {
    "encode": ("allowed_special", "disallowed_special"),
    "truncate": ("side", "whole"),
    "count": ("at_most",),
}
"""Operation -> options that are passed if its method names them."""
_BY_PLACE = ("text", "ids", "texts", "n_tokens", "token", "path")
"""Arguments passed by position; all others are options, passed by name."""
_METHODS = (
    *("encode", "decode", "decode_bytes", "encode_batch", "encode_array", "count", "truncate", "fits", "pieces"),
    *("decode_with_offsets", "encode_with_offsets", "token_bytes", "save"),
)
"""Operations that call the method of the same name."""
_BYTES = ("decode_bytes", "token_bytes")
_AS_THEY_ARE = ("decode", "truncate", "fits", "save")
_ALTERNATIVE_NAMES = {"token_bytes": "decode_single_token_bytes"}
_OF_EVERY_OBJECT = (
    *("encode", "decode", "encode_each", "encode_threads", "timed_encode", "timed_decode"),
    *("python_values", "mixed_threads", "digests", "decoded", "held"),
)
_MADE_BY = {"decode_stream": "decoder", "incremental": "incremental", "load": "load"}
"""Operation -> the method of the object that the adapter needs to carry it out."""


class NotATokenizer(Exception):
    """An object without `encode` and `decode`."""


class ObjectAdapter:
    """One object; `answer` calls it and lets its exceptions through."""

    def __init__(self, target: Any) -> None:
        """Adapt `target`. Raises `NotATokenizer` if it lacks `encode` or `decode`."""
        self._take(target)

    def _take(self, target: Any) -> None:
        def method(name: str) -> Any:
            return getattr(target, name, None) or getattr(target, _ALTERNATIVE_NAMES.get(name, ""), None)

        for needed in ("encode", "decode"):
            if not callable(method(needed)):
                kind = target.__name__ if inspect.ismodule(target) else type(target).__name__
                raise NotATokenizer(
                    f"{kind} has no method {needed}; encode(str) -> list[int] and decode(list[int]) -> str are needed"
                )
        self.target = target
        self.methods: dict[str, Callable[..., Any]] = {
            name: found for name in _METHODS if callable(found := method(name))
        }
        made = {operation for operation, name in _MADE_BY.items() if callable(method(name))}
        if not ("save" in self.methods and "load" in made):
            self.methods.pop("save", None)
            made.discard("load")
        self.own = {*_OF_EVERY_OBJECT[2:], *made, "describe", "n_vocab"}
        self.operations = {*self.methods, *_OF_EVERY_OBJECT, *made, *_options(self.methods)}
        self.special_tokens = _special_tokens(target)

    def describe(self) -> dict[str, Any]:
        """Describe which operations the object offers."""
        n_vocab = self.n_vocab()
        return {
            "operations": sorted(self.operations | ({"n_vocab"} if n_vocab else set())),
            "special_tokens": self.special_tokens,
            "n_vocab": n_vocab,
            "info": {
                "type": f"{type(self.target).__module__}.{type(self.target).__qualname__}",
                "python": ".".join(map(str, sys.version_info[:3])),
            },
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
        if operation in _BYTES:
            return _as_base64(result)
        return result if operation in _AS_THEY_ARE else _plain(result)

    # --- the operations ------------------------------------------------------------------------------------

    def encode_each(self, texts: list[str], seconds_left: float = float("inf"), **options: Any) -> list[Any]:
        """Return the ids of each text, or its error, for as many texts as fit into the time, at least one."""
        found: list[Any] = []
        deadline = monotonic() + seconds_left
        for text in texts:
            try:
                found.append(self.answer("encode", {"text": text, **options}))
            except BaseException as error:
                found.append(failure(error))
                if found[-1]["status"] != "error":
                    break
            if monotonic() > deadline:
                break
        return found

    def encode_threads(self, texts: list[str], threads: int) -> list[Any]:
        """Return the ids of each text, from `threads` Python threads that start at once."""
        return from_threads(lambda text: _plain(self.target.encode(text)), texts, threads)

    def digests(
        self, texts: list[str], calls: list[str], seconds_left: float = float("inf"), where: str = "here"
    ) -> Digests:
        """Return digests of these calls; `where`: here, in a new thread, in a forked child, beside a thread at work."""

        def answer() -> Digests:
            return digests(self.methods, _plain, texts, calls, monotonic() + seconds_left)

        if where == "beside":
            with beside(self.target.encode, texts[::-1]):
                return answer()
        if where == "child":
            return in_a_child(answer, seconds_left)
        return in_a_thread(answer) if where == "thread" else answer()

    def decoded(self, lists: list[list[int]], seconds_left: float = float("inf")) -> list[int | None]:
        """Return the digest of the text of each list of ids, for as many as there is time for, at least one."""
        found: list[int | None] = []
        deadline = monotonic() + seconds_left
        for ids in lists:
            try:
                found.append(of_text(self.target.decode(ids)))
            except Exception:
                found.append(None)
            if monotonic() > deadline:
                break
        return found

    def held(self, text: str, n_calls: int, seconds_left: float) -> dict[str, tuple[int, float, int]]:
        """Return for encode, decode and count what equal calls leave behind; see `digests.held`."""
        ids = _plain(self.target.encode(text))
        calls: dict[str, tuple[Callable[..., Any], Any]] = {"encode": (self.target.encode, text)}
        calls |= {"decode": (self.target.decode, ids)}
        calls |= {name: (self.methods[name], text) for name in ("count",) if name in self.methods}
        return {name: held(call, given, n_calls, seconds_left) for name, (call, given) in calls.items()}

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

    def timed_encode(self, text: str, loops: int = 1) -> float:
        """Return the processor time in seconds of one call, the minimum of `loops`."""
        return min(_processor_seconds(self.target.encode, text) for _ in range(max(1, loops)))

    def timed_decode(self, ids: list[int]) -> float:
        """Return the processor time in seconds of one call."""
        return _processor_seconds(self.target.decode, ids)

    def python_values(self, texts: list[str]) -> list[str]:
        """Return what is wrong with the values passed in and out, apart from their equality; see `values`."""
        return faults_of_values(self.target, self.methods, texts)

    def mixed_threads(self, texts: list[str], threads: int) -> list[str]:
        """Return what is wrong while threads call different methods at once; see `values`."""
        return faults_of_threads(self.target, self.methods, self.operations, texts, threads)

    def n_vocab(self) -> int | None:
        """Return the number of ids, if the object states it."""
        for name in ("n_vocab", "vocab_size"):
            found = getattr(self.target, name, None)
            found = found() if callable(found) else found
            if isinstance(found, int) and not isinstance(found, bool):
                return found
        return None

    def load(self, path: str) -> None:
        """Continue with the tokenizer saved in `path`."""
        loaded = self.target.load(path)
        self._take(self.target if loaded is None else loaded)


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


def _special_tokens(target: Any) -> dict[str, int]:
    """Return special tokens by text, from an attribute or method `special_tokens`, or from tiktoken's interface."""
    found = getattr(target, "special_tokens", None)
    if callable(found):
        found = found()
    if isinstance(found, Mapping):
        return {str(text): operator.index(number) for text, number in found.items()}
    names, single = getattr(target, "special_tokens_set", None), getattr(target, "encode_single_token", None)
    if isinstance(names, set | frozenset) and callable(single):
        return {text: operator.index(single(text)) for text in sorted(names)}
    return {}
