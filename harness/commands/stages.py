"""`bpebench stages`: an implementation's time by stage."""

from __future__ import annotations

import click

import impls
from harness.commands import options


@click.command("stages")
@options.implementations
@options.one_model
@click.option("-c", "--corpus", default="english", show_default=True, **options.corpus_name, help="Corpus.")
@click.option("--max-bytes", type=click.IntRange(min=1), default=50_000, show_default=True)
@options.as_json
def command(
    implementation: str | None, exclude: str | None, model: str, corpus: str, max_bytes: int, as_json: bool
) -> None:
    """Show the shares of splitting, merging and output in the time of implementations that expose them."""
    from harness.data import load_model
    from harness.measure.stages import stage_shares

    loaded = load_model(model)
    text = "\n".join(options.load_corpus(corpus, max_bytes=max_bytes).documents())
    found: dict[str, dict[str, float]] = {}
    for name in options.choose_implementations(implementation, exclude):
        try:
            found[name] = stage_shares(impls.load(name, loaded), text)
        except (impls.Unsupported, impls.Missing) as error:
            options.say(f"{error}", err=True)
    n_bytes = len(text.encode("utf-8", "surrogatepass"))
    if as_json:
        timed = [{"implementation": name, "seconds": stages} for name, stages in found.items()]
        options.print_json({"model": model, "corpus": corpus, "n_bytes": n_bytes, "implementations": timed})
        return
    rows = []
    for name, stages in found.items():
        total = sum(stages.values()) or 1.0
        shares = ", ".join(f"{stage} {seconds / total:.0%}" for stage, seconds in stages.items())
        rows.append([name, f"{n_bytes / total / 1e6:.2f}", shares])
    click.echo(options.table(rows, ["implementation", "MB/s", "shares"]))
