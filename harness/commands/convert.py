"""`bpebench convert`: write a vocabulary in another format."""

from __future__ import annotations

from pathlib import Path

import click

from harness.commands import options


@click.command("convert")
@click.argument("source")
@click.argument("target", type=click.Path(path_type=Path))
@click.option("--to", "format", required=True, metavar="FORMAT", help="A name of `bpebench list formats`.")
@click.option("--strict", is_flag=True, help="Refuse, with status 1, when anything would be lost.")
@options.as_json
def command(source: str, target: Path, format: str, strict: bool, as_json: bool) -> None:
    """Write SOURCE (a name or a file) to TARGET, listing on standard error what the format cannot hold."""
    from harness.data import load_model
    from impls.formats import formats, losses, save

    if format not in formats():
        raise click.UsageError(f"unknown format {format!r}; known: {', '.join(formats())}")
    model = load_model(source)
    lost = losses(model, format)
    for line in lost:
        click.echo(f"lost: {line}", err=True)
    if lost and strict:
        raise click.exceptions.Exit(1)
    save(model, target, format)
    if as_json:
        options.print_json({"source": source, "target": str(target), "format": format, "lost": lost})
    else:
        click.echo(f"{target}: {format}, {model.n_tokens} tokens" + ("" if not lost else f", {len(lost)} loss(es)"))
