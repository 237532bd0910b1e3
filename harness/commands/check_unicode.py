"""`bpebench check --unicode`: every code point through every splitting engine."""

from __future__ import annotations

from collections.abc import Sequence

import click

import impls
from harness.commands import options
from harness.progress import progress


def check_unicode(include: str | None, exclude: str | None, models: Sequence[str], as_json: bool) -> None:
    """Sweep all code points under the pattern of each model, print the differences, exit with 1 on a fault."""
    import msgspec

    from harness.data import load_model
    from harness.process.pool import run_tasks
    from harness.report.unicode_text import render_sweep
    from harness.unicode.sweep import ENGINES, REGEX, sweep, sweep_engine

    engines = options.choose([REGEX, *impls.names()], ENGINES, include, exclude, "engine")
    patterns = {name: load_model(name).pattern for name in models}
    swept = []
    with progress("sweeping", len(engines) * len(patterns)) as bar:
        for name, pattern in patterns.items():
            swept.append(
                sweep(
                    engines,
                    pattern,
                    name,
                    lambda tasks: run_tasks(sweep_engine, tasks, lambda k: bar.advance(1, engines[k])),
                )
            )
    if as_json:
        options.print_json(msgspec.to_builtins(swept))
    else:
        click.echo("\n\n".join(map(render_sweep, swept)))
    if any(one.is_fault for one in swept):
        raise click.exceptions.Exit(1)
