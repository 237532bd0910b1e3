r"""Normalisation by name: the steps applied to a text before it is split, in order.

    "nfkd+strip-accents+lowercase"      "Éᴬ"  ->  "E\u0301A"  ->  "EA"  ->  "ea"

The steps are those of Hugging Face's normalizers, and `prefix-space`, what its `ByteLevel` does to a text that does not
begin with a space. `charsmap` is its `Precompiled`: SentencePiece's table looked up by whole graphemes. Arguments of a
step follow its name as JSON: `replace("a","b")`. Unicode versions are those of that library
(`impls.core.text.normal_forms`), under every Python.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache, partial, reduce
from itertools import chain
from typing import Any

import regex

from impls.core.errors import InvalidModel, InvalidPattern
from impls.core.text.charsmap import Charsmap, charsmap_of
from impls.core.text.normal_forms import FORMS, is_mark, lower_case, normal_form
from impls.core.text.patterns import check_size, seconds_for, too_slow
from impls.core.text.unicode_16 import as_unicode_16, stand_ins

Step = Callable[[str], str]
Calls = list[tuple[str, list[str]]]

WHITE_SPACE = "\t\n\x0b\x0c\r \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028"
WHITE_SPACE += "\u2029\u202f\u205f\u3000"
"""Unicode's property White_Space; plain `str.strip` would also strip four control characters."""

PREFIX_SPACE = "prefix-space"

_CONTROLS = [*range(1, 9), 0xB, *range(0xE, 0x20), 0x7F, 0x8F, 0x9F]
_SPACES = [9, 0xA, 0xC, 0xD, 0x1680, *range(0x200B, 0x2010), 0x2028, 0x2029, 0x2581, 0xFEFF, 0xFFFD]
_NMT: dict[int, str] = dict.fromkeys(_CONTROLS, "") | dict.fromkeys(_SPACES, " ")


def replacing(pattern: str, new: str) -> Step:
    """Return the step that replaces each match of `pattern`; raise `InvalidPattern` or `regex.error` for a bad one."""
    check_size(pattern)
    stand_ins(pattern)
    expression = regex.compile(pattern)

    def replaced(text: str) -> str:
        matched = as_unicode_16(text, pattern)
        try:
            spans = [match.span() for match in expression.finditer(matched, timeout=seconds_for(text))]
        except TimeoutError:
            raise too_slow(pattern, text) from None
        ends = [0, *chain.from_iterable(spans), len(text)]
        return new.join(text[start:end] for start, end in zip(ends[::2], ends[1::2], strict=True))

    return replaced


_PLAIN: dict[str, Step] = {
    **{form.lower(): partial(normal_form, form) for form in FORMS},
    "lowercase": lower_case,
    "strip-accents": lambda text: text if text.isascii() else "".join(each for each in text if not is_mark(each)),
    "strip": lambda text: text.strip(WHITE_SPACE),
    "strip-left": lambda text: text.lstrip(WHITE_SPACE),
    "strip-right": lambda text: text.rstrip(WHITE_SPACE),
    "nmt": lambda text: text.translate(_NMT),
    PREFIX_SPACE: lambda text: text if not text or text.startswith(" ") else " " + text,
}
_WITH_ARGUMENTS: dict[str, tuple[int, Callable[..., Step]]] = {
    "replace": (2, lambda old, new: lambda text: text.replace(old, new)),
    "replace-regex": (2, replacing),
    "prepend": (1, lambda before: lambda text: before + text if text else text),
}
"""Step -> the number of its arguments, and the function that makes the step from them."""
CHARSMAP = "charsmap"
_MAX_GRAPHEME_BYTES = 5
_TEXT = r'"(?:[^"\\]|\\.)*"'
_CALL = re.compile(rf"([a-z-]+)(?:\(({_TEXT}(?:,{_TEXT})*)\))?(?:\+|$)")


def call(name: str, *texts: str) -> str:
    """Return a step as written in a normalization: `name`, or `name("…","…")`."""
    return f"{name}({','.join(json.dumps(text) for text in texts)})" if texts else name


def steps_of(normalization: str) -> Calls:
    """Return (name, arguments) of each step; raise `InvalidModel` for an unknown one.

    >>> steps_of('nfc+replace("a+b","c")')
    [('nfc', []), ('replace', ['a+b', 'c'])]
    """
    return read_calls("normalization", normalization, [*_PLAIN, CHARSMAP], _WITH_ARGUMENTS)


def read_calls(what: str, written: str, plain: Iterable[str], with_arguments: Mapping[str, tuple[int, Any]]) -> Calls:
    """Return (name, arguments) of each step written by `call`; raise `InvalidModel` for one that has no such name, or
    not the number of arguments."""
    n_arguments = dict.fromkeys(plain, 0) | {name: n for name, (n, _) in with_arguments.items()}
    calls: Calls = []
    at = 0
    while at < len(written):
        match = _CALL.match(written, at)
        try:
            texts = json.loads(f"[{match[2] or ''}]") if match else []
        except ValueError:
            texts = []
        if match is None or n_arguments.get(match[1]) != len(texts):
            raise InvalidModel(f"{what} {written[at : at + 60]!r} is not one of: {', '.join(n_arguments)}")
        calls.append((match[1], texts))
        at = match.end()
    return calls


@lru_cache(maxsize=64)
def normalizer(normalization: str, charsmap: bytes = b"") -> Step:
    """Return the steps as one function, with `charsmap` as the table of that step; raise `InvalidModel`."""
    steps: list[Step] = []
    for name, texts in steps_of(normalization):
        if name == CHARSMAP:
            if not charsmap:
                raise InvalidModel("normalization charsmap: there is no such table")
            steps.append(partial(_by_graphemes, charsmap_of(charsmap)))
            continue
        try:
            steps.append(_WITH_ARGUMENTS[name][1](*texts) if texts else _PLAIN[name])
        except (regex.error, InvalidPattern) as error:
            raise InvalidModel(f"normalization {name}: {error}") from None
    return in_turn(steps)


def in_turn(steps: Sequence[Step]) -> Step:
    """Return steps as one."""
    return steps[0] if len(steps) == 1 else lambda text: reduce(lambda written, step: step(written), steps, text)


def _by_graphemes(charsmap: Charsmap, text: str) -> str:
    return "".join(new for _, new in replaced_graphemes(charsmap, text))


def replaced_graphemes(charsmap: Charsmap, text: str) -> Iterator[tuple[str, str]]:
    """Yield each short grapheme's replacement by the shortest entry that begins it; else each of its characters,
    replaced or unchanged."""
    for match in regex.finditer(r"\X", as_unicode_16(text)):
        grapheme = text[match.start() : match.end()]
        data = grapheme.encode()
        is_replaced = len(data) <= _MAX_GRAPHEME_BYTES and charsmap.prefix(data, 0, longest=False) is not None
        for part in [grapheme] if is_replaced else grapheme:
            entry = charsmap.prefix(part.encode(), 0, longest=False)
            yield part, part if entry is None else entry[1].decode("utf-8", "replace")


def without_prefix_space(normalization: str | None) -> tuple[str | None, bool]:
    """Return the steps before a final `prefix-space`, and whether there is one."""
    if normalization is None or not normalization.endswith(PREFIX_SPACE):
        return normalization, False
    return normalization.removesuffix(PREFIX_SPACE).removesuffix("+") or None, True


def is_settled(normalization: str, *, space_of_mark: bool) -> bool:
    """Return whether normalising is certainly idempotent; with `space_of_mark`, marks at the ends of the text become
    spaces between the two passes."""
    names = [name for name, _ in steps_of(normalization)]
    names = names[:-1] if len(names) > 1 and names[-1] == PREFIX_SPACE else names
    return len(names) == 1 and names[0] in _PLAIN and not (space_of_mark and names[0].startswith("strip"))
