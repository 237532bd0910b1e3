"""`bpebench decode`: token ids to text."""

from __future__ import annotations

import re
from typing import ClassVar

import click

import impls
from harness.commands import inputs, options
from harness.commands.verb import Verb, argument, flag
from impls.operations.canonical import Drift

_BETWEEN = str.maketrans(",[]", "   ")
_MOST_DIGITS = 40
_SHOWN = 4


class Decode(Verb):
    """Print the text of IDS (numbers separated by spaces or commas; default: from standard input).

    Bytes that are not UTF-8 are shown as U+FFFD. With --canonical, print whether `encode` gives these ids for
    their text, and if not, where they drift; exit status 1 if they do.
    """

    context_settings: ClassVar = {"ignore_unknown_options": True}
    ids: tuple[str, ...] = argument(nargs=-1)
    model: str = options.model
    implementation: str = options.one_implementation(f"Implementation that decodes: {options.TARGETS}.", "priority")
    canonical: bool = flag("Print whether encoding the text gives the same ids.")

    def run(self) -> bool:
        """Print the text, or say whether the ids are canonical; return whether they are not."""
        from harness.data import load_model
        from harness.targets import load_tokenizer

        ids = _numbers(inputs.read_text(" ".join(self.ids) if self.ids else None))
        model = load_model(self.model)
        with options.answering(self.implementation):
            tokenizer = load_tokenizer(self.implementation, model)
            try:
                drift = tokenizer.first_drift(ids) if self.canonical else None
                text, offsets = tokenizer.decode_with_offsets(ids)
            except impls.UnknownId as error:
                raise options.with_range(error, self.model, model) from None
        if self.canonical:
            place = None if drift is None else {"position": drift.position, "ids": drift.ids}
            document = {"model": self.model, "text": text, "canonical": drift is None, "drift": place}
            self.output(document, lambda: "canonical" if drift is None else _described(drift, ids, tokenizer))
        else:
            self.output({"model": self.model, "text": text, "offsets": offsets}, lambda: text)
        return drift is not None


def _described(drift: Drift, ids: list[int], tokenizer: impls.Tokenizer) -> str:
    """Say on one line where ids drift, with the next few ids and tokens of both sides."""

    def shown(some: list[int]) -> str:
        tokens = ", ".join(f"{i} {tokenizer.decode([i])!a}" for i in some[:_SHOWN])
        return (tokens or "nothing") + (", …" if len(some) > _SHOWN else "")

    ids_there = shown(ids[drift.position :])
    return f"not canonical: from position {drift.position} on {ids_there}; encode gives {shown(drift.ids)}"


def _numbers(text: str) -> list[int]:
    """Return the ids of a text, separated by spaces or a comma, in brackets or not; raise naming what is not an id."""
    if match := re.search(r",\s*,", text):
        raise click.UsageError(f"{match[0]!r}: there is no token id between the commas; give whole numbers")
    words = text.translate(_BETWEEN).split()
    for word in words:
        is_number = word.isascii() and word.isdigit() and len(word) <= _MOST_DIGITS
        options.ensure(is_number, f"{word[:_MOST_DIGITS]!r} is not a token id; give whole numbers")
    return list(map(int, words))
