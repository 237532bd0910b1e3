"""The worker process: holds one implementation, verifies it and times it, one request at a time.

Any exception of an implementation, `BaseException` included, becomes a reply; the parent has to detect only the death
of the process.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from harness.failures import message_of, reason_of, status_of
from harness.measure.jobs import measured
from harness.measure.jobs.answers import Wrong
from harness.measure.jobs.judge import smallest_counterexample
from harness.measure.jobs.opening import Opening, open_implementation
from harness.measure.jobs.recall import recall
from harness.measure.protocol import (
    PROTOCOL,
    AskReference,
    Failed,
    Measure,
    MeasureMemory,
    Open,
    Opened,
    Probe,
    Probed,
    Recall,
    Recalled,
    Reply,
    Request,
    Shrink,
    Shrunk,
    Size,
)
from impls import Missing, Unsupported, get


def failure(error: BaseException) -> Failed:
    """Return the verdict on an exception an implementation or its verification raised."""
    if isinstance(error, Wrong):
        return error.failed
    if isinstance(error, Missing):
        return Failed(status="missing", reason=message_of(error))
    if isinstance(error, Unsupported):
        return Failed(status="unsupported", reason=error.reason)
    status = status_of(error)
    return Failed(status=status, reason=reason_of(status, type(error).__name__, message_of(error)))


def answer(request: Request, opening: Opening | None) -> tuple[Reply, Opening | None]:
    """Return the reply to a request, and what the worker holds afterwards."""
    if isinstance(request, Open):
        opening = open_implementation(request)
        return Opened(exact=opening.implementation.exact, pinned=opening.pinned), opening
    if isinstance(request, Probe):
        from harness.unicode.sweep import versions

        return Probed(versions=versions(request.implementations)), opening
    assert opening is not None, "nothing is open yet"
    return _ANSWERS[type(request)](request, opening), opening


def _recall(request: Recall, opening: Opening) -> Recalled:
    assert opening.tokenizer is not None
    return recall(request, opening.tokenizer)


def _shrink(request: Shrink, opening: Opening) -> Shrunk:
    assert opening.model is not None
    assert opening.tokenizer is not None
    reference = get(request.reference)(opening.model)
    found = smallest_counterexample(request.texts, opening.tokenizer, reference, request.seconds)
    return Shrunk(counterexample=found)


_ANSWERS: Mapping[type[Request], Callable[[Any, Opening], Reply]] = {
    Size: measured.size,
    AskReference: measured.answer_as_reference,
    Measure: measured.measure,
    MeasureMemory: measured.measure_memory,
    Recall: _recall,
    Shrink: _shrink,
}


def main(arguments: list[str]) -> None:
    """Answer requests until the input ends."""
    opening: Opening | None = None

    def reply(request: Request) -> Reply:
        nonlocal opening
        found, opening = answer(request, opening)
        return found

    PROTOCOL.serve(reply, failure)
