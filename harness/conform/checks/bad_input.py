"""Bad input must be refused with an error or answered like the reference, never dropped silently, and do no harm."""

from __future__ import annotations

from harness.conform.case import Case
from harness.conform.locate import ids_afresh
from harness.conform.verdicts import Fault
from harness.conform.wording import answered, expression, has_surrogate
from harness.outcome import Outcome
from harness.process.session import Failed

_MILLION = 1_000_000
_AFTERWARDS = "hello world"
_MOST_SPECIALS = 4
AFTER_BAD_INPUT = "after bad input an ordinary text gets other ids"
SURROGATES = ("\ud83d", "a\ud83d", "\udc4d\ud83d", "\ud800" * 3)


def bad_input(case: Case) -> str:
    """Check unknown ids, lone surrogates, the empty text and a million characters of one kind."""
    beyond = case.reference.model.vocab_size
    known = next(iter(case.reference.bytes_by_id))
    for ids in [beyond + 1_000], [known, beyond + 1_000], [2**31], [2**63], [-1], [known, -1]:
        case.n_inputs += 1
        _decode(case, ids)
        _ask_afterwards(case, ids)
    if case.client.offers("disallowed_special"):
        for name in sorted(case.reference.model.special_tokens)[:_MOST_SPECIALS]:
            case.n_inputs += 1
            case.client.ids(f"{_AFTERWARDS}{name}", disallowed_special="all")
            _ask_afterwards(case, f"{_AFTERWARDS}{name}")
    huge = (" " * _MILLION, "a" * _MILLION, "\t  " * (_MILLION // 3) + "x")
    left_out: list[str] = []
    for text in ("", *SURROGATES, *huge):
        if text in huge and not case.can_ask(text):
            left_out.append(expression(text))
            continue
        case.n_inputs += 1
        _encode(case, text)
        _ask_afterwards(case, text)
    _ask_afterwards(case, "")
    refused = f"{len(case.excused)} of {case.n_inputs} inputs are refused by both" if case.excused else ""
    slow = f"the target or the reference is too slow for {', '.join(left_out)}" if left_out else ""
    return "; ".join(filter(None, [refused, slow]))


def _decode(case: Case, ids: list[int]) -> None:
    """Raise a fault if unknown ids are neither refused nor decoded as the reference does."""
    got, wanted = case.client.decode(ids), case.reference.decode(ids)
    if got == wanted or (isinstance(got, Failed) and (not got.outcome.ends_process or got.outcome is Outcome.PANIC)):
        return
    ends = isinstance(got, Failed)
    reason = (
        f"an id that no token has {'ends the process:' if ends else 'must be an error, and decodes to'} {answered(got)}"
    )
    raise Fault("bad input", reason, ids=ids, expected=answered(wanted), got=answered(got))


def _encode(case: Case, text: str) -> None:
    """Raise a fault if the answer to a bad text is wrong; note it if both refuse the text."""
    got, expected = case.client.ids(text), case.reference.ids(text)
    if isinstance(got, Failed) and got.outcome.ends_process and got.outcome is not Outcome.PANIC:
        reason = f"ends the process: {got}"
    elif isinstance(expected, Failed):
        if isinstance(got, Failed):
            case.excused.append(f"{expression(text)}: {got.kind}; the reference: {expected.kind}")
            return
        if case.client.decode(got) == text:
            return
        reason = "it answers where the reference refuses, but the text does not come back"
    elif got == expected or (isinstance(got, Failed) and has_surrogate(text) and not got.outcome.ends_process):
        return
    elif isinstance(got, Failed):
        reason = f"refuses the text with {got}"
    else:
        raise case.explain(text, got, case.agrees)
    raise Fault("bad input", reason, text=text, expected=expected, got=got)


def _ask_afterwards(case: Case, after: str | list[int]) -> None:
    """Raise a fault if an ordinary text (after ids: the ids of one) is answered wrongly after a bad input.

    An answer that is also wrong in a fresh process is left to other checks.
    """
    ids = case.reference.ids(_AFTERWARDS)
    if isinstance(after, str):
        got = case.client.ids(_AFTERWARDS)
        if got != ids and ids_afresh(case.client, _AFTERWARDS) == ids:
            raise Fault("bad input", AFTER_BAD_INPUT, text=_AFTERWARDS, after=(after,), expected=ids, got=got)
        return
    if isinstance(ids, Failed):
        return
    expected, back = case.reference.decode(ids), case.client.decode(ids)
    if back == expected:
        return
    case.client.fresh()
    if case.client.decode(ids) == expected:
        reason = f"after decode({after}) valid ids decode to another text"
        raise Fault("bad input", reason, ids=ids, expected=answered(expected), got=answered(back))
