"""The support matrix: every implementation is tried on every model, with a one-line reason where it cannot run it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from harness.check.agreement import encode_corpora
from harness.data import load_model
from harness.process.pool import Pool
from harness.records import Verdict

TEXT = "samples/unusual"
"""The text each encodes and decodes: a few difficult lines."""
_MAX_BYTES = 2_000


def support(
    implementations: Sequence[str], models: Sequence[str], progress: Callable[[str], None] = lambda what: None
) -> list[Verdict]:
    """Return a verdict per model and implementation: `ok`, `unsupported` or `missing` with the reason, or a failure.

    `progress(what)` is called as each is done. Raises what `load_model` raises.
    """
    round_trips = {model: load_model(model).round_trip for model in models}
    cells = [(implementation, model, TEXT) for model in models for implementation in implementations]
    with Pool() as pool:
        outcomes = encode_corpora([(*cell, None, _MAX_BYTES) for cell in cells], progress, None, pool)
    verdicts = [outcome.verdict for outcome in outcomes]
    for verdict in verdicts:
        verdict.round_trip = round_trips[verdict.model]
    return verdicts
