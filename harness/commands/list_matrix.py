"""`bpebench list matrix`: which implementation runs which model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from harness.commands import options
from harness.progress import progress

if TYPE_CHECKING:
    from harness.records import Verdict

_CELLS = {"ok": "yes", "unsupported": "no", "missing": "?"}


def list_matrix(implementations: Sequence[str], models: Sequence[str], *, as_json: bool) -> None:
    """Try every implementation on every model and print the results; exit with 1 where one fails."""
    from harness.check.support import support

    with progress("trying", len(implementations) * len(models)) as bar:
        found = support(implementations, models, lambda what: bar.advance(1, what))
    if as_json:
        import msgspec

        options.print_json({"matrix": msgspec.to_builtins(found)})
    else:
        click.echo(_rendered(found, implementations, models))
    if any(verdict.status not in _CELLS for verdict in found):
        raise click.exceptions.Exit(1)


def _rendered(found: Sequence[Verdict], implementations: Sequence[str], models: Sequence[str]) -> str:
    """Return a row per model, a column per implementation, and a line for each that does not run a model."""
    verdicts = {(verdict.implementation, verdict.model): verdict for verdict in found}
    rows = []
    for model in models:
        row = [verdicts[implementation, model] for implementation in implementations]
        rows.append([model, row[0].round_trip, *(_CELLS.get(verdict.status, "fails") for verdict in row)])
    lines = ["matrix: which implementation runs which model, tried on a few lines of text", ""]
    lines.append(options.table(rows, ["model", "round trip", *implementations]))
    reasons: dict[tuple[str, str, str], list[str]] = {}
    for verdict in found:
        if verdict.status != "ok":
            reasons.setdefault((verdict.implementation, verdict.status, verdict.reason), []).append(verdict.model)
    if reasons:
        lines.append("")
    for (implementation, status, reason), where in reasons.items():
        lines.append(f"{_CELLS.get(status, status)}: {implementation} on {', '.join(where)}: {reason}")
    return "\n".join(lines)
