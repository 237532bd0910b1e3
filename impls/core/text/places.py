r"""Where each character of a normalised text comes from, by the rules of Hugging Face's library.

    lowercase   "İa"         ->  "i\u0307a"    places 0 0 1
    NFC         "e\u0301a"   ->  "éa"          places 0 2
    Replace     "a  b"       ->  "a b"         places 0 2 3

A character that a step inserts has the place of the one before it, at the beginning of the one after it. A composed
character has that of its first part, a replacement that of the last character replaced.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from operator import itemgetter

import regex

from impls.core.text.charsmap import Charsmap, charsmap_of
from impls.core.text.normal_forms import NEWER_CHARACTERS
from impls.core.text.normal_forms import normal_form as in_normal_form
from impls.core.text.normalization import WHITE_SPACE, normalizer, replaced_graphemes
from impls.core.text.unicode_16 import as_unicode_16


def places_of(name: str, texts: Sequence[str], before: str, after: str, charsmap: bytes) -> list[int]:
    """Return the place in `before` of each character of `after`, the result of a step."""
    n = len(before)
    match name:
        case "nfc" | "nfd" | "nfkc" | "nfkd":
            return _changed(_changes_of_normal_form(name, before))
        case "charsmap":
            return _changed(_changes_of_charsmap(charsmap_of(charsmap), before))
        case "replace":
            matches = re.finditer(re.escape(texts[0]), before)
            return edited_places(n, ((*match.span(), len(texts[1])) for match in matches))
        case "replace-regex":
            matches = regex.finditer(texts[0], as_unicode_16(before, texts[0]))
            return edited_places(n, ((*match.span(), len(texts[1])) for match in matches))
        case "strip" | "strip-left" | "strip-right":
            start = 0 if name == "strip-right" else n - len(before.lstrip(WHITE_SPACE))
            return list(range(start, start + len(after)))
        case "prepend" | "prefix-space":
            return [*[0] * (len(after) - n), *range(n)]
    step = normalizer(name)  # the other steps rewrite each character separately
    sizes = ((k, k + 1, len(step(character))) for k, character in enumerate(before))
    return edited_places(n, (edit for edit in sizes if edit[2] != 1))


def edited_places(n: int, edits: Iterable[tuple[int, int, int]]) -> list[int]:
    """Return the places of a text of `n` characters after edits: start and end of a replaced part, its new size."""
    places: list[int] = []
    at = 0
    for start, end, size in edits:
        places += range(at, start)
        places += [end - 1] * size
        at = end
    return [*places, *range(at, n)]


def _changed(changes: Iterable[int]) -> list[int]:
    """Return the places of characters, each of which is inserted (1), or replaces one and drops n more (-n)."""
    places: list[int] = []
    at = 0
    for change in changes:
        places.append(max(at - 1, 0) if change > 0 else at)
        at += max(1 - change, 0)
    return places


def _changes_of_charsmap(charsmap: Charsmap, text: str) -> list[int]:
    changes: list[int] = []
    for old, new in replaced_graphemes(charsmap, text):
        changes += [int(k >= len(old)) for k in range(len(new))]
        if len(new) < len(old) and changes:  # characters dropped at the start of a text are not counted
            changes[-1] -= len(old) - len(new)
    return changes


def _changes_of_normal_form(name: str, text: str) -> list[int]:
    """Return the change of each character of a normal form: decomposed, reordered, and composed for NFC and NFKC."""
    parts = (
        (0 if part in NEWER_CHARACTERS else unicodedata.combining(part), part, int(k > 0))
        for character in text
        for k, part in enumerate(in_normal_form("NFKD" if "k" in name else "NFD", character))
    )
    runs = groupby(parts, key=lambda part: part[0] > 0)  # of marks, which are put in order, and of other characters
    decomposed = [part for _, run in runs for part in sorted(run, key=itemgetter(0))]
    return [change for _, _, change in (_composed(decomposed) if name.endswith("c") else decomposed)]


def _composed(decomposed: Iterable[tuple[int, str, int]]) -> Iterator[tuple[int, str, int]]:
    """Yield the characters, each mark or letter composed with the letter before it if they compose."""
    waiting: list[tuple[int, str, int]] = []  # since the last letter
    for rank, character, change in decomposed:
        letter = waiting[0] if waiting and waiting[0][0] == 0 else None
        if letter is not None and (len(waiting) == 1 or waiting[-1][0] < rank):
            composed = in_normal_form("NFC", letter[1] + character)
            if len(composed) == 1:
                waiting[0] = (0, composed, letter[2] + change - 1)
                continue
        if rank == 0:
            yield from waiting
            waiting = []
        waiting.append((rank, character, change))
    yield from waiting
