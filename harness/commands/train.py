"""`bpebench train`: learn a vocabulary from a corpus."""

from __future__ import annotations

import time
from pathlib import Path

import click

import impls
from harness.commands import options
from harness.progress import progress
from impls.core.text.patterns import NAMED


@click.command("train")
@click.option(
    "-c", "--corpus", "corpora", multiple=True, default=("turkish",), show_default=True, **options.corpus_name,
    help="Corpus, file or glob; repeatable. The held-out part of a named corpus is never trained on.",
)  # fmt: skip
@click.option("--vocab-size", type=int, default=10_000, show_default=True, help="Base + merges + specials.")
@options.one_implementation("compiled", "trains")
@click.option("--name", metavar="NAME", help="Save it under this name for the other verbs (-m NAME).")
@click.option("--out", type=click.Path(path_type=Path, dir_okay=False), help="Write the model file here.")
@click.option("--pattern", default="gpt2", show_default=True, help=f"{', '.join(NAMED)}, or a regular expression.")
@click.option("--alphabet", type=click.Choice(["bytes", "chars"]), default="bytes", show_default=True)
@click.option(
    "--ties", type=click.Choice(["smallest", "first", "largest", "shortest"]), default="smallest", show_default=True,
    help="Which of equally frequent pairs is merged.",
)  # fmt: skip
@click.option("--base-order", type=click.Choice(["raw", "gpt2"]), default="raw", show_default=True)
@click.option("--min-count", type=int, default=1, show_default=True, help="A merge needs at least this count.")
@click.option("--max-merges", type=int, help="Limit on the number of merges.")
@click.option("--max-token-bytes", type=int, help="No token longer than this.")
@click.option("--max-token-characters", type=int, help="Likewise in characters (alphabet chars).")
@click.option("--special", "specials", multiple=True, metavar="TEXT", help="Special token; repeatable.")
@click.option("--special-ids", type=click.Choice(["last", "first"]), default="last", show_default=True)
@click.option("--end-of-word", metavar="TEXT", help="e.g. </w>, as subword-nmt (alphabet chars).")
@click.option("--unknown", metavar="TEXT", help="e.g. <unk>, for characters outside the alphabet.")
@click.option("--show", type=click.IntRange(min=0), default=0, metavar="N", help="The first N learned tokens.")
@options.max_bytes
@options.as_json
def command(
    corpora: tuple[str, ...],
    vocab_size: int,
    implementation: str,
    name: str | None,
    out: Path | None,
    specials: tuple[str, ...],
    show: int,
    max_bytes: int | None,
    as_json: bool,
    **fields: object,
) -> None:
    """Learn a vocabulary and, with --name or --out, save it.

    With --show N: the first N tokens learned, how often each pair occurred, and where the counts flatten.
    """
    from harness.data import trained_model_path
    from harness.data.overlap import training_documents
    from harness.plateau import plateau
    from harness.training_end import why_short

    spec = impls.TrainingSpec(vocab_size=vocab_size, special_tokens=specials, **fields)  # type: ignore[arg-type]
    target = out if out is not None else trained_model_path(name) if name is not None else None
    if target is not None:
        options.check_target(target, corpora)
    texts = read_texts(corpora, max_bytes)
    n_bytes = sum(len(text.encode("utf-8", "surrogatepass")) for text in texts)
    with progress(f"training {vocab_size} tokens on {n_bytes / 1e6:.1f} MB with {implementation}"):
        start = time.perf_counter()
        model = impls.get(implementation).train_model(texts, spec)
        seconds = time.perf_counter() - start
    if target is not None:
        model.with_(training_documents=training_documents(texts)).save(target)
    short = why_short(model, spec, texts)
    first = [
        {
            "id": i,
            "token": readable(model, i),
            "count": None if model.merge_counts is None else model.merge_counts[rank],
        }
        for rank, i in enumerate(model.merge_results[:show])
    ]
    flat = plateau(model.merge_counts or ())
    if as_json:
        options.print_json(
            {
                "corpora": list(corpora), "n_bytes": n_bytes, "implementation": implementation, "seconds": seconds,
                "vocab_size": model.vocab_size, "vocab_size_asked_for": vocab_size, "why_short": short,
                "n_merges": len(model.merges), "digest": model.digest,
                "first_tokens": first, "plateau_merge": flat, "saved": None if target is None else str(target),
            }
        )  # fmt: skip
        return
    if first:
        click.echo(options.table([list(row.values()) for row in first], ["id", "token", "count"]))
        click.echo()
    click.echo(f"{len(model.merges)} merges, {model.vocab_size} ids, learned in {seconds:.2f} s from {n_bytes} bytes")
    if short is not None:
        options.say(f"ended {vocab_size - model.vocab_size} ids short of {vocab_size}: {short}")
    if show and flat is not None and model.merge_counts is not None:
        click.echo(
            f"counts flatten after merge {flat}: from there on a merge occurs {model.merge_counts[flat]} times or less"
        )
    if target is None:
        click.echo("not kept; give --name or --out to keep it", err=True)
    else:
        options.say(f"kept as {name}; use it with -m {name}" if out is None else str(target), err=True)


def read_texts(corpora: tuple[str, ...], max_bytes: int | None) -> list[str]:
    """Return the documents to train on: the training part of each named corpus, all of each file."""
    texts: list[str] = []
    for name in dict.fromkeys(corpora):
        corpus = options.load_corpus(name, max_bytes=max_bytes)
        if corpus.has_split:
            corpus = options.load_corpus(name, split="train", max_bytes=max_bytes)
        texts += corpus.documents()
    return texts


def readable(model: impls.Model, i: int) -> str:
    """Return a readable token: quoted, with bytes that are not text escaped."""
    return repr((model.tokens[i] or b"").decode("utf-8", "backslashreplace"))
