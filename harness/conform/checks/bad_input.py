"""Bad input must be refused with an error or answered like the reference, never dropped silently, and do no harm."""

from __future__ import annotations

from harness.conform.case import Case, has_surrogate
from harness.conform.client import TargetClient
from harness.conform.reference import Refusal
from harness.conform.verdicts import CheckVerdict, FailingInput
from harness.conform.wording import expression

_MILLION = 1_000_000
_AFTERWARDS = "hello world"
_MOST_SPECIALS = 4
AFTER_BAD_INPUT = "after bad input an ordinary text gets other ids"
SURROGATES = ("\ud83d", "a\ud83d", "\udc4d\ud83d", "\ud800" * 3)


def bad_input(case: Case) -> CheckVerdict:
    """Check unknown ids, lone surrogates, the empty text and a million characters of one kind."""
    exceptions: list[str] = []
    n_inputs = 0
    for ids in _bad_ids(case):
        n_inputs += 1
        if found := _decoded(case, ids) or _decoding_harmed(case, ids):
            return found
    for name in sorted(case.reference.model.special_tokens)[:_MOST_SPECIALS]:
        if case.client.offers("disallowed_special"):
            n_inputs += 1
            case.client.ids(f"{_AFTERWARDS}{name}", disallowed_special="all")
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
        return CheckVerdict(status="same as reference", reason=reason, n_inputs=n_inputs, exceptions=exceptions)
    return CheckVerdict(status="passed", n_inputs=n_inputs)


def _bad_ids(case: Case) -> list[list[int]]:
    beyond = case.reference.model.vocab_size
    known = next(iter(case.reference.bytes_by_id))
    return [[beyond + 1_000], [known, beyond + 1_000], [2**31], [2**63], [-1], [known, -1]]


def _decoded(case: Case, ids: list[int]) -> CheckVerdict | None:
    got = case.client.decode(ids)
    wanted = case.reference.decode(ids)
    if isinstance(got, Refusal):
        if not got.fatal or got.kind == "panic":
            return None
        reason, shown = f"ids no token has end the process: {got}", str(got)
    elif got == wanted:
        return None
    else:
        shown = expression(got)
        reason = f"ids no token has are no error: they decode to {shown}"
    expected = str(wanted) if isinstance(wanted, Refusal) else expression(wanted)
    return CheckVerdict(
        status="failed", stage="bad input", reason=reason, n_failed=1,
        counterexample=FailingInput.of(ids=ids, expected=expected, got=shown),
    )  # fmt: skip


def _decoding_harmed(case: Case, after: list[int]) -> CheckVerdict | None:
    """Return a failure if valid ids are decoded wrongly after bad ones."""
    ids = case.reference.ids(_AFTERWARDS)
    if isinstance(ids, Refusal):
        return None
    expected, got = case.reference.decode(ids), case.client.decode(ids)
    if got == expected:
        return None
    case.client.fresh()
    if case.client.decode(ids) != expected:
        return None  # it is always wrong, which other checks show
    shown = str(got) if isinstance(got, Refusal) else expression(got)
    return CheckVerdict(
        status="failed", stage="bad input", n_failed=1,
        reason=f"after decode({after}) valid ids decode to another text",
        counterexample=FailingInput.of(ids=ids, expected=expression(str(expected)), got=shown),
    )  # fmt: skip


def _huge_texts(case: Case) -> list[str]:
    texts = [" " * _MILLION, "a" * _MILLION, "\t  " * (_MILLION // 3) + "x"]
    return [text for text in texts if case.can_ask(text)]


def _encoded(case: Case, text: str, exceptions: list[str]) -> CheckVerdict | None:
    """Return a failure if the answer to one bad text is wrong."""
    got = case.client.ids(text)
    expected = case.reference.ids(text)
    if isinstance(expected, Refusal):
        if isinstance(got, Refusal):
            exceptions.append(f"{expression(text)}: {got.kind}; the reference: {expected.kind}")
            return None
        if case.client.decode(got) == text:
            return None
        reason = "it answers where the reference refuses, but the text does not come back"
    elif isinstance(got, Refusal):
        if has_surrogate(text) and not got.fatal:
            return None
        reason = f"refuses the text with {got}"
    elif got == expected:
        return None
    else:
        located, example = case.explain(text, got, case.agrees)
        return CheckVerdict(
            status="failed", stage=located.stage, reason=located.reason, counterexample=example, n_failed=1
        )
    return CheckVerdict(
        status="failed", stage="bad input", reason=reason, n_failed=1,
        counterexample=FailingInput.of(text, expected=expected, got=got),
    )  # fmt: skip


def _harmed(case: Case, after: str) -> CheckVerdict | None:
    """Return a failure if an ordinary text is encoded wrongly after `after`."""
    client: TargetClient = case.client
    got = client.ids(_AFTERWARDS)
    expected = case.reference.ids(_AFTERWARDS)
    if got == expected:
        return None
    client.fresh()
    if client.ids(_AFTERWARDS) != expected:
        return None  # this text is always wrong, which other checks show
    return CheckVerdict(
        status="failed", stage="bad input", reason=AFTER_BAD_INPUT, n_failed=1,
        counterexample=FailingInput.of(_AFTERWARDS, after=(after,), expected=expected, got=got),
    )  # fmt: skip
