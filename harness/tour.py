"""What `bpebench run --tour` trains, measures and checks before everything is timed; it prints nothing."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from msgspec.structs import replace

import impls
from harness.check.agreement import CheckPlan
from harness.data import load_corpus, load_model, trained_model_path, turkish_paragraph
from harness.measure.token_use import compression
from harness.outcome import Outcome
from harness.process.pool import Pool
from harness.process.session import Failed
from harness.records import Compression, RecordWriter, Trained

TRAINER, VOCAB_SIZE = "compiled", 10_000


@dataclass(frozen=True, slots=True)
class Recipe:
    """A vocabulary the suite trains itself."""

    name: str
    corpora: tuple[str, ...]
    pattern: str
    max_bytes: int | None = None


RECIPES = (
    Recipe("turkish-10k", ("turkish",), "turkish"),
    Recipe("english-code-10k", ("english", "code"), "cl100k", max_bytes=4_000_000),
)


def train_recipe(recipe: Recipe) -> Trained:
    """Train one vocabulary, save it under its name, and return the record of it (runs in a worker)."""
    corpora = (load_corpus(name, split="train", max_bytes=recipe.max_bytes) for name in recipe.corpora)
    texts = [text for corpus in corpora for text in corpus.documents()]
    spec = impls.TrainingSpec(vocab_size=VOCAB_SIZE, pattern=recipe.pattern)
    start = time.perf_counter()
    model = impls.get(TRAINER).train_model(texts, spec)
    seconds = time.perf_counter() - start
    model.save(trained_model_path(recipe.name))
    return Trained(
        model=recipe.name,
        implementation=TRAINER,
        corpus=" + ".join(recipe.corpora),
        vocab_size=model.vocab_size,
        n_merges=len(model.merges),
        n_bytes=sum(len(text.encode("utf-8", "surrogatepass")) for text in texts),
        seconds=seconds,
        ties=spec.ties,
    )


COMPARED = ("o200k_base", "cl100k_base", "gpt2")
"""Vocabularies compared with our own on Turkish."""
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
    with Pool() as pool:
        answers = pool.run(train_recipe, [(recipe,) for recipe in RECIPES], lambda i: done(RECIPES[i].name))
    for recipe, answer in zip(RECIPES, answers, strict=True):
        if isinstance(answer, Failed):
            raise impls.BPEError(f"training {recipe.name} failed: {answer.reason}")
        writer.write(answer)


def measure_compression(writer: RecordWriter) -> None:
    """Record how many tokens each text takes under each vocabulary, counted by tiktoken."""
    own = [recipe.name for recipe in RECIPES]
    texts: dict[str, Sequence[str]] = {"turkish-paragraph": [turkish_paragraph()]}
    for name in ("turkish", "english", "code"):
        texts[f"{name}/held-out"] = list(load_corpus(name, split="held-out", max_bytes=_WEIGHED_BYTES).documents())
    for model in (*own, *COMPARED):
        try:
            tokenizer = impls.load("tiktoken", load_model(model))
        except impls.BPEError as error:
            missing = Compression(model=model, corpus="", implementation="tiktoken", status=Outcome.MISSING)
            missing.reason = str(error).removeprefix(f"{model}: ")
            writer.write(*(replace(missing, corpus=corpus) for corpus in texts if "turkish" in corpus))
            continue
        writer.write(*(compression(tokenizer, some, model=model, corpus=corpus) for corpus, some in texts.items()))
