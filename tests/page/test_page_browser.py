"""The page in a browser: charts, folded parts, sorting, filtering, schemes, phone width, no request, no error."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page

pytestmark = pytest.mark.needs("chromium")

OPEN = "document.querySelectorAll('details').forEach(d => d.open = true)"


@pytest.fixture(scope="module")
def several_url(several_html: str, tmp_path_factory: pytest.TempPathFactory) -> str:
    return written(several_html, tmp_path_factory)


@pytest.fixture(scope="module")
def url(page_html: str, tmp_path_factory: pytest.TempPathFactory) -> str:
    return written(page_html, tmp_path_factory)


def written(html: str, tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("page") / "page.html"
    path.write_text(html, encoding="utf-8")
    return path.as_uri()


def test_the_page_is_quiet_runs_no_text_and_does_not_scroll_sideways(open_page: Any, several_url: str) -> None:
    watched = open_page(several_url, scheme="dark", width=320)
    page = watched.page
    page.evaluate(OPEN)
    for width in (320, 390, 768, 1280):
        page.set_viewport_size({"width": width, "height": 900})
        assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.evaluate("window.hacked") is None
    assert page.locator("main img, main b").count() == 0
    assert watched.complaints == []
    assert [request for request in watched.requests if not request.startswith(("file:", "data:"))] == []


def test_the_page_is_short_until_a_part_is_opened_by_its_link(open_page: Any, url: str) -> None:
    page = open_page(url, width=360).page
    assert page.evaluate("document.documentElement.scrollHeight") < 7000
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the results"
    page.keyboard.press("Enter")
    assert page.evaluate("location.hash") == "#main"
    part = page.locator("#memory")
    assert part.get_attribute("open") is None
    page.get_by_role("navigation").get_by_role("link", name="Memory").click()
    page.locator("#table-memory").wait_for()  # the address changes first, then the part opens
    assert part.get_attribute("open") is not None


def test_a_phone_shows_the_speeds(open_page: Any, url: str) -> None:
    for choice in ("", "#only=tiktoken&only=greedy"):
        page = open_page(url + choice, width=360).page
        for cell in page.locator("#view-table td.figure, #view-table td.long, #view-table td.why").all():
            place = cell.bounding_box()
            assert 0 < place["x"] < place["x"] + place["width"] <= 360


def column(page: Page, table: str, heading: str) -> list[str]:
    script = """([id, heading]) => {
        const table = document.getElementById(id);
        const index = [...table.tHead.rows[0].cells].findIndex(cell => cell.textContent === heading);
        return [...table.tBodies[0].rows].filter(row => !row.hidden).map(row => row.cells[index].textContent);
    }"""
    return page.evaluate(script, [table, heading])


def test_a_table_sorts_by_figure_both_ways_and_says_so(open_page: Any, url: str) -> None:
    page = open_page(url).page
    page.evaluate(OPEN)
    heading = page.locator("#table-ranking th", has_text="× best")
    button = heading.get_by_role("button")
    button.click()
    ascending = column(page, "table-ranking", "× best")
    assert heading.get_attribute("aria-sort") == "ascending"
    button.focus()
    page.keyboard.press("Enter")
    assert heading.get_attribute("aria-sort") == "descending"
    assert column(page, "table-ranking", "× best") == ascending[::-1]
    figures = [float(text.replace("≈", "").replace(",", "")) for text in ascending]
    assert figures == sorted(figures)


def test_a_table_filters_by_several_words_and_counts_what_is_left(open_page: Any, url: str) -> None:
    page = open_page(url).page
    page.evaluate(OPEN)
    tools = page.locator('.tools[data-table="table-speed"]')
    tools.get_by_role("searchbox").fill("tiktoken base/english")
    assert set(column(page, "table-speed", "implementation")) == {"tiktoken"}
    assert column(page, "table-speed", "workload") == ["encode/o200k_base/english"]
    assert tools.locator("output").inner_text().startswith("1 of ")
    tools.get_by_role("searchbox").fill("")
    assert len(column(page, "table-speed", "workload")) > 20


def test_the_scheme_is_the_systems_until_the_switch_which_is_remembered(open_page: Any, url: str) -> None:
    page = open_page(url, scheme="dark").page
    ground = "getComputedStyle(document.body).backgroundColor"
    ink = "getComputedStyle(document.body).color"
    assert page.evaluate(ground) == "rgb(22, 25, 29)"
    page.emulate_media(color_scheme="light")
    light = page.evaluate(ground), page.evaluate(ink)
    assert light[0] == "rgb(255, 255, 255)"
    page.get_by_role("button", name="Dark theme").click()
    dark = page.evaluate(ground), page.evaluate(ink)
    assert dark[0] == "rgb(22, 25, 29)"
    assert dark[1] != light[1]
    page.reload()
    assert page.evaluate(ground) == dark[0]
    page.get_by_role("button", name="Light theme").click()
    assert page.evaluate(ground) == light[0]


# --- the explorer ------------------------------------------------------------------------------------------------


def test_without_javascript_tables_are_seen_and_controls_are_not(open_page: Any, several_url: str) -> None:
    page = open_page(several_url, java_script_enabled=False).page
    assert page.locator("#view-table tbody tr").first.is_visible()
    assert page.locator("#table-overview tbody tr").count() > 5
    assert not page.locator("#view").is_visible()


def test_choosing_changes_table_and_address_and_the_address_restores_it(open_page: Any, several_url: str) -> None:
    watched = open_page(several_url)
    page = watched.page
    names = page.locator("#view-table tbody th")
    before = names.all_inner_texts()
    assert len(before) > 5
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
    page.get_by_label("Text", exact=True).select_option("code")
    title = page.locator("#view-title").inner_text()
    assert title.startswith("encode/o200k_base/code")
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


def test_every_run_and_work_can_be_chosen_and_drawn(open_page: Any, several_url: str) -> None:
    watched = open_page(several_url)
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
    assert n_views > 15
    assert watched.complaints == []


def test_the_table_and_its_chart_can_be_taken_away(open_page: Any, several_url: str) -> None:
    page = open_page(several_url).page
    rows = page.locator("#view-table tbody tr").count()
    for kind in ("CSV", "JSON", "SVG"):
        with page.expect_download() as download:
            page.locator("#explorer").get_by_role("button", name=kind, exact=True).click()
        text = Path(download.value.path()).read_text(encoding="utf-8")
        assert "compiled" in text
        if kind == "CSV":
            assert len(text.splitlines()) == rows + 1
        elif kind == "JSON":
            assert len(json.loads(text)) == rows
        else:
            assert "var(" not in text
            assert text.count("<path") >= page.locator("#view-table tbody tr:not(.failed)").count() > 0
