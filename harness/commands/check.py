"""`bpebench check`: round trip and agreement of every pair of implementations, or of trainers."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

import impls
from harness.commands import options, writing
from harness.commands.verb import Verb, flag
from harness.printable import printable
from harness.progress import progress
from harness.targets import PUBLISHED, is_target
from impls.core.errors import plural

if TYPE_CHECKING:
    from harness.check.agreement import CheckPlan, CheckResult
    from harness.check.trainers import TrainerPlan, TrainerResult

_DEFAULT_BYTES = 200_000
_TRAINER_BYTES = 20_000
"""Large enough that rules diverge, small enough for trainers that recount the corpus before each merge."""


class Check(Verb):
    """Encode, decode and compare: does every text round-trip, do all pairs give the same ids?

    Exit status 1 when a text does not round-trip, when two implementations differ that must agree, and when nothing
    could be compared. Those that do not run a model are named and not compared on it. Without -m the cached
    vocabularies are checked, without -c the samples. The column "as published" is the file of a model as the library
    that it belongs to reads it (tokenizers, sentencepiece, tiktoken); the others run our reading of it.

    With --trainers every pair of trainers learns from the same text by each tie rule both follow; exit status 1 when
    their merges differ, or none could be compared.
    """

    implementation: str | None = options.implementation
    exclude: str | None = options.exclude
    models: tuple[str, ...] = options.models
    corpora: tuple[str, ...] = options.corpora
    trainers: bool = flag("Compare the merges that trainers learn.")
    split: str | None = options.split
    max_bytes: int | None = options.max_bytes
    out: Path | None = options.out
    resume: bool = options.resume

    def run(self) -> bool:
        """Run the check that was asked for."""
        return self._trainers() if self.trainers else self._implementations()

    def _implementations(self) -> bool:
        from harness.check.agreement import CheckPlan, check
        from harness.data import load_corpus, load_model
        from harness.report.tables import render_check

        models = self.models or default_models()
        plan = CheckPlan(
            implementations=self._compared_on(models),
            models=models,
            corpora=self.corpora or ("samples",),
            split=self.split,
            max_bytes=self.max_bytes or _DEFAULT_BYTES,
        )
        for model in plan.models:
            load_model(model)
        for corpus in plan.corpora:
            holds_text = any(load_corpus(corpus, split=plan.split).documents())
            options.ensure(holds_text, f"{corpus}: holds no text; there is nothing to check")
        return self._compared("checking", plan, plan.implementations, check, render_check, plan.models)

    def _compared_on(self, models: Sequence[str]) -> list[str]:
        """Return the implementations, and a file as its own library reads it if a model has such a file."""
        from harness.targets.published import library_of_model

        chosen = options.choose_compared(self.implementation, self.exclude)
        asked = self.implementation is None or is_target(self.implementation)
        pattern = self.exclude if asked else self.implementation
        matches = pattern is not None and re.search(pattern, PUBLISHED) is not None
        return [*chosen, PUBLISHED] if matches is not asked and any(map(library_of_model, models)) else chosen

    def _trainers(self) -> bool:
        """Compare trainers pair by pair; third-party plug-ins take part only when -e matches them."""
        from harness.check.trainers import DEFAULT_TRAINERS, TrainerPlan, check_trainers, texts_of
        from harness.report.tables import render_trainers

        options.ensure(not self.models, "--trainers makes its models: leave out -m")
        trainers = options.choose(impls.names(), DEFAULT_TRAINERS, self.implementation, self.exclude, "trainer")
        corpora = self.corpora or ("samples",)
        plan = TrainerPlan(trainers, corpora, self.max_bytes or _TRAINER_BYTES, self.split)
        for corpus in corpora:
            options.ensure(any(texts_of(corpus, plan.max_bytes, plan.split)), f"nothing to train on in {corpus}")
        return self._compared("training", plan, trainers, check_trainers, render_trainers)

    def _compared(
        self,
        title: str,
        plan: CheckPlan | TrainerPlan,
        names: Sequence[str],
        check: Callable[..., CheckResult | TrainerResult],
        render: Callable[[Sequence[Any], int | None], str],
        models: Sequence[str] = (),
    ) -> bool:
        """Run `plan`, record and print the result; return whether there are faults."""
        from harness.measure.recording import digests, named_shortly, recording

        with recording(self.out, names, writing.command_line(), resume=self.resume) as kept:
            with progress(title, len(plan.cells)) as bar:
                found = check(plan, lambda what: bar.advance(1, what))
            records = [*found.verdicts, *found.agreements, *found.not_compared]
            kept.write(*map(named_shortly, records))
            if self.out is not None:
                kept.facts["digests"] = digests(models, plan.corpora, self.split)

        def text() -> str:
            faults = [printable(f"fault: {fault}") for fault in found.faults]
            last = plural(len(faults), "fault") if faults else found.summary
            return "\n".join([render(records, options.terminal_width()), *faults, last])

        shown = ("verdicts", "agreements", "not_compared", "faults")
        self.output({name: list(getattr(found, name)) for name in shown}, text)
        return bool(found.faults)


def default_models() -> tuple[str, ...]:
    """Return the cached published vocabularies; where there is none, train one on the samples."""
    from harness.data import available_models, model_names, trained_model_names
    from harness.tour import SAMPLES, train_recipe

    published = set(model_names()) - set(trained_model_names())
    at_hand = tuple(name for name in available_models() if name in published)
    if at_hand:
        return at_hand
    if SAMPLES.name not in trained_model_names():
        click.echo(f"no vocabulary is fetched yet; training {SAMPLES.name} on the samples", err=True)
        train_recipe(SAMPLES)
    return (SAMPLES.name,)


command = Check.command()
