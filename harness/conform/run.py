"""Run every check on one target, whatever the target does."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress

from harness.conform.case import Case
from harness.conform.checks.catalogue import CHECKS, Check
from harness.conform.client import GaveUp, OpenSession, TargetClient
from harness.conform.reference import Reference
from harness.conform.verdicts import CheckVerdict, ConformanceReport, Fault, Incomplete, NotAsked, Status, mark_repeated
from harness.conform.wording import escape_surrogates
from harness.data import load_model
from harness.outcome import Outcome
from harness.process.limits import Limits
from harness.process.session import Session
from harness.targets import DEFAULT_MODEL, NotLoadable, TargetSpec
from impls.core.errors import BPEError, UnknownName

LIMITS = Limits(start_seconds=60.0, call_seconds=60.0)
"""The default limits of a target."""
CHECK_SECONDS = 600.0
"""After this time a check is cut and incomplete. Counts, not seconds, decide what is asked."""


class NotATarget(BPEError):
    """Raised if TARGET cannot be loaded or does not start."""


def run(
    target: str,
    reference: str = "tiktoken",
    model: str = DEFAULT_MODEL,
    *,
    library: str | None = None,
    only: Collection[str] = (),
    seed: int = 0,
    limits: Limits = LIMITS,
    check_seconds: float = CHECK_SECONDS,
    done: Callable[[CheckVerdict], None] = lambda verdict: None,
) -> ConformanceReport:
    """Check `target` against `reference` over `model`; the arguments are those of `bpebench conform`.

    Raises `NotATarget`, and the errors of an unknown name or a missing model.
    """
    try:
        spec = TargetSpec.parse(target, library, model)
    except NotLoadable as error:
        raise NotATarget(error.reason) from None

    def open_session(environment: Mapping[str, str]) -> Session:
        return Session(spec.command(), limits, environment)

    other = Reference(reference, model, load_model(model))
    try:
        report = run_checks(open_session, other, only, seed=seed, check_seconds=check_seconds, done=done)
    except NotLoadable as error:
        named = error.reason.startswith((target, spec.name))
        raise NotATarget(error.reason if named else f"{spec.name}: {error.reason}") from None
    report.target = report.target or spec.name
    return report


def run_checks(
    open_session: OpenSession,
    reference: Reference,
    only: Collection[str] = (),
    *,
    seed: int = 0,
    check_seconds: float = CHECK_SECONDS,
    done: Callable[[CheckVerdict], None] = lambda verdict: None,
) -> ConformanceReport:
    """Run the checks (those named `only`, else all) and report; `done` is called after each.

    Raises `NotLoadable` if the target does not start, `UnknownName` for an unknown check.
    """
    chosen = choose(only)
    began = time.perf_counter()
    with TargetClient(open_session) as client:
        case = Case(client, reference, seed)
        verdicts: list[CheckVerdict] = []
        for check in chosen:
            verdict = CheckVerdict(check=check.name, question=check.question, status="not asked")
            verdict.reason = client.given_up
            if not client.given_up:
                _run(check, case, check_seconds, verdict)
            verdict.reason = escape_surrogates(verdict.reason)
            verdicts.append(verdict)
            done(verdict)
        mark_repeated(verdicts)
        return ConformanceReport(
            target=client.description.name,
            reference=reference.name,
            model=reference.model_name,
            verdicts=verdicts,
            seconds=time.perf_counter() - began,
            n_failures=client.n_failures,
            about=dict(client.description.info),
        )


def _run(check: Check, case: Case, seconds: float, verdict: CheckVerdict) -> None:
    """Run one check and fill in its verdict; `given_up` of the client says whether further checks can run."""
    began, before = time.monotonic(), case.client.asked
    case.begin(seconds)
    fault: Fault | None = None
    try:
        verdict.status, verdict.reason = _judged(check, case)
    except Fault as found:
        fault = found
    except GaveUp as error:
        fault = Fault("resources" if error.outcome is Outcome.TIMEOUT else "process", error.reason)
        if not case.client.given_up:
            with suppress(GaveUp):  # recorded in `given_up`
                case.client.fresh()
    if fault is not None:
        verdict.status, verdict.reason, verdict.stage = "failed", fault.reason, fault.stage
        verdict.counterexample, verdict.n_failed = fault.example, fault.n_failed
    elif verdict.status == "same as reference":
        verdict.exceptions = case.excused
    verdict.n_inputs = case.n_inputs
    verdict.seconds = time.monotonic() - began
    verdict.asked = case.client.asked.since(before)


def _judged(check: Check, case: Case) -> tuple[Status, str]:
    """Return the status and remark of a check that found no fault. Raises `Fault` and `GaveUp`."""
    missing = [needed for needed in check.needs if not any(map(case.client.offers, needed.split("|")))]
    if missing:
        return "not offered", check.not_offered or f"it has no {' and no '.join(missing)}"
    try:
        remark = check.run(case) or ""
    except NotAsked as why:
        return "not asked", str(why)
    except Incomplete as why:
        return "incomplete", str(why)
    if case.n_known:
        remark = "; ".join(filter(None, [remark, f"{case.n_known:,} texts are wrong that hold a text found before"]))
    if not case.n_inputs:
        return "not asked", "; ".join(filter(None, [remark, "no case was judged"]))
    return ("same as reference" if case.excused else "passed"), remark


def choose(only: Collection[str]) -> list[Check]:
    """Return the checks of these names in running order, all if none is named. Raises `UnknownName`."""
    known = [check.name for check in CHECKS]
    for name in only:
        if name not in known:
            raise UnknownName("check", name, known)
    return [check for check in CHECKS if not only or check.name in only]
