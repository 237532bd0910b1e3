"""`bpebench conform`: whether any tokenizer is what it claims to be."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from harness.commands import options, writing
from harness.commands.verb import Verb, argument, flag, option
from harness.progress import progress
from harness.targets import DEFAULT_MODEL

if TYPE_CHECKING:
    from harness.conform.report import ConformanceReport


class Conform(Verb):
    """Judge TARGET: ids of every code point and token, pieces, state, threads, cost; 20 checks.

    TARGET is `module:object` (anything with encode and decode, imported from here or PYTHONPATH), a Python file, an
    implementation (see `list`), a model file with --library, or `cmd:COMMAND`, a program in any language that speaks
    the line protocol. Exit status 0 it conforms, or the checks asked for passed; 1 a check failed or nothing could be
    judged, or a check was cut by its deadline; 2 TARGET cannot be loaded.
    """

    target: str | None = argument(required=False)
    reference: str = option("Implementation whose answers count as right.", default="tiktoken", metavar="NAME")
    model: str = options.model_option("Vocabulary of both.", default=DEFAULT_MODEL)
    library: str | None = option("Library that runs TARGET, if that is a model file.", metavar="NAME")
    only: tuple[str, ...] = option("Only this check; repeatable.", "--check", multiple=True, metavar="NAME")
    list_checks: bool = flag("List the checks and exit.", "--list")
    seed: int = option("Seed of the random texts.", default=0)
    seconds: float = option(
        "Time limit for all checks together; a check it cuts short is incomplete.",
        "--time",
        type=options.SECONDS,
        default=1800.0,
    )
    vectors: Path | None = option("Run the vectors of this file, not the checks (see VECTORS.md).", type=options.FILE)
    write_vectors: Path | None = option(
        "Write test vectors of the model, for any language: FILE.jsonl or .gz; without TARGET.", type=options.FILE
    )

    def run(self) -> bool:
        """Judge the target and print the report; return whether a check failed or nothing could be judged."""
        if self.list_checks:
            from harness.conform.checks.catalogue import CHECKS

            checks = {check.name: check.question for check in CHECKS}
            self.output(checks, lambda: options.table(list(checks.items()), ["check", "question"]))
            return False
        if self.write_vectors is not None:
            return self._write_vectors(self.write_vectors)
        options.ensure(self.target is not None, "name a TARGET, or write vectors with --write-vectors FILE")
        import msgspec

        from harness.conform.report import conclusion, render

        report = self._by_checks() if self.vectors is None else self._by_vectors(self.vectors)
        verdict = {"conforms": report.conforms, "verdict": report.verdict}
        self.output({**verdict, **msgspec.to_builtins(report)}, lambda: render(report))
        if self.as_json:
            click.echo(conclusion(report), err=True)
        return not report.has_passed

    def _by_checks(self) -> ConformanceReport:
        from harness.conform.run import choose, run

        checks = choose(self.only)
        limit = f"{self.seconds / 60:.3g} min" if self.seconds >= 60 else f"{self.seconds:.3g} s"
        with progress(f"checking, at most about {limit}", len(checks)) as bar:
            return run(
                self.target or "", self.model, self.library, checks, self.reference, seed=self.seed,
                seconds=self.seconds, done=lambda verdict: bar.advance(1, f"{verdict.check}: {verdict.status}"),
            )  # fmt: skip

    def _by_vectors(self, path: Path) -> ConformanceReport:
        from harness.conform.run import run_vectors
        from harness.conform.vectors.file import read

        options.ensure_alone(self, "vectors", "target", "model", "library", "seconds")
        vectors = read(path)
        model = self.model if "model" in options.given(self) else vectors.head.model
        return run_vectors(self.target or "", path, vectors, model, self.library, self.seconds)

    def _write_vectors(self, path: Path) -> bool:
        """Write the vectors of the model, and print which mutants no case tells apart."""
        from harness.conform.vectors.choice import choose
        from harness.conform.vectors.file import compressed, content_of
        from harness.data import load_model
        from harness.records import write_atomically

        options.ensure(self.target is None, "--write-vectors takes no TARGET: vectors are of the model (-m)")
        writing.check_target(path, writing.model_sources(self.model))
        vectors = choose(Path(self.model).name, load_model(self.model))
        write_atomically(path, compressed(content_of(vectors), path))
        head = vectors.head
        n_mutants, n_left = sum(head.mutants.values()), len(head.not_told_apart)
        lines = [
            f"{path}: {head.cases:,} cases of {self.model}",
            f"they detect {n_mutants - n_left:,} of {n_mutants:,} mutants; no text tried detects these:",
            *(f"  {name}" for name in head.not_told_apart),
        ]
        self.output(head, lambda: "\n".join(lines))
        return False
