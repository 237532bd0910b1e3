"""`bpebench compare`: one run against an earlier one."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.commands import options
from harness.commands.verb import Verb, argument, option
from harness.printable import printable
from harness.report.wording import figure

if TYPE_CHECKING:
    from harness.measure.comparison import Condition, TimeDifference
    from harness.records import Measurement

_SHARE_NOTHING = "the two runs share no timed workload; compare runs of one profile"


class Compare(Verb):
    """Show how every implementation's speed changed from the run OLD to the run NEW, on the workloads both have.

    A change is claimed only where its 95 % interval excludes 1 and it exceeds the noise of both runs; else ≈. For runs
    of two machines the figures are shown side by side, and nothing is claimed.

    With --fail-if the exit status is 1 if the condition holds, or if NEW did not time something that it ran and OLD
    timed; else 2 if it cannot be judged: for two machines, or if a run has not measured its own noise.
    """

    old: Path = argument(type=options.FOLDER)
    new: Path = argument(type=options.FOLDER)
    fail_if: str | None = option("Exit with 1 on such a claimed change: slower>5%, faster>5%.", metavar="CONDITION")

    def run(self) -> bool:
        """Print the changes; return whether the condition holds."""
        from harness.measure.comparison import machine_difference, parse_condition
        from harness.records import Measurement, of_kind, read_machine, read_records

        condition = None if self.fail_if is None else parse_condition(self.fail_if)
        runs = [list(of_kind(read_records(folder), Measurement)) for folder in (self.old, self.new)]
        differing = machine_difference(read_machine(self.old), read_machine(self.new))
        if differing is None:
            return self._compare(runs, condition)
        said = f"not of one machine ({differing}), so no ratio is given and nothing is claimed"
        options.ensure(
            condition is None,
            f"--fail-if cannot be judged: {self.old} and {self.new} are {said}; compare runs of one machine",
        )
        self._show_side_by_side(runs, f"The runs are {said}.")
        return False

    def _compare(self, runs: Sequence[Sequence[Measurement]], condition: Condition | None) -> bool:
        """Show the differences of two runs of one machine; return whether `condition` holds for one."""
        from harness.measure.comparison import compare_runs, untimed_in_new
        from harness.records import RecordError

        differences = sorted(compare_runs(*runs), key=lambda difference: -difference.ratio.value)
        if not differences:
            raise RecordError(_SHARE_NOTHING)
        untimed = untimed_in_new(*runs)
        is_unknown = all(difference.floor is None for difference in differences)
        failing = [difference for difference in differences if condition is not None and condition.holds(difference)]
        document = {
            "one_machine": True,
            "differences": list(map(_named, differences)),
            "failing": list(map(_named, failing)),
            "untimed_in_new": [one._asdict() for one in untimed],
        }
        lines = [f"fails the condition: {d.implementation} on {d.workload}, {figure(d.ratio.value)} ×" for d in failing]
        lines += [f"timed in the old run only: {u.implementation} on {u.workload} ({u.reason})" for u in untimed]
        self.output(document, lambda: "\n".join([self._differences(runs, differences), *map(printable, lines)]))
        if condition is None:
            return False
        options.ensure(
            failing or untimed or not is_unknown,
            "--fail-if cannot be judged: a run has not measured its own noise, so a small change cannot be detected; "
            "run with a profile that times a copy (not smoke)",
        )
        return bool(failing or untimed)

    def _show_side_by_side(self, runs: Sequence[Sequence[Measurement]], said: str) -> None:
        """Show the figures of two runs made on different machines."""
        from harness.records import RecordError
        from harness.report.tables.speed import speed_rows

        old, new = (
            {(r["workload"], r["implementation"]): r for r in speed_rows(records) if r["median"] is not None}
            for records in runs
        )
        figures: list[dict[str, Any]] = [
            {"workload": key[0], "implementation": key[1], "unit": row["unit"], "old": row["median"]}
            | {"new": new[key]["median"]}
            for key, row in old.items()
            if key in new
        ]
        if not figures:
            raise RecordError(_SHARE_NOTHING)
        document = {"one_machine": False, "note": said, "figures": figures}
        self.output(document, lambda: self._table("side-by-side", runs, figures, note=said))

    def _differences(self, runs: Sequence[Sequence[Measurement]], differences: Sequence[TimeDifference]) -> str:
        from harness.report.tables.speed import claimed_where

        rows = [_named(d) | {"interval": f"{figure(d.ratio.low)}–{figure(d.ratio.high)}"} for d in differences]
        return self._table("changes", runs, rows, note=claimed_where())

    def _table(
        self, name: str, runs: Sequence[Sequence[Measurement]], rows: Sequence[dict[str, Any]], *, note: str
    ) -> str:
        """Return a table of `rows` as text, each workload labelled with the round trip of its model."""
        from harness.report.layout import render
        from harness.report.round_trips import recorded, with_round_trips
        from harness.report.table import table_of

        models = {record.workload: record.model for run in runs for record in run}
        known = recorded(record for run in runs for record in run)
        rows = [row | {"model": models[row["workload"]]} for row in rows]
        table = table_of(name, rows, old=str(self.old), new=str(self.new), note=note)
        return render(with_round_trips(table, known), "text", width=options.terminal_width())


def _named(difference: TimeDifference) -> dict[str, Any]:
    ratio = zip(("time_ratio", "time_ratio_low", "time_ratio_high"), difference.ratio, strict=True)
    return {
        "workload": difference.workload,
        "implementation": difference.implementation,
        **dict(ratio),
        "claim": difference.claim,
        "floor": difference.floor,
    }


command = Compare.command()
