"""The whole suite, end to end: train two vocabularies, check, weigh and time everything.

Writes records as it goes and prints nothing; the command `tour` shows the result.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from itertools import chain, count
from pathlib import Path

import impls
from harness.check.agreement import CheckPlan, CheckResult, check
from harness.data import load_corpus, load_model, turkish_paragraph
from harness.data.hub import PREFIX, is_cached
from harness.measure.compression import compression, uncounted
from harness.process.pool import WorkerDied, run_tasks
from harness.recipes import ENGLISH_CODE, TURKISH, train_recipe
from harness.records import RecordWriter

COMPARED = ("o200k_base", "cl100k_base", "gpt2", "hf:Trendyol/Trendyol-LLM-7b-base-v1.0", "hf:vngrs-ai/Kumru-2B")
"""Vocabularies compared with our own on Turkish; those of the hub only where they have been fetched before."""

RECIPES = (TURKISH, ENGLISH_CODE)


CHECKED = CheckPlan(
    implementations=impls.default_names(),
    models=(*(recipe.name for recipe in RECIPES), "cl100k_base"),
    corpora=("samples", "turkish", "english", "code"),
    max_bytes=200_000,
)
"""Every pair of own and production implementations, on these models and corpora."""
_WEIGHED_BYTES = 500_000


def train_all(writer: RecordWriter, done: Callable[[str], None]) -> None:
    """Train every recipe, each in its own process."""
    answers = run_tasks(train_recipe, [(recipe,) for recipe in RECIPES], lambda i: done(RECIPES[i].name))
    for recipe, answer in zip(RECIPES, answers, strict=True):
        if isinstance(answer, WorkerDied):
            raise impls.BPEError(f"training {recipe.name} failed: {answer}")
        writer.write(answer)


def weigh(writer: RecordWriter) -> None:
    """Record how many tokens each text takes under each vocabulary, counted by tiktoken."""
    own = [recipe.name for recipe in RECIPES]
    texts: dict[str, Sequence[str]] = {"turkish-paragraph": [turkish_paragraph()]}
    for name in ("turkish", "english", "code"):
        texts[f"{name}/held-out"] = list(load_corpus(name, split="held-out", max_bytes=_WEIGHED_BYTES).documents())
    for model in (*own, *COMPARED):
        if model.startswith(PREFIX) and not is_cached(model):
            continue
        try:
            tokenizer = impls.load("tiktoken", load_model(model))
        except impls.BPEError as error:
            reason = str(error).removeprefix(f"{model}: ")
            of_turkish = (corpus for corpus in texts if "turkish" in corpus)
            writer.write(*(uncounted(model, corpus, "tiktoken", "missing", reason) for corpus in of_turkish))
            continue
        writer.write(*(compression(tokenizer, some, model=model, corpus=corpus) for corpus, some in texts.items()))


def check_all(writer: RecordWriter, done: Callable[[str], None]) -> CheckResult:
    """Check what `CHECKED` says."""
    result = check(CHECKED, done)
    writer.write(*result.verdicts, *result.agreements, *result.not_compared)
    return result


def new_folder(parent: Path) -> Path:
    """Return a new folder name for this run inside `parent`, after the time; it is not created."""
    base = time.strftime("tour-%Y%m%d-%H%M%S")
    names = chain([base], (f"{base}-{number}" for number in count(2)))
    return next(parent / name for name in names if not (parent / name).exists())
