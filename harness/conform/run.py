"""From names to a report: the target, the reference and the model as a user writes them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping

from harness.conform.judge import CHECK_SECONDS, choose, judge
from harness.conform.reference import Reference
from harness.conform.target import Limits, NotLoadable, Target, TargetFailed
from harness.conform.verdicts import Report, Verdict
from harness.data import load_model
from harness.targets import DEFAULT_MODEL, TargetSpec
from impls.core.errors import BPEError

LIMITS = Limits(start_seconds=60.0)
"""Of a target, unless told otherwise."""


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
    done: Callable[[Verdict], None] = lambda verdict: None,
) -> Report:
    """Judge `target` by `reference` over `model`; the arguments are those of `bpebench conform`.

    Raises `NotATarget`, and what an unknown name or a model that cannot be had raises.
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
        return judge(open_target, other, only, seed=seed, check_seconds=check_seconds, done=done)
    except (NotLoadable, TargetFailed) as error:
        named = error.reason.startswith((target, spec.name))
        raise NotATarget(error.reason if named else f"{target}: it does not start: {error.reason}") from None
