"""Bad input must be refused with an error or answered like the reference, never dropped silently, and do no harm."""

from __future__ import annotations

from harness.conform.case import Case
from harness.conform.verdicts import Fault
from harness.conform.wording import answered, expression
from harness.outcome import Outcome
from harness.process.session import Failed

_AFTERWARDS = "hello world"
SURROGATES = ("\ud83d", "a\ud83d", "\udc4d\ud83d", "\ud800" * 3)


def bad_input(case: Case) -> None:
    """Check unknown ids, lone surrogates and the empty text, and ordinary calls after each of them."""
    by_id = case.reference.bytes_by_id
    known, end = next(iter(by_id)), max(by_id) + 1
    gap = next(i for i in range(end + 1) if i not in by_id)
    for ids in [gap], [end], [end + 1_000], [known, end + 1_000], [2**31], [2**63], [-1], [known, -1]:
        _decode(case, ids)
        _ask_afterwards(case, f"decode({ids})")
    if case.client.offers("disallowed_special"):
        for name in case.special_names[:4]:
            case.client.ids(f"{_AFTERWARDS}{name}", disallowed_special="all")
            _ask_afterwards(case, "refused special text", f"{_AFTERWARDS}{name}")
    for text in (SURROGATES[0], *case.special_names[:1]) if case.client.offers("encode_batch") else ():
        case.client.ask("encode_batch", texts=["a", text])
        _ask_afterwards(case, "a batch", "a", text)
    for text in ("", *SURROGATES):
        _encode(case, text)
        _ask_afterwards(case, expression(text), text)
    if case.excused:
        case.remarks.append(f"{len(case.excused)} of {case.n_inputs} inputs are refused by both")


def _is_refused(answer: object) -> bool:
    return isinstance(answer, Failed) and (not answer.outcome.ends_process or answer.outcome is Outcome.PANIC)


def _decode(case: Case, ids: list[int]) -> None:
    """Raise a fault if unknown ids are neither refused nor decoded as the reference does."""
    got, wanted = case.client.decode(ids), case.reference.decode(ids)
    case.n_inputs += 1
    if got != wanted and not _is_refused(got):
        what = "ends the process:" if isinstance(got, Failed) else "must be an error, and decodes to"
        reason = f"an id that no token has {what} {answered(got)}"
        raise Fault("bad input", reason, ids=ids, expected=answered(wanted), got=answered(got))


def _encode(case: Case, text: str) -> None:
    """Raise a fault if the answer to a bad text is wrong; note it if both refuse the text."""
    got, expected = case.client.ids(text), case.reference.ids(text)
    case.n_inputs += 1
    if case.has_wrong_ids(text, got):
        raise case.explain(text, got, case.has_wrong_ids)
    if not isinstance(expected, Failed) or (not isinstance(got, Failed) and case.client.decode(got) == text):
        return
    if isinstance(got, Failed) and _is_refused(got):
        case.excused.append(f"{expression(text)}: {got.kind}; the reference: {expected.kind}")
        return
    reason = "it answers where the reference refuses, but its ids do not decode to the text"
    reason = f"ends the process: {got}" if isinstance(got, Failed) else reason
    raise Fault("bad input", reason, text=text, expected=expected, got=got)


def _ask_afterwards(case: Case, what: str, *texts: str) -> None:
    """Raise a fault if an ordinary text, alone or in a batch, or its ids are answered wrongly, and rightly at first."""
    if not isinstance(right := case.reference.ids(_AFTERWARDS), list):
        return
    for call, given, wanted in (
        ("encode", {"text": _AFTERWARDS}, right),
        ("encode_batch", {"texts": [_AFTERWARDS]}, [right]),
        ("decode", {"ids": right}, case.reference.back(_AFTERWARDS)),
    ):
        if case.client.offers(call) and (got := case.client.ask(call, **given)) != wanted:
            case.client.fresh()
            if case.client.ask(call, **given) == wanted:
                reason = f"after {what} an ordinary text gets another answer of {call}"
                raise Fault("bad input", reason, text=_AFTERWARDS, after=texts, expected=wanted, got=got)
