"""Is a text cut to a number of tokens the longest part of it that is allowed, and do limits count its ids right?"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from itertools import product
from random import Random
from typing import Any, NamedTuple

import regex

from harness.conform.case import Case
from harness.conform.checks.over_texts import ensure_all, past_64k, texts_for
from harness.conform.verdicts import Fault, NotAsked
from harness.conform.wording import expression, has_surrogate
from harness.process.session import Failed
from impls.operations.truncation import Side, Whole

_N_TEXTS = 200
_SHORT_IDS = 8
"""A text of up to this many ids is truncated at every limit in every way."""
_RANDOM_LIMITS = 2
_WAYS_OF_LONG = 2
_GREATEST_LIMIT, _PAST_31_BITS = 1_000, 1 << 31
_N_CUT_CHARACTERS = 50
_CUT_ELSEWHERE = ("a I'LL b", "a we'Ve", "שלום'vex", "1234567890", "a  \n\n  b", "x🇹🇷👩\u200d👧e\u0301")
"""Texts of which a part is split differently than within the whole."""
_LOWEST = 4
"""Smaller limits tried when a wrong answer is shrunk."""
_SIDES: tuple[Side, ...] = ("right", "left")
_WHOLES: tuple[Whole, ...] = ("token", "character", "word")
_WORD_BOUNDARY = regex.compile(r"(?w)\b")


class _Call(NamedTuple):
    """An operation with a limit; `options` are those of `truncate`."""

    operation: str
    n_tokens: int
    options: Mapping[str, Any] = {}

    def __str__(self) -> str:
        if self.operation == "count":
            return f"count(text, at_most={self.n_tokens})"
        given = "".join(f", {name}={value!r}" for name, value in self.options.items())
        return f"{self.operation}(text, {self.n_tokens}{given})"

    def made(self, case: Case, text: str) -> Any:
        """Return the target's answer."""
        if self.operation == "count":
            return case.client.ask("count", text=text, at_most=self.n_tokens)
        return case.client.ask(self.operation, text=text, n_tokens=self.n_tokens, **self.options)


def truncation(case: Case) -> str:
    """Check `truncate`, `fits` and `count` up to a limit, those of them that are offered, by all ids of the text.

    Limits are 0, 1, and below, at and above the number of ids. Texts that the target gives other ids than the
    reference are left out, since `ids` judges those.
    """
    ways, refused = _ways(case)
    if not ways:
        raise NotAsked("; ".join(refused))
    random = Random(f"truncate:{case.seed}")
    found = (*_CUT_ELSEWHERE, *_cut_characters(case), *texts_for(case, _N_TEXTS), *past_64k(case))
    texts = [text for text in found if text and not has_surrogate(text)]
    n_judged = 0
    for text, ids in zip(texts, case.client.ids_of_all(texts), strict=False):
        if case.out_of_time and n_judged:
            break
        n_judged += 1
        if isinstance(ids, Failed) or ids != case.reference.ids(text):
            continue
        some = len(ways) if len(ids) <= _SHORT_IDS else min(len(ways), _WAYS_OF_LONG)
        for n_tokens in _limits(len(ids), random):
            for operation, options in random.sample(ways, some):
                case.n_inputs += 1
                call = _Call(operation, n_tokens, options)
                if (fault := _fault(case, text, call)) is not None:
                    raise case.smallest_fault(text, partial(_fault_at_a_low_limit, case, call), fault)
    ensure_all(n_judged, len(texts), "texts")
    return "; ".join(refused)


def _ways(case: Case) -> tuple[list[tuple[str, dict[str, Any]]], list[str]]:
    """Return every offered operation with every combination of its options, and why others are not checked."""
    offers = case.client.offers
    sides = _SIDES if offers("side") else _SIDES[:1]
    wholes = _WHOLES if offers("whole") else _WHOLES[:1]
    ways: list[tuple[str, dict[str, Any]]] = []
    for side, whole in product(sides, wholes):
        options = {"side": side} if offers("side") else {}
        ways.append(("truncate", options | ({"whole": whole} if offers("whole") else {})))
    found = [way for way in ways if offers("truncate")]
    found += [("fits", {})] * offers("fits") + [("count", {})] * (offers("count") and offers("at_most"))
    refused: dict[str, str] = {}
    for operation in dict.fromkeys(name for name, _ in found):
        limit = {"at_most": 1} if operation == "count" else {"n_tokens": 1}
        if why := case.lacks(operation, text="", **limit):
            refused[operation] = f"its {operation} takes other arguments: {why}"
    return [way for way in found if way[0] not in refused], list(refused.values())


def _limits(n_ids: int, random: Random) -> Iterable[int]:
    if n_ids <= _SHORT_IDS:
        return (*range(n_ids + 2), _PAST_31_BITS)
    some = [random.randint(0, min(n_ids, _GREATEST_LIMIT)) for _ in range(_RANDOM_LIMITS)]
    return dict.fromkeys((0, 1, *some, n_ids - 1, n_ids, n_ids + 1))


def _cut_characters(case: Case) -> list[str]:
    """Return texts with a token that ends inside a character and is several tokens without that character."""
    texts: dict[str, None] = {}
    for token in case.reference.bytes_by_id.values():
        text = token.decode("utf-8", "ignore")
        if not text or len(text.encode()) == len(token) or _n_ids(case, text) == 1:
            continue
        for rest in (b"\x80", b"\xa0", b"\x80\x80", b"\xa0\x80", b"\x80\x80\x80"):
            whole = (token + rest).decode("utf-8", "ignore")
            if len(whole.encode()) == len(token + rest):
                texts[whole] = None
        if len(texts) >= _N_CUT_CHARACTERS:
            break
    return list(texts)


# --- right answers -------------------------------------------------------------------------------------------------


def _expected(case: Case, text: str, call: _Call) -> int | bool | str | Failed:
    ids = case.reference.ids(text)
    if isinstance(ids, Failed):
        return ids
    if call.operation == "count":
        return min(len(ids), call.n_tokens + 1)
    if call.operation == "fits" or len(ids) <= call.n_tokens:
        return len(ids) <= call.n_tokens if call.operation == "fits" else text
    parts = _parts(case, text, ids, call)
    return next((part for part in parts if _n_ids(case, part) <= call.n_tokens), "")


def _parts(case: Case, text: str, ids: list[int], call: _Call) -> Iterator[str]:
    """Yield the beginnings (ends) of `text` within its first (last) ids that may be returned, the longest first."""
    tokenizer = case.reference.tokenizer
    on_left, whole = call.options.get("side") == "left", call.options.get("whole", "token")
    if whole == "token":
        for n in range(call.n_tokens, 0, -1):
            data = tokenizer.decode_bytes(ids[len(ids) - n :] if on_left else ids[:n])
            part = data.decode("utf-8", "ignore")
            if len(part.encode()) == len(data):
                yield part
        return
    first = len(ids) - call.n_tokens if on_left else 0
    kept = tokenizer.decode_bytes(ids[first : first + call.n_tokens]).decode("utf-8", "ignore")
    if case.reference.model.round_trip != "exact":
        text = tokenizer.decode(ids)
    for n in range(len(kept), 0, -1):
        if whole == "character" or _WORD_BOUNDARY.match(text, len(text) - n if on_left else n):
            yield kept[len(kept) - n :] if on_left else kept[:n]


def _n_ids(case: Case, text: str) -> float:
    ids = case.reference.ids(text)
    return float("inf") if isinstance(ids, Failed) else len(ids)


# --- faults --------------------------------------------------------------------------------------------------------


def _fault(case: Case, text: str, call: _Call) -> Fault | None:
    """Return the fault of one call, or None; texts with other ids than the reference's are left to the check of ids."""
    expected = _expected(case, text, call)
    if isinstance(expected, Failed) or (got := call.made(case, text)) == expected:
        return None
    if case.client.ids(text) != case.reference.ids(text):
        return None
    shown = [expression(answer) if isinstance(answer, str) else str(answer) for answer in (expected, got)]
    reason = f"{call} {_difference(case, text, call, expected, got)}"
    return Fault("truncation", reason, text=text, expected=shown[0], got=shown[1])


def _fault_at_a_low_limit(case: Case, call: _Call, text: str) -> Fault | None:
    """Return the fault at the lowest limit tried."""
    limits = sorted({*range(min(_LOWEST, call.n_tokens)), call.n_tokens})
    faults = (_fault(case, text, call._replace(n_tokens=n_tokens)) for n_tokens in limits)
    return next(filter(None, faults), None)


def _difference(case: Case, text: str, call: _Call, expected: Any, got: Any) -> str:
    n_ids = f"{_n_ids(case, text)} ids"
    if isinstance(got, Failed):
        return f"is refused: {got}"
    if not isinstance(got, str):
        return f"says {got} of a text of {n_ids}"
    if expected == text:
        return f"cuts a text of {n_ids}"
    on_left = call.options.get("side") == "left"
    if case.reference.model.round_trip == "exact" and not (text.endswith(got) if on_left else text.startswith(got)):
        return f"is not {'an end' if on_left else 'a beginning'} of the text"
    if (n_alone := _n_ids(case, got)) > call.n_tokens:
        return f"has {n_alone} ids when it is encoded alone"
    if len(got) < len(expected):
        return f"cuts off {len(expected) - len(got)} characters more than it must"
    return f"is longer than the longest part that ends between {call.options.get('whole', 'token')}s"
