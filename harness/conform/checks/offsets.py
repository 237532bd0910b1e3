"""Do offsets say where the tokens of a text are: where each starts when ids are decoded, and its span when encoded?"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from harness.conform.case import Case
from harness.conform.checks.over_texts import over, past_64k, texts_for
from harness.conform.verdicts import Fault, NothingToCompare
from harness.conform.wording import expression
from harness.process.session import Failed
from impls import BPEError

_N_TEXTS = 400


def offsets(case: Case) -> str:
    """Check `decode_with_offsets`, `encode_with_offsets`, or both, as offered."""
    faults_of = {"decode_with_offsets": _fault_of_starts, "encode_with_offsets": _fault_of_spans}
    remarks = [
        over(case, _texts(case), partial(fault_of, case))
        for operation, fault_of in faults_of.items()
        if case.client.offers(operation)
    ]
    return "; ".join(dict.fromkeys(filter(None, remarks)))


def _texts(case: Case) -> list[str]:
    special = [f"a {name} b" for name in sorted(case.reference.model.special_tokens)[:2]]
    texts = [*special, *sorted(texts_for(case)[::4], key=len)[: 4 * _N_TEXTS : 4], *past_64k(case)[:1]]
    return [text for text in texts if not isinstance(case.reference.ids(text), Failed)]


def _fault_of_starts(case: Case, text: str) -> Fault | None:
    """Return the fault if `decode_with_offsets` does not give the text and the code point at which each token starts.

    For a token that begins inside a character, the start of that character or of the next one is right.
    """
    ids = case.reference.ids(text)
    if isinstance(ids, Failed):
        raise NothingToCompare
    expected_text, expected = case.reference.tokenizer.decode_with_offsets(ids)
    answer = case.client.ask("decode_with_offsets", ids=ids)
    right = not isinstance(answer, Failed) and answer[0] == expected_text
    if right and _starts_agree(case, ids, expected, answer[1]):
        return None
    wanted = f"{expression(expected_text)}, starts {expected}"
    got = str(answer) if isinstance(answer, Failed) else f"{expression(answer[0])}, starts {answer[1]}"
    return Fault(
        "offsets",
        "decode_with_offsets says that tokens start where they do not",
        text=text,
        ids=ids,
        expected=wanted,
        got=got,
    )


def _starts_agree(case: Case, ids: Sequence[int], expected: Sequence[int], got: Sequence[int]) -> bool:
    by_id = case.reference.bytes_by_id
    return len(expected) == len(got) and all(
        start == wanted or (start == wanted + 1 and by_id[i] and by_id[i][0] & 0xC0 == 0x80)
        for i, wanted, start in zip(ids, expected, got, strict=True)
    )


def _fault_of_spans(case: Case, text: str) -> Fault | None:
    """Return the fault if `encode_with_offsets` does not give the ids and the span of each token, in code points.

    A space that encoding inserted may have an empty span, or that of an adjacent character. Texts whose ids differ from
    the reference's are left to the check of ids.
    """
    try:
        ids, array = case.reference.tokenizer.encode_with_offsets(text, disallowed_special=())
    except BPEError:
        raise NothingToCompare from None
    answer, spans = case.client.ask("encode_with_offsets", text=text), array.tolist()
    if isinstance(answer, Failed):
        special = any(name in text for name in case.reference.model.special_tokens)
        refused = not answer.outcome.ends_process and (special or isinstance(case.client.ids(text), Failed))
        if refused:
            raise NothingToCompare
        reason, got = f"encode answers, and encode_with_offsets: {answer}", str(answer)
    else:
        reason, got = _difference(case, text, ids, spans, *answer), f"ids {answer[0]}, spans {answer[1]}"
    if not reason:
        return None
    return Fault("offsets", reason, text=text, ids=ids, expected=f"ids {ids}, spans {spans}", got=got)


def _difference(
    case: Case, text: str, ids: list[int], wanted: list[list[int]], other_ids: list[int], spans: Sequence[Sequence[int]]
) -> str:
    """Return what is wrong with the answer for `text`, or an empty string."""
    if other_ids != ids:
        if case.client.ids(text) != ids:
            raise NothingToCompare
        return "the ids are not those of encode"
    if len(spans) != len(ids):
        return f"{len(spans)} spans for {len(ids)} ids"
    for i, (start, end), (first, last) in zip(ids, wanted, spans, strict=True):
        inserted = first == last and start <= first <= end and not case.reference.bytes_by_id[i].strip(b" ")
        if (first, last) != (start, end) and not inserted:
            token = expression(case.reference.bytes_by_id[i].decode("utf-8", "backslashreplace"))
            return f"the token {token} is from {start} to {end}, and not from {first} to {last}"
    return ""
