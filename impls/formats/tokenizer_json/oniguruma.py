r"""Translating patterns between two dialects: ours (the package `regex`) and Oniguruma, which Hugging Face splits with.

Most of a pre-tokenization pattern means the same in both. The rest is translated or refused with a reason:

* `\p{N}{1,3}+` is possessive in ours and a repeated repeat in Oniguruma (`123456789` would be one piece);
* `^` and `$` match at every line in Oniguruma, and `\A`, `\Z`, `\b` and letters such as `\h` differ;
* `\w` includes the joiners U+200C and U+200D in ours, and `²³¹¼½¾` in Oniguruma, where it is not in a class;
* a brace that opens no counted repeat is a brace in Oniguruma, and may allow errors in ours (`a{e<2}`);
* `\pL` is a property in ours only;
* a class inside a class, and `&&` in one, mean a set operation in Oniguruma only.

Neither translated nor refused: without case, `i` is also İ and ı in ours, and `ss`, `st`, `ff` are also ß and ligatures
in Oniguruma. The published patterns have none of them there (`(?i:'s|'t|'re|'ve|'m|'ll|'d)`): they split alike.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import product
from re import _parser  # type: ignore[attr-defined]  # which knows how long matches are

import regex

from impls.core.errors import InvalidPattern
from impls.core.text.patterns import NAMED, check_size

_CL100K_014 = NAMED["cl100k-0.14"][0]
_WRITTEN = {
    NAMED["gpt2-0.14"][0]: NAMED["gpt2"][0],
    # Nothing follows the digits or the end, so neither needs to be possessive. This differs from the original, which
    # splits white space at the end of a text after its last line end.
    _CL100K_014: _CL100K_014.replace("{1,3}+", "{1,3}").replace("$", r"\z"),
}
_READ = {_WRITTEN[_CL100K_014]: _CL100K_014}
_WORD = r"\p{Alphabetic}\p{M}\p{Nd}\p{Pc}"
_WORD_OF_REGEX = _WORD + r"\u200c\u200d"
_WORD_OF_ONIGURUMA = _WORD + r"²³¹¼½¾"
_PART = re.compile(
    r"""
      \\[pP]\{\^?[^}]*\} | \\[pP]\w | \\u[0-9a-fA-F]{4} | \\x[0-7][0-9a-fA-F] | \\.   # an escape
    | \(\?\#[^)]*\) | \(\?P?<\w+> | \(\?<[=!] | \(\?[a-zA-Z-]*[:)] | \(\?. | \(       # the start of a group
    | \{\d*(?:,\d*)?\}\+?                                                              # a counted repeat
    | \[\^?\]?                                                                         # the start of a class
    | .
    """,
    re.VERBOSE | re.DOTALL,
)
_CHARACTER = re.compile(
    r"\\[pP](?:\{[^}]*\}|\w)|\\u[0-9a-fA-F]{4}|\\x[0-9a-fA-F]{2}|\\.|\[\^?\]?(?:\\.|[^\]\\])*\]", re.DOTALL
)
"""An escape or a class: one character of a match."""
_ESCAPED_LETTERS = frozenset("pPsSdDnrtfux")
_GROUPS = frozenset({"(?:", "(?=", "(?!", "(?<=", "(?<!", "(?>", "(?i:", "(?-i:", "(?i)"})


def to_oniguruma(stage: str) -> str:
    """Return the Oniguruma expression that splits like `stage`; raise `InvalidPattern` naming a part without one."""
    if stage in _WRITTEN:
        return _WRITTEN[stage]
    return _translated(stage, _WORD_OF_REGEX, _WORD_OF_REGEX, "has no equivalent in Hugging Face's Oniguruma")


def from_oniguruma(expression: str) -> str:
    """Return the expression in our dialect that splits like `expression` in Oniguruma; raise `InvalidPattern`."""
    if expression in _READ:
        return _READ[expression]
    check_size(expression)
    return _translated(expression, _WORD_OF_ONIGURUMA, _WORD, "means something else in Oniguruma than here")


def _translated(expression: str, word: str, word_in_class: str, reason: str) -> str:
    parts: list[str] = []
    in_class = False
    for part in _PART.findall(expression):
        translated: str | None = part
        if part.startswith("\\"):
            translated = _escape(part, word_in_class if in_class else word, in_class)
        elif in_class:
            is_operator = part.startswith("[") or (part in "&|~-" and parts[-1:] == [part])
            translated = None if is_operator else part
            in_class = part != "]"
        elif part.startswith("["):
            in_class = True
            if part.endswith("]"):  # []a] and [^]a]: the bracket is a member
                translated = part[:-1] + r"\]"
        elif part == "(":
            translated = "(?:"  # back-references are refused, so it does not matter whether a group captures
        elif (
            part in ("^", "$", "{", "{,}")
            or (part.startswith("{") and part.endswith("+"))
            or (part.startswith("(") and part not in _GROUPS)
        ):
            translated = None
        if translated is None:
            raise InvalidPattern(f"{part} {reason}; write the pattern without it: {expression}")
        parts.append(translated)
    return "".join(parts)


def match_lengths(expression: str) -> tuple[int, int]:
    """Return the least and the most characters of a match of `expression` (in our dialect); raise `InvalidPattern`.

    >>> match_lengths("(?=[A-Z])"), match_lengths(r"ab?|\\p{L}{2,3}"), match_lengths("(?:ab)*c{2}")[0]
    ((0, 0), (1, 3), 2)
    """
    try:
        least, most = _parser.parse(_CHARACTER.sub("a", expression)).getwidth()
    except (re.error, OverflowError) as error:
        raise InvalidPattern(f"{error}: {expression}") from None
    return least, most


def _escape(part: str, word: str, in_class: bool) -> str | None:
    if part == r"\w":
        return word if in_class else f"[{word}]"
    if part == r"\W":
        return None if in_class else f"[^{word}]"
    letter = part[1]
    if letter in "pP" and not part.endswith("}"):  # \pL
        return None
    return None if letter.isascii() and letter.isalnum() and letter not in _ESCAPED_LETTERS else part


@lru_cache(maxsize=128)
def leaves_nothing_out(stage: str) -> bool:
    """Return whether `stage` (in our dialect) matches all of any text, without empty matches, by trial.

    The trials are all code points in order (all of the small scripts, every 61st of the rest) and every sequence of
    three representative characters: enough for patterns of classes and short look-around. If the result is wrong,
    splitting some text raises an error; no text is split wrongly. Raise `InvalidPattern` for catastrophic backtracking.
    """
    try:
        return all(all(parts) and sum(map(len, parts)) == len(text) for text, parts in tried(stage, _trials()))
    except TimeoutError:
        raise InvalidPattern(f"the pattern takes too long on some texts: {stage}") from None


TRIAL_SECONDS = 1.0
"""Time limit for all texts of a trial together; a pattern in use takes 0.01."""
_KINDS = "aZé\u0301א5½_'’/!(€\u00ad\u0000\u0378 \t\n\r\u3000中😀"


def _trials() -> Iterator[str]:
    yield from map("".join, product(_KINDS, repeat=3))
    yield "".join(map(chr, (*range(0x3400), *range(0x3400, 0xD800, 61), *range(0xE000, 0x110000, 61))))


def tried(stage: str, texts: Iterable[str]) -> Iterator[tuple[str, list[str]]]:
    """Yield each text with the matches of `stage` in it; raise TimeoutError after `TRIAL_SECONDS`."""
    expression = regex.compile(stage)
    end = time.thread_time() + TRIAL_SECONDS
    for text in texts:
        yield text, expression.findall(text, timeout=max(end - time.thread_time(), 0.001))
