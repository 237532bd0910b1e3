"""The page in a browser: charts drawn, tooltips, sorting, filtering, schemes, phone width, no request, no error."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page

pytestmark = pytest.mark.needs("chromium")

DRAWN = "() => document.querySelectorAll('.plot').length === document.querySelectorAll('.plot[data-drawn] svg').length"


@pytest.fixture(scope="module")
def url(page_html: str, tmp_path_factory: pytest.TempPathFactory) -> str:
    return written(page_html, tmp_path_factory)


@pytest.fixture(scope="module")
def hostile_url(hostile_html: str, tmp_path_factory: pytest.TempPathFactory) -> str:
    return written(hostile_html, tmp_path_factory)


def written(html: str, tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("page") / "page.html"
    path.write_text(html, encoding="utf-8")
    return path.as_uri()


def draw_all(page: Page) -> None:
    """Bring every chart near the window, which draws it."""
    plots = page.locator(".plot")
    for i in range(plots.count()):
        plots.nth(i).scroll_into_view_if_needed()
    page.wait_for_function(DRAWN)


@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 390)])
def test_every_chart_is_drawn_without_complaint_or_request(open_page, url: str, scheme: str, width: int) -> None:  # type: ignore[no-untyped-def]
    watched = open_page(url, scheme=scheme, width=width)
    draw_all(watched.page)
    assert watched.page.locator(".plot svg").count() > 10
    assert watched.page.evaluate("[...document.querySelectorAll('.plot svg')].every(s => s.getBBox().width > 100)")
    assert watched.complaints == []
    assert [request for request in watched.requests if not request.startswith(("file:", "data:"))] == []


def test_the_body_does_not_scroll_sideways(open_page, url: str, hostile_url: str) -> None:  # type: ignore[no-untyped-def]
    for address in (url, hostile_url):
        page = open_page(address, width=320).page
        draw_all(page)
        page.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)")
        for width in (320, 390, 768, 1280):
            page.set_viewport_size({"width": width, "height": 900})
            assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_a_dot_has_a_tooltip_with_its_figures(open_page, url: str) -> None:  # type: ignore[no-untyped-def]
    page = open_page(url).page
    plot = page.locator('.plot[data-chart="speed-encode/cl100k_base/turkish"]')
    plot.scroll_into_view_if_needed()
    plot.locator(".mark-symbol path").first.hover()
    tooltip = page.locator("#vg-tooltip-element.visible")
    tooltip.wait_for()
    assert "gigatoken" in tooltip.inner_text()
    assert "95 % interval" in tooltip.inner_text()


def column(page: Page, table: str, heading: str) -> list[str]:
    script = """([id, heading]) => {
        const table = document.getElementById(id);
        const index = [...table.tHead.rows[0].cells].findIndex(cell => cell.textContent === heading);
        return [...table.tBodies[0].rows].filter(row => !row.hidden).map(row => row.cells[index].textContent);
    }"""
    found: list[str] = page.evaluate(script, [table, heading])
    return found


def test_a_table_sorts_by_figure_both_ways_and_says_so(open_page, url: str) -> None:  # type: ignore[no-untyped-def]
    page = open_page(url).page
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
    assert figures[-1] > 1000


def test_what_has_no_figure_is_last_whichever_way_a_table_is_sorted(open_page, url: str) -> None:  # type: ignore[no-untyped-def]
    page = open_page(url).page
    button = page.locator("#table-training th", has_text="MB/s").get_by_role("button")
    for _ in range(2):
        button.click()
        assert column(page, "table-training", "MB/s")[-2:] == ["—", "—"]


def test_a_table_filters_by_several_words_and_counts_what_is_left(open_page, url: str) -> None:  # type: ignore[no-untyped-def]
    page = open_page(url).page
    page.locator("summary", has_text="Speed (").click()
    tools = page.locator('.tools[data-table="table-speed"]')
    tools.get_by_role("searchbox").fill("tiktoken encode/cl100k")
    assert set(column(page, "table-speed", "implementation")) == {"tiktoken"}
    assert column(page, "table-speed", "workload") == ["encode/cl100k_base/english", "encode/cl100k_base/turkish"]
    assert tools.locator("output").inner_text().startswith("2 of ")
    tools.get_by_role("searchbox").fill("")
    assert len(column(page, "table-speed", "workload")) > 100


def test_the_switch_changes_the_scheme_of_page_and_charts_and_is_remembered(open_page, url: str) -> None:  # type: ignore[no-untyped-def]
    page = open_page(url, scheme="light").page
    ground = "getComputedStyle(document.body).backgroundColor"
    assert page.evaluate(ground) == "rgb(255, 255, 255)"
    switch = page.get_by_role("button", name="Dark")
    assert switch.get_attribute("aria-pressed") == "false"
    page.locator(".plot").first.scroll_into_view_if_needed()
    page.wait_for_selector(".plot[data-drawn=light]")
    switch.click()
    page.wait_for_selector(".plot[data-drawn=dark]")
    assert switch.get_attribute("aria-pressed") == "true"
    assert page.evaluate(ground) != "rgb(255, 255, 255)"
    page.reload()
    assert page.evaluate("document.documentElement.dataset.scheme") == "dark"


def test_the_page_follows_the_systems_scheme(open_page, url: str) -> None:  # type: ignore[no-untyped-def]
    page = open_page(url, scheme="dark").page
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(22, 25, 29)"
    page.locator(".plot").first.scroll_into_view_if_needed()
    page.wait_for_selector(".plot[data-drawn=dark]")
    page.emulate_media(color_scheme="light")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    page.wait_for_selector(".plot[data-drawn=light]")


def test_the_agreement_of_one_model_can_be_chosen(open_page, url: str) -> None:  # type: ignore[no-untyped-def]
    page = open_page(url).page
    plot = page.locator('.plot[data-chart="agreement"]')
    plot.scroll_into_view_if_needed()
    page.wait_for_selector('.plot[data-chart="agreement"][data-drawn]')
    choice = page.get_by_label("Model")
    assert choice.locator("option").all_inner_texts() == ["all models together", "cl100k_base", "turkish-10k"]
    before = plot.locator(".mark-rect path").count()
    choice.select_option("turkish-10k")
    assert plot.locator(".mark-rect path").count() == before > 20


def test_the_keyboard_reaches_the_results_first(open_page, url: str) -> None:  # type: ignore[no-untyped-def]
    page = open_page(url).page
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the results"
    page.keyboard.press("Enter")
    assert page.evaluate("location.hash") == "#main"


def test_no_text_of_a_record_runs(open_page, hostile_url: str) -> None:  # type: ignore[no-untyped-def]
    watched = open_page(hostile_url)
    draw_all(watched.page)
    watched.page.locator(".mark-symbol path").first.hover()
    watched.page.locator("#vg-tooltip-element.visible").wait_for()
    assert watched.page.evaluate("window.hacked") is None
    assert watched.page.locator("#vg-tooltip-element img, #vg-tooltip-element svg").count() == 0
    assert watched.complaints == []
