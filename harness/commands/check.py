"""`bpebench check`: round trip and agreement of every pair of implementations."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from harness.commands import options, writing
from harness.commands.verb import Verb
from harness.printable import printable
from harness.progress import progress
from harness.targets import DEFAULT_MODEL, PUBLISHED, is_target
from impls.core.errors import plural

_TABLES = ("agreement", "counterexamples", "round-trip")


class Check(Verb):
    """Encode, decode and compare: does every text round-trip, do all pairs give the same ids?

    Exit status 1 if a text does not round-trip, if two implementations that must agree differ, or if nothing
    could be compared. Those that do not run a model are named and not compared on it. Without -m the cached
    vocabularies are checked, without -c the samples. The column "as published" is a model's file as read by its own
    library (tokenizers, sentencepiece, tiktoken); the others run our reading of it.
    """

    implementations: tuple[str, ...] = options.implementations
    exclude: str | None = options.exclude
    models: tuple[str, ...] = options.models
    corpora: tuple[str, ...] = options.corpora
    split: str | None = options.split
    max_bytes: int | None = options.max_bytes
    out: Path | None = options.out
    resume: bool = options.resume

    def run(self) -> bool:
        """Run the check; return whether there are faults."""
        from harness.check.agreement import CheckPlan, check
        from harness.data import load_corpus, load_model
        from harness.measure.recording import digests, named_shortly, recording
        from harness.report.tables import render_terminal

        models = self.models or default_models()
        plan = CheckPlan(
            implementations=self._compared_on(models),
            models=models,
            corpora=self.corpora or ("samples",),
            split=self.split,
            max_bytes=self.max_bytes or 200_000,
        )
        for model in plan.models:
            load_model(model)
        corpora = {(name, plan.split): load_corpus(name, split=plan.split) for name in plan.corpora}
        for (name, _), corpus in corpora.items():
            options.ensure(any(corpus.documents()), f"{name}: contains no text; there is nothing to check")
        with recording(self.out, plan.implementations, writing.command_line(), resume=self.resume) as kept:
            with progress("checking", len(plan.cells)) as bar:
                result = check(plan, lambda what: bar.advance(1, what))
            records = [*result.verdicts, *result.agreements, *result.not_compared]
            kept.write(*map(named_shortly, records))
            if self.out is not None:
                of_corpora = {key: corpus.digest for key, corpus in corpora.items()}
                kept.facts["digests"] = digests({name: load_model(name) for name in plan.models}, of_corpora)

        def text() -> str:
            faults = [printable(f"fault: {fault}") for fault in result.faults]
            last = plural(len(faults), "fault") if faults else result.summary
            tables = render_terminal(records, width=options.terminal_width(), names=_TABLES)
            return "\n".join([tables, *faults, last])

        shown = ("verdicts", "agreements", "not_compared", "faults")
        self.output({name: list(getattr(result, name)) for name in shown}, text)
        return bool(result.faults)

    def _compared_on(self, models: Sequence[str]) -> list[str]:
        """Return the implementations, and a file as its own library reads it if a model has such a file."""
        from harness.targets.published import library_of_model

        chosen = options.choose_compared(self.implementations, self.exclude)
        expressions = [name for name in self.implementations if not is_target(name)]
        is_wanted = options.chooses(expressions, self.exclude, PUBLISHED) and any(map(library_of_model, models))
        return [*chosen, PUBLISHED] if is_wanted else chosen


def default_models() -> tuple[str, ...]:
    """Return the cached published vocabularies; where there is none, the default one, which is then fetched."""
    from harness.data import available_models, model_names, trained_model_names

    published = set(model_names()) - set(trained_model_names())
    return tuple(name for name in available_models() if name in published) or (DEFAULT_MODEL,)
