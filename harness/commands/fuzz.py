"""`bpebench fuzz`: random texts and models until two implementations differ; minimised, classified and saved."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from harness.commands import options
from harness.progress import progress

if TYPE_CHECKING:
    from harness.check.fuzz.replay import CounterexampleFile
    from harness.check.fuzz.run import FuzzPlan, FuzzResult
    from harness.records import Disagreement

DEFAULT_FILE = Path("results/counterexamples.jsonl")
_DEFAULT_SECONDS = 60.0


@click.command("fuzz")
@click.argument("sides", nargs=-1, metavar="A B...")
@options.models
@click.option("--models", "random_models", is_flag=True, help="Generate models too, instead of using -m.")
@click.option("--expected", is_flag=True, help="With --models: also report where the sides need not agree.")
@click.option("--time", "seconds", type=click.FloatRange(min=0.1), help="Seconds to search.  [default: 60]")
@click.option("--texts", "n_texts", type=click.IntRange(min=1), help="Texts to try; without --time no clock is read.")
@click.option("--seed", type=int, default=0, show_default=True, help="Seed of the texts.")
@click.option("--stop-after", type=click.IntRange(min=1), default=10, show_default=True, help="Kinds of differences.")
@options.corpora
@click.option(
    "--save",
    "file",
    type=click.Path(path_type=Path, dir_okay=False),
    default=DEFAULT_FILE,
    show_default=True,
    help="File of saved differences.",
)
@click.option("--no-save", is_flag=True, help="Save nothing.")
@click.option("--replay", "again", is_flag=True, help="Only ask again what is saved in that file.")
@options.as_json
def command(
    sides: tuple[str, ...],
    models: tuple[str, ...],
    random_models: bool,
    expected: bool,
    seconds: float | None,
    n_texts: int | None,
    seed: int,
    stop_after: int,
    corpora: tuple[str, ...],
    file: Path,
    no_save: bool,
    again: bool,
    as_json: bool,
) -> None:
    """Generate texts until B (C, ...) gives other ids than A; minimise, classify and save what is found.

    A side is an implementation (`bpebench list`), MODULE:OBJECT or a Python file with `encode` and `decode`,
    cmd:COMMAND, a model file, or another release of a package, installed separately: regex@2026.11.15 is our reference
    splitting with that `regex`, tiktoken@VERSION tiktoken. The text of -c is mutated (default: the samples and the
    cached corpora).

    The same --seed and --texts give the same texts and findings, for one release of bpebench and Python and the same
    corpora. Exit status 0: no difference, 1: some, or nothing was compared, 2: bad usage, or a side that
    cannot run the model. With --replay 0 where something was replayed and all of it holds, else 1. Ctrl-C saves and
    prints what was found.
    """
    if again:
        _replay(file, as_json)
        return
    from harness.check.fuzz.replay import CounterexampleFile
    from harness.check.fuzz.run import FuzzPlan
    from harness.check.fuzz.sides import parse_side
    from harness.targets import DEFAULT_MODEL

    if len(sides) < 2:
        raise click.UsageError("name two sides or more, such as: bpebench fuzz tiktoken compiled")
    if random_models and models:
        raise click.UsageError("--models makes models up: leave out -m, or leave out --models")
    if expected and not random_models:
        raise click.UsageError("--expected goes with --models; texts are reported whatever the class")
    plan = FuzzPlan(
        sides=[parse_side(name) for name in sides],
        models=() if random_models else models or (DEFAULT_MODEL,),
        seed=seed,
        seconds=_DEFAULT_SECONDS if seconds is None and n_texts is None else seconds,
        n_texts=n_texts,
        stop_after=stop_after,
        corpora=corpora or None,
        expected=expected,
    )
    counterexamples = None if no_save else CounterexampleFile(file)
    unsaved: list[OSError] = []
    result = _run(plan, counterexamples, unsaved)
    saved = (
        None
        if counterexamples is None
        else {"file": str(file), "new": counterexamples.n_new, "known": counterexamples.n_known}
    )
    if as_json:
        options.print_json(_document(plan, result) | {"saved": saved})
    else:
        click.echo(_summary(plan, result))
        if counterexamples is not None and result.findings and not unsaved:
            click.echo(f"kept in {file}: {counterexamples.n_new} new, {counterexamples.n_known} known before", err=True)
    if unsaved:
        raise unsaved[0]
    if result.interrupted:
        click.echo("bpebench: interrupted", err=True)
    if result.findings or result.interrupted:
        raise click.exceptions.Exit(1 if result.findings else 130)
    if _not_compared(plan, result):
        raise click.exceptions.Exit(1)


def _run(plan: FuzzPlan, counterexamples: CounterexampleFile | None, unsaved: list[OSError]) -> FuzzResult:
    """Search; findings that could not be saved are still reported, and the reasons appended to `unsaved`."""
    from harness.check.fuzz.run import FuzzRun

    began = time.monotonic()
    bounded = plan.n_texts if plan.seconds is None else plan.seconds
    with progress("fuzzing", bounded) as bar:
        done = 0.0

        def found(record: Disagreement) -> None:
            try:
                if counterexamples is not None:
                    counterexamples.add(record)
            except OSError as error:
                unsaved.append(error)
            bar.note(
                f"{record.a} and {record.b} differ after {time.monotonic() - began:.0f} s: "
                f"'{record.counterexample.text.escaped}' ({record.difference})"
            )

        def advance(result: FuzzResult) -> None:
            nonlocal done
            now = float(result.n_texts if plan.seconds is None else result.seconds)
            bar.advance(now - done, f"{result.n_texts:,} texts, {len(result.findings)} found")
            done = now

        return FuzzRun(plan, found, advance).run()


def _not_compared(plan: FuzzPlan, result: FuzzResult) -> list[str]:
    """Return sides without a text that both they and the first side answered."""
    return [side.name for side in plan.sides[1:] if not result.n_compared[side.name]]


def _summary(plan: FuzzPlan, result: FuzzResult) -> str:
    from harness.check.fuzz.findings import table_rows

    names = [side.name for side in plan.sides]
    where = f"{result.n_models:,} models made up" if not plan.models else ", ".join(plan.models)
    lines = []
    if result.findings:
        headers = ["sides", "model", "class", "stage", "smallest text", f"ids of {names[0]}", "ids of the other"]
        lines += [options.table(table_rows(result.findings), headers), ""]
    for name, n_texts in result.n_differing.items():
        lines.append(f"{name} differs from {names[0]} on {n_texts:,} texts")
    for name, n_texts in result.n_expected.items():
        lines.append(
            f"{name} differs from {names[0]} on {n_texts:,} texts of models on which it may (--expected shows)"
        )
    for name in _not_compared(plan, result):
        lines.append(f"{name} and {names[0]} both answered no text, so nothing was compared")
    for name, n_models in result.n_refused.items():
        if n_models:
            lines.append(f"{name} does not take {n_models:,} of the models")
    lines.append(
        f"{' and '.join(names)} on {where}: {result.n_texts:,} texts, {result.n_bytes:,} bytes in "
        f"{result.seconds:.0f} s, the longest {result.longest_bytes:,} bytes, "
        f"{result.n_by_call['encode_threads']:,} on threads, {result.n_by_call['decode']:,} lists of ids decoded: "
        + (f"{len(result.findings)} kind(s) of difference" if result.findings else "no difference")
    )
    return "\n".join(lines)


def _document(plan: FuzzPlan, result: FuzzResult) -> dict[str, Any]:
    import msgspec

    return {
        "sides": [side.name for side in plan.sides],
        "models": list(plan.models),
        "seed": plan.seed,
        "corpora": list(result.corpora),
        "versions": result.versions,
        "n_texts": result.n_texts,
        "n_bytes": result.n_bytes,
        "longest_bytes": result.longest_bytes,
        "n_by_call": dict(result.n_by_call),
        "n_models": result.n_models,
        "n_compared_texts": dict(result.n_compared),
        "n_differing_texts": dict(result.n_differing),
        "n_expected_texts": dict(result.n_expected),
        "n_refused_models": dict(result.n_refused),
        "seconds": result.seconds,
        "interrupted": result.interrupted,
        "findings": msgspec.to_builtins(result.findings),
    }


def _replay(file: Path, as_json: bool) -> None:
    import msgspec

    from harness.check.fuzz.findings import describe_input
    from harness.check.fuzz.replay import read_counterexamples, replay

    records = read_counterexamples(file)
    if not records:
        raise click.UsageError(f"{file}: holds no counterexamples; `bpebench fuzz A B` keeps them there")
    with progress("replaying", len(records)) as bar:
        replayed = replay(records, lambda one: bar.advance(1, f"{one.record.a}, {one.record.b}"))
    outcomes = [one.outcome for one in replayed]
    if as_json:
        options.print_json(
            {
                "n_replayed": len(outcomes) - outcomes.count("not replayed"),
                "replayed": [
                    {"outcome": one.outcome, "reason": one.reason, "record": msgspec.to_builtins(one.record)}
                    for one in replayed
                ],
            }
        )
    else:
        rows = [
            [
                f"{one.record.a}, {one.record.b}",
                one.record.model or "own",
                describe_input(one.record),
                one.outcome,
                one.reason,
            ]
            for one in replayed
        ]
        click.echo(options.table(rows, ["sides", "model", "text", "outcome", "reason"]))
        counts = (f"{outcomes.count(kind)} {kind}" for kind in ("holds", "does not hold", "not replayed"))
        nothing = ": nothing was replayed" if set(outcomes) == {"not replayed"} else ""
        click.echo(", ".join(counts) + nothing)
    if "does not hold" in outcomes or "holds" not in outcomes:
        raise click.exceptions.Exit(1)
