"""Check lists of ids that no text encodes to: any id beside any other, cut inside characters, repeated, reordered."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from random import Random
from typing import NamedTuple

from harness.conform.case import Case
from harness.conform.checks.over_texts import ensure_all, texts_for
from harness.conform.verdicts import Fault, Stage
from harness.conform.wording import answered
from harness.generators.texts import RandomIds
from harness.minimize import Budget, smallest_sequence
from harness.process.session import Failed

_N_RANDOM = 2_500
_N_TEXTS = 150
_N_ENCODED = 300
_RUNS = (2, 3, 4, 5, 8, 9, 16, 17, 33, 65, 257, 1025)
_LATEST = 3
_TRIALS = 300
_SHRINK_SECONDS = 5.0
Ids = tuple[int, ...]


def any_order(case: Case) -> str:
    """Check `decode`, and `decode_bytes` if offered, on lists of ids in any order."""
    latest: list[Ids] = []
    n_left_out = n_encoded = 0
    lists = [*case.known_ids, *_lists(case)]
    n_judged = len(lists)
    for n, ids in enumerate(lists, 1):
        if isinstance(case.reference.decode(ids), Failed):
            n_left_out += 1
            continue
        case.n_inputs += 1
        if (answers := _answers(case, ids)).differ:
            raise _explained(case, ids, answers, latest)
        n_encoded += _encode_again(case, ids) if n_encoded < _N_ENCODED else 0
        latest = [*latest[1 - _LATEST :], ids]
        if case.out_of_time:
            n_judged = n
            break
    refused = f"{n_left_out:,} lists the reference refuses" if n_left_out else ""
    ensure_all(n_judged, len(lists), "lists of ids")
    return refused


def _encode_again(case: Case, ids: Ids) -> bool:
    """Encode the text of `ids` if its ids differ, and return whether it did; a fault if decoding has changed them."""
    text = case.reference.decode(ids)
    specials = case.reference.model.whole_token_ids
    if isinstance(text, Failed) or any(name in text for name in specials):
        return False
    expected = case.reference.ids(text)
    if expected == list(ids):
        return False
    if case.client.ids(text) != expected:
        case.client.fresh()
        is_right_alone = case.client.ids(text) == expected
        case.client.fresh()
        case.client.decode(ids)
        if is_right_alone and (got := case.client.ids(text)) != expected:
            reason = f"right in a fresh process, wrong after decode({list(ids)})"
            raise Fault("cache", reason, text=text, ids=list(ids), expected=expected, got=got)
    return True


def _lists(case: Case) -> Iterator[Ids]:
    random = Random(f"order:{case.seed}")
    yield ()
    wide = [text for text in texts_for(case) if not text.isascii() and len(text) <= 60]
    for text in wide[:: max(1, len(wide) // _N_TEXTS)]:
        ids = case.reference.ids(text)
        if isinstance(ids, list):
            yield from _parts(tuple(ids), random)
    of_model = RandomIds(case.reference.model)
    for i in random.choices(of_model.every, k=len(_RUNS)) + random.choices(of_model.cut, k=len(_RUNS)):
        for n in _RUNS:
            yield (i,) * n
    for _ in range(_N_RANDOM):
        drawn = of_model.draw(random)
        yield tuple(drawn)
        random.shuffle(drawn)
        yield tuple(drawn)


def _parts(ids: Ids, random: Random) -> Iterator[Ids]:
    """Yield prefixes and suffixes of `ids`, `ids` backwards, and in another order."""
    for k in range(1, min(len(ids), 8)):
        yield ids[:k]
        yield ids[-k:]
    yield ids[:-1]
    yield ids[::-1]
    yield tuple(random.sample(ids, len(ids)))


class _Answers(NamedTuple):
    """The expected and actual results for a list of ids, by `decode`, or by `decode_bytes` if `decode` is right."""

    method: str
    expected: object
    got: object

    @property
    def differ(self) -> bool:
        return self.expected != self.got and not isinstance(self.expected, Failed)


def _answers(case: Case, ids: Ids) -> _Answers:
    expected, got = case.reference.decode(ids), case.client.decode(ids)
    if expected == got and case.reference.model.lossy is None and case.client.offers("decode_bytes"):
        joined = b"".join(case.reference.bytes_by_id[i] for i in ids)
        return _Answers("decode_bytes", joined, case.client.ask("decode_bytes", ids=list(ids)))
    return _Answers("decode", expected, got)


def _explained(case: Case, ids: Ids, at_first: _Answers, latest: Sequence[Ids]) -> Fault:
    """Return the fault with the fewest wrongly decoded ids, or with the earlier list that makes them wrong.

    Whatever is reported was wrong as the first call of a fresh process, since during minimisation earlier calls may
    affect later ones. `at_first` is what the ids were decoded to at first.
    """

    def wrong(candidate: Ids) -> bool:
        return _answers(case, candidate).differ

    case.client.fresh()
    if wrong(ids):
        small = smallest_sequence(ids, wrong, Budget(_TRIALS, _SHRINK_SECONDS))
        if small not in case.known_ids:
            case.known_ids.append(small)
        for shown in (small, ids):
            case.client.fresh()
            if (answers := _answers(case, shown)).differ:
                return _fault(
                    shown, answers, "decode", "these ids, which are those of no text, decode to something else"
                )
    for earlier in reversed(latest):
        case.client.fresh()
        case.client.decode(earlier)
        if (answers := _answers(case, ids)).differ:
            return _fault(ids, answers, "cache", f"right in a fresh process, wrong after decode({list(earlier)})")
    reason = "was decoded differently before, and is right in a fresh process"
    return _fault(ids, at_first, "determinism", reason)


def _fault(ids: Ids, answers: _Answers, stage: Stage, reason: str) -> Fault:
    reason = reason if answers.method == "decode" else f"{answers.method}: {reason}"
    return Fault(stage, reason, ids=list(ids), expected=answered(answers.expected), got=answered(answers.got))
