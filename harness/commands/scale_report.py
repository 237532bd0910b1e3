"""What `bpebench run --scale` prints: how time grows with the length of the input."""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.commands import options
from harness.data.generated import ADVERSARIAL
from harness.measure import scaling
from harness.measure.scaling import FAMILIES
from harness.measure.stats import Exponent
from harness.progress import progress
from harness.records import Measurement

if TYPE_CHECKING:
    from harness.commands.run import Run

_NOTE = "exponent of time against length, 95 % interval; ≥: a lower bound, where the next length ran into the limit"


def measure_growth(verb: Run) -> bool:
    """Time the texts and print the exponents; return whether a curve ends in a fault."""
    from harness.commands.run import ALL_FAMILIES
    from harness.targets import DEFAULT_MODEL

    families = tuple(dict.fromkeys(verb.families)) or FAMILIES
    scale = scaling.Scale(
        implementations=tuple(options.choose_implementations(verb.implementation, verb.exclude)),
        model=verb.models[0] if verb.models else DEFAULT_MODEL,
        families=ADVERSARIAL if ALL_FAMILIES in families else families,
        sizes=tuple(1024 << step for step in range(verb.doublings + 1)),
        rounds=verb.rounds,
        limit_seconds=verb.limit,
    )
    records = _measured(verb, scale)
    found, ended = scaling.exponents(records), scaling.ends(records)
    curves = [
        {"implementation": name, "family": family, **_named(fit), **_end(ended.get((name, family)))}
        for (name, family), fit in found.items()
    ]
    cells = {
        (name, family): _cell(found.get((name, family)), ended.get((name, family)))
        for name in dict.fromkeys(record.implementation for record in records)
        for family in scale.families
    }
    if len(scale.families) > len(FAMILIES):
        rows, headers = [[*key, cell] for key, cell in cells.items()], ["implementation", "family", "exponent"]
    else:
        names = dict.fromkeys(name for name, _ in cells)
        rows = [[name, *(cells[name, family] for family in scale.families)] for name in names]
        headers = ["implementation", *scale.families]
    text = f"{options.table(rows, headers)}\n\n{_NOTE}"
    verb.output({"model": scale.model, "curves": curves}, lambda: text)
    return any(record.exact and record.outcome.is_fault for record in records)


def _measured(verb: Run, scale: scaling.Scale) -> list[Measurement]:
    """Return the records of every point, written to the folder if one is given."""
    from harness.data import load_model
    from harness.measure import placement
    from harness.measure.materials import Materials
    from harness.measure.recording import recording
    from harness.records import read_records

    load_model(scale.model)
    points = len(scale.implementations) * len(scale.families) * len(scale.sizes) * scale.rounds
    with (
        recording(verb.out, scale.implementations, options.command_line(), resume=verb.resume) as kept,
        progress("scaling", points) as bar,
        placement.parent_on_first_core() as cores,
        Materials(cores) as materials,
    ):

        def keep(record: Measurement) -> None:
            kept.write(record)
            bar.advance(1, f"{record.implementation} · {record.corpus}")

        done = read_records(verb.out) if verb.out is not None and verb.resume else []
        records = scaling.measure_scaling(scale, materials, keep, done=done)
        kept.facts["digests"] = materials.digests()
    return records


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
