"""`bpebench check --trainers`; `harness.commands.check` parses it."""

from __future__ import annotations

from pathlib import Path

import click

from harness.commands import options
from harness.progress import progress

DEFAULT_VOCAB_SIZE = 512
_DEFAULT_BYTES = 20_000
"""Large enough that rules diverge, small enough for trainers that recount the corpus before each merge."""
_N_BYTES_VALUES = 256


def choose_trainers(include: str | None, exclude: str | None) -> list[str]:
    """Return the trainers compared by default, or those -e matches; third-party plug-ins only when matched."""
    import impls
    from harness.check.trainer_rules import DEFAULT_TRAINERS, MINBPE, MINBPE_TRAINER

    known = [MINBPE if name == MINBPE_TRAINER else name for name in impls.names()]
    return options.choose(known, DEFAULT_TRAINERS, include, exclude, "trainer")


def check_trainers(
    trainers: list[str],
    corpora: tuple[str, ...],
    vocab_size: int | None,
    max_bytes: int | None,
    out: Path | None,
    *,
    resume: bool,
    as_json: bool,
) -> None:
    """Compare `trainers` pair by pair and print the matrix; exit with 1 on a fault."""
    from harness.check.trainer_tasks import training_and_counted_texts
    from harness.check.trainers import TrainerPlan
    from harness.check.trainers import check_trainers as compare
    from harness.measure.recording import digests, recording
    from harness.report.tables import render_trainers

    size = DEFAULT_VOCAB_SIZE if vocab_size is None else vocab_size
    if size <= _N_BYTES_VALUES:
        raise click.UsageError(f"--vocab-size {size}: must be more than the {_N_BYTES_VALUES} bytes it starts from")
    plan = TrainerPlan(trainers, corpora, max_merges=size - _N_BYTES_VALUES, max_bytes=max_bytes or _DEFAULT_BYTES)
    for corpus in plan.corpora:
        if not any(training_and_counted_texts(corpus, plan.max_bytes)[0]):
            raise click.UsageError(f"nothing to train on in {corpus}")
    with recording(out, trainers, options.command_line(), resume=resume) as kept:
        with progress("training", len(plan.cells)) as bar:
            result = compare(plan, lambda what: bar.advance(1, what))
        kept.write(*result.verdicts, *result.agreements, *result.not_compared)
        if out is not None:
            kept.facts["digests"] = digests((), plan.corpora)
    options.show_checked(result, render_trainers, json=as_json)
