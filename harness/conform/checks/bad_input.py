"""Bad input must be refused with an error or answered like the reference, never dropped silently, and do no harm."""

from __future__ import annotations

from collections.abc import Sequence

from harness.conform.case import Case
from harness.conform.locate import ids_afresh
from harness.conform.verdicts import Fault
from harness.conform.wording import answered, expression, has_surrogate
from harness.outcome import Outcome
from harness.process.session import Failed

_AFTERWARDS = "hello world"
AFTER_BAD_INPUT = "after bad input an ordinary text gets different ids"
SURROGATES = ("\ud83d", "a\ud83d", "\udc4d\ud83d", "\ud800" * 3)


def bad_input(case: Case) -> None:
    """Check unknown ids, lone surrogates and the empty text, and ordinary calls after each of them."""
    beyond = case.reference.model.vocab_size
    known = next(iter(case.reference.bytes_by_id))
    for ids in [beyond + 1_000], [known, beyond + 1_000], [2**31], [2**63], [-1], [known, -1]:
        _decode(case, ids)
        _ask_afterwards(case, ids=ids)
    if case.client.offers("disallowed_special"):
        for name in case.special_names[:4]:
            case.client.ids(f"{_AFTERWARDS}{name}", disallowed_special="all")
            _ask_afterwards(case, f"{_AFTERWARDS}{name}")
    for text in ("", *SURROGATES):
        _encode(case, text)
        _ask_afterwards(case, text)
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
    if isinstance(got, Failed) and not _is_refused(got):
        reason = f"ends the process: {got}"
    elif isinstance(expected, Failed):
        if isinstance(got, Failed):
            case.excused.append(f"{expression(text)}: {got.kind}; the reference: {expected.kind}")
            return
        if case.client.decode(got) == text:
            return
        reason = "it answers where the reference refuses, but its ids do not decode to the text"
    elif got == expected or (isinstance(got, Failed) and has_surrogate(text) and not got.outcome.ends_process):
        return
    elif isinstance(got, Failed):
        reason = f"refuses the text with {got}"
    else:
        raise case.explain(text, got, case.has_wrong_ids)
    raise Fault("bad input", reason, text=text, expected=expected, got=got)


def _ask_afterwards(case: Case, *texts: str, ids: Sequence[int] = ()) -> None:
    """Raise a fault if an ordinary text or its ids are answered wrongly after bad input, and rightly at first."""
    right = case.reference.ids(_AFTERWARDS)
    if (got := case.client.ids(_AFTERWARDS)) != right and ids_afresh(case.client, _AFTERWARDS) == right:
        raise Fault("bad input", AFTER_BAD_INPUT, text=_AFTERWARDS, after=texts, expected=right, got=got)
    expected = case.reference.back(_AFTERWARDS)
    if isinstance(right, list) and (back := case.client.decode(right)) != expected:
        case.client.fresh()
        if case.client.decode(right) == expected:
            reason = f"after decode({list(ids)}) valid ids decode to a different text"
            raise Fault("bad input", reason, ids=right, expected=answered(expected), got=answered(back))
