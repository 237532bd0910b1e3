"""`bpebench scale`: how time grows with the length of the input."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from harness.commands import options
from harness.commands.run import is_fault
from harness.commands.verb import Verb, flag, option
from harness.data.generated import ADVERSARIAL
from harness.measure import scaling
from harness.measure.scaling import FAMILIES
from harness.progress import progress

if TYPE_CHECKING:
    from harness.measure.analysis.stats import Exponent
    from harness.measure.protocol import Failed
    from harness.records import Measurement

_ALL = "all"
_NOTE = "exponent of time against length, 95 % interval; ≥: a lower bound, where the next length ran into the limit"


class Scale(Verb):
    """Time texts of doubling length, and fit the exponent of time against length with its 95 % interval.

    1 is linear, 2 quadratic. A curve ends at the first length that fails or exceeds the limit; a timeout gives a lower
    bound, a panic or a refusal is reported with its length. Every text is new to the process, so no cache answers. Exit
    status 1 when a curve of an implementation that should be exact ends in wrong or unverifiable ids, a panic or a
    death.
    """

    implementation: str | None = options.implementation
    exclude: str | None = options.exclude
    model: str = options.model
    families: tuple[str, ...] = option(
        f"Which texts (see `list corpora`), or `{_ALL}`; repeatable.",
        "--family",
        multiple=True,
        type=click.Choice([*ADVERSARIAL, _ALL]),
        default=FAMILIES,
        metavar="NAME",
    )
    doublings: int = option("From 1 KB upwards.", type=click.IntRange(5, 14), default=10)
    rounds: int = option(None, type=options.POSITIVE, default=3)
    limit: float = option("Seconds for one pass.", type=options.SECONDS, default=3.0)
    out: Path | None = options.out
    resume: bool = flag("Continue with the records of that folder.")

    def run(self) -> bool:
        """Time the texts and print the exponents; return whether a curve ends in a fault."""
        scale = scaling.Scale(
            implementations=tuple(options.choose_implementations(self.implementation, self.exclude)),
            model=self.model,
            families=ADVERSARIAL if _ALL in self.families else tuple(dict.fromkeys(self.families)),
            sizes=tuple(1024 << step for step in range(self.doublings + 1)),
            rounds=self.rounds,
            limit_seconds=self.limit,
        )
        records = self._measured(scale)
        found, ended = scaling.exponents(records), scaling.ends(records)
        curves = [
            {"implementation": name, "family": family, **_named(fit), **_end(ended.get((name, family)))}
            for (name, family), fit in found.items()
        ]
        cells = {
            (name, family): _cell(found.get((name, family)), ended.get((name, family)))
            for name in scale.implementations
            for family in scale.families
        }
        if len(scale.families) > len(FAMILIES):
            rows, headers = [[*key, cell] for key, cell in cells.items()], ["implementation", "family", "exponent"]
        else:
            rows = [[name, *(cells[name, family] for family in scale.families)] for name in scale.implementations]
            headers = ["implementation", *scale.families]
        text = f"{options.table(rows, headers)}\n\n{_NOTE}"
        self.output({"model": self.model, "curves": curves}, lambda: text)
        return any(map(is_fault, records))

    def _measured(self, scale: scaling.Scale) -> list[Measurement]:
        """Return the records of every point, written to the folder if one is given."""
        from harness.data import load_model
        from harness.measure.recording import recording
        from harness.measure.run.curves import measure_scaling
        from harness.measure.run.materials import Materials
        from harness.records import read_records

        load_model(self.model)
        points = len(scale.implementations) * len(scale.families) * len(scale.sizes) * scale.rounds
        with (
            recording(self.out, scale.implementations, options.command_line(), resume=self.resume) as kept,
            progress("scaling", points) as bar,
            Materials() as materials,
        ):

            def keep(record: Measurement) -> None:
                kept.write(record)
                bar.advance(1, f"{record.implementation} · {record.corpus}")

            done = read_records(self.out) if self.out is not None and self.resume else []
            records = measure_scaling(scale, materials, keep, done=done)
            kept.facts["digests"] = materials.digests()
        return records


def _cell(fit: object, end: Measurement | None) -> str:
    from harness.measure.analysis.stats import Exponent
    from harness.measure.protocol import Failed

    if isinstance(fit, Exponent):
        shown = f"{fit.value:.2f} ({fit.low:.2f}–{fit.high:.2f})"
        if fit.lower_bound is not None:
            return f"{shown}, then ≥ {fit.lower_bound:.2f}"
        return shown if end is None else f"{shown}, then {end.status} at {end.n_bytes:,} B"
    return fit.status if isinstance(fit, Failed) else "n/a"


def _named(fit: Exponent | Failed) -> dict[str, object]:
    """Return the exponent of time against length with its 95 % interval, or why it could not be fitted."""
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


command = Scale.command()
