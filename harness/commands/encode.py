"""`bpebench encode`: text to token ids."""

from __future__ import annotations

import click

from harness.commands import inputs, options
from harness.commands.verb import Verb, argument, flag
from harness.printable import readable, token_shown


class Encode(Verb):
    """Print the token ids of TEXT (@FILE; `-` or nothing: standard input), separated by spaces.

    Special tokens in the text are refused unless one of the two options says what to do with them.
    """

    text: str | None = argument(required=False)
    model: str = options.model
    implementation: str = options.one_implementation(f"Implementation that encodes: {options.TARGETS}.", "priority")
    pieces: bool = flag("Show each token's id and bytes, one per line.")
    allow_special: bool = flag("Encode special tokens found in the text as their id.")
    special_as_text: bool = flag("Encode special tokens found in the text as ordinary text.")

    def run(self) -> None:
        """Print the ids, or each with its token."""
        from harness.data import load_model
        from harness.targets import load_tokenizer

        both = self.allow_special and self.special_as_text
        options.ensure(not both, "--allow-special and --special-as-text cannot be combined; choose one")
        content = inputs.read_text(self.text)
        with options.answering(self.implementation):
            tokenizer = load_tokenizer(self.implementation, load_model(self.model))
            allowed, disallowed = "all" if self.allow_special else (), () if self.special_as_text else "all"
            ids = tokenizer.encode(content, allowed_special=allowed, disallowed_special=disallowed)
            options.check_ids(self.implementation, ids)
            shown = ids if self.as_json or self.pieces else []
            tokens = [tokenizer.decode_bytes([i]) for i in shown]
        if not (self.as_json or self.pieces):
            click.echo(" ".join(map(str, ids)))
            return
        rows = list(zip(ids, map(token_shown, tokens), strict=True))
        about = {"model": self.model, "implementation": self.implementation}
        document = about | {"ids": ids, "tokens": list(map(readable, tokens))}
        self.output(document, lambda: options.table(rows, ["id", "token"]))
