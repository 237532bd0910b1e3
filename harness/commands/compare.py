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


class Compare(Verb):
    """Show how every implementation's speed changed from the run OLD to the run NEW, on the workloads both have.

    A change is claimed only where its 95 % interval excludes 1 and it exceeds the noise of both runs; else ≈. Runs of
    two machines or two protocols are refused.

    With --fail-if the exit status is 1 if the condition holds, or if NEW did not time something that it ran and OLD
    timed; else 2 if it cannot be judged, as a run has not measured its own noise.
    """

    old: Path = argument(type=options.FOLDER)
    new: Path = argument(type=options.FOLDER)
    fail_if: str | None = option("Exit with 1 if a change is confirmed: slower>5%, faster>5%.", metavar="CONDITION")

    def run(self) -> bool:
        """Print the changes; return whether the condition holds."""
        from harness.measure.comparison import machine_difference, parse_condition
        from harness.records import Measurement, of_kind, read_machine, read_records

        condition = None if self.fail_if is None else parse_condition(self.fail_if)
        runs = [list(of_kind(read_records(folder), Measurement)) for folder in (self.old, self.new)]
        machines = [read_machine(folder) for folder in (self.old, self.new)]
        differing = machine_difference(*machines)
        same = differing is None
        options.ensure(same, f"{self.old} and {self.new} ran on different machines ({differing}); `report` shows each")
        old, new = (machine.get("protocol") for machine in machines)
        options.ensure(old == new, f"the runs follow different protocols, {old} and {new}; run the older one again")
        return self._compare(runs, condition)

    def _compare(self, runs: Sequence[Sequence[Measurement]], condition: Condition | None) -> bool:
        """Show the differences of two runs of one machine; return whether `condition` holds for one."""
        from harness.measure.comparison import compare_runs, untimed_in_new
        from harness.records import RecordError

        differences = sorted(compare_runs(*runs), key=lambda difference: -difference.ratio.value)
        if not differences:
            raise RecordError("the two runs share no timed workload; compare runs of the same profile")
        untimed = untimed_in_new(*runs)
        is_unknown = all(difference.floor is None for difference in differences)
        failing = [difference for difference in differences if condition is not None and condition.holds(difference)]
        document = {
            "differences": list(map(_named, differences)),
            "failing": list(map(_named, failing)),
            "untimed_in_new": [item._asdict() for item in untimed],
        }
        lines = [f"fails the condition: {d.implementation} on {d.workload}, {figure(d.ratio.value)} ×" for d in failing]
        lines += [f"timed in the old run only: {u.implementation} on {u.workload} ({u.reason})" for u in untimed]
        self.output(document, lambda: "\n".join([self._differences(differences), *map(printable, lines)]))
        if condition is None:
            return False
        options.ensure(
            failing or untimed or not is_unknown,
            "--fail-if cannot be checked: a run did not measure its own noise, so a small change cannot be detected; "
            "use a profile that measures it (not smoke)",
        )
        return bool(failing or untimed)

    def _differences(self, differences: Sequence[TimeDifference]) -> str:
        from harness.report.layout import render
        from harness.report.table import table_of
        from harness.report.tables.speed import claimed_where

        rows = list(map(_named, differences))
        table = table_of("changes", rows, old=str(self.old), new=str(self.new), note=claimed_where())
        return render(table, "text", width=options.terminal_width())


def _named(difference: TimeDifference) -> dict[str, Any]:
    named = difference._asdict()
    ratio = named.pop("ratio")
    return named | dict(zip(("time_ratio", "time_ratio_low", "time_ratio_high"), ratio, strict=True))
