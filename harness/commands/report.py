"""`bpebench report`: tables, the ranking, the README's generated parts, and the records of a run themselves."""

from __future__ import annotations

from pathlib import Path

import click

from harness.commands import options
from harness.commands.records import Choice, newest_run, show_records, terminal_width
from harness.commands.verb import Verb, argument, flag, option, write_charts

README = Path("README.md")
_FORMATS = ["text", "markdown", "csv", "json", "latex"]


class Report(Verb):
    """Show the tables of RUN (a folder of records; default: results/local or the newest run inside it).

    The table `ranking` has the geometric mean of time over the workloads the chosen implementations share, with the
    probability of each place; those timed on fewer than three quarters of them are left out.
    """

    folder: Path | None = argument(required=False, metavar="[RUN]", type=options.FOLDER)
    names: tuple[str, ...] = option(
        "Only this table, such as ranking; repeatable.", "--table", multiple=True, metavar="NAME"
    )
    implementation: str | None = options.implementation
    exclude: str | None = options.exclude
    workload: str | None = option("Only workloads whose name matches.", "-w", "--workload", metavar="REGEX")
    format: str = option(None, type=click.Choice(_FORMATS), default="text")
    price: float | None = options.price_option(None)
    list_records: bool = flag("List the records, one numbered line each.", "--records")
    numbers: tuple[int, ...] = option(
        "This record in full; repeatable.", "--record", multiple=True, type=options.POSITIVE
    )
    html: Path | None = option("Write one offline page here.", type=options.FILE)
    charts: Path | None = option("Write the charts (SVG) here.", type=options.FOLDER)
    readme: bool = flag("Regenerate the README's generated parts and all runs' pages.")
    check: bool = flag("Exit with 1 when one of these is stale.")

    def run(self) -> bool:
        """Print or write what was asked for; return whether something generated is stale."""
        if self.check or self.readme:
            return _readme(self.folder, write=self.readme)
        self._show(self.folder if self.folder is not None else newest_run())
        return False

    def _show(self, folder: Path) -> None:
        """Print the tables or the records of a run, or write its page and charts."""
        from harness.records import RecordError, read_records
        from harness.report.layout import as_json as table_as_json
        from harness.report.layout import render
        from harness.report.tables import render_terminal, tables
        from harness.report.tables.compression import DEFAULT_PRICE_PER_MILLION

        choice = Choice(self.implementation, self.exclude, self.workload)
        records = read_records(folder)
        if self.list_records or self.numbers:
            show_records(folder, records, self.numbers, choice, as_json=self.as_json)
            return
        records = [record for record in records if choice.matches(record)]
        amount = DEFAULT_PRICE_PER_MILLION if self.price is None else self.price
        found = tables(records, amount)
        if unknown := [name for name in self.names if name not in found]:
            raise click.UsageError(f"no table {unknown[0]!r} in this run; there are: {', '.join(found)}")
        if not found:
            raise RecordError(f"{folder}: nothing is left to show; choose more with -e and -w")
        if self.html is not None or self.charts is not None:
            is_whole = all(pattern is None for pattern in choice)
            options.ensure(is_whole, "-e, -E and -w choose what tables show; --html and --charts show the whole run")
            _write_pictures(folder, self.html, self.charts, amount)
            return
        chosen = [table for name, table in found.items() if not self.names or name in self.names]
        if self.as_json or self.format == "json":
            options.print_json({"tables": list(map(table_as_json, chosen))})
        elif self.format == "text":
            click.echo(render_terminal(records, price_per_million=amount, names=self.names, width=terminal_width()))
        else:
            click.echo("\n".join(render(table, self.format) for table in chosen))  # type: ignore[arg-type]


def _readme(run: Path | None, *, write: bool) -> bool:
    """Regenerate the README and the runs' pages, or report what is stale of them; return whether something is."""
    from harness.report.readme.write import is_stale, stale_pages, write_readme

    options.ensure(README.is_file(), f"there is no {README} here; run this in the folder of the README")
    if write:
        changed = write_readme(README, run)
        click.echo("\n".join(f"written: {path}" for path in changed) or "nothing was stale")
        return False
    stale = [f"{README}: {line}" for line in is_stale(README.read_text(encoding="utf-8"))]
    stale += stale_pages(README.parent)
    click.echo("\n".join(stale) or f"{README}: nothing is stale")
    return bool(stale)


def _write_pictures(folder: Path, html: Path | None, charts: Path | None, price: float) -> None:
    from harness.records import read_records, write_atomically
    from harness.report.charts import charts as all_charts
    from harness.report.page.run import render_page

    if html is not None:
        write_atomically(html, render_page(folder, price_per_million=price).encode("utf-8", "backslashreplace"))
        options.say(str(html))
    if charts is not None:
        for path in write_charts(charts, all_charts(read_records(folder))):
            options.say(str(path))


command = Report.command()
