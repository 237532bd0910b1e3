"""`bpebench weigh`: the tokens of texts under several vocabularies, and their cost."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

import impls
from harness.commands import options

if TYPE_CHECKING:
    from harness.data.overlap import Overlap
    from harness.records import Compression

_COUNTERS = ("tiktoken", "priority")
"""Implementations that count, the first that can run the model; their ids are the same."""


@click.command("weigh")
@options.models
@options.corpora
@click.option("--split", type=click.Choice(["train", "held-out"]), help="Only this part of each corpus.")
@options.price(2.5)
@click.option("--out", type=click.Path(path_type=Path, file_okay=False), help="Also write the records here.")
@click.option("--resume", is_flag=True, help="Add to a folder that already holds records.")
@options.max_bytes
@options.as_json
def command(
    models: tuple[str, ...],
    corpora: tuple[str, ...],
    split: str | None,
    price: float,
    out: Path | None,
    resume: bool,
    max_bytes: int | None,
    as_json: bool,
) -> None:
    """Show tokens, bytes and characters per token, tokens per word and cost of each corpus under each vocabulary.

    For a corpus that holds a model's training text, use `--split held-out`; a warning says how many of the documents a
    model trained here was trained on.
    """
    import msgspec

    from harness.data import load_model
    from harness.data.overlap import training_overlap
    from harness.measure.compression import bytes_per_token, characters_per_token, compression, tokens_per_word
    from harness.records import RecordWriter
    from harness.report.round_trips import named, note

    if not models:
        raise click.UsageError("name at least one vocabulary with -m")
    names = dict.fromkeys(corpora or ("samples",))
    texts = [options.load_corpus(name, split=split, max_bytes=max_bytes) for name in names]
    writer = None if out is None else RecordWriter(out, resume=resume)
    records: list[Compression] = []
    overlaps: list[Overlap | None] = []
    for model in models:
        tokenizer = _counter(load_model(model))
        for corpus in texts:
            label = corpus.name if split is None else f"{corpus.name}/{split}"
            records.append(compression(tokenizer, corpus.documents(), model=model, corpus=label))
            overlaps.append(training_overlap(tokenizer.model, corpus.documents()))
            _warn_of_overlap(model, label, overlaps[-1])
    if writer is not None:
        with writer:
            writer.write(*records)
    if as_json:
        named_rows = [
            msgspec.to_builtins(record)
            | {"cost": _cost(record.n_tokens, price)}
            | {"training_overlap": None if overlap is None else overlap._asdict() | {"share": overlap.share}}
            for record, overlap in zip(records, overlaps, strict=True)
        ]
        options.print_json({"price_per_million_tokens": price, "rows": named_rows})
        return
    rows = [
        [
            r.corpus, named(r.model, r.round_trip),
            f"{r.vocab_size:,}", f"{r.n_bytes:,}", f"{r.n_tokens:,}", _figure(bytes_per_token(r)),
            _figure(characters_per_token(r)), _figure(tokens_per_word(r)), f"{_cost(r.n_tokens, price):.6f}",
        ]
        for r in records
    ]  # fmt: skip
    headers = ["corpus", "model", "vocab", "bytes", "tokens", "bytes/token", "chars/token", "tokens/word", "cost"]
    click.echo(options.table(rows, headers))
    said = note({r.model: r.round_trip for r in records})
    click.echo()
    options.say(f"cost of all of it at {price:g} per million tokens. {said}")


def _warn_of_overlap(model: str, corpus: str, overlap: Overlap | None) -> None:
    if overlap is not None and overlap.n_trained_on:
        options.say(
            f"warning: {model} was trained on {overlap.share:.1%} of {corpus} ({overlap.n_trained_on} of the "
            f"{overlap.n_documents} documents looked up), so its figures there are too good; use --split held-out, or "
            "another text",
            err=True,
        )


def _cost(n_tokens: int, price: float) -> float:
    return n_tokens * price / 1e6


def _counter(model: impls.Model) -> impls.Tokenizer:
    if model.belongs_to is not None:
        return impls.load(model.belongs_to, model)
    for name in _COUNTERS[:-1]:
        try:
            return impls.load(name, model)
        except (impls.Unsupported, impls.Missing):
            continue
    return impls.load(_COUNTERS[-1], model)


def _figure(value: float | None) -> str:
    return "—" if value is None else f"{value:.3f}"
