"""The runner: ask a target every text of a kind, compare each call with what follows from the reference's ids.

Counts set what is asked. Where the deadline of a check cuts it, that is `Incomplete`, which is not a pass.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any

from harness.conform.case import Case
from harness.conform.checks.batches import compare
from harness.conform.checks.over_texts import size
from harness.conform.digests import CALLS
from harness.conform.verdicts import Fault, Incomplete, Stage
from harness.conform.wording import expression, has_surrogate
from harness.process.session import Failed

_CHUNK_CHARACTERS, _CHUNK_TEXTS = 200_000, 20_000
_ENOUGH = 50
"""Wrong texts after which no more are asked: the smallest of them is shrunk."""
_LONG = 50_000  # characters
_MOST_SECONDS = 20.0
"""A long text that would take longer than this, if time grows with length to the power of 1.5, is not asked."""
_OF_CALL = {
    "count": "the count is not the number of ids",
    "encode_array": "the array holds other ids than the list",
    "decode_bytes": "decode_bytes of the right ids gives other bytes",
}


def ask_all(case: Case, texts: Iterable[str], calls: Sequence[str] = CALLS) -> str:
    """Ask every text by those of the calls that are offered; return a remark on what was not asked.

    Raises the `Fault` of the smallest wrong text, unless it holds a text that an earlier check found wrong.
    """
    offered = [call for call in calls if call in ("encode", "decode") or case.client.offers(call)]
    wrong: list[tuple[str, str, list[str]]] = []
    n_asked = n_refused = 0
    remark = ""
    pace = (0.0, 1)
    for chunk in _chunks(texts):
        longest = len(chunk[0])
        if len(chunk) == 1 and longest > case.reference.longest:
            remark = f"texts of more than {case.reference.longest:,} characters: the reference is too slow"
            continue
        if longest > _LONG and pace[0] * (longest / pace[1]) ** 1.5 > _MOST_SECONDS:
            remark = f"texts of more than {pace[1]:,} characters: one took {pace[0]:.1f} s"
            break
        began = time.monotonic()
        got = case.client.digests(chunk, offered)
        if sum(map(len, chunk)) > 1_000:
            pace = (time.monotonic() - began, sum(map(len, chunk)))
        expected = case.reference.digests(chunk, offered)
        n_asked += len(chunk)
        if got == expected:
            case.n_inputs += len(chunk)
        else:
            for k, text in enumerate(chunk):
                refused, n_judged = expected["encode"][k] is None, case.n_inputs
                n_refused += refused
                case.n_inputs = n_judged + (not refused)
                if not refused and (call := _wrong_call(got, expected, k, text)):
                    wrong.append((text, call, chunk))
        if len(wrong) >= _ENOUGH:
            break
        if case.out_of_time:
            if wrong:
                break
            raise Incomplete(f"stopped by the clock after {n_asked:,} texts, all of them right")
    _raise_smallest(case, wrong)
    both = f"{n_refused:,} texts that the reference refuses are not judged" if n_refused else ""
    return "; ".join(filter(None, [remark and f"not asked: {remark}", both]))


def _chunks(texts: Iterable[str]) -> Iterator[list[str]]:
    chunk: list[str] = []
    n_characters = 0
    for text in texts:
        if chunk and (n_characters + len(text) > _CHUNK_CHARACTERS or len(chunk) == _CHUNK_TEXTS):
            yield chunk
            chunk, n_characters = [], 0
        chunk.append(text)
        n_characters += len(text)
    if chunk:
        yield chunk


def _wrong_call(got: dict[str, list[int | None]], expected: dict[str, list[int | None]], k: int, text: str) -> str:
    """Return the first call whose answer to the text is wrong, or an empty string."""
    if got["encode"][k] is None and has_surrogate(text):
        return ""  # not valid Unicode; refusing it is right
    return next((call for call in ("encode", *expected) if got[call][k] != expected[call][k]), "")


def _raise_smallest(case: Case, wrong: list[tuple[str, str, list[str]]]) -> None:
    """Raise the fault of the smallest wrong text that holds no text known to be wrong."""
    new = [one for one in wrong if not any(known in one[0] for known in case.known if known)]
    case.n_known += len(wrong) - len(new)
    for text, call, chunk in sorted(new[:_ENOUGH], key=lambda one: size(one[0]))[:1]:
        fault = _fault(case, text, call, chunk)
        fault.n_failed = len(wrong)
        raise fault


def _fault(case: Case, text: str, call: str, chunk: list[str]) -> Fault:
    if call == "encode":
        return case.explain(text, case.client.ids(text), case.agrees)
    if call == "decode":
        return case.explain(text, case.client.ids(text), case.judge_round_trip)
    expected = case.reference.ids(text)
    if call == "encode_batch" and isinstance(expected, list):
        for texts in ([text], chunk):
            try:
                alone = {one: ids for one in texts if isinstance(ids := case.reference.ids(one), list)}
                compare(case, "batch", partial(case.client.ask, "encode_batch"), [list(alone)], alone)
            except Fault as fault:
                return fault
    fault_of = partial(_derived_fault, case, call)
    at_first = Fault("derived", _OF_CALL.get(call, f"{call} gives other ids"), text=text, expected=expected)
    return case.smallest_fault(text, fault_of, fault_of(text) or at_first)


def _derived_fault(case: Case, call: str, text: str) -> Fault | None:
    ids = case.reference.ids(text)
    if isinstance(ids, Failed) or case.client.ids(text) != ids:
        return None
    argument: dict[str, Any] = {"ids": ids} if call == "decode_bytes" else {"text": text}
    wanted: Any = len(ids) if call == "count" else case.reference.decode_bytes(ids) if call == "decode_bytes" else ids
    got = case.client.ask(call, **argument)
    if got == wanted:
        return None
    stage: Stage = "decode" if call == "decode_bytes" else "derived"
    return Fault(
        stage, _OF_CALL[call], text=text, ids=ids if call == "decode_bytes" else None, expected=wanted, got=got
    )


def ask_lists(case: Case, lists: Iterable[list[int]], text_of: Callable[[Sequence[int]], str]) -> None:
    """Ask what lists of ids decode to. Raises the fault of the first that is wrong, `Incomplete` at the deadline."""
    from harness.conform.digests import of_text

    n_asked = 0
    batch: list[list[int]] = []
    for ids in lists:
        batch.append(ids)
        if len(batch) == _CHUNK_TEXTS:
            n_asked += _ask_lists(case, batch, text_of, of_text)
            batch = []
            if case.out_of_time:
                raise Incomplete(f"stopped by the clock after {n_asked:,} lists of ids, all of them right")
    _ask_lists(case, batch, text_of, of_text)


def _ask_lists(
    case: Case, lists: list[list[int]], text_of: Callable[[Sequence[int]], str], digest: Callable[[str], int]
) -> int:
    for ids, number in zip(lists, case.client.decoded(lists), strict=True):
        case.n_inputs += 1
        if number != digest(text_of(ids)):
            expected, got = text_of(ids), case.client.decode(ids)
            if got == expected:
                reason = "these ids were decoded to something else before; asked once more, they are right"
                raise Fault("determinism", reason, ids=ids, expected=expression(expected), got=expression(expected))
            raise case.decode_fault(ids, expected, got)
    return len(lists)
