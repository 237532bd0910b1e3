"""The encoding speed of a served package, by the clock inside its process."""

from __future__ import annotations

from dataclasses import replace
from itertools import accumulate, takewhile

from harness.conform.target import Target, TargetError, TargetFailed
from harness.data import load_corpus
from harness.data.errors import DataError
from harness.process.limits import worker_limits
from harness.targets.spec import NotLoadable, TargetSpec

CORPORA = ("english", "turkish", "code")
_CHARACTERS = 1_000_000
_LOOPS = 7
_SECONDS = 600.0


def megabytes_per_second(arguments: list[str], environment: dict[str, str]) -> dict[str, float]:
    """Return MB of UTF-8 per second of processor time by corpus, the fastest of several passes over one text.

    Raises `DataError` if the process fails.
    """
    speeds: dict[str, float] = {}
    limits = replace(worker_limits(), start_seconds=_SECONDS, call_seconds=_SECONDS)
    try:
        with Target(TargetSpec("command", arguments[0], tuple(arguments)), limits, environment) as target:
            for name in CORPORA:
                text = text_of(name)
                speeds[name] = len(text.encode()) / 1e6 / target.call("timed_encode", text=text, loops=_LOOPS)
    except (NotLoadable, TargetError, TargetFailed) as error:
        raise DataError(f"the timed process failed: {error}") from None
    return speeds


def text_of(corpus: str) -> str:
    """Return the first documents of a corpus joined by newlines: at most a million characters."""
    documents = list(load_corpus(corpus).documents())
    n = len(list(takewhile(lambda total: total < _CHARACTERS, accumulate(len(text) + 1 for text in documents))))
    return "\n".join(documents[: n + 1])[:_CHARACTERS]
