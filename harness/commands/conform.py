"""`bpebench conform`: whether any tokenizer is what it claims to be."""

from __future__ import annotations

from pathlib import Path

import click

from harness.commands import options, writing
from harness.commands.verb import Verb, argument, flag, option
from harness.progress import progress
from harness.targets import DEFAULT_MODEL


def _list(_: click.Context, __: click.Parameter, wanted: bool) -> None:
    """Print the checks and exit, if requested."""
    if not wanted:
        return
    from harness.conform.checks.catalogue import CHECKS

    click.echo(options.table([[check.name, check.question] for check in CHECKS], ["check", "question"]))
    raise click.exceptions.Exit(0)


class Conform(Verb):
    """Judge TARGET: ids of every code point and token, pieces, state, threads, cost; 21 checks.

    TARGET is `module:object` (anything with encode and decode, imported from here or PYTHONPATH), a Python file, an
    implementation (see `list`), a model file with --library, or `cmd:COMMAND`, a program in any language that speaks
    the line protocol. Exit status 0 it conforms, or the checks asked for passed; 1 a check failed or nothing could be
    judged, or a check was cut by its deadline; 2 TARGET cannot be loaded.
    """

    target: str = argument()
    reference: str = option("Gives the right answers.", default="tiktoken", metavar="NAME")
    model: str = options.model_option("Vocabulary of both.", default=DEFAULT_MODEL)
    library: str | None = option("Runs TARGET, where that is a model file.", metavar="NAME")
    only: tuple[str, ...] = option("Only this check; repeatable.", "--check", multiple=True, metavar="NAME")
    list_checks: bool = flag("List the checks and exit.", "--list", is_eager=True, expose_value=False, callback=_list)
    seed: int = option("Seed of the random texts.", default=0)
    check_seconds: float = option("A check that takes longer is incomplete.", type=options.SECONDS, default=600.0)
    junit: Path | None = option("Also write JUnit XML here.", type=options.FILE)

    def run(self) -> bool:
        """Judge the target and print the report; return whether a check failed or nothing could be judged."""
        import msgspec

        from harness.conform.report import conclusion, render
        from harness.conform.run import choose, run

        if self.junit is not None:
            from harness.targets.spec import split_object

            writing.check_target(
                self.junit, writing.model_sources(self.target, split_object(self.target)[0], self.model)
            )
        with progress("judging", len(choose(self.only))) as bar:
            report = run(
                self.target, self.reference, self.model, library=self.library, only=self.only, seed=self.seed,
                check_seconds=self.check_seconds,
                done=lambda verdict: bar.advance(1, f"{verdict.check}: {verdict.status}"),
            )  # fmt: skip
        if self.junit is not None:
            from harness.conform.report import junit
            from harness.records import write_atomically

            write_atomically(self.junit, junit(report))
        found = {"conforms": report.conforms, "verdict": report.verdict}
        self.output({**found, **msgspec.to_builtins(report)}, lambda: render(report))
        if self.as_json:
            click.echo(conclusion(report), err=True)
        return bool(report.failed or report.unjudged or report.incomplete)


command = Conform.command()
