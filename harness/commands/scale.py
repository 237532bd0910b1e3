"""`bpebench scale`: the growth of time with the length of the input."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from harness.commands import options
from harness.data.generated import ADVERSARIAL
from harness.measure.scaling import FAMILIES
from harness.progress import progress

if TYPE_CHECKING:
    from harness.measure.protocol import Failed
    from harness.measure.stats import Exponent
    from harness.records import Measurement

_ALL = "all"


@click.command("scale")
@options.implementations
@options.one_model
@click.option(
    "--family", "families", multiple=True, type=click.Choice([*ADVERSARIAL, _ALL]), default=FAMILIES, show_default=True,
    metavar="NAME", help=f"Which texts (see `list corpora`), or `{_ALL}`; repeatable.",
)  # fmt: skip
@click.option("--doublings", type=click.IntRange(5, 14), default=10, show_default=True, help="From 1 KB upwards.")
@click.option("--rounds", type=click.IntRange(min=1), default=3, show_default=True)
@click.option(
    "--limit",
    type=click.FloatRange(min=0.1),
    default=3.0,
    show_default=True,
    callback=options.finite,
    help="Seconds for one pass.",
)
@click.option("--out", type=click.Path(path_type=Path, file_okay=False), help="Also write the records here.")
@click.option("--resume", is_flag=True, help="Continue with the records of that folder.")
@options.as_json
def command(
    implementation: str | None,
    exclude: str | None,
    model: str,
    families: tuple[str, ...],
    doublings: int,
    rounds: int,
    limit: float,
    out: Path | None,
    resume: bool,
    as_json: bool,
) -> None:
    """Time texts of doubling length, and fit the exponent of time against length with its 95 % interval.

    1 is linear, 2 quadratic. A curve ends at the first length that fails or exceeds the limit; a timeout gives a lower
    bound, a panic or a refusal is reported with its length. Every text is new to the process, so no cache answers.
    """
    from harness.data import load_model
    from harness.measure.recording import recording
    from harness.measure.run.curves import measure_scaling
    from harness.measure.run.materials import Materials
    from harness.measure.scaling import Scale, ends, exponents
    from harness.records import read_records

    load_model(model)
    scale = Scale(
        implementations=tuple(options.choose_implementations(implementation, exclude)),
        model=model,
        families=ADVERSARIAL if _ALL in families else tuple(dict.fromkeys(families)),
        sizes=tuple(1024 << step for step in range(doublings + 1)),
        rounds=rounds,
        limit_seconds=limit,
    )
    points = len(scale.implementations) * len(scale.families) * len(scale.sizes) * rounds
    with (
        recording(out, scale.implementations, options.command_line(), resume=resume) as kept,
        progress("scaling", points) as bar,
    ):

        def keep(record: Measurement) -> None:
            kept.write(record)
            bar.advance(1, f"{record.implementation} · {record.corpus}")

        with Materials() as materials:
            done = read_records(out) if out is not None and resume else []
            records = measure_scaling(scale, materials, keep, done=done)
            kept.facts["digests"] = materials.digests()
    found = exponents(records)
    ended = ends(records)
    if as_json:
        curves = [
            {"implementation": name, "family": family, **_named(fit), **_end(ended.get((name, family)))}
            for (name, family), fit in found.items()
        ]
        options.print_json({"model": model, "curves": curves})
        return
    cells = {
        (name, family): _cell(found.get((name, family)), ended.get((name, family)))
        for name in scale.implementations
        for family in scale.families
    }
    if len(scale.families) > len(FAMILIES):
        click.echo(
            options.table([[*key, cell] for key, cell in cells.items()], ["implementation", "family", "exponent"])
        )
    else:
        rows = [[name, *(cells[name, family] for family in scale.families)] for name in scale.implementations]
        click.echo(options.table(rows, ["implementation", *scale.families]))
    click.echo(
        "\nexponent of time against length, 95 % interval; ≥: a lower bound, where the next length ran into the limit"
    )


def _cell(fit: object, end: Measurement | None) -> str:
    from harness.measure.protocol import Failed
    from harness.measure.stats import Exponent

    if isinstance(fit, Exponent):
        shown = f"{fit.value:.2f} ({fit.low:.2f}–{fit.high:.2f})"
        if fit.lower_bound is not None:
            return f"{shown}, then ≥ {fit.lower_bound:.2f}"
        return shown if end is None else f"{shown}, then {end.status} at {end.n_bytes:,} B"
    return fit.status if isinstance(fit, Failed) else "n/a"


def _named(fit: Exponent | Failed) -> dict[str, object]:
    """Return the exponent of time against length with its 95 % interval, or why there is none."""
    from harness.measure.protocol import Failed

    if isinstance(fit, Failed):
        return {"status": fit.status, "reason": fit.reason}
    return {
        "status": "ok", "exponent": fit.value, "exponent_low": fit.low, "exponent_high": fit.high,
        "exponent_lower_bound": fit.lower_bound, "n_points": fit.n_points,
    }  # fmt: skip


def _end(end: Measurement | None) -> dict[str, object]:
    """Return where and why a curve ended early."""
    return {} if end is None else {"end": {"status": end.status, "reason": end.reason, "n_bytes": end.n_bytes}}
