"""The runner: ask a target every text of a kind, compare each call with what follows from the reference's ids.

Counts set what is asked. Where the deadline of a check cuts it, that is `Incomplete`, which is not a pass; the texts
that were found wrong until then are reported.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import partial
from itertools import tee

from harness.conform.case import Case
from harness.conform.checks.batches import fault_of_batch
from harness.conform.checks.derived import Call, fault_of
from harness.conform.digests import CALLS, DIGEST, Digests, of_text
from harness.conform.verdicts import Fault, Incomplete, Stage
from harness.conform.wording import answered, expression, has_surrogate
from harness.minimize import Budget, smallest_sequence
from harness.process.session import Failed

_ENOUGH = 50
"""Wrong texts after which no more are asked: the smallest of them is shrunk."""
_LONG = 50_000  # characters
_BRIEF, _SHORT = 3_000, 12  # characters
_MOST_SECONDS = 20.0
"""A long text that would take longer than this, if time grows with length to the power of 1.5, is not asked."""
Wrong = tuple[str, str, list[str]]
"""A text, the call that answers it wrongly, and the texts asked together with it."""


def ask_all(
    case: Case, texts: Iterable[str], calls: Sequence[str] = CALLS, judged: Collection[str] = ("encode", *CALLS)
) -> None:
    """Ask every text by those of the calls that are offered.

    Raises the `Fault` of the smallest text of which a call in `judged` is wrong, unless it holds a text that an earlier
    check found wrong.
    """
    offered = [call for call in calls if call in ("encode", "decode") or case.client.offers(call)]
    wrong: list[Wrong] = []
    n_refused = 0
    not_asked = ""
    pace = (0.0, 1)
    try:
        for group in case.client.groups(texts):
            longest = len(group[0])
            if len(group) == 1 and longest > case.reference.longest:
                not_asked = f"texts of more than {case.reference.longest:,} characters: the reference is too slow"
                continue
            if longest > _LONG and pace[0] * (longest / pace[1]) ** 1.5 > _MOST_SECONDS:
                not_asked = f"texts of more than {pace[1]:,} characters: one took {pace[0]:.1f} s"
                break
            began = case.client.busy_seconds
            for some, got in case.client.digests_of(group, offered):
                expected = case.reference.digests(some, offered)
                refused = expected["encode"].count(None) if "encode" in judged else 0
                n_refused += refused
                case.n_inputs += len(some) - refused
                wrong += _wrong(some, got, expected, judged)
            if sum(map(len, group)) > 1_000:
                pace = (case.client.busy_seconds - began, sum(map(len, group)))
            if len(wrong) >= _ENOUGH:
                break
    except Incomplete:
        _raise_smallest(case, wrong)
        raise
    _raise_smallest(case, wrong)
    if not_asked:
        case.remarks.append(f"not asked: {not_asked}")
    if n_refused:
        case.remarks.append(f"{n_refused:,} texts that the reference refuses are not judged")


def _wrong(texts: list[str], got: Digests, expected: Digests, judged: Collection[str]) -> Iterator[Wrong]:
    """Yield the texts of which an answer is wrong, with the first such call; what the reference refuses is not."""
    for k, text in enumerate(texts) if got != expected else ():
        if expected["encode"][k] is None and "encode" in judged:
            continue
        if got["encode"][k] is None and has_surrogate(text):
            continue  # not valid Unicode; refusing it is right
        wrong = (call for call in expected if call in judged and got[call][k] != expected[call][k])
        call = next((call for call in wrong if call != "decode" or got[call][k] != of_text(text)), None)
        if call is not None:
            yield text, call, texts


def _raise_smallest(case: Case, wrong: list[Wrong]) -> None:
    """Raise the fault of the smallest wrong text that holds no text known to be wrong."""
    new = [one for one in wrong if not any(known in one[0] for known in case.known if known)]
    case.n_known += len(wrong) - len(new)
    for text, call, chunk in sorted(new[:_ENOUGH], key=lambda one: _size(one[0]))[:1]:
        reason = f"another answer of {call}"
        at_first = Fault("pieces or merges", reason, text=text, expected=case.reference.ids(text))
        raise case.in_overtime(partial(_fault, case, text, call, chunk), at_first)


def _size(text: str) -> tuple[bool, bool, int, int]:
    """Return a sort key: short texts first, then those with a short expression."""
    return len(text) > _BRIEF, len(text) > _SHORT, len(expression(text)), len(text)


def _fault(case: Case, text: str, call: str, chunk: list[str]) -> Fault:
    if call == "encode":
        return case.explain(text, case.client.ids(text), case.has_wrong_ids)
    if call == "decode":
        return case.explain(text, case.client.ids(text), case.comes_back_wrong)
    if call == "encode_batch":
        at_first = Fault("batch", "in a batch it has other ids", text=text)
        of_batch = partial(fault_of_batch, case)
        return case.smallest_fault(tuple(chunk), of_batch, at_first, [(text,)])
    at_first = Fault("derived", f"another answer of {call}", text=text, expected=case.reference.ids(text))
    return case.smallest_fault(text, partial(fault_of, case, Call(call)), at_first)


# --- lists of ids ----------------------------------------------------------------------------------------------

_LATEST = 3
_TRIALS, _SHRINK_SECONDS = 300, 5.0
Ids = tuple[int, ...]


def ask_lists(case: Case, lists: Iterable[Sequence[int]], call: str = "decode") -> None:
    """Ask what lists of ids decode to. Raises the fault of the first that is wrong."""
    n_refused, latest = 0, deque[Ids](maxlen=_LATEST)
    given, asked = tee(map(tuple, lists))
    for ids, number in zip(given, case.client.decoded(asked, call), strict=False):
        expected = case.reference.answer(call, ids)
        n_refused += isinstance(expected, Failed)
        case.n_inputs += not isinstance(expected, Failed)
        if not isinstance(expected, Failed) and number != DIGEST[call](expected):
            reason = f"{call}: these ids decode to another text"
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
        small = smallest_sequence(ids, is_wrong, Budget(_TRIALS, _SHRINK_SECONDS))
        case.known_ids[small] = None
        for shown in (small, ids):
            case.client.fresh()
            if is_wrong(shown):
                case.client.fresh()
                of_special = len(shown) > 0 and set(shown) <= set(case.reference.model.whole_token_ids.values())
                return fault(shown, "special tokens" if of_special else "decode", "these ids decode to another text")
    for earlier in [*latest][::-1]:
        case.client.fresh()
        case.client.ask(call, ids=list(earlier))
        if is_wrong(ids):
            return fault(ids, "cache", f"right in a fresh process, wrong after decoding {list(earlier)}")
    return fault(ids, "determinism", "another answer before; right in a fresh process")
