"""A conformance run from names: the target, the reference and the model as a user writes them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping

from harness.conform.reference import Reference
from harness.conform.runner import CHECK_SECONDS, choose, run_checks
from harness.conform.target import Target, TargetFailed
from harness.conform.verdicts import CheckVerdict, ConformanceReport
from harness.data import load_model
from harness.process.limits import Limits
from harness.targets import DEFAULT_MODEL, NotLoadable, TargetSpec
from impls.core.errors import BPEError

LIMITS = Limits(start_seconds=60.0)
"""The default limits of a target."""


class NotATarget(BPEError):
    """TARGET cannot be loaded, or does not start."""


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
    choose(only)
    try:
        spec = TargetSpec.parse(target, library, model)
    except NotLoadable as error:
        raise NotATarget(error.reason) from None

    def open_target(environment: Mapping[str, str]) -> Target:
        return Target(spec, limits, environment)

    other = Reference(reference, model, load_model(model))
    try:
        return run_checks(open_target, other, only, seed=seed, check_seconds=check_seconds, done=done)
    except (NotLoadable, TargetFailed) as error:
        named = error.reason.startswith((target, spec.name))
        raise NotATarget(error.reason if named else f"{target}: it does not start: {error.reason}") from None
