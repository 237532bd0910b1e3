"""`bpebench convert`: write a vocabulary in another format."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from harness.commands import options

if TYPE_CHECKING:
    from impls.core.model.model import Model

_ALL = "all"


@click.command("convert")
@click.argument("source")
@click.argument("target", type=click.Path(path_type=Path))
@click.option(
    "--to",
    "format",
    required=True,
    metavar="FORMAT",
    help="A name of `bpebench list formats`, or all: TARGET is a folder.",
)
@click.option("--pattern", metavar="NAME", help="For a rank file, which has none: a name of `bpebench list patterns`.")
@click.option("--strict", is_flag=True, help="Refuse, with status 1, when anything would be lost.")
@options.as_json
def command(source: str, target: Path, format: str, pattern: str | None, strict: bool, as_json: bool) -> None:
    """Write SOURCE (a name or a file) to TARGET, listing on standard error what the format cannot represent.

    `--to all` writes it into the folder TARGET in every format that can hold it, and says why the others cannot.
    """
    from harness.data import load_model
    from impls.formats import file_name, formats, losses, save

    if format not in (*formats(), _ALL):
        raise click.UsageError(f"unknown format {format!r}; known: {', '.join([*formats(), _ALL])}")
    model = load_model(source) if pattern is None else _with_pattern(source, pattern)
    if format == _ALL:
        for name in formats():
            options.check_target(target / file_name(name), [source])
        rows = [_converted(model, target, name, strict=strict) for name in formats()]
        if as_json:
            options.print_json({"source": source, "target": str(target), "formats": rows})
        else:
            _print_all(rows)
        if strict and any(row["lost"] or row["refused"] for row in rows):
            raise click.exceptions.Exit(1)
        return
    options.check_target(target, [source])
    lost = losses(model, format)
    for line in lost:
        options.say(f"lost: {line}", err=True)
    if lost and strict:
        raise click.exceptions.Exit(1)
    save(model, target, format)
    if as_json:
        options.print_json({"source": source, "target": str(target), "format": format, "lost": lost})
    else:
        options.say(f"{target}: {format}, {model.n_tokens} tokens" + ("" if not lost else f", {len(lost)} loss(es)"))


def _with_pattern(source: str, pattern: str) -> Model:
    from impls.formats import load

    if not Path(source).is_file():
        raise click.UsageError(f"--pattern goes with a rank file; {source} is no file")
    return load(Path(source), pattern=pattern)


def _converted(model: Model, folder: Path, format: str, *, strict: bool) -> dict[str, Any]:
    """Convert to one format; return the result as a row."""
    from impls.core.errors import Unsupported
    from impls.formats import file_name, losses, save

    target = folder / file_name(format)
    row: dict[str, Any] = {"format": format, "file": None, "lost": [], "refused": None}
    try:
        row["lost"] = losses(model, format)
        if not (strict and row["lost"]):
            save(model, target, format)
            row["file"] = str(target)
    except Unsupported as error:
        row["refused"] = error.reason
    return row


def _print_all(rows: list[dict[str, Any]]) -> None:
    for row in rows:
        for line in row["lost"]:
            options.say(f"lost in {row['format']}: {line}", err=True)
    for row in rows:
        if row["file"] is None:
            options.say(f"{row['format']}: not written: {row['refused'] or 'something would be lost'}")
        else:
            options.say(f"{row['file']}: {row['format']}" + (f", {len(row['lost'])} loss(es)" if row["lost"] else ""))
