"""`bpebench fuzz`: random texts and models until two implementations differ; minimised, classified and saved."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from harness.commands import options
from harness.commands.verb import Verb, argument, flag, option
from harness.progress import progress
from impls.core.errors import plural

if TYPE_CHECKING:
    from harness.check.fuzz.replay import CounterexampleFile
    from harness.check.fuzz.run import FuzzPlan, FuzzResult
    from harness.records import Disagreement

DEFAULT_FILE = Path("results/local/counterexamples.jsonl")
_DEFAULT_SECONDS = 60.0


class Fuzz(Verb):
    """Generate texts until B (C, ...) gives different ids than A; minimise, classify and save what is found.

    A side is an implementation (`bpebench list`), MODULE:OBJECT or a Python file with `encode` and `decode`,
    cmd:COMMAND or a model file; a file given by -m is also compared as its own library reads it. The text of -c is
    mutated (default: the samples and the cached corpora).

    The same --seed and --texts give the same texts and findings, for one release of bpebench and Python and the same
    corpora. Exit status 0: no difference (a text that both sides refuse does not count), 1: some, or nothing was
    compared, 2: bad usage, or a side that cannot run the model. With --replay, 0 if something was replayed and every
    saved difference is as recorded, else 1 (2 for a file without any). Ctrl-C saves and prints what it has.
    """

    sides: tuple[str, ...] = argument(nargs=-1, metavar="A B...")
    models: tuple[str, ...] = options.models
    random_models: bool = flag("Generate models too, instead of using -m.", "--models")
    seconds: float | None = option(
        f"Seconds to search.  [default: {_DEFAULT_SECONDS:.0f}]", "--time", type=options.SECONDS
    )
    n_texts: int | None = option("Texts to try; without --time, with no time limit.", "--texts", type=options.POSITIVE)
    seed: int = option("Seed of the texts.", default=0)
    stop_after: int = option("Stop after this many kinds of difference.", type=options.POSITIVE, default=10)
    corpora: tuple[str, ...] = options.corpora
    file: Path = option("File of saved differences.", "--save", default=DEFAULT_FILE, type=options.FILE)
    no_save: bool = flag("Save nothing.")
    again: bool = flag("Only replay the differences saved in that file.", "--replay")

    def run(self) -> bool:
        """Search, or replay; return whether there is a difference or nothing was compared."""
        if self.again:
            return self._replay()
        from harness.check.fuzz.replay import CounterexampleFile

        plan = self._plan()
        kept = None if self.no_save else CounterexampleFile(self.file)
        unsaved: list[Exception] = []
        result = _search(plan, kept, unsaved)
        saved = None if kept is None else {"file": str(self.file), "new": kept.n_new, "known": kept.n_known}
        self.output(_document(plan, result) | {"saved": saved}, lambda: "\n".join(_summary(plan, result)))
        if kept is not None and result.findings and not unsaved and not self.as_json:
            click.echo(f"saved in {self.file}: {kept.n_new} new, {kept.n_known} already there", err=True)
        if unsaved:
            raise unsaved[0]
        if result.interrupted:
            click.echo("bpebench: interrupted", err=True)
            raise click.exceptions.Exit(1 if result.findings else 130)
        return bool(result.findings or _not_compared(plan, result))

    def _plan(self) -> FuzzPlan:
        from harness.check.fuzz.run import FuzzPlan
        from harness.data.models import is_model_name
        from harness.targets import DEFAULT_MODEL, PUBLISHED
        from harness.targets.published import library_of_model

        options.ensure(len(self.sides) > 1, "name two sides or more, such as: bpebench fuzz tiktoken compiled")
        options.ensure(not (self.random_models and self.models), "--models generates models; leave out -m")
        # A user's file is also read by its own library, which everything must agree with.
        files = [model for model in self.models if not is_model_name(model)]
        by_library = files == list(self.models) and bool(files) and all(map(library_of_model, files))
        return FuzzPlan(
            sides=(PUBLISHED, *self.sides) if by_library else self.sides,
            models=() if self.random_models else self.models or (DEFAULT_MODEL,),
            seed=self.seed,
            seconds=_DEFAULT_SECONDS if self.seconds is None and self.n_texts is None else self.seconds,
            n_texts=self.n_texts,
            stop_after=self.stop_after,
            corpora=self.corpora or None,
        )

    def _replay(self) -> bool:
        """Replay the saved differences; return whether one does not hold, or nothing was replayed."""
        from harness.check.fuzz.findings import describe_input
        from harness.check.fuzz.replay import read_counterexamples, replay

        options.ensure_alone(self, "again", "file")
        records = read_counterexamples(self.file)
        options.ensure(records, f"{self.file}: contains no counterexamples; `bpebench fuzz A B` saves them there")
        with progress("replaying", len(records)) as bar:
            replayed = replay(records, lambda case: bar.advance(1, f"{case.record.a}, {case.record.b}"))
        outcomes = [case.outcome for case in replayed]
        rows = [
            [f"{record.a}, {record.b}", record.model or "own", describe_input(record), case.outcome, case.reason]
            for case in replayed
            for record in [case.record]
        ]
        table = options.table(rows, ["sides", "model", "text", "outcome", "reason"])
        counts = (f"{outcomes.count(kind)} {kind}" for kind in ("holds", "does not hold", "not replayed"))
        nothing = ": nothing was replayed" if set(outcomes) == {"not replayed"} else ""
        document = {"n_replayed": len(outcomes) - outcomes.count("not replayed"), "replayed": replayed}
        self.output(document, f"{table}\n{', '.join(counts)}{nothing}")
        return "does not hold" in outcomes or "holds" not in outcomes


def _search(plan: FuzzPlan, kept: CounterexampleFile | None, unsaved: list[Exception]) -> FuzzResult:
    """Search; findings that could not be saved are still reported, and the reasons appended to `unsaved`."""
    from harness.check.fuzz.findings import describe_input
    from harness.check.fuzz.run import FuzzRun
    from harness.records import RecordError

    began = time.monotonic()
    with progress("fuzzing", plan.n_texts if plan.seconds is None else plan.seconds) as bar:
        done = 0.0

        def keep(record: Disagreement) -> None:
            try:
                if kept is not None:
                    kept.add(record)
            except (OSError, RecordError) as error:
                unsaved.append(error)
            what = f"{describe_input(record)} ({record.difference})"
            bar.note(f"{record.a} and {record.b} differ after {time.monotonic() - began:.0f} s: {what}")

        def advance(result: FuzzResult) -> None:
            nonlocal done
            now = float(result.n_texts if plan.seconds is None else result.seconds)
            bar.advance(now - done, f"{result.n_texts:,} texts, {len(result.findings)} found")
            done = now

        return FuzzRun(plan, keep, advance).run()


def _not_compared(plan: FuzzPlan, result: FuzzResult) -> list[str]:
    """Return the sides for which no text was answered both by them and by the first side."""
    return [name for name in plan.sides[1:] if not result.n_compared_texts[name]]


def _summary(plan: FuzzPlan, result: FuzzResult) -> Iterator[str]:
    from harness.check.fuzz.findings import table_rows

    names = list(plan.sides)
    first = names[0]
    if result.findings:
        headers = ["sides", "model", "class", "stage", "smallest text", f"ids of {first}", "ids of the other"]
        yield options.table(table_rows(result.findings), headers)
        yield ""
    for counts, of in ((result.n_differing_texts, ""), (result.n_expected_texts, " on which they need not agree")):
        yield from (f"{name} differs from {first} on {n:,} texts{of}" for name, n in counts.items() if n)
    for name in _not_compared(plan, result):
        yield f"no text was answered by both {name} and {first}, so nothing was compared"
    for name, n_texts in result.n_failed_texts.items():
        if n_texts:
            yield f"{name} and {first} both failed on {n_texts:,} of the texts, which do not count as comparisons"
    for name, n_models in result.n_refused_models.items():
        if n_models:
            yield f"{name} refuses {n_models:,} of the models"
    where = ", ".join(plan.models) or f"{result.n_models:,} generated models"
    yield (
        f"{' and '.join(names)} on {where}: {result.n_texts:,} texts, {result.n_bytes:,} bytes in "
        f"{result.seconds:.0f} s, the longest {result.longest_bytes:,} bytes, "
        f"{result.n_by_call['encode_threads']:,} on threads, {result.n_by_call['decode']:,} lists of ids decoded: "
        + (
            plural(len(result.findings), "kind of difference", "kinds of difference")
            if result.findings
            else f"no difference in {plural(result.n_compared_texts.total(), 'comparison')}"
        )
    )


def _document(plan: FuzzPlan, result: FuzzResult) -> dict[str, Any]:
    asked = {"sides": list(plan.sides), "models": plan.models, "seed": plan.seed}
    return asked | {field.name: getattr(result, field.name) for field in fields(result)}
