"""`bpebench trace`: every merge step of one implementation on a text."""

from __future__ import annotations

import click

from harness.commands import options


@click.command("trace")
@click.argument("implementation")
@click.argument("text", required=False)
@options.one_model
@click.option("--escaped", is_flag=True, help=r"TEXT is written with backslash escapes (\n, \u00e9, \U0001f600).")
@options.as_json
def command(implementation: str, text: str | None, model: str, escaped: bool, as_json: bool) -> None:
    """Show each merge step of IMPLEMENTATION on TEXT: piece, symbols, pair, rank, result.

    TEXT is the text, @FILE, or `-` or nothing for standard input; special tokens in it are read as text. The steps are
    replayed by the rule the implementation follows and compared with its ids: exit status 1 where they do not give
    these ids, and the output says so.
    """
    import msgspec

    from harness.data import load_model
    from harness.explain import trace
    from harness.report.explanation import render_trace

    content = options.read_sample(text, escaped)
    loaded = load_model(model)
    with options.answering(implementation):
        found = trace(implementation, loaded, content, model)
    if as_json:
        options.print_json(msgspec.to_builtins(found))
    else:
        click.echo(render_trace(found))
    if not found.reproduces:
        raise click.exceptions.Exit(1)
