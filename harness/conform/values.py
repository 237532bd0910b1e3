"""What only the process of a Python object can see: of which types its answers are, and whose lists.

An answer that travels as JSON has lost both: `True`, `1.0` and `numpy.int64(1)` equal 1, and a list that the target
keeps and changes is a copy on the other side.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

_SHOWN = 3


def faults_of_values(target: Any, methods: Mapping[str, Callable[..., Any]], texts: Sequence[str]) -> list[str]:
    """A line for each kind of fault: wrong types, lists that change later, arguments that are changed.

    Texts the target refuses are left out.
    """
    texts = [text for text in texts if _encodes(target, text)]
    found = dict.fromkeys(line for text in texts for line in _of_types(target, methods, text))
    found |= dict.fromkeys([*_of_arguments(target, methods, texts), *_of_lent_lists(target, texts)])
    return list(found)


def _encodes(target: Any, text: str) -> bool:
    try:
        target.encode(text)
    except Exception:
        return False
    return True


def _of_types(target: Any, methods: Mapping[str, Callable[..., Any]], text: str) -> Iterator[str]:
    ids = target.encode(text)
    yield from _no_list_of_ints("encode", ids)
    plain = [int(i) for i in ids]
    if not isinstance(back := target.decode(plain), str):
        yield f"decode gives {_type(back)}, no str"
    if "encode_batch" in methods:
        batch = methods["encode_batch"]([text])
        if not isinstance(batch, list):
            yield f"encode_batch gives {_type(batch)}, no list"
        for one in batch:
            yield from _no_list_of_ints("encode_batch", one)
    if "encode_array" in methods:
        array = methods["encode_array"](text)
        kind = getattr(getattr(array, "dtype", None), "kind", None)
        if kind is not None and kind not in "iu":
            yield f"encode_array gives an array of {array.dtype}"
    if "decode_bytes" in methods and not isinstance(data := methods["decode_bytes"](plain), bytes):
        yield f"decode_bytes gives {_type(data)}, no bytes"


def _no_list_of_ints(method: str, ids: Any) -> Iterator[str]:
    if type(ids) is not list:
        yield f"{method} gives {_type(ids)}, no list"
    others = list(dict.fromkeys(_type(i) for i in ids if type(i) is not int))
    if others:
        yield f"{method} gives ids of type {', '.join(others[:_SHOWN])}, no int"


def _of_lent_lists(target: Any, texts: Sequence[str]) -> Iterator[str]:
    """An answer is the caller's: later calls leave it as it is, and changing it changes no later answer."""
    answers, known = [], []
    for text in texts:
        answers.append(target.encode(text))
        known.append(list(answers[-1]))
    if [list(ids) for ids in answers] != known:
        yield "a list of ids changes when another text is encoded"
        return
    for ids in answers:
        if isinstance(ids, list):
            ids.append(-1)
    if [list(target.encode(text)) for text in texts] != known:
        yield "who changes a list of ids changes the next answer for that text"


def _of_arguments(target: Any, methods: Mapping[str, Callable[..., Any]], texts: Sequence[str]) -> Iterator[str]:
    for text in texts:
        for method, call in (("decode", target.decode), ("decode_bytes", methods.get("decode_bytes"))):
            if call is None:
                continue
            given = [int(i) for i in target.encode(text)]
            before = list(given)
            call(given)
            if given != before:
                yield f"{method} changes the list it is given"
    if "encode_batch" in methods:
        given_texts = list(texts)
        methods["encode_batch"](given_texts)
        if given_texts != list(texts):
            yield "encode_batch changes the list it is given"


def _type(value: Any) -> str:
    kind = type(value)
    return kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"
