"""`bpebench weigh`: the tokens of texts under several vocabularies, and their cost."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from harness.commands import options
from harness.commands.verb import Verb

if TYPE_CHECKING:
    from harness.data.overlap import Overlap
    from harness.records import Compression


class Weigh(Verb):
    """Show tokens, bytes and characters per token, tokens per word and cost of each corpus under each vocabulary.

    For a corpus that holds a model's training text, use `--split held-out`; a warning says how many of the documents a
    model trained here was trained on.
    """

    models: tuple[str, ...] = options.models
    corpora: tuple[str, ...] = options.corpora
    split: str | None = options.split
    price: float = options.price_option(2.5)
    out: Path | None = options.out
    resume: bool = options.resume
    max_bytes: int | None = options.max_bytes

    def run(self) -> None:
        """Count, record and print the tokens."""
        import msgspec

        from harness.records import RecordWriter
        from harness.report.round_trips import note

        options.ensure(self.models, "name at least one vocabulary with -m")
        writer = None if self.out is None else RecordWriter(self.out, resume=self.resume)
        weighed = self._weighed()
        if writer is not None:
            with writer:
                writer.write(*(record for record, _ in weighed))
        if self.as_json:
            rows = [
                msgspec.to_builtins(record)
                | {"cost": self._cost(record)}
                | {"training_overlap": None if overlap is None else overlap._asdict() | {"share": overlap.share}}
                for record, overlap in weighed
            ]
            options.print_json({"price_per_million_tokens": self.price, "rows": rows})
            return
        headers = ["corpus", "model", "vocab", "bytes", "tokens", "bytes/token", "chars/token", "tokens/word", "cost"]
        click.echo(options.table([self._row(record) for record, _ in weighed], headers))
        said = note({record.model: record.round_trip for record, _ in weighed})
        click.echo()
        options.say(f"cost of all of it at {self.price:g} per million tokens. {said}")

    def _weighed(self) -> list[tuple[Compression, Overlap | None]]:
        """Count each corpus under each model; warn of one the model was trained on."""
        from harness.data import load_model
        from harness.data.overlap import training_overlap
        from harness.measure.compression import compression, counter

        names = dict.fromkeys(self.corpora or ("samples",))
        texts = [options.load_corpus(name, split=self.split, max_bytes=self.max_bytes) for name in names]
        weighed = []
        for model in self.models:
            tokenizer = counter(load_model(model))
            for corpus in texts:
                label = corpus.name if self.split is None else f"{corpus.name}/{self.split}"
                record = compression(tokenizer, corpus.documents(), model=model, corpus=label)
                overlap = training_overlap(tokenizer.model, corpus.documents())
                weighed.append((record, overlap))
                if overlap is not None and overlap.n_trained_on:
                    options.say(
                        f"warning: {model} was trained on {overlap.share:.1%} of {label} ({overlap.n_trained_on} of "
                        f"the {overlap.n_documents} documents looked up), so its figures there are too good; use "
                        "--split held-out, or another text",
                        err=True,
                    )
        return weighed

    def _row(self, record: Compression) -> list[str]:
        from harness.measure.compression import bytes_per_token, characters_per_token, tokens_per_word
        from harness.report.round_trips import named

        counts = (record.vocab_size, record.n_bytes, record.n_tokens)
        rates = (bytes_per_token(record), characters_per_token(record), tokens_per_word(record))
        return [
            record.corpus,
            named(record.model, record.round_trip),
            *(f"{count:,}" for count in counts),
            *("—" if rate is None else f"{rate:.3f}" for rate in rates),
            f"{self._cost(record):.6f}",
        ]

    def _cost(self, record: Compression) -> float:
        return record.n_tokens * self.price / 1e6


command = Weigh.command()
