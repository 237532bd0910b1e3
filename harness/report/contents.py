"""The content of a README's generated parts: tables, charts as images, headlines, the machine, the command's help."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from harness.records import read_records
from harness.report import layout, palette, speed, wording
from harness.report.charts import Chart, charts
from harness.report.headlines import headlines
from harness.report.markers import Block, ReadmeError
from harness.report.page import read_machine
from harness.report.table import Row, Table
from harness.report.tables import tables
from harness.report.templates import escape, slug

CHARTS_FOLDER = "charts"
WIDTH = 100
"""Columns of a table in Markdown."""


@dataclass(frozen=True)
class Run:
    """A run's records, read once, and everything derived from them, made on demand."""

    label: str
    folder: Path

    @cached_property
    def records(self) -> list[Any]:
        """Return every record of the run."""
        return read_records(self.folder)

    @cached_property
    def charts(self) -> dict[str, Chart]:
        """Return its charts by name."""
        return {chart.name: chart for chart in charts(self.records, self._speed_rows)}

    @cached_property
    def machine(self) -> dict[str, Any]:
        """Return the facts of the machine it was made on."""
        return read_machine(self.folder)

    @cached_property
    def _speed_rows(self) -> list[Row]:
        return speed.speed_rows(self.records)

    @cached_property
    def _tables(self) -> dict[float, dict[str, Table]]:
        return {}

    def tables(self, price: float) -> dict[str, Table]:
        """Return its tables by name, costs at `price` per million tokens."""
        if price not in self._tables:
            self._tables[price] = tables(self.records, price, self._speed_rows)
        return self._tables[price]


def run_of(block: Block, runs: dict[str, Run], root: Path) -> Run:
    """Return the run a block names, cached in `runs`; raise `ReadmeError` where it names none."""
    if not block.run:
        raise ReadmeError(f"line {block.line}: generated:{block.name} names no run; add run:results/NAME")
    if block.run not in runs:
        runs[block.run] = Run(block.run, root / block.run)
    return runs[block.run]


def render_block(block: Block, runs: dict[str, Run], root: Path) -> str:
    """Return the content of a block, from the line after its marker to the closing one."""
    if not block.needs_run:
        return _help(block)
    run = run_of(block, runs, root)
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
    return layout.render(chosen, "markdown", width=WIDTH)


def headline_list(run: Run, only: str = "") -> str:
    """Return the run's headlines (those matching `only`) as a list, the figure of each in bold."""
    chosen = [h for h in headlines(run.records) if re.search(only, h.text)]
    return "\n".join(f"- {_emphasised(h.text, h.figure)}." for h in chosen)


def _emphasised(sentence: str, figure: str) -> str:
    before, found, after = (layout.escaped_markdown(part) for part in sentence.partition(figure))
    return f"{before}**{found}**{after}" if found else before


_FACTS = ("date", "profile", "cpu", "usable_cores", "memory_bytes", "os", "python", "noise_floor")


def machine_line(run: Run) -> str:
    """Return where and with what the run was made, on one line."""
    facts = run.machine
    shown = []
    for name in _FACTS:
        value = facts.get(name)
        if value is None:
            continue
        if name == "noise_floor":
            value = wording.percent(value)
        elif name.endswith("_bytes"):
            value = wording.size(value)
        shown.append(f"{name.removesuffix('_bytes').replace('_', ' ')} {value}")
    versions = facts.get("packages") or {}
    shown += [f"{name} {version}" for name, version in versions.items() if version and name in _SHOWN_PACKAGES]
    return layout.escaped_markdown(", ".join(shown) or "The machine is not recorded.")


_SHOWN_PACKAGES = ("tiktoken", "tokenizers", "sentencepiece", "regex", "numba")


def image_path(run: str, chart: Chart, scheme: palette.Scheme) -> str:
    """Return the path of a chart's image, relative to the README's folder: beside the run's records."""
    return f"{run}/{CHARTS_FOLDER}/{slug(chart.name)}-{scheme}.svg"


def digest_line(chart: Chart) -> str:
    """Return the first line of a chart's image, a digest that shows whether the image is stale."""
    parts = [chart.spec, chart.title, chart.subtitle, chart.alternative]
    digest = hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()
    return f"<!-- bpebench chart {digest} -->"


def _picture(block: Block, run: Run) -> str:
    name = block.chart or ""
    if name not in run.charts:
        raise ReadmeError(f"line {block.line}: {run.label} has no chart {name!r}; it has: {', '.join(run.charts)}")
    chart = run.charts[name]
    dark, light = (image_path(run.label, chart, scheme) for scheme in ("dark", "light"))
    return (
        "<picture>\n"
        f'  <source media="(prefers-color-scheme: dark)" srcset="{dark}">\n'
        f'  <img alt="{escape(chart.alternative)}" src="{light}">\n'
        "</picture>"
    )


def _help(block: Block) -> str:
    verb = block.name.removeprefix("help").removeprefix("-")
    return f"```console\n{help_text([verb] if verb else [], block.line)}\n```\n"


def help_text(verbs: Sequence[str], line: int = 0) -> str:
    """Return `$ bpebench VERB --help` and its output, 100 columns wide."""
    import click

    from harness.cli import group

    command: click.Command = group
    context = click.Context(group, info_name="bpebench", terminal_width=100, max_content_width=100)
    for verb in verbs:
        found = group.get_command(context, verb)
        if found is None:
            raise ReadmeError(
                f"line {line}: there is no verb {verb!r}; there are: {', '.join(group.list_commands(context))}"
            )
        command, context = (
            found,
            click.Context(found, info_name=verb, parent=context, terminal_width=100, max_content_width=100),
        )
    text = "\n".join(line.rstrip() for line in command.get_help(context).splitlines())
    return f"$ {' '.join(['bpebench', *verbs])} --help\n{text}"
