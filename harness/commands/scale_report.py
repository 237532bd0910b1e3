"""What `bpebench run --scale` prints: how time grows with the length of the input."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from harness.commands import options
from harness.measure import scaling
from harness.measure.scaling import FAMILIES
from harness.measure.stats import Exponent
from harness.progress import progress
from harness.records import Measurement

_NOTE = "exponent of time against length, 95 % interval; ≥: a lower bound, where the next length ran into the limit"


def measured(scale: scaling.Scale, out: Path | None, *, resume: bool) -> list[Measurement]:
    """Return the records of every point, written to the folder if one is given."""
    from harness.data import load_model
    from harness.measure import placement
    from harness.measure.materials import Materials
    from harness.measure.recording import recording
    from harness.records import read_records

    load_model(scale.model)
    points = len(scale.implementations) * len(scale.families) * len(scale.sizes) * scale.rounds
    with (
        recording(out, scale.implementations, options.command_line(), resume=resume) as kept,
        progress("scaling", points) as bar,
        placement.parent_on_first_core() as cores,
        Materials(cores) as materials,
    ):

        def keep(record: Measurement) -> None:
            kept.write(record)
            bar.advance(1, f"{record.implementation} · {record.corpus}")

        done = read_records(out) if out is not None and resume else []
        records = scaling.measure_scaling(scale, materials, keep, done=done)
        kept.facts["digests"] = materials.digests()
    return records


def document(scale: scaling.Scale, records: Sequence[Measurement]) -> dict[str, object]:
    """Return the exponents as JSON."""
    ended = scaling.ends(records)
    curves = [
        {"implementation": name, "family": family, **_named(fit), **_end(ended.get((name, family)))}
        for (name, family), fit in scaling.exponents(records).items()
    ]
    return {"model": scale.model, "curves": curves}


def text(scale: scaling.Scale, records: Sequence[Measurement]) -> str:
    """Return the table of exponents."""
    found, ended = scaling.exponents(records), scaling.ends(records)
    names = list(dict.fromkeys(record.implementation for record in records))
    cells = {
        (name, family): _cell(found.get((name, family)), ended.get((name, family)))
        for name in names
        for family in scale.families
    }
    if len(scale.families) > len(FAMILIES):
        rows, headers = [[*key, cell] for key, cell in cells.items()], ["implementation", "family", "exponent"]
    else:
        rows = [[name, *(cells[name, family] for family in scale.families)] for name in names]
        headers = ["implementation", *scale.families]
    return f"{options.table(rows, headers)}\n\n{_NOTE}"


def _cell(fit: Exponent | Measurement | None, end: Measurement | None) -> str:
    if isinstance(fit, Exponent):
        shown = f"{fit.value:.2f} ({fit.low:.2f}–{fit.high:.2f})"
        if fit.lower_bound is not None:
            return f"{shown}, then ≥ {fit.lower_bound:.2f}"
        return shown if end is None else f"{shown}, then {end.outcome} at {scaling.size_of(end):,} B"
    return "n/a" if fit is None else str(fit.outcome)


def _named(fit: Exponent | Measurement) -> dict[str, object]:
    """Return the exponent of time against length with its 95 % interval, or why it could not be fitted."""
    if isinstance(fit, Measurement):
        return {"outcome": fit.outcome, "reason": fit.reason}
    return {
        "outcome": "right", "exponent": fit.value, "exponent_low": fit.low, "exponent_high": fit.high,
        "exponent_lower_bound": fit.lower_bound, "n_points": fit.n_points,
    }  # fmt: skip


def _end(end: Measurement | None) -> dict[str, object]:
    """Return where and why a curve ended early."""
    if end is None:
        return {}
    return {"end": {"outcome": end.outcome, "reason": end.reason, "n_bytes": scaling.size_of(end)}}
