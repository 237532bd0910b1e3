"""The pages of the site, made of the same tables and charts as the reports."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from importlib.resources import files
from typing import Any

from markupsafe import Markup

from harness.records import Disagreement
from harness.report.charts.chart import Chart
from harness.report.charts.growth import merge_charts
from harness.report.charts.speed import pareto_charts, release_charts, throughput_charts
from harness.report.page.run import KIND_MARKS
from harness.report.page.templates import asset, render, script_json, slug
from harness.report.run import Run
from harness.report.site import tables as site_tables
from harness.report.site.barometer import barometer
from harness.report.site.blocks import (
    Block,
    chart_blocks,
    distinct,
    section_of,
    table_block,
)
from harness.report.site.evidence import Evidence, evidence, slug_of, summary
from harness.report.site.versions import by_machine, date_of, history_rows, machine_name, release_rows
from harness.report.table import grouped, table_of
from harness.report.tables.compression import DEFAULT_PRICE_PER_MILLION


@cache
def page_texts() -> dict[str, dict[str, str]]:
    """Return heading and lead of each page, by the name of its file."""
    return tomllib.loads((files("harness.report.site") / "pages.toml").read_text(encoding="utf-8"))


_PLANTED = "-planted"
"""Suffix of runs that test the method on planted differences; only the page of runs shows them."""
_MANY_ROWS = 60
"""A history of more rows is folded."""
_COLOURS = {"exact": "#00734f", "wrong ids": "#b3261e", "other ids by design": "#7a5c00", "not verified": "#5e6770"}
_MARKS = {"exact": "good", "wrong ids": "bad"}


@dataclass(frozen=True)
class Site:
    """Everything the pages are made of."""

    every_run: Sequence[Run]
    """All runs, the newest first."""
    disagreements: Sequence[Disagreement] = ()
    methodology: str = ""
    """Content of METHODOLOGY.md, or an empty string."""

    @cached_property
    def runs(self) -> list[Run]:
        """Return the runs that compare implementations."""
        return [run for run in self.every_run if not run.folder.name.endswith(_PLANTED)]

    @cached_property
    def evidence(self) -> list[Evidence]:
        """Return what was verified, by implementation and vocabulary."""
        return evidence(self.runs, self.disagreements)

    @cached_property
    def files(self) -> dict[str, str]:
        """Return the file of each run's page, by the run's name."""
        return distinct({run.folder.name: slug(run.folder.name) for run in self.every_run})

    @cached_property
    def places(self) -> dict[str, str]:
        """Return the anchor of each implementation on the page of verified text."""
        names = dict.fromkeys(found.implementation for found in self.evidence)
        return distinct({name: f"of-{slug(name)}" for name in names})

    @cached_property
    def badge_files(self) -> dict[tuple[str, str], str]:
        """Return the file of each badge, and its anchor on the page of verified text."""
        return distinct({(found.implementation, found.model): slug_of(found) for found in self.evidence})

    def pages(self) -> Iterator[tuple[str, str]]:
        """Yield the path and content of every file."""
        makers: dict[str, Callable[[], Sequence[Block]]] = {
            "exact": self._exact, "languages": self._languages, "training": self._training, "hostile": self._hostile,
            "counterexamples": self._counterexamples, "methodology": self._methodology, "runs": self._runs,
        }  # fmt: skip
        for name, page in page_texts().items():
            more = self._index() if name == "index" else {"sections": makers[name]()}
            yield f"{name}.html", self._page(name, **page, **more)
        for run in self.every_run:
            yield f"runs/{self.files[run.folder.name]}.html", self._run(run)
        for found in self.evidence:
            name = self.badge_files[found.implementation, found.model]
            yield f"badges/{name}.svg", self._badge(found, f"../exact.html#{name}")

    def _page(self, here: str, heading: str, lead: str, up: str = "", **more: Any) -> str:
        template = "site/index.html" if here == "index" else "site/layout.html"
        script = asset("tables.js") + asset("site.js") + (asset("barometer.js") if here == "index" else "")
        headings = [(name, page["heading"]) for name, page in page_texts().items()]
        return render(
            template, script, title=f"{heading} · bpebench", heading=heading, lead=lead, here=here, up=up,
            pages=headings, n_runs=len(self.every_run), **more,
        )  # fmt: skip

    # --- the barometer and what was verified ---------------------------------------------------------------------

    def _index(self) -> dict[str, Any]:
        data = barometer(self.runs)
        main = next((run for run in self.runs if run.folder.name == data["main"]), None)
        chosen = {run["id"]: run for run in data["runs"]}.get(data["main"], {"workloads": ()})
        begin = next((w for w in chosen["workloads"] if w["name"] == data["begin"]), None)
        return {
            "sections": [],
            "tiles_shown": list(self._tiles(main)),
            "begin": begin and begin | {"run": chosen["id"], **{key: chosen[key] for key in ("command", "claimed")}},
            "exact": [
                row | {"id": self.places[row["name"]], "mark": _MARKS.get(row["verdict"], "other")}
                for row in summary(self.evidence)
            ],
            "run_links": [{"href": f"runs/{self.files[r.folder.name]}.html", "text": r.folder.name} for r in self.runs],
            "kinds": KIND_MARKS,
            "view_data": script_json(data),
        }

    def _tiles(self, main: Run | None) -> Iterator[Block]:
        rows = summary(self.evidence)
        exact, wrong = (sum(row["verdict"] == verdict for row in rows) for verdict in ("exact", "wrong ids"))
        if rows:
            said = f"implementations gave no other ids than the reference; {wrong} did"
            yield {"figure": f"{exact} of {exact + wrong}", "text": said, "href": "#exact"}
        wanted = ((main, "as fast as"), *((run, "learns|hostile") for run in self.runs if run is not main))
        seen: set[str] = set()
        for run, pattern in wanted:
            for headline in [] if run is None else run.headlines:
                what = re.search(pattern, headline.text)
                if what is not None and what[0] not in seen:
                    seen.add(what[0])
                    href = f"runs/{self.files[run.folder.name]}.html" if run is not None else ""
                    yield {"figure": headline.figure, "text": headline.text, "href": href}

    def _exact(self) -> list[Block]:
        return [
            {
                "id": self.places[name], "heading": f"{name} {some[0].version or ''}".strip(), "lead": "",
                "blocks": [self._badge_block(found) for found in some],
            }
            for name, some in grouped(self.evidence, lambda found: found.implementation).items()
        ]  # fmt: skip

    def _badge_block(self, found: Evidence) -> Block:
        return {
            "kind": "badge", "found": found, "id": self.badge_files[found.implementation, found.model],
            "svg": Markup(self._badge(found)), "runs": self.files,
        }  # fmt: skip

    def _badge(self, found: Evidence, page: str = "") -> str:
        said, label = found.said, "ids"
        return render(
            "site/badge.svg", label=label, said=said, left=30, right=round(6.2 * len(said)) + 14,
            colour=_COLOURS[found.verdict], implementation=found.implementation, model=found.model,
            page=page,
        )  # fmt: skip

    # --- by subject ----------------------------------------------------------------------------------------------

    def _languages(self) -> list[Block]:
        reach = site_tables.reach_table(self.runs)
        command = "bpebench evaluate -m o200k_base -m gpt2 -c parallel --price 2.5"
        sections = [section_of("reach", "One text, every vocabulary", [table_block(reach, command)])]
        sections = sections if len(reach.frame) else []
        sections += self._by_run(("turkish", "compression"), lambda run: pareto_charts(run.records, run.speed_rows))
        return sections

    def _training(self) -> list[Block]:
        names = ("training", "trained", "learned", "trainers", "trainer-differences")
        # Charts of the newest run of each machine that only trains; the tables are shown for all runs.
        trains = [run for run in self.runs if all(row["task"] == "train" for row in run.speed_rows)]
        drawn = [group[0] for group in by_machine(trains)]

        def charts(run: Run) -> Iterator[Chart]:
            yield from throughput_charts(run.speed_rows) if run in drawn else ()
            yield from merge_charts(run.records)

        return self._by_run(names, charts)

    def _hostile(self) -> list[Block]:
        sections: list[Block] = []
        for run in self.runs:
            rows = site_tables.hostile_rows(run)
            blocks = [table_block(site_tables.worst_table(rows), run.label, "speed")] if rows else []
            found = run.tables(DEFAULT_PRICE_PER_MILLION)
            blocks += [table_block(found[name], run.label, name) for name in ("breaks", "scaling") if name in found]
            if blocks:
                blocks += [table_block(found["failures"], run.label, "failures")] if "failures" in found else []
                sections.append(self._run_section(run, blocks))
        return sections

    def _counterexamples(self) -> list[Block]:
        sections: list[Block] = []
        if self.disagreements:
            command = "bpebench fuzz --replay"
            kept = table_block(site_tables.kept_table(self.disagreements), command)
            sections.append(section_of("kept", "Found by fuzzing", [kept]))
        sections += self._by_run(("counterexamples",))
        return sections

    def _methodology(self) -> list[Block]:
        from harness.report.site.blocks import html_of

        blocks: list[Block] = [{"kind": "html", "html": Markup(html_of(self.methodology))}]
        if not self.methodology:
            blocks = [{"kind": "note", "text": "METHODOLOGY.md is in the repository of the suite, and was not there."}]
        return [section_of("text", "What the figures mean", blocks)]

    def _runs(self) -> list[Block]:
        sections: list[Block] = []
        for group in by_machine(self.every_run):
            name = machine_name(group[0])
            links = [
                {
                    "href": f"runs/{self.files[run.folder.name]}.html", "text": run.folder.name,
                    "about": run.headlines[0].text if run.headlines else "",
                    "command": str(run.machine.get("command") or ""),
                }
                for run in group
            ]  # fmt: skip
            sections.append(section_of(f"machine-{len(sections) + 1}", name, [{"kind": "links", "links": links}]))
        history = table_of(
            "history", sorted(history_rows(self.every_run), key=lambda row: (row["workload"], row["implementation"]))
        )
        if releases := list(release_rows(self.every_run)):
            command = "bpebench run --release NAME==VERSION"
            found = table_block(table_of("releases", releases), command)
            blocks = [found, *chart_blocks(release_charts(releases), command)]
            sections.append(section_of("releases", "Releases of a package", blocks))
        if len(history.frame):
            block = table_block(history, "bpebench compare results/EARLIER results/LATER")
            block["view"]["folded"] = len(history.frame) > _MANY_ROWS
            lead = "Runs of one machine only; every implementation with its version, of our own with the commit."
            sections.append(section_of("history", "Versions over time", [block]) | {"lead": lead})
        return sections

    def _run(self, run: Run) -> str:
        facts = {key: value for key, value in run.machine.items() if key not in ("command", "warnings")}
        found = run.tables(DEFAULT_PRICE_PER_MILLION)
        sections = [
            section_of("tables", "All tables", [table_block(table, run.label, name) for name, table in found.items()]),
            section_of(
                "care", "Take these figures with care", [{"kind": "note", "text": line} for line in run.warnings]
            ),
            section_of("machine", "Machine and versions", [{"kind": "facts", "facts": facts}]),
        ]
        summary: list[Block] = [{"kind": "tiles", "headlines": run.headlines}] if run.headlines else []
        summary += [{"kind": "command", "command": str(run.machine.get("command") or "")}]
        lead = f"{date_of(run)} · {machine_name(run)}".strip(" ·")
        sections = [section_of("summary", "Summary", summary), *(one for one in sections if one["blocks"])]
        return self._page("", run.folder.name, lead, up="../", sections=sections)

    def _by_run(self, names: Sequence[str], charts: Any = lambda run: ()) -> list[Block]:
        """Return a section for each run with one of these tables; of equal tables only the newest run's is shown."""
        sections: list[Block] = []
        shown: set[str] = set()
        for run in self.runs:
            found = run.tables(DEFAULT_PRICE_PER_MILLION)
            texts = {name: found[name].frame.to_csv() for name in names if name in found}
            blocks = [table_block(found[name], run.label, name) for name, text in texts.items() if text not in shown]
            shown |= set(texts.values())
            if blocks:
                drawn = chart_blocks(charts(run), f"bpebench report {run.label} --charts charts")
                sections.append(self._run_section(run, [*drawn, *blocks]))
        return sections

    def _run_section(self, run: Run, blocks: list[Block]) -> Block:
        file = self.files[run.folder.name]
        link = {"href": f"runs/{file}.html", "text": "the whole run", "about": "", "command": ""}
        where = f"{date_of(run)} · {machine_name(run)}".strip(" ·")
        name = f"run-{file}"
        section = section_of(name, run.folder.name, [*blocks, {"kind": "links", "links": [link]}]) | {"lead": where}
        for view in (block["view"] for block in blocks if block["kind"] == "table"):
            for grid in view["grids"]:
                grid |= {"id": f"{name}-{grid['id']}", "section": name}
        return section
