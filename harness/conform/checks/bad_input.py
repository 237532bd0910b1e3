"""Bad input: refused with an error or answered as the reference does, never lost in silence; and no harm done."""

from __future__ import annotations

from harness.conform.case import Case, has_surrogate
from harness.conform.reference import Refused
from harness.conform.subject import Subject
from harness.conform.verdicts import Counterexample, Verdict
from harness.conform.wording import expression

_MILLION = 1_000_000
_AFTERWARDS = "hello world"
_MOST_SPECIALS = 4
AFTER_BAD_INPUT = "after bad input an ordinary text gets other ids"
SURROGATES = ("\ud83d", "a\ud83d", "\udc4d\ud83d", "\ud800" * 3)


def bad_input(case: Case) -> Verdict:
    """Ids no token has, lone surrogates, nothing at all, a million characters of one kind."""
    exceptions: list[str] = []
    n_inputs = 0
    for ids in _bad_ids(case):
        n_inputs += 1
        if found := _decoded(case, ids) or _decoding_harmed(case, ids):
            return found
    for name in sorted(case.reference.model.special_tokens)[:_MOST_SPECIALS]:
        if case.subject.offers("disallowed_special"):
            n_inputs += 1
            case.subject.ids(f"{_AFTERWARDS}{name}", disallowed_special="all")
            if found := _harmed(case, f"{_AFTERWARDS}{name}"):
                return found
    for text in ("", *SURROGATES, *_huge_texts(case)):
        n_inputs += 1
        found = _encoded(case, text, exceptions) or _harmed(case, text)
        if found:
            return found
    if found := _harmed(case, ""):
        return found
    if exceptions:
        reason = f"{len(exceptions)} of {n_inputs} inputs are refused by both"
        return Verdict(status="same as reference", reason=reason, n_inputs=n_inputs, exceptions=exceptions)
    return Verdict(status="passed", n_inputs=n_inputs)


def _bad_ids(case: Case) -> list[list[int]]:
    beyond = case.reference.model.vocab_size
    known = next(iter(case.reference.bytes_by_id))
    return [[beyond + 1_000], [known, beyond + 1_000], [2**31], [2**63], [-1], [known, -1]]


def _decoded(case: Case, ids: list[int]) -> Verdict | None:
    got = case.subject.decode(ids)
    wanted = case.reference.decode(ids)
    if isinstance(got, Refused):
        if not got.fatal or got.kind == "panic":
            return None
        reason, shown = f"ids no token has end the process: {got}", str(got)
    elif got == wanted:
        return None
    else:
        shown = expression(got)
        reason = f"ids no token has are no error: they decode to {shown}"
    told = str(wanted) if isinstance(wanted, Refused) else expression(wanted)
    return Verdict(
        status="failed", stage="bad input", reason=reason, n_failed=1,
        counterexample=Counterexample.of(ids=ids, expected=told, got=shown),
    )  # fmt: skip


def _decoding_harmed(case: Case, after: list[int]) -> Verdict | None:
    """Whether bad ids have spoiled the decoding of good ones."""
    ids = case.reference.ids(_AFTERWARDS)
    if isinstance(ids, Refused):
        return None
    expected, got = case.reference.decode(ids), case.subject.decode(ids)
    if got == expected:
        return None
    case.subject.fresh()
    if case.subject.decode(ids) != expected:
        return None  # it is wrong anyhow, which other checks show
    shown = str(got) if isinstance(got, Refused) else expression(got)
    return Verdict(
        status="failed", stage="bad input", n_failed=1,
        reason=f"after decode({after}) good ids are decoded to another text",
        counterexample=Counterexample.of(ids=ids, expected=expression(str(expected)), got=shown),
    )  # fmt: skip


def _huge_texts(case: Case) -> list[str]:
    texts = [" " * _MILLION, "a" * _MILLION, "\t  " * (_MILLION // 3) + "x"]
    return [text for text in texts if case.can_ask(text)]


def _encoded(case: Case, text: str, exceptions: list[str]) -> Verdict | None:
    """What is wrong with the answer to one bad text."""
    got = case.subject.ids(text)
    expected = case.reference.ids(text)
    if isinstance(expected, Refused):
        if isinstance(got, Refused):
            exceptions.append(f"{expression(text)}: {got.kind}; the reference: {expected.kind}")
            return None
        if case.subject.decode(got) == text:
            return None
        reason = "it answers where the reference refuses, but the text does not come back"
    elif isinstance(got, Refused):
        if has_surrogate(text) and not got.fatal:
            return None
        reason = f"refuses the text with {got}"
    elif got == expected:
        return None
    else:
        located, example = case.explain(text, got, case.agrees)
        return Verdict(status="failed", stage=located.stage, reason=located.reason, counterexample=example, n_failed=1)
    return Verdict(
        status="failed", stage="bad input", reason=reason, n_failed=1,
        counterexample=Counterexample.of(text, expected=expected, got=got),
    )  # fmt: skip


def _harmed(case: Case, after: str) -> Verdict | None:
    """Whether what came before has spoiled an ordinary text."""
    subject: Subject = case.subject
    got = subject.ids(_AFTERWARDS)
    expected = case.reference.ids(_AFTERWARDS)
    if got == expected:
        return None
    subject.fresh()
    if subject.ids(_AFTERWARDS) != expected:
        return None  # it is wrong about this text anyhow, which other checks show
    return Verdict(
        status="failed", stage="bad input", reason=AFTER_BAD_INPUT, n_failed=1,
        counterexample=Counterexample.of(_AFTERWARDS, after=(after,), expected=expected, got=got),
    )  # fmt: skip
