"""`bpebench encode`: text to token ids."""

from __future__ import annotations

from pathlib import Path

import click

import impls
from harness.commands import options


@click.command("encode")
@click.argument("text", required=False)
@click.option("--file", type=click.Path(path_type=Path, exists=True, dir_okay=False), help="Read the text from here.")
@options.one_model
@options.one_implementation("priority", "encodes")
@click.option("--pieces", is_flag=True, help="Show each token's id and bytes, one per line.")
@click.option("--allow-special", is_flag=True, help="Encode special tokens found in the text as their id.")
@click.option("--special-as-text", is_flag=True, help="Encode special tokens found in the text as ordinary text.")
@options.as_json
def command(
    text: str | None,
    file: Path | None,
    model: str,
    implementation: str,
    pieces: bool,
    allow_special: bool,
    special_as_text: bool,
    as_json: bool,
) -> None:
    """Print the token ids of TEXT (`-` or nothing: standard input), separated by spaces.

    Special tokens in the text are refused unless one of the two options says what to do with them.
    """
    from harness.data import load_model

    if text is not None and file is not None:
        raise click.UsageError("give TEXT or --file, not both")
    content = options.read_text(text, file)
    found = load_model(model)
    with options.answering(implementation):
        tokenizer = impls.load(implementation, found)
        ids = tokenizer.encode(
            content,
            allowed_special="all" if allow_special else (),
            disallowed_special=() if special_as_text else "all",
        )
        options.check_ids(implementation, ids)
    if as_json:
        tokens = [tokenizer.decode_bytes([i]).decode("utf-8", "backslashreplace") for i in ids]
        options.print_json({"model": model, "implementation": implementation, "ids": ids, "tokens": tokens})
    elif pieces:
        rows = [[i, tokenizer.decode_bytes([i]).decode("utf-8", "backslashreplace").__repr__()] for i in ids]
        click.echo(options.table(rows, ["id", "token"]))
    else:
        click.echo(" ".join(map(str, ids)))
