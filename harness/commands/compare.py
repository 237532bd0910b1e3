"""`bpebench compare`: one run against an earlier one."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.commands import options
from harness.commands.verb import Verb, argument, option
from harness.printable import printable

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
        lines = [f"fails the condition: {d.implementation} on {d.workload}, {d.ratio.value:.3f} ×" for d in failing]
        lines += [f"timed in the old run only: {u.implementation} on {u.workload} ({u.reason})" for u in untimed]
        self.output(document, lambda: "\n".join([_differences(runs, differences), *map(printable, lines)]))
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
        from harness.report import wording
        from harness.report.tables.speed import speed_rows

        old, new = (
            {(r["workload"], r["implementation"]): r for r in speed_rows(records) if r["median"] is not None}
            for records in runs
        )
        keys = ("workload", "implementation", "unit", "old", "new")
        figures: list[dict[str, Any]] = [
            dict(zip(keys, (*key, before["unit"], before["median"], new[key]["median"]), strict=True))
            for key, before in old.items()
            if key in new
        ]
        if not figures:
            raise RecordError(_SHARE_NOTHING)
        rows = [
            [one["workload"], one["implementation"], *map(wording.figure, (one["old"], one["new"])), one["unit"]]
            for one in figures
        ]
        document = {"one_machine": False, "note": said, "figures": figures}
        self.output(document, lambda: _table(runs, rows, ["implementation", "old", "new", "unit"], said))


def _differences(runs: Sequence[Sequence[Measurement]], differences: Sequence[TimeDifference]) -> str:
    from harness.report.tables.speed import claimed_where

    rows = [
        [d.workload, d.implementation, f"{d.ratio.value:.3f}", f"{d.ratio.low:.3f}–{d.ratio.high:.3f}", d.claim]
        for d in differences
    ]
    headings = ["implementation", "time new/old", "95 % interval", "claim"]
    return _table(runs, rows, headings, claimed_where())


def _table(
    runs: Sequence[Sequence[Measurement]], rows: Sequence[Sequence[str]], headings: Sequence[str], said: str
) -> str:
    """Return a table of `rows`, which begin with a workload, and the notes on it.

    Each workload is labelled with its model's round trip, which a note explains.
    """
    from harness.report.round_trips import named, note, recorded, round_trip

    known = recorded(record for run in runs for record in run)
    models = {record.workload: record.model for run in runs for record in run}
    used = sorted({models[workload] for workload, *_ in rows} - {""})
    explained = note({model: round_trip(model, known) for model in used})
    shown = [[named(row[0], round_trip(models[row[0]], known)), *row[1:]] for row in rows]
    below = f"{explained} {said}" if explained else said
    return f"{options.table(shown, ['workload', *headings])}\n\n{printable(below)}"


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
