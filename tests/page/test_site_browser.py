"""The static site in a browser: what is chosen changes table and address, data can be taken away, nothing is loaded."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from harness.report.site.pages import page_texts

pytestmark = pytest.mark.needs("chromium")


def test_without_javascript_tables_are_seen_and_controls_are_not(open_page: Any, site_folder: Path) -> None:
    page = open_page(site_folder / "index.html", java_script_enabled=False).page
    assert page.locator("#view-table tbody tr").first.is_visible()
    assert page.locator("#exact-table tbody tr").count() > 20
    assert not page.locator("#view").is_visible()


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


def test_an_address_that_names_what_is_not_there_begins_with_what_is(open_page: Any, site_folder: Path) -> None:
    address = (site_folder / "index.html").as_uri() + "#run=none&work=%3Cb%3E&base=nobody&as=sideways&only=nobody"
    watched = open_page(address)
    assert watched.page.locator("#view-title").inner_text().startswith("encode")
    assert watched.page.locator("#view-table tbody tr").count() == 0
    assert watched.complaints == []


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


@pytest.mark.parametrize("width", [360, 1024])
def test_no_page_is_wider_than_the_window_or_complains(open_page: Any, site_folder: Path, width: int) -> None:
    for scheme in ("light", "dark"):
        watched = open_page(site_folder / "index.html", scheme=scheme, width=width)
        for name in [*(f"{name}.html" for name in page_texts()), "runs/2026-11-23-epyc-tour.html"]:
            watched.page.goto((site_folder / name).as_uri())
            watched.page.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)")
            assert watched.page.evaluate("document.documentElement.scrollWidth") <= width, name
        assert watched.complaints == []
        assert all(request.startswith("file:") for request in watched.requests)


def test_no_text_of_a_record_runs(open_page: Any, hostile_site: Path) -> None:
    watched = open_page(hostile_site / "index.html")
    for page in [*hostile_site.rglob("*.html"), *hostile_site.rglob("*.svg")]:
        watched.page.goto(page.as_uri())
        assert watched.page.evaluate("window.hacked") is None, page
    assert watched.complaints == []
