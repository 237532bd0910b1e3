"""The encoding speed of a served package, by the clock inside its process."""

from __future__ import annotations

import json
import subprocess
from itertools import accumulate, takewhile

from harness.data import load_corpus
from harness.data.errors import DataError

CORPORA = ("english", "turkish", "code")
_CHARACTERS = 1_000_000
_LOOPS = 7
_SECONDS = 600


def megabytes_per_second(arguments: list[str], environment: dict[str, str]) -> dict[str, float]:
    """Return MB of UTF-8 per second of processor time by corpus, the fastest of several passes over one text."""
    texts = {name: text_of(name) for name in CORPORA}
    asked = enumerate(texts.values())
    lines = [json.dumps({"id": i, "op": "timed_encode", "text": text, "loops": _LOOPS}) for i, text in asked]
    run = subprocess.run(
        arguments, env=environment, input="\n".join(lines) + "\n", capture_output=True, text=True, timeout=_SECONDS
    )
    answers = [json.loads(line) for line in run.stdout.splitlines()]
    if len(answers) != len(texts) or not all("result" in answer for answer in answers):
        raise DataError(f"the timed process failed: {(run.stderr or run.stdout).strip()[-300:]}")
    return {
        name: len(text.encode()) / 1e6 / answer["result"]
        for (name, text), answer in zip(texts.items(), answers, strict=True)
    }


def text_of(corpus: str) -> str:
    """Return the first documents of a corpus joined by newlines: a million characters, or all there are."""
    documents = list(load_corpus(corpus).documents())
    n = len(list(takewhile(lambda total: total < _CHARACTERS, accumulate(len(text) + 1 for text in documents))))
    return "\n".join(documents[: n + 1])[:_CHARACTERS]
