"""Faults that show only inside the process of a Python object: types of results, and shared lists.

Sending an answer as JSON hides both: `True`, `1.0` and `numpy.int64(1)` equal 1, and a list that the target keeps and
changes is a copy on the other side.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from itertools import pairwise, product, zip_longest
from typing import Any, TypeVar

T = TypeVar("T")
R = TypeVar("R")

Encode = Callable[[str], Any]
Methods = Mapping[str, Callable[..., Any]]
"""Methods of a target beyond encode and decode."""
_SHOWN = 3
_WRONG: tuple[Any, ...] = (None, 1, 1.5, b"bytes", [None], ["text"], [1.5], {})
_OF_TEXTS = ("encode", "encode_array", "count", "encode_with_offsets")
_OF_IDS = ("decode", "decode_bytes", "decode_with_offsets")
_ROUNDS = 5
_EVERY = 5
_SWITCH_SECONDS = 1e-5
"""Interval at which threads switch: short, so that a race shows."""


def faults_of_values(target: Any, methods: Methods, texts: Sequence[str]) -> list[str]:
    """Return a line for each kind of fault: wrong types, lists that change later, arguments that are changed.

    Texts the target refuses are left out.
    """
    texts = [text for text in texts if _encodes(target, text)]
    encoders: dict[str, Encode] = {"a list of ids": target.encode}
    if "encode_batch" in methods:
        encoders["a list of ids of a batch"] = lambda text: methods["encode_batch"]([text])[0]
    if "encode_array" in methods:
        encoders["an array of ids"] = methods["encode_array"]
    found = [
        *_of_arrays(methods, texts),
        *(line for text in texts for line in _of_types(target, methods, text)),
        *_of_arguments(target, methods, texts),
        *(line for what, encode in encoders.items() for line in _check_ownership(encode, what, texts)),
        *_check_str_subclasses(target, methods, texts),
        *_check_independence(target, texts[::_EVERY]),
        *_after_wrong_types(target, texts[::_EVERY]),
    ]
    return list(dict.fromkeys(found))


def _encodes(target: Any, text: str) -> bool:
    try:
        target.encode(text)
    except Exception:
        return False
    return True


def _of_types(target: Any, methods: Methods, text: str) -> Iterator[str]:
    ids = target.encode(text)
    yield from _not_a_list_of_ints("encode", ids)
    plain = [int(i) for i in ids]
    if not isinstance(back := target.decode(plain), str):
        yield f"decode gives {_type(back)}, not a str"
    if "encode_batch" in methods:
        batch = methods["encode_batch"]([text])
        if not isinstance(batch, list):
            yield f"encode_batch gives {_type(batch)}, not a list"
        for one in batch:
            yield from _not_a_list_of_ints("encode_batch", one)
    if "decode_bytes" in methods and not isinstance(data := methods["decode_bytes"](plain), bytes):
        yield f"decode_bytes gives {_type(data)}, not bytes"


def _not_a_list_of_ints(method: str, ids: Any) -> Iterator[str]:
    if type(ids) is not list:
        yield f"{method} gives {_type(ids)}, not a list"
    others = list(dict.fromkeys(_type(i) for i in ids if type(i) is not int))
    if others:
        yield f"{method} gives ids of type {', '.join(others[:_SHOWN])}, not int"


def _of_arrays(methods: Methods, texts: Sequence[str]) -> Iterator[str]:
    """Check that arrays hold integers, of one type whatever the text."""
    if "encode_array" not in methods:
        return
    types = (getattr(methods["encode_array"](text), "dtype", None) for text in texts)
    found = list(dict.fromkeys(kind for kind in types if kind is not None))
    for kind in found:
        if getattr(kind, "kind", "i") not in "iu":
            yield f"encode_array gives an array of {kind}"
    if len(found) > 1:
        yield f"encode_array gives arrays of {' and of '.join(map(str, found))}"


def _check_ownership(encode: Encode, what: str, texts: Sequence[str]) -> Iterator[str]:
    """Check that a result belongs to the caller: later calls do not change it, nor does changing it affect them."""
    answers, known = [], []
    for text in texts:
        answers.append(encode(text))
        known.append(list(answers[-1]))
    if [list(ids) for ids in answers] != known:
        yield f"{what} changes when another text is encoded"
        return
    for ids in answers:
        _change(ids)
    if [list(encode(text)) for text in texts] != known:
        yield f"changing {what} changes the next answer for that text"


def _change(ids: Any) -> None:
    if isinstance(ids, list):
        ids.append(-1)
    elif getattr(getattr(ids, "flags", None), "writeable", False):
        ids[:] = 0


def _of_arguments(target: Any, methods: Methods, texts: Sequence[str]) -> Iterator[str]:
    calls = {"decode": target.decode} | {name: methods[name] for name in ("decode_bytes",) if name in methods}
    given: list[tuple[str, Callable[..., Any], list[Any]]] = [
        (name, call, [int(i) for i in target.encode(text)]) for text in texts for name, call in calls.items()
    ]
    if "encode_batch" in methods:
        given.append(("encode_batch", methods["encode_batch"], list(texts)))
    for name, call, argument in given:
        before = list(argument)
        call(argument)
        if argument != before:
            yield f"{name} changes the list it is given"


class _Text(str):
    """A subclass of str, such as XML and template libraries return."""


def _check_str_subclasses(target: Any, methods: Methods, texts: Sequence[str]) -> Iterator[str]:
    """Check that a subclass of str is encoded like the str it equals, or refused."""
    given = list(map(_Text, texts))
    with suppress(Exception):
        if [list(target.encode(text)) for text in given] != [list(target.encode(text)) for text in texts]:
            yield "encode gives other ids for a subclass of str"
    with suppress(Exception):
        if list(map(list, methods["encode_batch"](given))) != list(map(list, methods["encode_batch"](list(texts)))):
            yield "encode_batch gives other ids for a subclass of str"


def _check_independence(target: Any, texts: Sequence[str]) -> Iterator[str]:
    """Check that two decoders, and two incremental texts, used in turn do not disturb each other."""
    for one, other in pairwise(texts):
        if callable(getattr(target, "decoder", None)):
            decoders = target.decoder(), target.decoder()
            found = ["", ""]
            for ids in zip_longest(*([int(i) for i in target.encode(text)] for text in (one, other))):
                for k, i in enumerate(ids):
                    found[k] += decoders[k].push([] if i is None else [i])
            found = [text + decoder.finish() for text, decoder in zip(found, decoders, strict=True)]
            if found != [target.decode([int(i) for i in target.encode(text)]) for text in (one, other)]:
                yield "two decoders used in turn disturb each other"
        if callable(getattr(target, "incremental", None)):
            first, second = target.incremental(), target.incremental()
            for followed, text in ((first, one), (second, other), (first, other), (second, one)):
                followed.append(text)
            if [list(first.ids), list(second.ids)] != [
                list(target.encode(text)) for text in (one + other, other + one)
            ]:
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
            yield f"other answers after {call.__name__}({wrong!r})"
            return


def faults_of_threads(
    target: Any, methods: Methods, options: Collection[str], texts: Sequence[str], threads: int
) -> list[str]:
    """Return a line for each method that answers differently when threads call it, or different methods, at once."""
    allowed: dict[str, Any] = {"allowed_special": "all", "disallowed_special": ()}
    of_texts = {name: methods[name] for name in _OF_TEXTS if name in methods}
    if set(allowed) <= set(options):
        of_texts["encode with allowed_special"] = partial(target.encode, **allowed)
    if "encode_batch" in methods:
        of_texts["encode_batch"] = lambda text: methods["encode_batch"]([text])
    ids_of_texts = [[int(i) for i in target.encode(text)] for text in texts if _encodes(target, text)]
    calls = [
        *((name, partial(method, text)) for name, method in of_texts.items() for text in texts),
        *((name, partial(methods[name], ids)) for name in _OF_IDS if name in methods for ids in ids_of_texts),
    ]

    def answer(call: tuple[str, Callable[[], Any]]) -> str:
        try:
            found = call[1]()
        except Exception as error:
            return f"{type(error).__name__}: {error}"
        return repr(found.tolist() if hasattr(found, "tolist") else found)

    alone = dict(zip(calls, map(answer, calls), strict=True))
    mixed = calls[:: len(texts)]
    for first in range(1, len(texts)):
        mixed += calls[first :: len(texts)]
    asked = [*calls, *mixed] * _ROUNDS
    answers = zip(asked, from_threads(answer, asked, threads), strict=True)
    apart = dict.fromkeys((call[0], alone[call], found) for call, found in answers if found != alone[call])
    shown = {name: f"{name} gives {found} on {threads} threads, {right} alone" for name, right, found in apart}
    return list(shown.values())


def from_threads(call: Callable[[T], R], arguments: Sequence[T], threads: int) -> list[R]:
    """Call `call` on each argument, from threads that start at once and switch often."""
    together = threading.Barrier(threads)

    def one(part: Sequence[T]) -> list[R]:
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


def _type(value: Any) -> str:
    kind = type(value)
    return kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"
