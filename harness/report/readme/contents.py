"""The content of a README's generated parts: tables, charts as images, headlines, the machine, the command's help."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Sequence
from dataclasses import replace

from markupsafe import escape

from harness.report import palette
from harness.report.charts.chart import Chart
from harness.report.page.templates import slug
from harness.report.readme.markers import Block, ReadmeError
from harness.report.readme.runs import WIDTH, headline_list, machine_line, table_text
from harness.report.run import Run


def render_block(block: Block, run: Run | None) -> str:
    """Return the content of a block, from the line after its marker to the closing one; help needs no run."""
    if run is None:
        verb = block.name.removeprefix("help").removeprefix("-")
        return f"```console\n{help_text([verb] if verb else [], block.line)}\n```\n"
    if block.name == "headlines":
        body = headline_list(run, block.only)
    elif block.name == "machine":
        body = machine_line(run)
    else:
        body = _picture(block, run) if block.chart is not None else _table(block, run)
    return f"{body.strip()}\n"


def _table(block: Block, run: Run) -> str:
    found = run.tables(block.price)
    if block.name not in found:
        known = ", ".join([*found, "headlines", "machine", "help", *(f"chart-{name}" for name in run.charts)])
        raise ReadmeError(f"line {block.line}: {run.label} has nothing for {block.name!r}; it has: {known}")
    chosen = found[block.name]
    if block.only:
        if chosen.group_by is None:
            raise ReadmeError(f"line {block.line}: the table {block.name!r} has no groups for only: to choose from")
        kept = chosen.frame[chosen.group_by].map(lambda group: re.search(block.only, str(group)) is not None)
        if not kept.any():
            raise ReadmeError(f"line {block.line}: no group of {block.name!r} matches {block.only!r}")
        chosen = replace(chosen, frame=chosen.frame[kept])
    return table_text(chosen)


def chart_of(block: Block, run: Run) -> Chart:
    """Return the chart a block shows; raise `ReadmeError` where the run has none of this name."""
    if block.chart not in run.charts:
        known = ", ".join(run.charts)
        raise ReadmeError(f"line {block.line}: {run.label} has no chart {block.chart!r}; it has: {known}")
    return run.charts[block.chart]


def image_path(run: str, chart: Chart, scheme: palette.Scheme) -> str:
    """Return the path of a chart's image, relative to the README's folder: beside the run's records."""
    return f"{run}/charts/{slug(chart.name)}-{scheme}.svg"


def digest_line(chart: Chart) -> str:
    """Return the first line of a chart's image, a digest that shows whether the image is stale."""
    parts = [chart.spec, chart.title, chart.subtitle, chart.alternative]
    digest = hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()
    return f"<!-- bpebench chart {digest} -->"


def _picture(block: Block, run: Run) -> str:
    chart = chart_of(block, run)
    return (
        "<picture>\n"
        f'  <source media="(prefers-color-scheme: dark)" srcset="{image_path(run.label, chart, "dark")}">\n'
        f'  <img alt="{escape(chart.alternative)}" src="{image_path(run.label, chart, "light")}">\n'
        "</picture>"
    )


def help_text(verbs: Sequence[str], line: int = 0) -> str:
    """Return `$ bpebench VERB --help` and its output, 100 columns wide."""
    import click

    from harness.cli import group

    command: click.Command = group
    context = click.Context(group, info_name="bpebench", terminal_width=WIDTH, max_content_width=WIDTH)
    for verb in verbs:
        found = group.get_command(context, verb)
        if found is None:
            known = ", ".join(group.list_commands(context))
            raise ReadmeError(f"line {line}: there is no verb {verb!r}; there are: {known}")
        command, context = found, click.Context(found, info_name=verb, parent=context)
    text = "\n".join(line.rstrip() for line in command.get_help(context).splitlines())
    return f"$ {' '.join(['bpebench', *verbs])} --help\n{text}"
