"""`bpebench decode`: token ids to text."""

from __future__ import annotations

import re
import sys

import click

import impls
from harness.commands import options
from harness.commands.verb import Verb, argument, flag

_BETWEEN = str.maketrans(",[]", "   ")
_MOST_DIGITS = 40
_TWO_COMMAS = re.compile(r",\s*,")


class Decode(Verb):
    """Print the text of IDS (numbers separated by spaces or commas; default: from standard input).

    Bytes that are not UTF-8 are shown as U+FFFD.
    """

    ids: tuple[str, ...] = argument(nargs=-1)
    model: str = options.model
    implementation: str = options.implementation_option(f"Who decodes: {options.TARGETS}.", default="priority")
    raw: bool = flag("Write the bytes as they are, without a newline.")

    def run(self) -> None:
        """Print the text, or write the bytes."""
        from harness.data import load_model
        from harness.targets import load_tokenizer

        options.ensure(not (self.raw and self.as_json), "--raw writes bytes, --json a document; choose one")
        words = options.read_text(" ".join(self.ids) if self.ids else None)
        ids = _numbers(words)
        model = load_model(self.model)
        with options.answering(self.implementation):
            tokenizer = load_tokenizer(self.implementation, model)
            try:
                if self.raw:
                    content = tokenizer.decode_bytes(ids)
                else:
                    text, offsets = tokenizer.decode_with_offsets(ids)
            except impls.UnknownId as error:
                raise options.with_range(error, self.model, model) from None
        if self.raw:
            sys.stdout.buffer.write(content)
        else:
            self.output({"model": self.model, "text": text, "offsets": offsets}, lambda: text)


def _numbers(text: str) -> list[int]:
    """Return the ids of a text, separated by spaces or a comma, in brackets or not; raise naming what is no id."""
    if found := _TWO_COMMAS.search(text):
        raise click.UsageError(f"{found[0]!r}: there is no token id between the commas; give whole numbers")
    words = text.translate(_BETWEEN).split()
    for word in words:
        is_number = word.isascii() and word.isdigit() and len(word) <= _MOST_DIGITS
        options.ensure(is_number, f"{word[:_MOST_DIGITS]!r} is not a token id; give whole numbers")
    return list(map(int, words))


command = Decode.command(context_settings={"ignore_unknown_options": True})
