"""The static site: made of the committed records, whole, linked, equal to them, and proof against what they hold."""

from __future__ import annotations

import json
import math
import os
import random
import re
import statistics
from collections.abc import Iterator
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest

from harness.records import Counterexample, Disagreement, Measurement, RecordError, RecordWriter, Text
from harness.report.run import Run
from harness.report.site.build import MOST_BYTES, gather, write_site
from harness.report.site.evidence import evidence
from harness.report.site.pages import PAGES, Site

ROOT = Path(__file__).resolve().parents[2]


class Document(HTMLParser):
    """Every element with its attributes, and the rows of every table."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.tables: dict[str, list[list[str]]] = {}
        self._rows: list[list[str]] | None = None
        self._in_cell = False
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = dict(attrs)
        self.elements.append((tag, attributes))
        if tag == "table":
            self._rows = self.tables.setdefault(attributes.get("id") or f"nameless {len(self.tables)}", [])
        elif tag == "tr" and self._rows is not None:
            self._rows.append([])
        elif tag in ("th", "td") and self._rows is not None:
            self._rows[-1].append("")
            self._in_cell = True

    def handle_endtag(self, tag: str) -> None:
        if tag == "table":
            self._rows = None
        elif tag in ("th", "td"):
            self._in_cell = False

    def handle_data(self, data: str) -> None:
        if self._in_cell and self._rows:
            self._rows[-1][-1] += data

    def ids(self) -> set[str]:
        return {attributes["id"] for _, attributes in self.elements if attributes.get("id")}  # type: ignore[misc]

    def of(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.elements if name == tag]


@cache
def document(path: Path) -> Document:
    return Document(path.read_text(encoding="utf-8"))


def view_data(site: Path) -> dict[str, Any]:
    html = (site / "index.html").read_text(encoding="utf-8")
    found = re.search(r'<script type="application/json" id="view-data">(.*?)</script>', html, re.DOTALL)
    assert found is not None
    data: dict[str, Any] = json.loads(found[1])
    return data


# --- made of the committed records ------------------------------------------------------------------------------


def test_every_page_is_there_and_the_site_is_light(site_folder: Path) -> None:
    files = [path for path in site_folder.rglob("*") if path.is_file()]
    assert {path.name for path in site_folder.glob("*.html")} == {f"{name}.html" for name, _ in PAGES}
    runs = [path.parent.name for path in (ROOT / "results").glob("*/records.jsonl") if path.parent.name != "local"]
    assert {path.stem for path in (site_folder / "runs").iterdir()} == set(runs)
    assert len(list((site_folder / "badges").glob("*.svg"))) > 50
    assert sum(path.stat().st_size for path in files) <= MOST_BYTES


def test_every_link_leads_somewhere_and_nothing_is_loaded(site_folder: Path) -> None:
    n_links = 0
    for page in [*site_folder.rglob("*.html"), *site_folder.rglob("*.svg")]:
        for tag, attributes in document(page).elements:
            assert not {"src", "srcset", "data", "xlink:href"} & set(attributes), page
            href = attributes.get("href")
            if href is None or href == "data:,":
                continue
            assert tag == "a", page
            if href.startswith(("https://", "http://")):
                continue
            file, _, fragment = href.partition("#")
            target = page if not file else (page.parent / unquote(file)).resolve()
            assert target.is_file(), f"{page}: {href}"
            assert not fragment or fragment in document(target).ids(), f"{page}: {href}"
            n_links += 1
    assert n_links > 500


def test_every_page_nests_has_unique_ids_and_labelled_landmarks(site_folder: Path) -> None:
    for page in site_folder.rglob("*.html"):
        found = document(page)
        ids = [attributes["id"] for _, attributes in found.elements if attributes.get("id")]
        assert len(set(ids)) == len(ids), page
        assert [len(found.of(tag)) for tag in ("main", "nav", "h1")] == [1, 1, 1]
        named = [name for _, a in found.elements for name in (a.get("aria-labelledby") or "").split()]
        assert set(named) <= set(ids), page


# --- equal to the records ---------------------------------------------------------------------------------------


@cache
def recorded(run: str) -> list[dict[str, Any]]:
    lines = (ROOT / "results" / run / "records.jsonl").read_text(encoding="utf-8").splitlines()
    return [record for record in map(json.loads, lines) if record["kind"] == "measurement" and not record.get("copy")]


def seconds_per_byte(run: str, workload: str, implementation: str) -> float:
    """The geometric mean over rounds of the median sample, straight from the lines of the records."""
    rounds = [r for r in recorded(run) if (r["workload"], r["implementation"]) == (workload, implementation)]
    assert all(r["status"] == "ok" for r in rounds)
    logs = [
        math.log(statistics.median(s / r.get("loops", 1) / r["n_bytes"] for s in r["samples_seconds"])) for r in rounds
    ]
    return math.exp(statistics.mean(logs))


def three_digits(value: float) -> float:
    return float(f"{value:.3g}")


def test_figures_picked_at_random_equal_those_of_the_records(site_folder: Path) -> None:
    rows = [
        (run["id"], workload, row)
        for run in view_data(site_folder)["runs"]
        for workload in run["workloads"]
        for row in workload["rows"]
        if workload["unit"] == "MB/s" and row[1] is not None
    ]
    assert len(rows) > 1000
    n_seeds = int(os.environ.get("BPEBENCH_FUZZ", "1"))
    for seed in range(n_seeds):
        for run, workload, row in random.Random(f"figures {seed}").sample(rows, 10):
            name, shown = row[0], float(row[1].replace(",", ""))
            expected = 1e-6 / seconds_per_byte(run, workload["name"], name)
            assert shown == pytest.approx(three_digits(expected), rel=1e-9), (run, workload["name"], name)
            on_page = [
                cells for cells in document(site_folder / "runs" / f"{run}.html").tables["table-speed"]
                if cells[0] == workload["name"] and cells[2] == name
            ] if workload["work"][:5] != "train" else []  # fmt: skip
            assert all(row[1] in cells for cells in on_page)
            assert on_page or workload["work"][:5] == "train"


def test_ratios_picked_at_random_equal_those_of_the_records(site_folder: Path) -> None:
    workloads = [(run["id"], w) for run in view_data(site_folder)["runs"] for w in run["workloads"] if w["model"]]
    workloads = [(run, w) for run, w in workloads if len(w["ranked"]) > 2 and w["unit"] == "MB/s"]
    for seed in range(int(os.environ.get("BPEBENCH_FUZZ", "1"))):
        for run, workload in random.Random(f"ratios {seed}").sample(workloads, 10):
            base, other = random.Random(seed).sample(range(len(workload["ranked"])), 2)
            times = [seconds_per_byte(run, workload["name"], workload["ranked"][i]) for i in (base, other)]
            value, low, high = (
                float(part) for part in workload["ratios"][base][other].lstrip("≈").replace(",", "").split()
            )
            assert value == pytest.approx(three_digits(times[0] / times[1]), rel=1e-9)
            assert low <= value <= high


def test_what_is_verified_equals_the_records_and_is_never_more(site_folder: Path) -> None:
    found = {(e.implementation, e.model): e for e in evidence(gather(ROOT).runs)}
    for implementation, model in (("tokenizers", "cl100k_base"), ("gigatoken", "llama3"), ("kitoken", "o200k_base")):
        longest: dict[str, int] = {}
        runs = [path.parent.name for path in (ROOT / "results").glob("*/records.jsonl")]
        for run in runs:
            for r in recorded(run):
                if (r["implementation"], r["model"]) == (implementation, model) and r["task"].startswith("encode"):
                    assert r["status"] != "mismatch"
                    if r["status"] == "ok" and r.get("reference") not in ("", None, implementation):
                        longest[r["corpus"]] = max(longest.get(r["corpus"], 0), r["n_bytes"])
        e = found[implementation, model]
        assert e.verdict == "exact"
        assert e.n_bytes > 0
        assert all(
            e.bytes_by_corpus[c.partition("/")[0] if not c.startswith("gen/") else c] >= n for c, n in longest.items()
        )
        largest = sum(n for c, n in longest.items() if c != "mixed")
        assert e.n_bytes <= max(largest, longest.get("mixed", 0)) + sum(
            n for c, n in e.bytes_by_corpus.items() if c not in longest
        )
        badge = (site_folder / "badges" / f"{implementation}-{model}.svg").read_text(encoding="utf-8")
        assert f"exact.html#{implementation}-{model}" in badge
        assert e.said in badge


def test_who_is_wrong_is_said_with_the_text_that_shows_it(site_folder: Path) -> None:
    rows = {cells[0]: cells for cells in document(site_folder / "index.html").tables["exact-table"]}
    assert rows["compiled"][2] == "exact"
    assert rows["iree-tokenizer"][2] == "wrong ids"
    assert rows["tokie"][2] == "wrong ids"
    assert rows["tokie"][6].startswith("'")
    assert rows["greedy"][2] == "other ids by design"


def test_runs_are_compared_with_runs_of_their_own_machine_only(site_folder: Path) -> None:
    rows = document(site_folder / "runs.html").tables["table-history"][1:]
    assert len(rows) > 10
    for cells in rows:
        machines = [
            json.loads((ROOT / "results" / cells[place] / "machine.json").read_text("utf-8")) for place in (5, 8)
        ]
        assert machines[0]["cpu"] == machines[1]["cpu"]
        assert machines[0]["date"] <= machines[1]["date"]


# --- without and with a script ----------------------------------------------------------------------------------


def test_without_a_script_the_first_view_is_a_table_equal_to_the_data(site_folder: Path) -> None:
    data = view_data(site_folder)
    workload = next(
        w for run in data["runs"] if run["id"] == data["main"] for w in run["workloads"] if w["name"] == data["begin"]
    )
    shown = document(site_folder / "index.html").tables["view-table"][1:]
    assert [cells[0] for cells in shown] == [row[0] for row in workload["rows"]]
    for cells, row in zip(shown, workload["rows"], strict=True):
        assert cells[1].removeprefix("≈ ") == (row[1] if row[1] is not None else row[7])


@pytest.mark.page
def test_without_javascript_tables_are_seen_and_controls_are_not(open_page: Any, site_folder: Path) -> None:
    page = open_page(site_folder / "index.html", java_script_enabled=False).page
    assert page.locator("#view-table tbody tr").first.is_visible()
    assert page.locator("#exact-table tbody tr").count() > 20
    assert not page.locator("#view").is_visible()


@pytest.mark.page
def test_choosing_changes_table_and_address_and_the_address_restores_it(open_page: Any, site_folder: Path) -> None:
    watched = open_page(site_folder / "index.html")
    page = watched.page
    names = page.locator("#view-table tbody th")
    before = names.all_inner_texts()
    assert len(before) > 20
    page.get_by_label("Figures", exact=True).select_option("relative")
    page.get_by_label("Baseline", exact=True).select_option("tokenizers")
    assert page.locator("#view-table thead").inner_text().count("× tokenizers") == 1
    row = page.locator("#view-table tbody tr", has=page.locator("th", has_text=re.compile("^compiled$")))
    shown = row.locator("td.figure").inner_text()
    workload = page.evaluate("""() => {
        const data = JSON.parse(document.getElementById("view-data").textContent);
        const run = data.runs.find((one) => one.id === data.main);
        return run.workloads.find((one) => one.name === data.begin);
    }""")
    places = [workload["ranked"].index(name) for name in ("tokenizers", "compiled")]
    assert shown.replace("≈ ", "≈") == workload["ratios"][places[0]][places[1]].split(" ")[0]
    page.locator("#view summary").click()
    page.get_by_role("button", name="None").click()
    assert names.count() == 0
    for name in ("compiled", "tiktoken"):
        page.locator(f"#view .choices input[value={name}]").check()
    assert names.all_inner_texts() == ["compiled", "tiktoken"]
    page.get_by_label("Work", exact=True).select_option("decode")
    page.get_by_label("Text", exact=True).is_visible()
    title = page.locator("#view-title").inner_text()
    assert title.startswith("decode/")
    address = page.url
    assert "only=compiled" in address
    assert "base=tokenizers" in address
    again = open_page(address)
    assert again.page.locator("#view-title").inner_text() == title
    assert again.page.locator("#view-table tbody th").all_inner_texts() == ["compiled", "tiktoken"]
    assert again.page.get_by_label("Baseline", exact=True).input_value() == "tokenizers"
    for one in (watched, again):
        assert one.complaints == []
        assert all(request.startswith("file:") for request in one.requests)


@pytest.mark.page
def test_every_run_and_work_can_be_chosen_and_drawn(open_page: Any, site_folder: Path) -> None:
    watched = open_page(site_folder / "index.html")
    n_views = watched.page.evaluate("""() => {
        const form = document.getElementById("view");
        const choose = (name, value) => {
            form.elements[name].value = value;
            form.elements[name].dispatchEvent(new Event("change", { bubbles: true }));
        };
        let views = 0;
        for (const { id, workloads } of JSON.parse(document.getElementById("view-data").textContent).runs) {
            choose("run", id);
            for (const { name, work, model, text, rows } of workloads) {
                [["work", work], ["model", model], ["text", text]].forEach((one) => choose(...one));
                const table = document.getElementById("view-table");
                const circles = [...table.querySelectorAll(".dot")];
                const dots = circles.every((dot) => parseFloat(dot.getAttribute("x")) >= 0);
                if (table.tBodies[0].rows.length !== rows.length || !dots) throw new Error(`${id} ${name}`);
                const title = document.getElementById("view-title").textContent;
                if (!title.startsWith(name)) throw new Error(title);
                views += 1;
            }
        }
        return views;
    }""")
    assert n_views > 200
    assert watched.complaints == []


@pytest.mark.page
def test_an_address_that_names_what_is_not_there_begins_with_what_is(open_page: Any, site_folder: Path) -> None:
    address = (site_folder / "index.html").as_uri() + "#run=none&work=%3Cb%3E&base=nobody&as=sideways&only=nobody"
    watched = open_page(address)
    assert watched.page.locator("#view-title").inner_text().startswith("encode")
    assert watched.page.locator("#view-table tbody tr").count() == 0
    assert watched.complaints == []


@pytest.mark.page
def test_tables_and_charts_can_be_taken_away(open_page: Any, site_folder: Path) -> None:
    page = open_page(site_folder / "index.html").page
    rows = page.locator("#view-table tbody tr").count()
    for kind in ("CSV", "JSON", "SVG"):
        with page.expect_download() as download:
            page.locator("#speed").get_by_role("button", name=kind).click()
        text = Path(download.value.path()).read_text(encoding="utf-8")
        assert "gigatoken" in text
        if kind == "CSV":
            assert len(text.splitlines()) == rows + 1
        elif kind == "JSON":
            assert len(json.loads(text)) == rows
        else:
            assert "var(" not in text
            assert text.count("<path") > 10
    page.goto((site_folder / "training.html").as_uri())
    with page.expect_download() as download:
        page.locator("figure").first.get_by_role("button", name="SVG").click()
    assert "var(" not in Path(download.value.path()).read_text(encoding="utf-8")


@pytest.mark.page
@pytest.mark.parametrize("width", [360, 1024])
def test_no_page_is_wider_than_the_window_or_complains(open_page: Any, site_folder: Path, width: int) -> None:
    for scheme in ("light", "dark"):
        watched = open_page(site_folder / "index.html", scheme=scheme, width=width)
        for name in [*(f"{name}.html" for name, _ in PAGES), "runs/2026-11-23-epyc-tour.html"]:
            watched.page.goto((site_folder / name).as_uri())
            watched.page.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)")
            assert watched.page.evaluate("document.documentElement.scrollWidth") <= width, name
        assert watched.complaints == []
        assert all(request.startswith("file:") for request in watched.requests)


# --- hostile records --------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def hostile_site(hostile_folder: Path, hostile_text: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    text = hostile_text[:-1]
    found = Disagreement(
        a=hostile_text, b="tiktoken", model=text, counterexample=Counterexample(Text.of(hostile_text), [1], [2]),
        difference="fault", agreement_class="equal under conditions", versions={text: text},
    )  # fmt: skip
    npm = {"package": text, "version": "1", "model": "m", "faults": [{"check": text, "input": hostile_text}]}
    tag = "<img src=x onerror=window.hacked=9>"
    folder = tmp_path_factory.mktemp("hostile") / tag
    folder.mkdir()
    facts = dict.fromkeys(("date", "cpu", "command", "profile"), tag)
    machine = facts | {"warnings": [tag], "packages": {tag: tag}, "usable_cores": tag, tag: {tag: [tag]}}
    (folder / "machine.json").write_text(json.dumps(machine))
    (folder / "plan.json").write_text(json.dumps({"workloads": [{"name": f"{tag}/m/c", "analysis": tag}]}))
    timed: dict[str, Any] = {"task": "encode", "model": tag, "corpus": tag, "n_bytes": 10, "n_texts": 1, "digest": "d"}
    example = Counterexample(Text.of(tag), [1], [2])
    with RecordWriter(folder) as writer:
        for name, status in ((tag, "ok"), ("tiktoken", "ok"), (f"{tag}2", "mismatch"), (f"{tag}3", "crash")):
            writer.write(
                Measurement(
                    workload=f"{tag}/m/c", implementation=name, status=status, reason=tag, samples_seconds=[0.1],  # type: ignore[arg-type]
                    reference="tiktoken", counterexample=example, **timed,
                )
            )  # fmt: skip
    run = Run(f"</code>{tag}", folder)
    out = folder.parent / "site"
    methodology = "# M\n\n[x](javascript:alert(1)) <script>window.hacked=8</script>"
    write_site(Site([run, Run("hostile", hostile_folder)], [found], [npm], methodology), out)
    return out


def test_texts_of_records_open_no_element(hostile_site: Path) -> None:
    for page in hostile_site.rglob("*.html"):
        found = document(page)
        assert len(found.of("script")) == (2 if page.name == "index.html" else 1)
        assert found.of("img") == []
        assert all(not name.startswith("on") for _, attributes in found.elements for name in attributes)
        assert all(not (attributes.get("href") or "").startswith("javascript") for _, attributes in found.elements)
        assert not set("\x1b\u202e") & set(page.read_text(encoding="utf-8"))
    for badge in hostile_site.rglob("*.svg"):
        assert {tag for tag, _ in document(badge).elements} <= {"svg", "title", "a", "rect", "path", "g", "text"}


@pytest.mark.page
def test_no_text_of_a_record_runs(open_page: Any, hostile_site: Path) -> None:
    watched = open_page(hostile_site / "index.html")
    for page in [*hostile_site.rglob("*.html"), *hostile_site.rglob("*.svg")]:
        watched.page.goto(page.as_uri())
        assert watched.page.evaluate("window.hacked") is None, page
    assert watched.complaints == []


# --- the folder written -----------------------------------------------------------------------------------------


def test_a_folder_of_other_files_is_left_alone_and_a_site_is_replaced(hostile_folder: Path, tmp_path: Path) -> None:
    site, out = Site([Run("r", hostile_folder)]), tmp_path / "out"
    out.mkdir()
    (out / "thesis.txt").write_text("mine")
    with pytest.raises(RecordError, match="holds other files than a site"):
        write_site(site, out)
    assert [path.name for path in out.iterdir()] == ["thesis.txt"]
    written = write_site(site, tmp_path / "site")
    (tmp_path / "site" / "stale.html").touch()
    assert write_site(site, tmp_path / "site") == written
    assert not (tmp_path / "site" / "stale.html").exists()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out", "site"]


def test_the_command_names_what_is_missing(bpebench: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    ended = bpebench("site", "--out", "site")
    assert ended.status == 2
    assert "no run in results" in ended.err
    (tmp_path / "empty").mkdir()
    ended = bpebench("site", "empty", "--out", "site")
    assert ended.status == 2
    assert "holds no records.jsonl" in ended.err
    assert not (tmp_path / "site").exists()


def test_the_command_writes_the_site_of_a_run_named(
    bpebench: Any, run_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    ended = bpebench("site", str(run_folder), "--out", "site", "--json")
    assert ended.status == 0
    found = json.loads(ended.out)
    assert Path(found["first_page"]).is_file()
    assert found["n_files"] == sum(path.is_file() for path in (tmp_path / "site").rglob("*")) - 1
    assert (tmp_path / "site" / "runs" / "made-up.html").is_file()


@pytest.fixture(scope="module")
def site_folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    out = tmp_path_factory.mktemp("site") / "site"
    write_site(gather(ROOT), out)
    yield out
    document.cache_clear()
