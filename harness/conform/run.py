"""Run every check on one target, whatever the target does, or ask it the cases of a file of vectors."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import impls
from harness.conform.case import Case
from harness.conform.checks.catalogue import CHECKS, Check
from harness.conform.client import OpenSession, TargetClient
from harness.conform.reference import Reference
from harness.conform.report import ConformanceReport, mark_repeated
from harness.conform.vectors.file import BadVectors, Vector, Vectors, tokens_sha256
from harness.conform.vectors.steps import KINDS
from harness.conform.verdicts import CheckVerdict, Fault, GaveUp, Incomplete, NotAsked, Status
from harness.data import load_model
from harness.printable import readable
from harness.process.limits import Limits
from harness.process.session import Failed, Session
from harness.targets import NotLoadable, TargetSpec
from impls.core.errors import UnknownName, plural

LIMITS = Limits(start_seconds=60.0, call_seconds=60.0)
"""The limits of a target."""
SECONDS = 1800.0
"""The time for all checks. Counts, not seconds, decide what is asked; a check that its share cuts is incomplete."""
_SHARES = 4
"""A check may take so many times an equal share of what is left, since most take less."""
_RESERVED_SECONDS = 5.0
"""So much of it remains for each later check, an equal share where that is less; half of one if others took longer."""


def run(
    target: str, model: str, library: str | None, checks: Sequence[Check], reference: str = "", **options: Any
) -> ConformanceReport:  # fmt: skip
    """Run checks on a target by its name, against an implementation over the model if `reference` names one.

    `options` are those of `run_checks`. Raises `NotLoadable`, and the errors of an unknown name or a missing model.
    """
    other = Reference(reference, model, load_model(model)) if reference else None
    try:
        spec = TargetSpec.parse(target, library, model)
        report = run_checks(partial(Session, spec.command(), LIMITS), other, checks, **options)
    except NotLoadable as error:
        named = error.reason.startswith((target, target.partition(":")[0]))
        raise NotLoadable(error.reason if named else f"{target}: {error.reason}") from None
    report.target = report.target or spec.name
    return report


def run_checks(
    open_session: OpenSession,
    reference: Reference | None,
    checks: Sequence[Check],
    *,
    seed: int = 0,
    seconds: float = SECONDS,
    done: Callable[[CheckVerdict], None] = lambda verdict: None,
) -> ConformanceReport:
    """Run checks and report; `done` is called after each. Checks that know the answers need no reference.

    All together have `seconds`, and a few more to end what was begun or to shrink what was found wrong.

    Raises `NotLoadable` if the target does not start.
    """
    began = time.perf_counter()
    with TargetClient(open_session) as client:
        case = Case(client, reference, seed)  # type: ignore[arg-type]
        verdicts: list[CheckVerdict] = []
        for n_before, check in enumerate(checks):
            verdict = CheckVerdict(check=check.name, question=check.question, status="not asked")
            verdict.reason = client.given_up
            if not client.given_up:
                left, n_left = max(0.0, began + seconds - time.perf_counter()), len(checks) - n_before
                most = min(left * _SHARES / n_left, left - _RESERVED_SECONDS * (n_left - 1))
                least = min(_RESERVED_SECONDS, seconds / 2 / len(checks))
                _run(check, case, max(least, left / n_left, most), verdict)
            verdict.reason = readable(verdict.reason)
            verdicts.append(verdict)
            done(verdict)
        mark_repeated(verdicts)
        return ConformanceReport(
            target=client.description.name,
            reference=reference.name if reference else "",
            model=reference.model_name if reference else "",
            verdicts=verdicts,
            seconds=time.perf_counter() - began,
            n_failures=client.n_failures,
        )


def _run(check: Check, case: Case, seconds: float, verdict: CheckVerdict) -> None:
    """Run one check and fill in its verdict; `given_up` of the client says whether further checks can run."""
    began = time.monotonic()
    case.begin(seconds)
    try:
        verdict.status, verdict.reason = _judged(check, case)
        verdict.exceptions = case.excused
    except Fault as fault:
        verdict.status, verdict.reason, verdict.stage = "failed", fault.reason, fault.stage
        verdict.counterexample = fault.example
        if isinstance(fault, GaveUp) and not case.client.given_up:
            with suppress(GaveUp):  # recorded in `given_up`
                case.client.fresh()
    verdict.n_inputs = case.n_inputs
    verdict.seconds = time.monotonic() - began


def _judged(check: Check, case: Case) -> tuple[Status, str]:
    """Return the status and remark of a check that found no fault. Raises `Fault`."""
    if check.needs and not case.client.offered(check.needs.split("|")):
        return "not offered", check.not_offered or f"it has no {check.needs.replace('|', ', no ')}"
    status: Status = "passed"
    try:
        if case.client.seconds_left <= 0:
            raise Incomplete("not asked: no time left")
        check.run(case)
        if case.is_cut:
            raise Incomplete("there was only time for shorter requests")
    except NotAsked as why:
        return "not asked", str(why)
    except Incomplete as why:
        status = "incomplete"
        when = f"after {plural(case.n_inputs, 'input')}" if case.n_inputs else "before its first answer"
        case.remarks.insert(0, str(why) or f"stopped at the time limit {when}")
    if case.n_known:
        case.remarks.append(f"{plural(case.n_known, 'text is', 'texts are')} wrong for a reason already reported")
    if status == "passed" and not case.n_inputs:
        status = "not asked"
        case.remarks.append("no case was judged")
    elif status == "passed" and case.excused:
        status = "same as reference"
    return status, "; ".join(dict.fromkeys(case.remarks))


def choose(only: Collection[str]) -> list[Check]:
    """Return the checks of these names in running order, all if none is named. Raises `UnknownName`."""
    known = [check.name for check in CHECKS]
    for name in only:
        if name not in known:
            raise UnknownName("check", name, known, "`bpebench conform --list`")
    return [check for check in CHECKS if not only or check.name in only]


# --- vectors ---------------------------------------------------------------------------------------------------


def run_vectors(
    target: str, path: Path, vectors: Vectors, model: str, library: str | None = None, seconds: float = SECONDS
) -> ConformanceReport:
    """Ask all cases and report, a verdict for each kind. `model` is what a target that needs one runs.

    Raises `NotLoadable`, `BadVectors` for a model of other tokens, and the errors of a missing model.
    """
    if target in impls.names() and tokens_sha256(load_model(model)) != vectors.head.tokens_sha256:
        raise BadVectors(f"{path}: is for {vectors.head.model}; {model} has different tokens; give its model with -m")
    checks = [
        Check(kind, f"Does it answer the vectors of {kind}?", partial(_ask_vectors, cases))
        for kind in KINDS
        if (cases := [case for case in vectors.cases if case.kind == kind])
    ]
    report = run(target, model, library, checks, seconds=seconds)
    report.reference, report.model = str(path), vectors.head.model
    return report


def _ask_vectors(cases: Sequence[Vector], case: Case) -> None:
    """Ask the cases of a kind; the first wrong one, which is among the smallest, is the counterexample."""
    takes_allowed = case.client.offers("allowed_special")
    for vector in cases:
        if takes_allowed or not vector.allowed_special:
            fault = _fault(case.client, vector, takes_allowed)
            case.n_inputs += 1
            if fault is not None:
                raise fault
    if not takes_allowed:
        case.remarks.append(f"takes no allowed_special: {len(cases) - case.n_inputs:,} cases were not asked")


def _fault(client: TargetClient, vector: Vector, takes_allowed: bool) -> Fault | None:
    """Return what is wrong with the answer to a case, or None."""
    text, ids, why = vector.text, vector.ids, f"{vector.id}: {vector.why}"
    if text is not None:
        options = {"allowed_special": vector.allowed_special, "disallowed_special": []} if takes_allowed else {}
        got = client.ids(text, **options)
        if isinstance(got, Failed):
            refuses_special = not takes_allowed and vector.kind == "special tokens" and not got.outcome.ends_process
            return None if refuses_special else Fault("refusal", why, text=text, expected=ids, got=got)
        if got != ids:
            return Fault(vector.kind, why, text=text, expected=ids, got=got)
    back = client.decode(ids)
    if back == vector.decoded:
        return None
    return Fault("decode", why, ids=ids, expected=ascii(vector.decoded), got=ascii(back))
