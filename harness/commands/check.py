"""`bpebench check`: round trip and agreement of every pair of implementations."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from harness.commands import options
from harness.commands.check_trainers import check_trainers, choose_trainers
from harness.commands.check_unicode import check_unicode
from harness.progress import progress
from harness.targets import DEFAULT_MODEL

if TYPE_CHECKING:
    from harness.check.agreement import CheckPlan

_DEFAULT_BYTES = 200_000
_FAST_FACTOR = 20
"""Libraries and peers get this many times more text than pure implementations, without --max-bytes."""


@click.command("check")
@options.implementations
@options.models
@options.corpora
@click.option(
    "--trainers", is_flag=True, help="Compare what trainers learn instead: merges, tokens, first differences."
)
@click.option("--vocab-size", type=int, metavar="N", help="With --trainers: 256 bytes and the merges.  [default: 512]")
@click.option("--split", type=click.Choice(["train", "held-out"]), help="Only this part of each corpus.")
@options.max_bytes
@click.option("--out", type=click.Path(path_type=Path, file_okay=False), help="Also write the records here.")
@click.option("--resume", is_flag=True, help="Add to a folder that already holds records.")
@click.option("--unicode", "every_code_point", is_flag=True, help="Compare the engines on every code point instead.")
@options.as_json
def command(
    implementation: str | None,
    exclude: str | None,
    models: tuple[str, ...],
    corpora: tuple[str, ...],
    trainers: bool,
    vocab_size: int | None,
    split: str | None,
    max_bytes: int | None,
    out: Path | None,
    resume: bool,
    every_code_point: bool,
    as_json: bool,
) -> None:
    """Encode, decode and compare: does every text round-trip, do all pairs give the same ids?

    Exit status 1 when a text does not round-trip, when two implementations differ that must agree, and when nothing
    could be compared. Those that do not run a model are named and not compared on it. Without -m the cached
    vocabularies are checked, without -c the samples.

    With --trainers every pair of trainers learns from the same text, by a tie rule both follow, else each by its own;
    exit status 1 when two differ under one rule, differ where no tie explains it, or none could be compared.

    With --unicode the splitting engines (the package regex, tiktoken, tokenizers, compiled, or those -e matches) are
    given every code point between letters, digits, spaces and contractions, under the pattern of each -m (default:
    o200k_base). Exit status 1 when two classify a character differently that is not newer than one of them, when one
    loses a character, and when fewer than two of several answer.
    """
    if every_code_point and trainers:
        raise click.UsageError("--unicode and --trainers are two checks; choose one")
    if vocab_size is not None and not trainers:
        raise click.UsageError("--vocab-size goes with --trainers")
    if every_code_point:
        check_unicode(implementation, exclude, models or (DEFAULT_MODEL,), as_json)
        return
    if trainers:
        if models or split:
            raise click.UsageError(
                "--trainers splits each corpus itself and makes its models: leave out -m and --split"
            )
        check_trainers(
            choose_trainers(implementation, exclude), corpora or ("samples",), vocab_size, max_bytes, out,
            resume=resume, as_json=as_json,
        )  # fmt: skip
        return
    from harness.check.agreement import CheckPlan

    plan = CheckPlan(
        implementations=options.choose_compared(implementation, exclude),
        models=models or default_models(),
        corpora=corpora or ("samples",),
        split=split,
        max_bytes=max_bytes or _DEFAULT_BYTES,
        fast_factor=_FAST_FACTOR if max_bytes is None else 1,
    )
    check_ids(plan, out, resume=resume, as_json=as_json)


def check_ids(plan: CheckPlan, out: Path | None, *, resume: bool, as_json: bool) -> None:
    """Run `plan` and print the result; exit with 1 on a fault."""
    from harness.check.agreement import check
    from harness.data import load_corpus, load_model
    from harness.measure.recording import digests, recording
    from harness.report.tables import render_check

    for model in plan.models:
        load_model(model)
    for corpus in plan.corpora:
        if not any(load_corpus(corpus, split=plan.split).documents()):
            raise click.UsageError(f"{corpus}: holds no text; there is nothing to check")
    with recording(out, plan.implementations, options.command_line(), resume=resume) as kept:
        with progress("checking", len(plan.cells)) as bar:
            result = check(plan, lambda what: bar.advance(1, what))
        kept.write(*result.verdicts, *result.agreements, *result.not_compared)
        if out is not None:
            kept.facts["digests"] = digests(plan.models, plan.corpora, plan.split)
    options.show_checked(result, render_check, json=as_json)


def default_models() -> tuple[str, ...]:
    """Return the cached published vocabularies; where there is none, train one on the samples."""
    from harness.data import available_models, model_names, trained_model_names
    from harness.recipes import SAMPLES, train_recipe

    published = set(model_names()) - set(trained_model_names())
    at_hand = tuple(name for name in available_models() if name in published)
    if at_hand:
        return at_hand
    if SAMPLES.name not in trained_model_names():
        click.echo(f"no vocabulary is fetched yet; training {SAMPLES.name} on the samples", err=True)
        train_recipe(SAMPLES)
    return (SAMPLES.name,)
