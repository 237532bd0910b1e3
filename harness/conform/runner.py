"""A whole conformance run: every check on one target, whatever the target does."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection
from contextlib import suppress

from harness.conform.case import Case
from harness.conform.checks import CHECKS, Check
from harness.conform.client import GaveUp, OpenTarget, TargetClient
from harness.conform.reference import Reference
from harness.conform.verdicts import CheckVerdict, ConformanceReport, Stage, mark_repeated
from harness.conform.wording import escape_surrogates
from impls.core.errors import UnknownName

CHECK_SECONDS = 30.0
"""How long one check queries a slow target before judging by the answers it has. Shrinking takes extra time."""


def run_checks(
    open_target: OpenTarget,
    reference: Reference,
    only: Collection[str] = (),
    *,
    seed: int = 0,
    check_seconds: float = CHECK_SECONDS,
    done: Callable[[CheckVerdict], None] = lambda verdict: None,
) -> ConformanceReport:
    """Run the checks (those named `only`, else all) and report; `done` is called after each.

    Raises `NotLoadable` or `TargetFailed` where the target does not start, `UnknownName` for an unknown check.
    """
    chosen = choose(only)
    began = time.perf_counter()
    with TargetClient(open_target) as client:
        case = Case(client, reference, seed)
        verdicts: list[CheckVerdict] = []
        gave_up = ""
        for check in chosen:
            if gave_up:
                verdict = CheckVerdict(status="not asked", reason=gave_up)
            else:
                verdict, gave_up = _run(check, case, check_seconds)
            verdict.check, verdict.question = check.name, check.question
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


def _run(check: Check, case: Case, seconds: float) -> tuple[CheckVerdict, str]:
    """Return the verdict of one check, and why no further check can run, if so."""
    began = time.monotonic()
    before = case.client.asked
    case.deadline = began + seconds
    case.client.begin_check()
    try:
        verdict = check.run(case)
    except GaveUp as error:
        stage: Stage = "resources" if "timeout" in error.reason else "process"
        verdict = CheckVerdict(status="failed", stage=stage, reason=error.reason, n_failed=1)
        if not case.client.given_up:
            with suppress(GaveUp):  # recorded in `given_up`
                case.client.fresh()
    verdict.seconds = time.monotonic() - began
    verdict.asked = case.client.asked.since(before)
    if verdict.status in ("passed", "same as reference") and not verdict.n_inputs:
        reason = "; ".join(filter(None, [verdict.reason, "no case was judged"]))
        verdict.status, verdict.reason = "not asked", reason
    return verdict, case.client.given_up


def choose(only: Collection[str]) -> list[Check]:
    """Return the checks of these names in running order, all if none is named. Raises `UnknownName`."""
    known = [check.name for check in CHECKS]
    for name in only:
        if name not in known:
            raise UnknownName("check", name, known)
    return [check for check in CHECKS if not only or check.name in only]
