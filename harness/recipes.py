"""The vocabularies the suite trains itself, with its own trainer, and saves under names of their own."""

from __future__ import annotations

import time
from dataclasses import dataclass

import impls
from harness.data import load_corpus, trained_model_path
from harness.data.overlap import training_documents
from harness.records import Text, Trained

TRAINER = "compiled"
N_FIRST_TOKENS = 20


@dataclass(frozen=True, slots=True)
class Recipe:
    """A vocabulary the suite trains itself."""

    name: str
    corpora: tuple[str, ...]
    pattern: str
    vocab_size: int = 10_000
    max_bytes: int | None = None

    @property
    def spec(self) -> impls.TrainingSpec:
        """The training specification."""
        return impls.TrainingSpec(vocab_size=self.vocab_size, pattern=self.pattern)


TURKISH = Recipe("turkish-10k", ("turkish",), "turkish")
ENGLISH_CODE = Recipe("english-code-10k", ("english", "code"), "cl100k", max_bytes=4_000_000)
SAMPLES = Recipe("samples-2k", ("samples",), "gpt2", vocab_size=2000)
"""From our own sample texts only, to be checked where nothing has been fetched."""


def train_recipe(recipe: Recipe) -> Trained:
    """Train one vocabulary, save it under its name, and return the record of it (runs in a worker)."""
    corpora = (
        load_corpus(name, split=None if name == "samples" else "train", max_bytes=recipe.max_bytes)
        for name in recipe.corpora
    )
    texts = [text for corpus in corpora for text in corpus.documents()]
    start = time.perf_counter()
    model = impls.get(TRAINER).train_model(texts, recipe.spec)
    seconds = time.perf_counter() - start
    model.with_(training_documents=training_documents(texts)).save(trained_model_path(recipe.name))
    return Trained(
        model=recipe.name,
        implementation=TRAINER,
        corpus=" + ".join(recipe.corpora),
        vocab_size=model.vocab_size,
        n_merges=len(model.merges),
        n_bytes=sum(len(text.encode("utf-8", "surrogatepass")) for text in texts),
        seconds=seconds,
        digest=model.digest,
        ties=recipe.spec.ties,
        merge_counts=list(model.merge_counts or ()),
        first_tokens=[
            Text.of((model.tokens[i] or b"").decode("utf-8", "backslashreplace"))
            for i in model.merge_results[:N_FIRST_TOKENS]
        ],
    )
