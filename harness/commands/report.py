"""`bpebench report`: tables, the ranking, the README's generated parts, and the records of a run themselves."""

from __future__ import annotations

from pathlib import Path

import click

from harness.commands import options
from harness.commands.records import Choice, newest_run, show_records, terminal_width

README = Path("README.md")
_FORMATS = ["text", "markdown", "csv", "json", "latex"]


@click.command("report")
@click.argument("run", required=False, type=click.Path(path_type=Path, file_okay=False))
@click.option("--table", "names", multiple=True, metavar="NAME", help="Only this table, such as ranking; repeatable.")
@options.implementations
@click.option("-w", "--workload", metavar="REGEX", help="Only workloads whose name matches.")
@click.option("--format", "format", type=click.Choice(_FORMATS), default="text", show_default=True)
@options.price()
@click.option("--records", "list_records", is_flag=True, help="List the records, one numbered line each.")
@click.option("--record", "numbers", multiple=True, type=click.IntRange(min=1), help="This record in full; repeatable.")
@click.option("--html", type=click.Path(path_type=Path, dir_okay=False), help="Write one offline page here.")
@click.option("--charts", type=click.Path(path_type=Path, file_okay=False), help="Write the charts (SVG) here.")
@click.option("--readme", is_flag=True, help="Regenerate the README's generated parts and all runs' pages.")
@click.option("--check", is_flag=True, help="Exit with 1 when one of these is stale.")
@options.as_json
def command(
    run: Path | None,
    names: tuple[str, ...],
    implementation: str | None,
    exclude: str | None,
    workload: str | None,
    format: str,
    price: float | None,
    list_records: bool,
    numbers: tuple[int, ...],
    html: Path | None,
    charts: Path | None,
    readme: bool,
    check: bool,
    as_json: bool,
) -> None:
    """Show the tables of RUN (a folder of records; default: results/local or the newest run inside it).

    The table `ranking` has the geometric mean of time over the workloads the chosen implementations share, with the
    probability of each place; those timed on fewer than three quarters of them are left out.
    """
    from harness.records import RecordError, read_records
    from harness.report.layout import as_json as table_as_json
    from harness.report.layout import render
    from harness.report.tables import render_terminal, tables
    from harness.report.tables.compression import DEFAULT_PRICE_PER_MILLION

    if check or readme:
        _readme(run, write=readme)
        return
    folder, choice = run if run is not None else newest_run(), Choice(implementation, exclude, workload)
    records = read_records(folder)
    if list_records or numbers:
        show_records(folder, records, numbers, choice, as_json=as_json)
        return
    records = [record for record in records if choice.matches(record)]
    amount = DEFAULT_PRICE_PER_MILLION if price is None else price
    found = tables(records, amount)
    if unknown := [name for name in names if name not in found]:
        raise click.UsageError(f"no table {unknown[0]!r} in this run; there are: {', '.join(found)}")
    if not found:
        raise RecordError(f"{folder}: nothing is left to show; choose more with -e and -w")
    if html is not None or charts is not None:
        if any(pattern is not None for pattern in choice):
            raise click.UsageError("-e, -E and -w choose what tables show; --html and --charts show the whole run")
        _write_pictures(folder, html, charts, amount)
        return
    chosen = [table for name, table in found.items() if not names or name in names]
    if as_json or format == "json":
        options.print_json({"tables": list(map(table_as_json, chosen))})
    elif format == "text":
        click.echo(render_terminal(records, price_per_million=amount, names=names, width=terminal_width()))
    else:
        click.echo("\n".join(render(table, format) for table in chosen))  # type: ignore[arg-type]


def _readme(run: Path | None, *, write: bool) -> None:
    from harness.report.readme.write import is_stale, stale_pages, write_readme

    if not README.is_file():
        raise click.UsageError(f"there is no {README} here; run this in the folder of the README")
    if write:
        changed = write_readme(README, run)
        click.echo("\n".join(f"written: {path}" for path in changed) or "nothing was stale")
        return
    stale = [f"{README}: {line}" for line in is_stale(README.read_text(encoding="utf-8"))]
    stale += stale_pages(README.parent)
    for line in stale:
        click.echo(line)
    if stale:
        raise click.exceptions.Exit(1)
    click.echo(f"{README}: nothing is stale")


def _write_pictures(folder: Path, html: Path | None, charts: Path | None, price: float) -> None:
    from harness.records import read_records, write_atomically
    from harness.report.charts import charts as all_charts
    from harness.report.charts.chart import svg
    from harness.report.page.run import render_page
    from harness.report.page.templates import slug
    from harness.report.palette import SCHEMES

    if html is not None:
        write_atomically(html, render_page(folder, price_per_million=price).encode("utf-8", "backslashreplace"))
        options.say(str(html))
    if charts is None:
        return
    for chart in all_charts(read_records(folder)):
        for scheme in SCHEMES:
            path = charts / f"{slug(chart.name)}-{scheme}.svg"
            write_atomically(path, svg(chart, scheme).encode())
            options.say(str(path))
