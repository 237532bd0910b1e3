"""Adapts a Python object to the operations of the protocol; what it has beyond encode and decode is discovered."""

from __future__ import annotations

import base64
import inspect
import operator
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from time import monotonic, process_time
from typing import Any

from harness.conform.values import faults_of_values
from harness.failures import message_of, status_of

_SPECIAL_OPTIONS = ("allowed_special", "disallowed_special")
_OTHER_OPTIONS = {"truncate": ("side", "whole"), "count": ("at_most",)}
"""Method -> options that are used where it names them."""
ANY_OPTION = "any_option"
"""Listed among the operations of a target that takes `**kwargs`: it may ignore options it does not know."""
_SWITCH_SECONDS = 1e-5
"""How often threads switch in `encode_threads`: often, so that a race shows."""
_ALWAYS = frozenset(
    {"encode", "decode", "encode_each", "encode_threads", "decode_threads", "timed_encode"}
    | {"timed_decode", "python_values"}
)
_ALTERNATIVE_NAMES = {"token_bytes": "decode_single_token_bytes"}


class NotATokenizer(Exception):
    """An object without `encode` and `decode`."""


class ObjectAdapter:
    """One object; `answer` calls it and passes on whatever it raises."""

    def __init__(self, target: Any) -> None:
        """Adapt `target`. Raises `NotATokenizer` where it lacks `encode` or `decode`."""
        self._take(target)

    def _take(self, target: Any) -> None:
        for needed in ("encode", "decode"):
            if not callable(getattr(target, needed, None)):
                kind = target.__name__ if inspect.ismodule(target) else type(target).__name__
                raise NotATokenizer(
                    f"{kind} has no method {needed}; encode(str) -> list[int] and decode(list[int]) -> str are needed"
                )
        self.target = target
        self.methods: dict[str, Callable[..., Any]] = {}
        for name in _RESULTS:
            method = getattr(target, name, None) or getattr(target, _ALTERNATIVE_NAMES.get(name, ""), None)
            if callable(method):
                self.methods[name] = method
        if callable(getattr(target, "save", None)) and callable(getattr(target, "load", None)):
            self.methods |= {"save": target.save, "load": target.load}
        if callable(getattr(target, "decoder", None)):
            self.methods["decode_stream"] = self.decode_stream
        if callable(getattr(target, "incremental", None)):
            self.methods["incremental"] = self.incremental
        others = [_named(self.methods[name], names) for name, names in _OTHER_OPTIONS.items() if name in self.methods]
        self.methods |= {name: getattr(self, name) for name in ("truncate", "fits") if name in self.methods}
        self.options = _options(target.encode).union(*others)
        self.special_tokens = _special_tokens(target)

    def describe(self) -> dict[str, Any]:
        """Describe what the object has."""
        n_vocab = _number(self.target, "n_vocab", "vocab_size")
        return {
            "operations": sorted(_ALWAYS | self.methods.keys() | self.options | ({"n_vocab"} if n_vocab else set())),
            "special_tokens": self.special_tokens,
            "n_vocab": n_vocab,
            "info": {
                "type": f"{type(self.target).__module__}.{type(self.target).__qualname__}",
                "python": ".".join(map(str, sys.version_info[:3])),
            },
        }

    def answer(self, operation: str, arguments: dict[str, Any]) -> Any:
        """Return the result of an operation as plain values."""
        if operation in _ALWAYS or operation in ("describe", "n_vocab", "save", "load"):
            return getattr(self, operation)(**arguments)
        if operation not in self.methods:
            raise LookupError(f"no operation {operation}")
        first, *others = arguments
        result = self.methods[operation](arguments[first], **{name: _given(arguments[name]) for name in others})
        return _RESULTS[operation](result)

    # --- the operations ------------------------------------------------------------------------------------

    def encode(self, text: str, **options: Any) -> Any:
        """Return the ids of `text`."""
        return _as_ids(self.target.encode(text, **{name: _given(value) for name, value in options.items()}))

    def decode(self, ids: list[int]) -> Any:
        """Return the text of `ids`."""
        return self.target.decode(ids)

    def encode_each(self, texts: list[str], seconds_left: float = float("inf"), **options: Any) -> list[Any]:
        """Return the ids of each text, or its error, for as many texts as fit the time, at least one."""
        found: list[Any] = []
        deadline = monotonic() + seconds_left
        for text in texts:
            try:
                found.append(self.encode(text, **options))
            except BaseException as error:
                found.append(failure(error))
                if found[-1]["status"] != "error":
                    break
            if monotonic() > deadline:
                break
        return found

    def encode_threads(self, texts: list[str], threads: int, by: str = "encode") -> list[Any]:
        """Return the ids of each text, from so many Python threads that start at once and call the method `by`."""
        if by == "encode_batch":
            return _from_threads(lambda text: _as_ids(self.methods[by]([text])[0]), texts, threads)
        call = self.target.encode if by == "encode" else self.methods[by]
        return _from_threads(lambda text: _as_ids(call(text)), texts, threads)

    def decode_threads(self, lists: list[list[int]], threads: int) -> list[Any]:
        """Return the text of each list of ids, from threads likewise."""
        return _from_threads(self.target.decode, lists, threads)

    def decode_stream(self, lists: list[list[int]]) -> Any:
        """Return what a new decoder's `push` gives for each list of ids, and its `finish` after them."""
        decoder = self.target.decoder()
        return [*[decoder.push(ids) for ids in lists], decoder.finish()]

    def incremental(self, steps: list[list[Any]]) -> Any:
        """Return the state of every object after each step; see PROTOCOL.md."""
        followed = [self.target.incremental()]
        states: list[Any] = []
        for kind, on, *arguments in steps:
            if kind == "copy":
                followed.append(followed[on].copy())
            elif kind in ("append", "replace"):
                getattr(followed[on], kind)(*arguments)
            else:
                raise LookupError(f"no step {kind}")
            states.append([_state(each) for each in followed])
        return states

    def truncate(self, text: str, n_tokens: int, **options: str) -> Any:
        """Return the part of `text` that is kept."""
        return self.target.truncate(text, n_tokens, **options)

    def fits(self, text: str, n_tokens: int) -> Any:
        """Return whether `text` has at most `n_tokens` ids."""
        return self.target.fits(text, n_tokens)

    def timed_encode(self, text: str, loops: int = 1) -> float:
        """Return the seconds of processor time of one call, the minimum of `loops`."""
        return min(_processor_seconds(self.target.encode, text) for _ in range(max(1, loops)))

    def timed_decode(self, ids: list[int]) -> float:
        """Return the seconds of processor time of one call."""
        return _processor_seconds(self.target.decode, ids)

    def python_values(self, texts: list[str]) -> list[str]:
        """Return what is wrong with the values passed in and out, apart from their equality; see `values`."""
        return faults_of_values(self.target, self.methods, texts)

    def n_vocab(self) -> Any:
        """Return the number of ids."""
        return _number(self.target, "n_vocab", "vocab_size")

    def save(self, path: str) -> None:
        """Write the tokenizer to `path`."""
        self.methods["save"](path)

    def load(self, path: str) -> None:
        """Continue with the tokenizer saved in `path`."""
        loaded = self.methods["load"](path)
        if loaded is not None:
            self._take(loaded)


def _processor_seconds(call: Callable[[Any], Any], argument: Any) -> float:
    start = process_time()
    call(argument)
    return process_time() - start


def _from_threads(call: Callable[[Any], Any], arguments: Sequence[Any], threads: int) -> list[Any]:
    """Call `call` on each argument, from threads that start at once and switch often."""
    together = threading.Barrier(threads)

    def one(part: Sequence[Any]) -> list[Any]:
        together.wait()
        return [call(argument) for argument in part]

    before = sys.getswitchinterval()
    sys.setswitchinterval(_SWITCH_SECONDS)
    try:
        with ThreadPoolExecutor(threads) as pool:
            parts = list(pool.map(one, [arguments[first::threads] for first in range(threads)]))
    finally:
        sys.setswitchinterval(before)
    return [parts[index % threads][index // threads] for index in range(len(arguments))]


def failure(error: BaseException) -> dict[str, str]:
    """Return an error in the form of the protocol."""
    status = status_of(error)
    return {
        "error": type(error).__name__,
        "message": message_of(error),
        "status": "error" if status == "crash" else status,
    }


def _given(value: Any) -> Any:
    """Return an option as Python expects it: a JSON list becomes a set."""
    return set(value) if isinstance(value, list) else value


# --- results as plain values; what is not of the right kind is left for the other side to reject -----------------


def _as_ids(result: Any) -> Any:
    if hasattr(result, "tolist"):
        result = result.tolist()
    if isinstance(result, str | bytes | Mapping) or not hasattr(result, "__iter__"):
        return result
    return [_as_integer(value) for value in result]


def _as_integer(value: Any) -> Any:
    try:
        return value if type(value) is int else operator.index(value)
    except TypeError:
        return value


def _state(followed: Any) -> list[Any]:
    return [getattr(followed, "text", None), _as_ids(followed.ids), _as_integer(getattr(followed, "n_stable", 0))]


def _as_lists(result: Any) -> Any:
    return [_as_ids(ids) for ids in result] if hasattr(result, "__iter__") else result


def _as_base64(result: Any) -> Any:
    return base64.b64encode(result).decode() if isinstance(result, bytes | bytearray | memoryview) else {"not": "bytes"}


def _as_text_and_offsets(result: Any) -> Any:
    whole = isinstance(result, tuple | list) and len(result) == 2
    return [result[0], _as_ids(result[1])] if whole else result


def _as_ids_and_spans(result: Any) -> Any:
    whole = isinstance(result, tuple | list) and len(result) == 2
    return [_as_ids(result[0]), _as_lists(result[1])] if whole else result


def _unchanged(result: Any) -> Any:
    return result


_RESULTS: dict[str, Callable[[Any], Any]] = {
    "decode_bytes": _as_base64,
    "encode_batch": _as_lists,
    "encode_array": _as_ids,
    "count": _as_integer,
    "decode_with_offsets": _as_text_and_offsets,
    "encode_with_offsets": _as_ids_and_spans,
    "decode_stream": list,
    "incremental": list,
    "truncate": _unchanged,
    "fits": _unchanged,
    "pieces": lambda result: list(result) if isinstance(result, tuple) else result,
    "token_bytes": _as_base64,
}
"""Method -> its result as plain values."""


# --- what an object has --------------------------------------------------------------------------------------------


def _options(encode: Callable[..., Any]) -> frozenset[str]:
    """Return the options `encode` names or may take; with `**kwargs` the checks find out whether it heeds them."""
    try:
        parameters = inspect.signature(encode).parameters
    except (TypeError, ValueError):
        return frozenset()
    if any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters.values()):
        return frozenset({*_SPECIAL_OPTIONS, ANY_OPTION})
    return frozenset(name for name in _SPECIAL_OPTIONS if name in parameters)


def _named(method: Callable[..., Any], names: Sequence[str]) -> frozenset[str]:
    """Return which of `names` a method names among its parameters."""
    try:
        return frozenset(inspect.signature(method).parameters).intersection(names)
    except (TypeError, ValueError):
        return frozenset()


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


def _number(target: Any, *names: str) -> int | None:
    for name in names:
        found = getattr(target, name, None)
        found = found() if callable(found) else found
        if isinstance(found, int) and not isinstance(found, bool):
            return found
    return None
