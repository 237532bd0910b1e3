"""`bpebench conform`: whether any tokenizer is what it claims to be."""

from __future__ import annotations

from pathlib import Path

import click

from harness.commands import options
from harness.progress import progress
from harness.targets import DEFAULT_MODEL


@click.command("conform")
@click.argument("target")
@click.option("--reference", default="tiktoken", show_default=True, metavar="NAME", help="Gives the right answers.")
@click.option(
    "-m", "--model", default=DEFAULT_MODEL, show_default=True, **options.model_name, help="Vocabulary of both."
)
@click.option("--library", metavar="NAME", help="Runs TARGET, where that is a model file.")
@click.option("--check", "only", multiple=True, metavar="NAME", help="Only this check; repeatable.")
@click.option("--list", "list_checks", is_flag=True, is_eager=True, expose_value=False, callback=lambda *_: _list(_[2]),
              help="List the checks and exit.")  # fmt: skip
@click.option("--seed", type=int, default=0, show_default=True, help="Seed of the random texts.")
@click.option("--call-seconds", type=click.FloatRange(min=0.1), default=10.0, show_default=True,
              help="A single call that takes longer is a failure.")  # fmt: skip
@click.option("--check-seconds", type=click.FloatRange(min=0.1), default=30.0, show_default=True,
              help="How long one check asks a slow target.")  # fmt: skip
@click.option("--memory", "memory_megabytes", type=click.IntRange(min=64), default=2048, show_default=True,
              help="Megabytes the target may hold.")  # fmt: skip
@click.option("--junit", type=click.Path(path_type=Path, dir_okay=False), help="Also write JUnit XML here.")
@options.as_json
def command(
    target: str,
    reference: str,
    model: str,
    library: str | None,
    only: tuple[str, ...],
    seed: int,
    call_seconds: float,
    check_seconds: float,
    memory_megabytes: int,
    junit: Path | None,
    as_json: bool,
) -> None:
    """Judge TARGET: its ids, pieces, round trips, batches, threads, bad input, growth; 25 checks.

    TARGET is `module:object` (anything with encode and decode, imported from here or PYTHONPATH), a Python file, an
    implementation (see `list`), a model file with --library, or `cmd:COMMAND`, a program in any language that speaks
    the line protocol. Exit status 0 it conforms, 1 a check failed or nothing could be judged, 2 TARGET cannot be
    loaded.
    """
    from dataclasses import replace

    import msgspec

    from harness.conform.report import conclusion, render
    from harness.conform.run import LIMITS, choose, run

    limits = replace(LIMITS, call_seconds=call_seconds, memory_bytes=memory_megabytes << 20)
    with progress("judging", len(choose(only))) as bar:
        report = run(
            target, reference, model, library=library, only=only, seed=seed, limits=limits,
            check_seconds=check_seconds, done=lambda verdict: bar.advance(1, f"{verdict.check}: {verdict.status}"),
        )  # fmt: skip
    if junit is not None:
        from harness.conform.report import junit as as_junit
        from harness.records import write_atomically

        write_atomically(junit, as_junit(report))
    if as_json:
        options.print_json({"conforms": report.conforms, **msgspec.to_builtins(report)})
        click.echo(conclusion(report), err=True)
    else:
        click.echo(render(report))
    if not report.conforms:
        raise click.exceptions.Exit(1)


def _list(wanted: bool) -> None:
    if not wanted:
        return
    from harness.conform.checks.catalogue import CHECKS

    click.echo(options.table([[check.name, check.question] for check in CHECKS], ["check", "question"]))
    raise click.exceptions.Exit(0)
