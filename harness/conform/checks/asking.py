"""The runner: ask a target every text of a kind, compare each call with what follows from the reference's ids.

Counts set what is asked. Where the deadline of a check cuts it, that is `Incomplete`, which is not a pass; the texts
that were found wrong until then are reported.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import tee
from math import inf, log

from harness.conform.case import Case
from harness.conform.checks.batches import fault_of_batch
from harness.conform.checks.derived import Call, fault_of
from harness.conform.client import SHORT
from harness.conform.digests import CALLS, DIGEST, OF_IDS, Digests, of_text
from harness.conform.verdicts import Fault, Incomplete, Stage
from harness.conform.wording import answered, expression, has_surrogate
from harness.minimize import Budget, smallest_sequence
from harness.process.session import Failed
from impls.core.errors import plural

_ENOUGH = 50
"""Wrong texts after which no more are asked: the smallest of them is shrunk."""
_BRIEF, _SHORT = 3_000, 12  # characters
_FAST, _FEWEST = 5e5, 10
"""Characters a second; of a slower target every second, third, … or tenth group of texts is asked by derived calls."""
_MOST_SECONDS, _MOST_SECONDS_OF_ALL = 1.5, 5.0
"""A text that the target would take longer to encode is not asked, nor a longer group of texts by derived calls."""
_LONG, _LONG_EVERY = 500, 4
"""Of such a group of texts of more characters every fourth is asked."""
Wrong = tuple[str, str, list[str]]
"""A text, the call that answers it wrongly, and the texts asked together with it."""


def ask_all(case: Case, texts: Iterable[str], calls: Sequence[str] = CALLS) -> None:
    """Ask every text by those of the calls that are offered; note in the case from which length on they take too long.

    Raises the `Fault` of the smallest text of which one of the calls is wrong, unless it holds a text that an earlier
    check found wrong.
    """
    client, reference = case.client, case.reference
    offered, declared = client.offered(calls), client.description.time_exponent
    wrong: list[Wrong] = []
    times: list[tuple[int, float]] = []
    n_refused, n_in_part, n_left_out, too_long = 0, 0, 0, inf
    try:
        for number, group in enumerate(client.groups(texts, reference)):
            most = min(reference.longest, _longest_quick(times, _MOST_SECONDS), _longest_declared(times, declared))
            too_long = min([too_long, *(len(text) for text in group if len(text) > most)])
            if not (group := [text for text in group if len(text) <= most]):
                continue
            longest = max(map(len, group))
            every = max(1, min(_FEWEST, int(_FAST / (client.characters_per_second or _FAST))))
            is_quick = longest <= _longest_quick(times, _MOST_SECONDS_OF_ALL / len(group))
            if not is_quick and longest > _LONG:
                n_left_out += len(group) - len(group[::_LONG_EVERY])
                group = group[::_LONG_EVERY]
            asked = [call for call in offered if call in ("encode", "decode") or (is_quick and number % every == 0)]
            n_in_part += len(group) * (len(asked) < len(offered))
            began = client.busy_seconds
            for some, got in client.digests_of(group, asked):
                expected = reference.digests(some, asked)
                refused = expected["encode"].count(None) if "encode" in calls else 0
                n_refused += refused
                case.n_inputs += len(some) - refused
                wrong += _wrong(some, got, expected, calls)
            if longest >= SHORT:
                n_encoded = len(group) * len({"encode", *asked} - {*OF_IDS})
                times.append((longest, max((client.busy_seconds - began) / n_encoded, 1e-6)))
            if len(wrong) >= _ENOUGH:
                break
    except Incomplete:
        _raise_smallest(case, wrong)
        raise
    _raise_smallest(case, wrong)
    case.longest_piece = min(case.longest_piece, too_long)
    if too_long < inf:
        case.remarks.append(f"not asked: texts of {too_long:,} characters or more: the target or reference is slow")
    if n_left_out:
        case.remarks.append(f"not asked: {n_left_out:,} long texts, together too slow for this target")
    if n_in_part:
        n_texts = plural(n_in_part, "text was", "texts were")
        case.remarks.append(f"{n_texts} asked with encode and decode only, since the target is slow")
    if n_refused:
        case.remarks.append(f"{n_refused:,} texts that the reference refuses are not judged")


def _longest_quick(times: Sequence[tuple[int, float]], seconds: float) -> float:
    """Return the characters of a text that takes so many seconds, if time grows with length as it did."""
    long, slow = times[-1] if times else (0, 0.0)
    short, fast = next((before for before in times[::-1] if 1.5 * before[0] <= long), (0, 0.0))
    if not short:
        return inf
    power = min(2.0, max(1.0, log(slow / fast) / log(long / short)))
    return float(long * (seconds / slow) ** (1 / power))


def _longest_declared(times: Sequence[tuple[int, float]], exponent: float) -> float:
    """Return the characters of a text that is quick whatever it holds, if time grows as a target declares for pieces.

    Where growth depends on the text (with the ranks in it, say), the slowest so far tells, not the last.
    """
    slow = [(n, seconds) for n, seconds in times if exponent > 1 and n >= _LONG]
    return min((n * (_MOST_SECONDS / seconds) ** (1 / exponent) for n, seconds in slow), default=inf)


def _wrong(texts: list[str], got: Digests, expected: Digests, calls: Sequence[str]) -> Iterator[Wrong]:
    """Yield the texts of which an answer is wrong, with the first such call; what the reference refuses is not."""
    for k, text in enumerate(texts) if got != expected else ():
        if expected["encode"][k] is None and "encode" in calls:
            continue
        if got["encode"][k] is None and has_surrogate(text):
            continue  # not valid Unicode; refusing it is right
        wrong = (call for call in expected if call in calls and got[call][k] != expected[call][k])
        call = next((call for call in wrong if call != "decode" or got[call][k] != of_text(text)), None)
        if call is not None:
            yield text, call, texts


def _raise_smallest(case: Case, wrong: list[Wrong]) -> None:
    """Raise the fault of the smallest wrong text that holds no text known to be wrong."""
    known = [*filter(None, case.known)]
    new = [each for each in wrong if not any(map(each[0].__contains__, known))]
    case.n_known += len(wrong) - len(new)
    if not new:
        return
    text, call, group = min(new[:_ENOUGH], key=lambda each: _size(each[0]))
    if call in ("encode", "decode"):
        case.begin_overtime()
        is_wrong = case.has_wrong_ids if call == "encode" else case.comes_back_wrong
        raise case.explain(text, case.client.ids(text), is_wrong)
    stage: Stage = "batch" if call == "encode_batch" else "derived"
    at_first = Fault(stage, f"another answer of {call}", text=text, expected=case.reference.ids(text))
    if call == "encode_batch":
        raise case.smallest_fault(tuple(group), partial(fault_of_batch, case), at_first, [(text,)])
    raise case.smallest_fault(text, partial(fault_of, case, Call(call)), at_first)


def _size(text: str) -> tuple[bool, bool, int, int]:
    """Return a sort key: short texts first, then those with a short expression."""
    return len(text) > _BRIEF, len(text) > _SHORT, len(expression(text)), len(text)


# --- lists of ids ----------------------------------------------------------------------------------------------

Ids = tuple[int, ...]


def ask_lists(case: Case, lists: Iterable[Sequence[int]], call: str = "decode") -> None:
    """Ask what lists of ids decode to. Raises the fault of the first that is wrong."""
    n_refused, latest = 0, deque[Ids](maxlen=3)
    given, asked = tee(map(tuple, lists))
    for ids, number in zip(given, case.client.decoded(asked, call), strict=False):
        expected = case.reference.answer(call, ids)
        n_refused += isinstance(expected, Failed)
        case.n_inputs += not isinstance(expected, Failed)
        if not isinstance(expected, Failed) and number != DIGEST[call](expected):
            reason = f"{call}: these ids decode to the wrong text"
            at_first = Fault("decode", reason, ids=list(ids), expected=answered(expected))
            raise case.in_overtime(partial(_explained, case, call, ids, latest), at_first)
        latest.append(ids)
    if n_refused:
        case.remarks.append(f"{n_refused:,} lists the reference refuses")


def _explained(case: Case, call: str, ids: Ids, latest: Iterable[Ids]) -> Fault:
    """Return the fault with the fewest wrongly decoded ids, or with the earlier list that makes them wrong.

    Whatever is reported was wrong as the first call of a fresh process, since during minimisation earlier calls may
    affect later ones.
    """

    def is_wrong(candidate: Ids) -> bool:
        return bool(case.client.ask(call, ids=list(candidate)) != case.reference.answer(call, candidate))

    def fault(shown: Ids, stage: Stage, reason: str) -> Fault:
        expected, got = case.reference.answer(call, shown), case.client.ask(call, ids=list(shown))
        return Fault(stage, f"{call}: {reason}", ids=list(shown), expected=answered(expected), got=answered(got))

    case.client.fresh()
    if is_wrong(ids):
        small = smallest_sequence(ids, is_wrong, Budget(max_trials=300, max_seconds=5.0))
        for shown in (small, ids):
            case.client.fresh()
            if is_wrong(shown):
                case.client.fresh()
                of_special = len(shown) > 0 and set(shown) <= set(case.reference.model.whole_token_ids.values())
                return fault(shown, "special tokens" if of_special else "decode", "these ids decode to the wrong text")
    for earlier in [*latest][::-1]:
        case.client.fresh()
        case.client.ask(call, ids=list(earlier))
        if is_wrong(ids):
            return fault(ids, "cache", f"right in a fresh process, wrong after decoding {list(earlier)}")
    return fault(ids, "determinism", "another answer before; right in a fresh process")
