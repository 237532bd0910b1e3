"""Wrong tokenizers made by rule: each is right but for one thing in one place.

`KINDS` maps a kind to its rule, the arguments to try and the checks of which one must find each. Which
character, token or transition is wrong follows from a seed, so that no check can know it.
"""

from __future__ import annotations

import random
import re
import unicodedata
from collections.abc import Callable, Sequence
from functools import cache
from itertools import islice
from typing import Any

from planted_history import CHANGED_BY_CALLS, when
from planted_wrapper import Full, Right, changed, model

import impls
from harness.printable import text_of
from impls.core.pattern.automaton import Automaton, compile_pattern

# --- one character in one place --------------------------------------------------------------------------------

_PLACES: tuple[Callable[[str], str], ...] = (
    lambda c: rf"\A{c}\Z",
    lambda c: rf"\A{c}(?!\Z)",
    lambda c: rf"[a-z]{c}[a-z]",
    lambda c: rf"[0-9]{c}[0-9]",
    lambda c: rf" {c}",
    lambda c: rf"(?!\A){c}\Z",
)


def code_point(number: int) -> type[Right]:
    """One code point at one place; every fourth one is not assigned."""
    chance = random.Random(f"code point {number}")
    while True:
        character = chr(chance.choice((chance.randrange(0x80, 0x3000), chance.randrange(0x3000, 0x110000))))
        if "\ud800" <= character <= "\udfff" or (unicodedata.category(character) == "Cn") is not (number % 4 == 0):
            continue
        break
    at_place = re.compile(_PLACES[number % len(_PLACES)](re.escape(character))).search
    wrong = when(lambda self, text: character in text and at_place(text) is not None)
    wrong.character = character  # type: ignore[attr-defined]
    return wrong


# --- one token -------------------------------------------------------------------------------------------------


def token(number: int) -> type[Right]:
    """One token: encoded alone, decoded alone, or decoded between two others."""
    by_id = model().bytes_by_id()
    readable = [i for i, data in by_id.items() if text_of(data) is not None]
    i = random.Random(f"token {number}").choice(readable)
    text = text_of(by_id[i]) or ""
    if number % 4 < 2:
        return when(lambda self, given: given == text)
    is_there = (lambda ids: ids == [i]) if number % 4 == 2 else (lambda ids: i in ids[1:-1])
    return changed(Full, decode=lambda self, ids, right: right + ("?" if is_there(ids) else ""))


# --- one transition of the pattern's automaton -----------------------------------------------------------------


def _scan(automaton: Automaton, steps: list[list[tuple[int, bool]]], text: str) -> list[str]:
    pieces, start = [], 0
    classes = [*(int(automaton.class_of[ord(character)]) for character in text), automaton.end]
    while start < len(text):
        state, end = 0, start + 1
        for at in range(start, len(classes)):
            state, matched = steps[state][classes[at]]
            if matched:
                end = max(at, start + 1)
            if state < 0:
                break
        pieces.append(text[start:end])
        start = end
    return pieces


def _ids(pieces: list[str]) -> list[int]:
    encode_piece = _priority().encode_piece
    return [i for piece in pieces for i in encode_piece(piece)]


@cache
def _priority() -> impls.Tokenizer:
    return impls.load("priority", model())


@cache
def _faulty_steps(n: int) -> list[list[list[tuple[int, bool]]]]:
    """Return `n` tables with one transition changed each, of which random texts show that other ids follow."""
    automaton = compile_pattern(model().pattern[0])
    chance = random.Random("transitions")
    letters = ["a", "B", "é", "ǅ", "中", "1", " ", "\n", "\r", "'", "s", "!", "/", "\u0301", "\u3000", "\t"]
    texts = ["".join(chance.choices(letters, k=chance.randint(2, 7))) for _ in range(1_000)]
    right = [_scan(automaton, automaton.steps, text) for text in texts]
    places = [(state, of) for state in range(len(automaton.steps)) for of in range(automaton.end + 1)]
    chance.shuffle(places)
    found = []
    for state, of in places:
        following, matched = automaton.steps[state][of]
        row = list(automaton.steps[state])
        row[of] = (following, not matched) if chance.random() < 0.5 else (-1 if following >= 0 else 0, matched)
        steps = [*automaton.steps[:state], row, *automaton.steps[state + 1 :]]
        pairs = ((_scan(automaton, steps, text), pieces) for text, pieces in zip(texts, right, strict=True))
        if any(wrong != pieces and _ids(wrong) != _ids(pieces) for wrong, pieces in pairs):
            found.append(steps)
        if len(found) == n:
            break
    return found


def transition(number: int) -> type[Right]:
    """One transition of the automaton ends or continues a piece where it should not."""
    automaton, steps = compile_pattern(model().pattern[0]), _faulty_steps(5 if number < 5 else 20)[number]

    def encode(self: Any, text: str, right: list[int], *options: Any) -> list[int]:
        if (
            len(text) > 20_000
            or any(name in text for name in model().special_tokens)
            or re.search("[\ud800-\udfff]", text)
        ):
            return right
        pieces = _scan(automaton, steps, text)
        return right if pieces == _scan(automaton, automaton.steps, text) else _ids(pieces)

    return changed(Full, encode=encode)


# --- pieces of one length, other calls for the same answer, spellings of one text, cost --------------------------


def astral_piece_of_65(self: Any, text: str) -> bool:
    return len(text) > 16 and max(text) >= "\U00010000" and 65 in _sizes(self, text)


def piece_past_64k(self: Any, text: str) -> bool:
    return len(text) > 16_384 and max(text) >= "\x80" and max(_sizes(self, text)) >= 65_537


def _sizes(self: Any, text: str) -> set[int]:
    return {len(piece.encode("utf-8", "replace")) for piece in self.split(text)}


def derived(fault: tuple[str, Callable[[Any, Any], Any]]) -> type[Right]:
    """One of the calls derived from encode and decode goes its own way."""
    name, changing = fault
    return changed(Full, **{name: lambda self, given, right, *options: changing(given, right)})


def spelling(fault: tuple[int, Callable[[str], str]]) -> type[Right]:
    """A text longer than a limit is read as another spelling of it."""
    longer_than, change = fault

    def encode(self: Any, text: str, right: list[int], *options: Any) -> list[int]:
        return Full.encode(self, change(text), *options) if len(text) > longer_than else right

    return changed(Full, encode=encode)


def cost(characters: str) -> type[Right]:
    """Runs of one kind of character take time proportional to the square of their length."""
    runs = re.compile(characters + "+")

    def encode(self: Any, text: str, right: list[int], *options: Any) -> list[int]:
        for run in islice(runs.finditer(text), 100):
            sum(range(len(run[0]) ** 2 // 400))
        return right

    return changed(Full, encode=encode)


KINDS: dict[str, tuple[Callable[[Any], type[Right]], Sequence[Any], tuple[str, ...]]] = {
    "code-points": (code_point, range(6), ("code-points",)),
    "tokens": (token, range(4), ("tokens",)),
    "transitions": (transition, (1, 7), ("transitions",)),
    "merges": (when, (astral_piece_of_65, piece_past_64k), ("lengths",)),
    "state": (lambda wrong: wrong, CHANGED_BY_CALLS, ("state", "python-values")),
    "count": (
        derived,
        [("count", lambda text, n: max(1, len(text) // 4) if text else 0)],
        ("spellings", "transitions"),
    ),
    "batch": (
        derived,
        [("encode_batch", lambda texts, ids: ids if len(texts[-1:] and texts[-1]) <= 70_000 else [*ids[:-1], [0]])],
        ("batch",),
    ),
    "array": (
        derived,
        [("encode_array", lambda text, ids: ids if not text.startswith("\ufeff") else ids[1:])],
        ("spellings", "transitions"),
    ),
    "decode": (
        derived,
        [
            ("decode_bytes", lambda ids, data: data.decode("utf-8", "ignore").encode()),
            ("decode_bytes", lambda ids, data: data if len(ids) <= 5_000 else data + b" "),
        ],
        ("decode-any-order", "spellings"),
    ),
    "spellings": (
        spelling,
        [
            (-1, lambda text: text.replace("\r\n", "\n")),
            (5_000, lambda text: text.replace("\0", "")),
            (100_000, lambda text: text.partition("\0")[0]),
        ],
        ("spellings",),
    ),
    "cost": (cost, ("[a-z]", "[!-/]"), ("cost",)),
}
"""Kind -> its rule, the arguments to try, and the checks of which one must find each."""
