"""Wrong tokenizers made by rule: each is right but for one thing in one place.

`KINDS` maps a kind to its rule, the numbers to try and the checks of which one must find each. Which
character, token, transition or length is wrong follows from the number and a seed, so that no check can know it.
"""

from __future__ import annotations

import random
import re
import unicodedata
from collections.abc import Callable, Sequence
from functools import cache
from itertools import islice
from typing import Any

from planted_history import left_behind, when
from planted_wrapper import Full, Right, changed, model

import impls
from harness.generators.texts import text_of
from impls.core.pattern.automaton import Automaton, compile_pattern

Rule = Callable[[int], type[Right]]


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


# --- pieces of one length --------------------------------------------------------------------------------------

_LENGTHS = (7, 16, 17, 40, 64, 65, 255, 256, 257, 1000, 4095, 4096, 4097, 65_535, 65_536, 65_537)


def piece_length(number: int) -> type[Right]:
    """Pieces of one length in bytes, of characters of one length, are merged wrongly; some from that length on."""
    n_bytes = _LENGTHS[number % len(_LENGTHS)]
    of = ("\x80", "\u0800", "\U00010000")[number % 3] if number % 2 else ""

    def holds(self: Any, text: str) -> bool:
        if len(text.encode("utf-8", "replace")) < n_bytes or max(text) < of:
            return False
        sizes = {len(piece.encode("utf-8", "replace")) for piece in self.split(text)}
        return n_bytes in sizes if number < 10 else max(sizes) >= n_bytes

    return when(holds)


# --- other calls for the same answer ---------------------------------------------------------------------------


def derived(number: int) -> type[Right]:
    """One of the calls derived from encode and decode goes its own way."""
    name, changing = (
        ("count", lambda given, n: max(1, len(given) // 4) if given else 0),
        ("count", lambda given, n: n if given.isascii() else n - 1),
        ("count", lambda given, n: n if "\r" not in given else n - 1),
        ("encode_batch", lambda given, lists: lists if len(given) <= 64 else [*lists[:64], *lists[65:], lists[64]]),
        ("encode_batch", lambda given, lists: list(dict(zip(given, lists, strict=True)).values())),
        ("encode_batch", lambda given, lists: lists if len(given[-1:] and given[-1]) <= 70_000 else [*lists[:-1], [0]]),
        ("encode_array", lambda given, array: array if len(array) != 1 else array[:0]),
        ("encode_array", lambda given, array: array if not given.startswith("\ufeff") else array[1:]),
        ("decode", lambda given, text: text.rstrip(" ")),
        ("decode", lambda given, text: text if len(text) <= 70_000 else text[:70_000]),
        ("decode", lambda given, text: unicodedata.normalize("NFC", text)),
        ("decode_bytes", lambda given, data: data.decode("utf-8", "ignore").encode()),
        ("decode_bytes", lambda given, data: data if len(given) <= 5_000 else data + b" "),
        ("count", lambda given, n: n + (len(given) > 70_000)),
        ("encode_batch", lambda given, lists: lists[::-1]),
        ("encode_array", lambda given, array: array[:5]),
        ("encode_array", lambda given, array: array if len(given) <= 5_000 else array[::-1]),
        ("decode", lambda given, text: text.replace("\r\n", "\n")),
        ("decode", lambda given, text: text.replace("\ufeff", "")),
        ("decode_bytes", lambda given, data: data.decode("utf-8", "replace").encode("utf-16")),
    )[number]  # fmt: skip

    wrong = changed(Full, **{name: lambda self, given, right, *options: changing(given, right)})
    checks = {"encode_batch": ("batch",)} | dict.fromkeys(("decode", "decode_bytes"), ("decode-any-order", "spellings"))
    wrong.checks = checks.get(name, ("spellings", "transitions"))  # type: ignore[attr-defined]
    return wrong


# --- spellings of one text -------------------------------------------------------------------------------------


def spelling(number: int) -> type[Right]:
    """A text is read as another spelling of it; every second one only past 5,000, every fifth past 100,000."""
    changes: tuple[Callable[[str], str], ...] = (
        lambda text: text.replace("\r\n", "\n"),
        lambda text: text.removeprefix("\ufeff"),
        lambda text: unicodedata.normalize("NFC", text),
        lambda text: unicodedata.normalize("NFD", text),
        lambda text: text.partition("\0")[0] if "\0" in text else text,
        lambda text: text.replace("\0", ""),
        lambda text: text.replace("\r", "\n") if "\r" in text and "\n" not in text else text,
        lambda text: text.replace("\u2028", "\n"),
        lambda text: text.replace("\ufeff", "", 2) if text.count("\ufeff") > 1 else text,
        lambda text: re.sub("[\ud800-\udbff](?![\udc00-\udfff])", "", text),
    )
    change = changes[number % len(changes)]
    longer_than = 100_000 if number % 5 == 4 else 5_000 if number % 2 else -1

    def encode(self: Any, text: str, right: list[int], *options: Any) -> list[int]:
        return Full.encode(self, change(text), *options) if len(text) > longer_than else right

    return changed(Full, encode=encode)


# --- what a text costs -----------------------------------------------------------------------------------------

_COSTLY = (
    "[a-z]", "[一-鿿]", "[!-/]", "[A-Z]", "[0-9]", "[\u0400-\u04ff]", "[\u0e00-\u0e7f]", "[\u0e80-\u0eff]",
    "[\u1780-\u17ff]", "[\u1000-\u109f]", "[\u0f00-\u0fff]", "[\u3040-\u309f]", "[\u30a0-\u30ff]", "[가-힣]",
    "[\U0001f300-\U0001faff]", "[\u0300-\u036f]", "[ \u00a0\u2003\u3000]", "[\t ]", "[\r\n]", "[\U00010400-\U0001044f]",
)  # fmt: skip


def cost(number: int) -> type[Right]:
    """Runs of one kind of character take time proportional to the square of their length."""
    runs = re.compile(_COSTLY[number] + "+")

    def encode(self: Any, text: str, right: list[int], *options: Any) -> list[int]:
        for run in islice(runs.finditer(text), 100):
            sum(range(len(run[0]) ** 2 // 400))
        return right

    return changed(Full, encode=encode)


KINDS: dict[str, tuple[Rule, Sequence[int], tuple[str, ...]]] = {
    "code-points": (code_point, range(6), ("code-points",)),
    "tokens": (token, range(4), ("tokens",)),
    "transitions": (transition, (1, 7), ("transitions",)),
    "merges": (piece_length, (5, 15), ("lengths",)),
    "state": (left_behind, (5, 8, 10, 11, 12), ("state", "python-values")),
    "derived": (derived, (0, 5, 7, 11, 12), ()),
    "spellings": (spelling, (0, 5, 14), ("spellings",)),
    "cost": (cost, (0, 2), ("cost",)),
}
"""Kind -> its rule, which makes twenty of each, the numbers that every run of the tests takes, and the checks."""
