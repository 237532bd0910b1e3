"""Faults that show only inside the process of a Python object: types of results, and shared lists.

Sending an answer as JSON hides both: `True`, `1.0` and `numpy.int64(1)` equal 1, and a list that the target keeps and
changes is a copy on the other side.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from itertools import chain, pairwise, product, zip_longest
from typing import Any, TypeVar

import numpy as np

from harness.conform.digests import Methods

T = TypeVar("T")
R = TypeVar("R")

_WRONG: tuple[Any, ...] = (None, 1, 1.5, b"bytes", [None], ["text"], [1.5], {})
_TYPES: dict[str, Any] = {"encode": list, "decode": str, "decode_bytes": bytes, "encode_batch": list}
_SWITCH_SECONDS = 1e-5
"""Interval at which threads switch: short, so that a race shows."""


def faults_of_values(target: Any, methods: Methods, texts: Sequence[str]) -> list[str]:
    """Return a line for each kind of fault: wrong types, lists that change later, arguments that are changed.

    Texts the target refuses are left out.
    """
    known: dict[str, list[int]] = {}
    for text in texts:
        with suppress(Exception):
            known[text] = [int(i) for i in target.encode(text)]
    texts = list(known)
    few = texts[::5]
    return list(dict.fromkeys(chain(
        _of_arrays(methods, texts),
        _of_types_and_arguments(methods, texts, list(known.values())),
        *(_of_ownership(call, what, texts) for what, call in _encoders(methods)),
        _of_str_subclasses(methods, texts),
        _of_pairs(target, few),
        _after_wrong_types(target, few),
    )))  # fmt: skip


def _of_types_and_arguments(methods: Methods, texts: Sequence[str], lists: Sequence[list[int]]) -> Iterator[str]:
    """Check the types of answers, and that a list passed in is not changed."""
    for name, kind in _TYPES.items():
        given: Sequence[Any] = {"encode": texts, "encode_batch": [[text, text] for text in texts]}.get(name, lists)
        for argument in given if name in methods else ():
            before = argument[:]
            answer: Any = methods[name](argument)
            if argument != before:
                yield f"{name} changes the list it is given"
            if not isinstance(answer, kind) or (name == "encode" and type(answer) is not kind):
                yield f"{name} gives {_type(answer)}, not a {kind.__name__}"
            elif kind is list:
                if name == "encode_batch" and len({*map(id, answer)}) < len(answer):
                    yield "encode_batch gives one list for two equal texts"
                ids = answer if name == "encode" else [i for some in answer for i in some]
                if others := list(dict.fromkeys(_type(i) for i in ids if type(i) is not int)):
                    yield f"{name} gives ids of type {', '.join(others[:3])}, not int"


def _of_arrays(methods: Methods, texts: Sequence[str]) -> Iterator[str]:
    """Check that arrays hold integers, of one type whatever the text."""
    arrays = map(methods["encode_array"], texts) if "encode_array" in methods else ()
    kinds = list(dict.fromkeys(array.dtype for array in arrays if hasattr(array, "dtype")))
    yield from (f"encode_array gives an array of {kind}" for kind in kinds if getattr(kind, "kind", "i") not in "iu")
    if len(kinds) > 1:
        yield f"encode_array gives arrays of {' and of '.join(map(str, kinds))}"


def _encoders(methods: Methods) -> Iterator[tuple[str, Callable[[str], Any]]]:
    yield "a list of ids", methods["encode"]
    if "encode_batch" in methods:
        yield "a batch", lambda text: methods["encode_batch"]([text])
        yield "a list of ids of a batch", lambda text: methods["encode_batch"]([text])[0]
    if "encode_array" in methods:
        yield "an array of ids", methods["encode_array"]
    if "encode_with_offsets" in methods:
        yield "an array of offsets", lambda text: np.ravel(methods["encode_with_offsets"](text)[1])  # not copied


def _of_ownership(encode: Callable[[str], Any], what: str, texts: Sequence[str]) -> Iterator[str]:
    """Check that a result belongs to the caller: later calls do not change it, nor does changing it affect them."""
    pairs = [(ids, list(ids)) for ids in map(encode, texts)]
    if any(list(ids) != known for ids, known in pairs):
        yield f"{what} changes when another text is encoded"
        return
    for ids, _ in pairs:
        if isinstance(ids, list):
            ids.append(-1)
        elif getattr(getattr(ids, "flags", None), "writeable", False):
            ids[:] = 0
    if any(list(encode(text)) != known for text, (_, known) in zip(texts, pairs, strict=True)):
        yield f"changing {what} changes the next answer for that text"


class _Text(str):
    """A subclass of str, such as XML and template libraries return."""


def _of_str_subclasses(methods: Methods, texts: Sequence[str]) -> Iterator[str]:
    """Check that a subclass of str is encoded like the str it equals, or refused."""
    for what, encode in _encoders(methods):
        with suppress(Exception):
            if any(list(encode(_Text(text))) != list(encode(text)) for text in texts):
                yield f"{what} has different ids for a subclass of str"


def _of_pairs(target: Any, texts: Sequence[str]) -> Iterator[str]:
    """Check that two decoders, and two incremental texts, used in turn do not disturb each other."""
    for pair in pairwise(texts):
        lists = [[int(i) for i in target.encode(text)] for text in pair]
        if callable(getattr(target, "decoder", None)):
            decoders, decoded = (target.decoder(), target.decoder()), ["", ""]
            for ids in zip_longest(*lists):
                for k, i in enumerate(ids):
                    decoded[k] += decoders[k].push([] if i is None else [i])
            if [text + decoders[k].finish() for k, text in enumerate(decoded)] != [*map(target.decode, lists)]:
                yield "two decoders used in turn disturb each other"
        one, other = pair
        if callable(getattr(target, "incremental", None)):
            first, second = target.incremental(), target.incremental()
            for growing, text in ((first, one), (second, other), (first, other), (second, one)):
                growing.append(text)
            if [*first.ids, *second.ids] != [*target.encode(one + other), *target.encode(other + one)]:
                yield "two incremental texts used in turn disturb each other"


def _after_wrong_types(target: Any, texts: Sequence[str]) -> Iterator[str]:
    """Check that calls with arguments of a wrong type, whatever they return or raise, change no later answer."""

    def answers() -> list[Any]:
        return [(ids := [int(i) for i in target.encode(text)], target.decode(ids)) for text in texts]

    before = answers()
    for call, wrong in product((target.encode, target.decode), _WRONG):
        with suppress(Exception):
            call(wrong)
        if answers() != before:
            yield f"after {call.__name__}({wrong!r}) different answers"
            return


def from_threads(call: Callable[[T], R], arguments: Sequence[T], threads: int) -> list[R]:
    """Call `call` on each argument, from threads that start at once and switch often."""
    together = threading.Barrier(threads)

    def answers(first: int) -> list[R]:
        together.wait()
        return [call(argument) for argument in arguments[first::threads]]

    before = sys.getswitchinterval()
    sys.setswitchinterval(_SWITCH_SECONDS)
    try:
        with ThreadPoolExecutor(threads) as pool:
            parts = list(pool.map(answers, range(threads)))
    finally:
        sys.setswitchinterval(before)
    return [parts[index % threads][index // threads] for index in range(len(arguments))]


def _type(value: Any) -> str:
    kind = type(value)
    return kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"
