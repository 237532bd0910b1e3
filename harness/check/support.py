"""The support matrix: every implementation is tried on every model, with a one-line reason where it cannot run it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import msgspec

from harness.check.agreement import died, verdict_of
from harness.check.tasks import CorpusOutcome, encode_corpus
from harness.data import load_model
from harness.process.pool import WorkerDied, run_tasks
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
    cells = [(implementation, model) for model in models for implementation in implementations]
    answers = run_tasks(
        encode_corpus,
        [(implementation, model, TEXT, None, _MAX_BYTES) for implementation, model in cells],
        lambda index: progress(" · ".join(cells[index])),
    )
    return [
        _verdict(implementation, model, round_trips[model], answer)
        for (implementation, model), answer in zip(cells, answers, strict=True)
    ]


def _verdict(implementation: str, model: str, round_trip: str, answer: CorpusOutcome | WorkerDied) -> Verdict:
    outcome = died(answer) if isinstance(answer, WorkerDied) else answer
    return msgspec.structs.replace(verdict_of((implementation, model, TEXT), outcome), round_trip=round_trip)
