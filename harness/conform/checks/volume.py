"""Texts of every size, and a million short ones: where buffers end, tables fill up, and rare faults show.

Also every length up to a few hundred bytes with each kind of character last: where the remainders of vectors and blocks
are handled.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from functools import partial
from random import Random

from harness.conform.case import Case
from harness.conform.checks.batches import compare
from harness.conform.checks.over_texts import not_judged, over_texts
from harness.conform.reference import Refusal
from harness.conform.verdicts import Fault, NotAsked
from harness.data.generated import generate
from harness.generators import texts as material
from harness.generators.texts import of_bytes, pairs_of_parts, prose
from impls.core.text.text import special_matcher

_EVERY_LENGTH = 300
_LAST = ("", " ", "é", "中", "👍", "\u0301", "\n")
_POWERS = range(9, 17)
_GREAT_POWERS = range(17, 21)
_OTHERS = (1_000, 1_536, 3_000, 6_144, 10_000, 12_288, 20_480, 49_152, 100_000)


def sizes(case: Case) -> str:
    """Check the ids and the round trip at each size from a few bytes to a megabyte."""
    fitting = [text for text in (*_short(case.seed), *_of_powers(case.seed)) if case.can_ask(text)]
    remark = over_texts(case, fitting, case.judge_ids_and_round_trip)
    longest = max(map(len, fitting[: case.n_inputs]))
    return "; ".join(filter(None, [remark, f"up to {longest:,} characters"]))


def _short(seed: int) -> Iterator[str]:
    words = prose(_EVERY_LENGTH + 8, seed + 3).encode("ascii", "ignore").decode()
    for n_bytes in range(1, _EVERY_LENGTH):
        for last in _LAST:
            head = n_bytes - len(last.encode())
            if head >= 0:
                yield words[:head] + last


def _of_powers(seed: int) -> Iterator[str]:
    """Yield, by length, texts of mixed scripts and of plain words, with that many bytes or characters."""
    greatest = 1 << _GREAT_POWERS[-1]
    shift = Random(f"sizes:{seed}").randrange(64)
    mixed = "".join(generate(f"gen/mixed:{greatest + 80}"))[shift:]
    words = prose(greatest + 80, seed + 4).encode("ascii", "ignore").decode()
    words += "x" * (greatest + 80 - len(words))
    near = {(1 << power) + more for power in _POWERS for more in (-1, 0, 1)}
    great = {1 << power for power in _GREAT_POWERS}
    for n in sorted(near | set(_OTHERS) | great):
        yield of_bytes(mixed, n)
        yield mixed[:n]
        yield words[: n + (n in great)]


N_TEXTS = 1_000_000
LEAST_TEXTS = 10_000
"""Fewer texts than this are no evidence."""
SECONDS = 20.0
"""The check takes no longer than this, however fast the target."""
_A_BATCH = 20_000
_LEAST_TIMED = 900  # texts
_SLOWER, _SLOWER_SECONDS = 5.0, 20e-6
"""A slowdown is reported above this factor and this time per text; less is noise."""
_SHARE_OF_BATCHES = 0.3
"""Share of the time for batches, which repeat texts of single calls."""
_LONGEST_PART = 5  # characters


def many_texts(case: Case) -> str:
    """Check as many distinct short texts as the time allows: singly, and in batches if offered."""
    began, batch_seconds, best = time.monotonic(), 0.0, float("inf")
    deadline = min(case.deadline, began + SECONDS)
    n_asked = n_batches = 0
    case.client.fresh()
    first: list[str] = []
    for texts in _batches(case):
        first = first or texts
        expected = [case.reference.encode(text) for text in texts]
        asked_at = time.monotonic()
        got = list(case.client.ids_of_all(texts))
        pace = (time.monotonic() - asked_at) / max(1, len(texts))
        best = min(best, pace) if len(texts) >= _LEAST_TIMED else best
        n_asked += len(texts)
        case.n_inputs += sum(not isinstance(ids, Refusal) for ids in expected)
        triples = zip(texts, expected, got, strict=True)
        wrong = [(text, b) for text, a, b in triples if a != b and case.agrees(text, b) == "wrong"]
        if wrong:
            text, answer = min(wrong, key=lambda pair: len(pair[0]))
            fault = case.explain(text, answer, case.agrees)
            fault.n_failed = len(wrong)
            raise fault
        if pace > _SLOWER * best and pace > best + _SLOWER_SECONDS:
            _slower(case, texts, pace)
        now = time.monotonic()
        if case.client.offers("encode_batch") and batch_seconds <= _SHARE_OF_BATCHES * (now - began):
            n_batches += 1
            encoded = {text: ids for text, ids in zip(texts, got, strict=True) if isinstance(ids, list)}
            compare(case, "batch", partial(case.client.ask, "encode_batch"), [list(encoded)], encoded)
            case.n_inputs -= len(encoded)  # counted already
            batch_seconds += time.monotonic() - now
        if time.monotonic() > deadline:
            break
    again = first[: _A_BATCH // 10]
    expected = [case.reference.encode(text) for text in again]
    for text, wanted, answer in zip(again, expected, case.client.ids_of_all(again), strict=True):
        if answer != wanted and case.agrees(text, answer) == "wrong":
            raise case.explain(text, answer, case.agrees)
    remark = f"{n_asked:,} of {N_TEXTS:,} texts in the time allowed" if n_asked < N_TEXTS else ""
    remark = "; ".join(filter(None, [remark, not_judged(n_asked - case.n_inputs)]))
    if case.n_inputs < LEAST_TEXTS:
        raise NotAsked(f"too slow: {remark}" if n_asked < LEAST_TEXTS else remark)
    batches = f"in {n_batches} batches of {_A_BATCH:,} as well" if n_batches else ""
    return "; ".join(filter(None, [remark, batches]))


def _slower(case: Case, texts: Sequence[str], pace: float) -> None:
    """Raise a fault if the same texts take far less time in a fresh process."""
    case.client.fresh()
    few = texts[:_LEAST_TIMED]
    began = time.monotonic()
    for _ in case.client.ids_of_all(few):
        pass
    afresh = (time.monotonic() - began) / len(few)
    if pace >= _SLOWER * afresh:
        after = f"a text takes {pace * 1e6:,.0f} µs after {case.n_inputs:,} others"
        raise Fault("resources", f"{after}, {afresh * 1e6:,.0f} µs in a fresh process")


def _batches(case: Case) -> Iterator[list[str]]:
    """Yield batches of distinct short texts, most of them two joined words, tokens, hard texts or random characters."""
    random = Random(f"many:{case.seed}")
    parts = [
        *(text for text in material.hard_texts() if 0 < len(text) <= _LONGEST_PART),
        *(text[:_LONGEST_PART] for text in material.random_texts(case.seed + 1, 3_000)),
        *(text[:_LONGEST_PART] for text in material.model_texts(case.reference.model, case.seed + 1, 6_000)),
        *(str(number) for number in range(0, 3_000, 7)),
    ]
    specials = case.reference.model.special_tokens
    special = special_matcher(frozenset(specials)) if specials else None
    known: set[str] = set()
    made = 0
    size = 1_000  # until its speed is known
    while made < N_TEXTS:
        drawn = dict.fromkeys(pairs_of_parts(parts, size, random))
        texts = [text for text in drawn if text not in known and (special is None or special.search(text) is None)]
        known.update(texts)
        if case.client.characters_per_second:
            texts = texts[: N_TEXTS - made]
        made += len(texts)
        yield texts
        size = _A_BATCH if case.affordable(40 * _A_BATCH) else size
