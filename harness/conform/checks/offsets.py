"""Do offsets say where the tokens of a text are: where each starts when ids are decoded, and its span when encoded?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from harness.conform.case import Case
from harness.conform.checks.over_texts import texts_for
from harness.conform.checks.sizes import past_64k
from harness.conform.reference import Refusal
from harness.conform.verdicts import Fault
from harness.conform.wording import expression
from harness.minimize.texts import Budget, smallest_text
from impls import BPEError

_N_TEXTS = 400
_LEAST_TEXTS = 100
"""Tested however slow the target is: the shortest texts come first, and the first few are all ASCII."""
_TRIALS = 300
_SHRINK_SECONDS = 5.0

Spans = list[list[int]]


def offsets(case: Case) -> None:
    """Check `decode_with_offsets`, `encode_with_offsets`, or both, as offered."""
    if case.client.offers("decode_with_offsets"):
        _starts(case)
    if case.client.offers("encode_with_offsets"):
        _spans(case)


def _texts(case: Case) -> Iterator[str]:
    judged = 0
    for text in [*sorted(texts_for(case)[::4], key=len)[: 4 * _N_TEXTS : 4], *past_64k(case)[:1]]:
        if not isinstance(case.reference.ids(text), Refusal):
            case.n_inputs += 1
            judged += 1
            yield text
        if case.out_of_time and judged >= _LEAST_TEXTS:
            break


def _starts(case: Case) -> None:
    """Check that `decode_with_offsets` gives the text and the code point each token starts at.

    A token that begins inside a character may give that character's start or the next one's.
    """
    for text in _texts(case):
        ids = case.reference.ids(text)
        assert isinstance(ids, list), "the reference answers it"
        expected_text, expected = case.reference.tokenizer.decode_with_offsets(ids)
        answer = case.client.ask("decode_with_offsets", ids=ids)
        right = not isinstance(answer, Refusal) and answer[0] == expected_text
        if not right or not _starts_agree(case, ids, expected, answer[1]):
            wanted = f"{expression(expected_text)}, starts {expected}"
            got = str(answer) if isinstance(answer, Refusal) else f"{expression(answer[0])}, starts {answer[1]}"
            raise Fault("offsets", "tokens do not start where it says", text=text, ids=ids, expected=wanted, got=got)


def _starts_agree(case: Case, ids: Sequence[int], expected: Sequence[int], got: Sequence[int]) -> bool:
    by_id = case.reference.bytes_by_id
    return len(expected) == len(got) and all(
        start == wanted or (start == wanted + 1 and by_id[i] and by_id[i][0] & 0xC0 == 0x80)
        for i, wanted, start in zip(ids, expected, got, strict=True)
    )


def _spans(case: Case) -> None:
    """Check that `encode_with_offsets` gives the ids and the span of each token in the text, in code points.

    A character that encoding inserted has an empty span, or that of a character beside it. Texts with other ids than
    the reference's are left to the check of ids.
    """
    for text in _texts(case):
        if _wrong(case, text):
            small = smallest_text(text, lambda one: bool(_wrong(case, one)), Budget(_TRIALS, _SHRINK_SECONDS))
            ids, expected = _expected(case, small)
            answer = case.client.ask("encode_with_offsets", text=small)
            got = str(answer) if isinstance(answer, Refusal) else f"ids {answer[0]}, spans {answer[1]}"
            reason = _wrong(case, small) or "was answered otherwise before"
            raise Fault("offsets", reason, text=small, ids=ids, expected=f"ids {ids}, spans {expected}", got=got)


def _expected(case: Case, text: str) -> tuple[list[int], Spans]:
    ids, spans = case.reference.tokenizer.encode_with_offsets(text, disallowed_special=())
    return ids, spans.tolist()


def _wrong(case: Case, text: str) -> str:
    """Return what is wrong with the answer for `text`, or nothing."""
    try:
        ids, expected = _expected(case, text)
    except BPEError:
        return ""
    answer = case.client.ask("encode_with_offsets", text=text)
    if isinstance(answer, Refusal):
        return (
            "" if isinstance(case.client.ids(text), Refusal) else f"encode answers, and encode_with_offsets: {answer}"
        )
    if answer[0] != ids:
        return "the ids are not those of encode" if case.client.ids(text) == ids else ""
    if len(answer[1]) != len(ids):
        return f"{len(answer[1])} spans for {len(ids)} ids"
    for i, wanted, span in zip(ids, expected, answer[1], strict=True):
        start, end = wanted
        if list(span) != wanted and not (start == end and span[0] <= start <= span[1] <= span[0] + 1):
            token = expression(case.reference.bytes_by_id[i].decode("utf-8", "backslashreplace"))
            return f"the token {token} is from {start} to {end}, and not from {span[0]} to {span[1]}"
    return ""
