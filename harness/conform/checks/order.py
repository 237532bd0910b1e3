"""Lists of ids that no text was encoded to: any id beside any other, cut inside characters, repeated, reordered."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from random import Random
from typing import NamedTuple

from harness.check.shrink import Budget, smallest_sequence
from harness.conform.case import Case
from harness.conform.checks.encoding import texts_for
from harness.conform.reference import Refusal
from harness.conform.verdicts import CheckVerdict, FailingInput, Stage
from harness.conform.wording import expression

_N_RANDOM = 2_500
_N_TEXTS = 150
_RUNS = (2, 3, 4, 5, 8, 9, 16, 17, 33, 65, 257, 1025)
_LATEST = 3
_TRIALS = 300
_SHRINK_SECONDS = 5.0
Ids = tuple[int, ...]


def any_order(case: Case) -> CheckVerdict:
    """Check `decode`, and `decode_bytes` if offered, on lists of ids in any order."""
    latest: list[Ids] = []
    n_inputs = n_left_out = 0
    for ids in [*case.known_ids, *_lists(case)]:
        expected = case.reference.decode(ids)
        if isinstance(expected, Refusal):
            n_left_out += 1
            continue
        n_inputs += 1
        got = case.client.decode(ids)
        if got != expected or _bytes_differ(case, ids):
            verdict = _failure(case, ids, got, latest)
            verdict.n_inputs = n_inputs
            return verdict
        latest = [*latest[1 - _LATEST :], ids]
        if case.out_of_time:
            break
    reason = f"{n_left_out:,} lists the reference refuses" if n_left_out else ""
    return CheckVerdict(status="passed", reason=reason, n_inputs=n_inputs)


def _bytes_differ(case: Case, ids: Ids) -> bool:
    if case.reference.model.lossy is not None or not case.client.offers("decode_bytes"):
        return False
    by_id = case.reference.bytes_by_id
    return bool(case.client.ask("decode_bytes", ids=list(ids)) != b"".join(by_id[i] for i in ids))


def _lists(case: Case) -> Iterator[Ids]:
    random = Random(f"order:{case.seed}")
    by_id = case.reference.bytes_by_id
    every = sorted(by_id)
    cut = [i for i in every if "\ufffd" in by_id[i].decode("utf-8", "replace")]
    special = sorted(set(case.reference.model.whole_token_ids.values()))
    texts = texts_for(case)
    wide = [text for text in texts if not text.isascii() and len(text) <= 60]
    for text in wide[:: max(1, len(wide) // _N_TEXTS)]:
        ids = case.reference.ids(text)
        if isinstance(ids, list):
            yield from _parts(tuple(ids), random)
    for i in random.choices(every, k=len(_RUNS)) + random.choices(cut or every, k=len(_RUNS)):
        for n in _RUNS:
            yield (i,) * n
    for _ in range(_N_RANDOM):
        pools = random.choices((every, cut or every, special or every), weights=(5, 4, 1), k=random.randint(1, 8))
        ids = [random.choice(pool) for pool in pools]
        yield tuple(ids)
        random.shuffle(ids)
        yield tuple(ids)


def _parts(ids: Ids, random: Random) -> Iterator[Ids]:
    """Yield prefixes and suffixes of `ids`, `ids` backwards, and in another order."""
    for k in range(1, min(len(ids), 8)):
        yield ids[:k]
        yield ids[-k:]
    yield ids[:-1]
    yield ids[::-1]
    yield tuple(random.sample(ids, len(ids)))


def _failure(case: Case, ids: Ids, got: object, latest: Sequence[Ids]) -> CheckVerdict:
    """Return the failure with the fewest wrongly decoded ids, or with the earlier list that makes them wrong.

    What is shown was wrong as the first call of a fresh process, since during shrinking earlier calls may affect later
    ones. `got` is what the ids were decoded to at first.
    """

    def wrong(candidate: Sequence[int]) -> bool:
        expected = case.reference.decode(candidate)
        if not candidate or isinstance(expected, Refusal):
            return False
        return case.client.decode(candidate) != expected or _bytes_differ(case, tuple(candidate))

    case.client.fresh()
    if wrong(ids):
        small = smallest_sequence(ids, wrong, Budget(_TRIALS, _SHRINK_SECONDS))
        if small not in case.known_ids:
            case.known_ids.append(small)
        for shown in (small, ids):
            case.client.fresh()
            if (answers := _answers(case, shown)).expected != answers.got:
                return _failed_verdict(shown, answers, "decode", "in a list of ids that is not from a text")
    for earlier in reversed(latest):
        case.client.fresh()
        case.client.decode(earlier)
        if (answers := _answers(case, ids)).expected != answers.got:
            return _failed_verdict(
                ids, answers, "cache", f"right in a fresh process, wrong after decode({list(earlier)})"
            )
    reason = "was decoded differently before, and is right in a fresh process"
    return _failed_verdict(ids, _Answers("decode", case.reference.decode(ids), got), "determinism", reason)


class _Answers(NamedTuple):
    method: str
    expected: object
    got: object


def _answers(case: Case, ids: Ids) -> _Answers:
    """Return the expected and the actual result of `decode`, or of `decode_bytes` where `decode` is right."""
    expected, got = case.reference.decode(ids), case.client.decode(ids)
    if expected == got and _bytes_differ(case, ids):
        by_id = case.reference.bytes_by_id
        raw = case.client.ask("decode_bytes", ids=list(ids))
        return _Answers("decode_bytes", b"".join(by_id[i] for i in ids), raw)
    return _Answers("decode", expected, got)


def _failed_verdict(ids: Ids, answers: _Answers, stage: Stage, reason: str) -> CheckVerdict:
    expected, got = (
        expression(answer) if isinstance(answer, str) else repr(answer) if isinstance(answer, bytes) else str(answer)
        for answer in answers[1:]
    )
    return CheckVerdict(
        status="failed",
        stage=stage,
        reason=reason if answers.method == "decode" else f"{answers.method}: {reason}",
        counterexample=FailingInput.of(ids=list(ids), expected=expected, got=got),
        n_failed=1,
    )
