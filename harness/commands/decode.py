"""`bpebench decode`: token ids to text."""

from __future__ import annotations

import sys

import click

import impls
from harness.commands import options


@click.command("decode", context_settings={"ignore_unknown_options": True})
@click.argument("ids", nargs=-1)
@options.one_model
@options.one_implementation("priority", "decodes")
@click.option("--raw", is_flag=True, help="Write the bytes as they are, without a newline.")
@options.as_json
def command(ids: tuple[str, ...], model: str, implementation: str, raw: bool, as_json: bool) -> None:
    """Print the text of IDS (numbers separated by spaces or commas; default: from standard input).

    Bytes that are not UTF-8 are shown as U+FFFD.
    """
    from harness.data import load_model

    if raw and as_json:
        raise click.UsageError("--raw writes bytes, --json a document; choose one")
    words = options.read_text(" ".join(ids) if ids else None)
    numbers: list[int] = []
    for word in words.replace(",", " ").replace("[", " ").replace("]", " ").split():
        try:
            numbers.append(int(word))
        except ValueError:
            raise click.UsageError(f"{word!r} is not a token id; give whole numbers") from None
    found = load_model(model)
    with options.answering(implementation):
        tokenizer = impls.load(implementation, found)
        if raw:
            content = tokenizer.decode_bytes(numbers)
        else:
            text, offsets = tokenizer.decode_with_offsets(numbers)
    if raw:
        sys.stdout.buffer.write(content)
        return
    if as_json:
        options.print_json({"model": model, "text": text, "offsets": offsets})
    else:
        click.echo(text)
