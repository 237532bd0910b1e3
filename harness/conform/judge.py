"""A whole conformance run: every check on one target, whatever becomes of it."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection
from contextlib import suppress

from harness.conform.case import Case
from harness.conform.checks import CHECKS, Check
from harness.conform.reference import Reference
from harness.conform.subject import GaveUp, OpenTarget, Subject
from harness.conform.verdicts import Report, Stage, Verdict, mark_repeated
from harness.conform.wording import printable
from impls.core.errors import UnknownName

CHECK_SECONDS = 30.0
"""How long one check asks a slow target; it then judges by what was answered. Shrinking comes on top."""


def judge(
    open_target: OpenTarget,
    reference: Reference,
    only: Collection[str] = (),
    *,
    seed: int = 0,
    check_seconds: float = CHECK_SECONDS,
    done: Callable[[Verdict], None] = lambda verdict: None,
) -> Report:
    """Run the checks (those named `only`, else all) and report; `done` is called after each.

    Raises `NotLoadable` or `TargetFailed` where the target does not start, `UnknownName` for a check there is not.
    """
    chosen = choose(only)
    began = time.perf_counter()
    with Subject(open_target) as subject:
        case = Case(subject, reference, seed)
        verdicts: list[Verdict] = []
        gave_up = ""
        for check in chosen:
            if gave_up:
                verdict = Verdict(status="not asked", reason=gave_up)
            else:
                verdict, gave_up = _run(check, case, check_seconds)
            verdict.check, verdict.question = check.name, check.question
            verdict.reason = printable(verdict.reason)
            verdicts.append(verdict)
            done(verdict)
        mark_repeated(verdicts)
        return Report(
            target=subject.description.name,
            reference=reference.name,
            model=reference.model_name,
            verdicts=verdicts,
            seconds=time.perf_counter() - began,
            n_failures=subject.n_failures,
            about=dict(subject.description.info),
        )


def _run(check: Check, case: Case, seconds: float) -> tuple[Verdict, str]:
    """The verdict of one check, and why no more can be run, if so."""
    began = time.monotonic()
    before = case.subject.asked
    case.deadline = began + seconds
    case.subject.begin_check()
    try:
        verdict = check.run(case)
    except GaveUp as error:
        stage: Stage = "resources" if "timeout" in error.reason else "process"
        verdict = Verdict(status="failed", stage=stage, reason=error.reason, n_failed=1)
        if not case.subject.given_up:
            with suppress(GaveUp):  # then it is noted as given up
                case.subject.fresh()
    verdict.seconds = time.monotonic() - began
    verdict.asked = case.subject.asked.since(before)
    if verdict.status in ("passed", "same as reference") and not verdict.n_inputs:
        reason = "; ".join(filter(None, [verdict.reason, "no case was judged"]))
        verdict.status, verdict.reason = "not asked", reason
    return verdict, case.subject.given_up


def choose(only: Collection[str]) -> list[Check]:
    """The checks of these names in their order, all without names; raises `UnknownName`."""
    known = [check.name for check in CHECKS]
    for name in only:
        if name not in known:
            raise UnknownName("check", name, known)
    return [check for check in CHECKS if not only or check.name in only]
