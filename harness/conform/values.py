"""Faults that show only inside the process of a Python object: types of answers, and shared lists.

Sending an answer as JSON hides both: `True`, `1.0` and `numpy.int64(1)` equal 1, and a list that the target keeps and
changes is a copy on the other side.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

Encode = Callable[[str], Any]
Methods = Mapping[str, Callable[..., Any]]
"""What a target has beyond encode and decode."""
_SHOWN = 3


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
        *(line for what, encode in encoders.items() for line in _of_lent(encode, what, texts)),
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


def _of_lent(encode: Encode, what: str, texts: Sequence[str]) -> Iterator[str]:
    """Check that an answer belongs to the caller: later calls do not change it, nor does changing it affect them."""
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


def _type(value: Any) -> str:
    kind = type(value)
    return kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"
