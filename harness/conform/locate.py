"""In which stage a wrong answer arises.

What two tokenizers can show of themselves is `harness.explain`'s to find; here stands what only a process under test
can do wrong: refuse, end, hang, take one piece for another, and go wrong only where a text is very long.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import TypeVar

from harness.conform.reference import Answer, Reference, Refused
from harness.conform.verdicts import Stage
from harness.conform.wording import expression
from harness.explain import Side, black_box, explain, side_of
from impls.core.text.text import repair_surrogates

T = TypeVar("T")
Encode = Callable[[str], Answer]
Decode = Callable[[list[int]], str | Refused]

_EXPLAINED_CHARACTERS = 2_000
_MOST_PIECES = 6
"""Of a text of more pieces it is not asked whether one takes another's ids: that needs a fresh process each."""


@dataclass(frozen=True, slots=True)
class Located:
    """Where an answer goes wrong, and in what way."""

    stage: Stage
    reason: str


@dataclass(frozen=True, slots=True)
class Questions:
    """What can be asked of the target while a fault is located."""

    encode: Encode
    """In the process there is."""
    encode_afresh: Encode
    """In a process that has encoded nothing before."""
    decode: Decode


def locate(text: str, got: Answer, ask: Questions, reference: Reference) -> Located:
    """The stage in which `got`, the target's answer for `text`, parts from the reference's ids.

    `text` should be as small as it gets. Where the reference itself refuses, only what `got` stands for is judged.
    """
    if isinstance(got, Refused):
        if got.kind in ("timeout", "out-of-memory"):
            return Located("resources", str(got))
        return Located("process", f"its process ends: {got}") if got.fatal else Located("refusal", f"refuses it: {got}")
    pieces = reference.pieces(text)
    if _takes_one_for_another(pieces, got, ask, reference):
        return Located("cache", "each piece alone is right; together one gets the ids of another")
    if len(text) > _EXPLAINED_CHARACTERS:
        return _of_long_text(text, pieces, got, ask, reference)
    found = explain(side_of(reference.tokenizer, reference.name), _target_side(ask, reference), text)
    if found.stage is None:
        return Located("determinism", "asked again, it gives the ids of the reference")
    if found.stage == "failure":
        return Located("refusal", found.what)
    if found.stage == "pieces" and _only_length_matters(text, pieces, ask, reference):
        return Located("merges", f"{found.what}; but shorter, the same letters are merged rightly")
    return Located(found.stage, found.what)


def _only_length_matters(text: str, pieces: Sequence[str], ask: Questions, reference: Reference) -> bool:
    """Whether one piece of letters of one kind is right at half its length: no pattern counts letters."""
    kinds = {unicodedata.category(character) for character in text}
    if len(pieces) != 1 or len(kinds) != 1 or not kinds.pop().startswith("L"):
        return False
    half = text[: len(text) // 2]
    answer = ask.encode(half)
    return bool(half) and answer == reference.ids(half) and isinstance(answer, list) and len(answer) < len(half)


def _takes_one_for_another(pieces: Sequence[str], got: list[int], ask: Questions, reference: Reference) -> bool:
    """Whether the answer is made of the ids of these pieces, not each in its place, while each alone is right."""
    if not 1 < len(pieces) <= _MOST_PIECES:
        return False
    known = {piece: ids for piece in pieces if isinstance(ids := reference.ids(piece), list)}
    rest = got
    for _ in pieces:
        taken = next((ids for ids in known.values() if ids and rest[: len(ids)] == ids), None)
        if taken is None:
            return False
        rest = rest[len(taken) :]
    return not rest and all(ask.encode_afresh(piece) == known.get(piece) for piece in dict.fromkeys(pieces))


def _of_long_text(text: str, pieces: Sequence[str], got: list[int], ask: Questions, reference: Reference) -> Located:
    """A text too long to be explained: only whether its pieces, or only the whole, are wrong."""
    by_id = reference.bytes_by_id
    data = b"".join(by_id.get(i, b"") for i in got)
    given = repair_surrogates(text).encode()
    if data != given:
        if given.startswith(data) or given.endswith(data):
            return Located("pieces", f"{len(given) - len(data):,} of {len(given):,} bytes are left out")
        back = data.decode("utf-8", "replace")
        for form in ("NFC", "NFD", "NFKC", "NFKD"):
            if unicodedata.normalize(form, text) == back != text:
                return Located("normalisation", f"the target brings so long a text to the normal form {form}")
        at = next((k for k, (a, b) in enumerate(zip(given, data, strict=False)) if a != b), min(len(given), len(data)))
        if back.count("\ufffd") > text.count("\ufffd"):
            return Located("pieces", f"in so long a text a character is cut, at byte {at:,}")
        return Located("vocabulary", f"the ids stand for {expression(data.decode('utf-8', 'replace'))}")
    alone = [ask.encode(piece) for piece in dict.fromkeys(pieces)]
    if alone != [reference.ids(piece) for piece in dict.fromkeys(pieces)]:
        return Located("merges", "a piece of it is merged otherwise")
    expected = reference.ids(text)
    wanted = expected if isinstance(expected, list) else []
    ends = list(accumulate(len(by_id.get(i, b"")) for i in got))
    at = next((ends[k] for k, (a, b) in enumerate(zip(got, wanted, strict=False)) if a != b), 0)
    return Located("pieces", f"each piece alone is right; in so long a text it is cut otherwise, before byte {at:,}")


def _target_side(ask: Questions, reference: Reference) -> Side:
    """The target as a side of an explanation, which knows no more of it than its answers."""

    def encode(text: str) -> list[int]:
        return _answered(ask.encode(text))

    def decode(ids: list[int]) -> str:
        return _answered(ask.decode(ids))

    return black_box("the target", encode, decode, special_tokens=reference.model.whole_token_ids)


def _answered(answer: T | Refused) -> T:
    if isinstance(answer, Refused):
        raise RuntimeError(str(answer))
    return answer
