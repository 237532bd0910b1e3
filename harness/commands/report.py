"""`bpebench report`: tables, the ranking, the page of a run, and the generated parts of the README."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from harness.commands import options, writing
from harness.commands.run import DEFAULT_OUT
from harness.commands.verb import Verb, argument, flag, option
from impls.core.errors import near_and_known

if TYPE_CHECKING:
    from harness.records import AnyRecord
    from harness.report.layout import Format

README = Path("README.md")
_FORMATS = ["text", "markdown", "csv", "latex"]


class Report(Verb):
    """Show the tables of RUN (a folder of records; default: results/local or the newest run inside it).

    --html writes one self-contained page of one run or several; several runs of one machine are its history.

    The table `ranking` has the geometric mean of time over the workloads the chosen implementations share, with the
    probability of each place; those timed on fewer than three quarters of them are left out.
    """

    folders: tuple[Path, ...] = argument(nargs=-1, metavar="[RUN]...", type=options.FOLDER)
    names: tuple[str, ...] = option(
        "Only this table, such as ranking; repeatable.", "--table", multiple=True, metavar="NAME"
    )
    implementations: tuple[str, ...] = options.implementations
    exclude: str | None = options.exclude
    workload: str | None = option("Only workloads whose name matches.", "-w", "--workload", metavar="REGEX")
    format: Format = option("Format of the tables.", type=click.Choice(_FORMATS), default="text")
    html: Path | None = option("Write one offline page of all RUNs here.", type=options.FILE)
    readme: bool = flag("Regenerate the README's generated parts and all runs' pages.")
    check: bool = flag("Check these: exit status 1 if one is stale.")

    def run(self) -> bool:
        """Print or write what was requested; return whether a generated part is out of date."""
        is_one_format = not self.as_json or "format" not in options.given(self)
        options.ensure(is_one_format, f"--json and --format {self.format} cannot be combined; choose one")
        options.ensure(len(self.folders) < 2 or self.html is not None, "only --html takes several runs; name one")
        if self.check or self.readme:
            options.ensure(not self.folders, "--readme and --check take no RUN: the README names its runs")
            return _readme(write=self.readme)
        self._show(self.folders or (newest_run(),))
        return False

    def _show(self, folders: tuple[Path, ...]) -> None:
        """Print the tables of a run, or write its page."""
        from harness.measure.recording import PLAN_FILE
        from harness.records import MACHINE_FILE, RECORDS_FILE, RecordError, read_records
        from harness.report.layout import as_json, render
        from harness.report.tables import tables

        if self.html is not None:
            names = (RECORDS_FILE, MACHINE_FILE, PLAN_FILE)
            writing.check_target(self.html, [str(folder / name) for folder in folders for name in names])
        folder = folders[0]
        records = read_records(folder)
        chosen_records = [record for record in records if self._is_chosen(record)]
        by_name = tables(chosen_records, whole_run=records)
        if unknown := [name for name in self.names if name not in by_name]:
            known = near_and_known(unknown[0], list(by_name), "`bpebench report RUN`")
            raise click.UsageError(f"no table {unknown[0]!r} in this run; {known}")
        if not by_name:
            raise RecordError(f"{folder}: nothing to show; -e, -E and -w leave nothing")
        if self.html is not None:
            from harness.records import write_atomically
            from harness.report.page.runs import render_page

            chooses = (self.implementations, self.exclude, self.workload) != ((), None, None)
            options.ensure(not chooses, "-e, -E and -w choose what tables show; --html shows the whole run")
            write_atomically(self.html, render_page(folders).encode("utf-8", "backslashreplace"))
            options.say(str(self.html))
            return
        chosen = [table for name, table in by_name.items() if not self.names or name in self.names]
        if self.as_json:
            options.print_json({**self._document(records), "tables": list(map(as_json, chosen))})
            return
        width = options.terminal_width() if self.format == "text" else None
        click.echo("\n".join(render(table, self.format, width=width) for table in chosen))

    def _document(self, records: Sequence[AnyRecord]) -> dict[str, Any]:
        """Return the workloads of the whole run with what the options choose of them."""
        from harness.measure.summary import document
        from harness.records import Measurement, of_kind

        workloads = document(of_kind(records, Measurement))["workloads"]
        chosen = [workload for workload in workloads if options.matches(self.workload, workload["name"])]
        for workload in chosen:
            workload["rows"] = [row for row in workload["rows"] if self._chooses(row["implementation"])]
        return {"workloads": chosen}

    def _chooses(self, *names: str) -> bool:
        return all(options.chooses(self.implementations, self.exclude, name) for name in names)

    def _is_chosen(self, record: AnyRecord) -> bool:
        """Return whether the options choose the record's implementations and its workload, if it has one."""
        names = [name for key in ("implementation", "a", "b") if (name := getattr(record, key, ""))]
        workload = getattr(record, "workload", None)
        return self._chooses(*names) and (workload is None or options.matches(self.workload, workload))


def newest_run() -> Path:
    """Return `results/local`, or the newest folder in it that holds records."""
    from harness.records import RECORDS_FILE, RecordError

    files = [DEFAULT_OUT / RECORDS_FILE, *DEFAULT_OUT.glob(f"*/{RECORDS_FILE}")]
    files = [path for path in files if path.is_file()]
    if not files:
        raise RecordError(f"no run in {DEFAULT_OUT}; make one with `bpebench run`, or name its folder")
    return max(files, key=lambda path: path.stat().st_mtime).parent


def _readme(*, write: bool) -> bool:
    """Regenerate the README and the runs' pages, or report which parts are out of date; return whether any is."""
    from harness.report.readme.write import stale, write_readme

    options.ensure(README.is_file(), f"no {README} here; run this in the folder that has it")
    if write:
        click.echo("\n".join(f"written: {path}" for path in write_readme(README)) or "nothing was stale")
        return False
    lines = stale(README)
    click.echo("\n".join(lines) or f"{README}: nothing is stale")
    return bool(lines)
