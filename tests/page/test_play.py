"""The playground in a browser, by what a user does: typing, hovering, keys, stepping, training, files, addresses."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Page, expect

import impls

pytestmark = pytest.mark.needs("chromium")

TEXTS = ["evlerimizden gelen hello world, unhappiness and happiness", "hello hello world 👩🏽‍🚀 öğrendik שלום"]
HOSTILE = "<img src=x onerror=alert(1)><script>alert(2)</script>\u202e&amp;"


@pytest.fixture(scope="module")
def model_file(saved: Callable[..., Path]) -> Path:
    return saved(*TEXTS, name="tiny.json", vocab_size=330, special_tokens=("<s>",))


@pytest.fixture(scope="module")
def address(model_file: Path) -> Iterator[str]:
    command = [sys.executable, "-m", "harness", "play", "hello unhappiness", "--port", "0", "-m", str(model_file)]
    command += ["-e", "compiled", "-e", "greedy"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        yield server.stdout.readline().strip()
        server.terminate()


OpenPage = Callable[..., Page]


@pytest.fixture
def open_page(open_page: Any, address: str) -> Iterator[OpenPage]:
    watched = []

    def open_(url: str = address, scheme: str = "light", width: int = 1280) -> Page:
        watched.append(open_page(url, scheme=scheme, width=width))
        page: Page = watched[-1].page
        expect(page.locator(".column").first).to_be_visible()
        for column in page.locator(".column").all():
            expect(column.locator("dd").first).to_be_visible(timeout=20_000)
        return page

    yield open_
    for page in watched:
        assert page.complaints == []
        assert {urlsplit(request).netloc for request in page.requests} == {urlsplit(address).netloc}


def tokens(page: Page, column: int = 0) -> list[str]:
    shown = page.locator(".column").nth(column).locator(".t").all_inner_texts()
    return [text.replace("·", " ").replace("↵", "") for text in shown]


def put(page: Page, text: str) -> None:
    """Paste a text in place of the one there is."""
    script = "(area, text) => { area.value = text; area.dispatchEvent(new Event('input', { bubbles: true })); }"
    page.locator("#text").evaluate(script, text)


def count(page: Page, column: int = 0) -> int:
    return int(page.locator(".column").nth(column).locator("dd").first.inner_text().replace(",", ""))


def test_typing_shows_the_tokens_of_every_column_and_hover_the_same_span(open_page: OpenPage, model_file: Path) -> None:
    page = open_page()
    model, text = impls.Model.load(model_file), "hello worldly unhappiness"
    page.locator("#text").fill("")
    page.locator("#text").press_sequentially(text)
    for column, name in enumerate(("compiled", "greedy")):
        ids = impls.load(name, model).encode(text)
        expect(page.locator(".column").nth(column).locator("dd").first).to_have_text(str(len(ids)))
        assert tokens(page, column) == [model.tokens[i].decode() for i in ids]  # type: ignore[union-attr]
    page.locator(".column").first.locator(".t").last.hover()
    for column in range(2):
        marked = page.locator(".column").nth(column).locator(".t.same")
        assert "unhappiness".endswith("".join(marked.all_inner_texts())[-4:])


def test_keys_move_among_tokens_and_lead_to_the_stepper(open_page: OpenPage, model_file: Path) -> None:
    page = open_page()
    box = page.get_by_role("listbox").first
    box.focus()
    page.keyboard.press("End")
    n = count(page)
    expect(page.locator(".detail").first).to_contain_text(f"token {n} of {n}")
    page.keyboard.press("ArrowLeft")
    expect(page.locator(".detail").first).to_contain_text(f"token {n - 1} of {n}")
    active = box.get_attribute("aria-activedescendant")
    assert page.locator(f"[id='{active}']").get_attribute("role") == "option"
    page.get_by_role("button", name="merge by merge").click()
    expect(page.locator(".derivation")).to_have_count(4)
    steps = int(page.locator("#step").inner_text().rpartition(" ")[2])
    page.keyboard.press("ArrowRight")
    expect(page.locator("#step")).to_have_text(f"1 of {steps}")
    expect(page.locator(".step-text").nth(1)).to_contain_text("step 1")
    page.keyboard.press("End")
    expect(page.locator("#step")).to_have_text(f"{steps} of {steps}")
    ids = impls.load("priority", impls.Model.load(model_file)).encode_piece("hello")
    heap = page.get_by_role("article", name="heap")
    expect(heap.locator(".symbol")).to_have_count(len(ids))
    expect(heap).to_contain_text(" ".join(map(str, ids)))
    page.locator("#scrubber").fill("0")
    expect(heap.locator(".symbol")).to_have_count(len("hello"))
    page.get_by_role("button", name="Play").click()
    expect(page.locator("#step")).to_have_text(f"2 of {steps}")


def test_columns_are_added_changed_and_removed_and_the_address_restores_them(open_page: OpenPage) -> None:
    page = open_page()
    page.locator("#price").fill("2.5")
    page.locator("#text").fill("hello שלום 👩🏽‍🚀")
    page.get_by_role("button", name="Add a column").click()
    page.locator(".column").nth(2).locator(".implementation").select_option("tiktoken")
    expect(page.locator(".column").nth(2)).to_contain_text("same as column 1")
    page.locator(".column").nth(1).get_by_role("button", name="Remove").click()
    expect(page.locator(".column")).to_have_count(2)
    expect(page.locator(".column").nth(1).locator(".implementation")).to_have_value("tiktoken")
    expect(page.locator(".figures").first).to_contain_text("price")
    again = open_page(page.url)
    expect(again.locator("#text")).to_have_value("hello שלום 👩🏽‍🚀")
    expect(again.locator("#price")).to_have_value("2.5")
    expect(again.locator(".column")).to_have_count(2)
    expect(again.locator(".column").nth(1)).to_contain_text("same as column 1")
    assert tokens(again) == tokens(page)
    open_page(page.url.partition("#")[0] + "#not-a-state")


def test_a_difference_is_marked_and_explained(open_page: OpenPage) -> None:
    page = open_page()
    page.locator("#text").fill(" aphap happi apua")
    expect(page.locator(".verdict").nth(1)).to_contain_text("from column 1")
    assert page.locator(".column").nth(1).locator(".t.differs").count() > 0
    page.get_by_role("button", name="explain").click()
    expect(page.locator("#account h2")).to_contain_text("They differ first in: merges")
    expect(page.locator("#account table")).to_contain_text("step 1")
    page.keyboard.press("Escape")
    expect(page.locator("#account")).not_to_be_visible()


def test_what_a_text_or_a_name_holds_is_shown_and_never_run(open_page: OpenPage, model_file: Path) -> None:
    page = open_page()
    page.locator("#text").fill(HOSTILE)
    expect(page.locator(".column").first).to_contain_text("alert(2)</script>")
    script = """(content) => {
        const files = new DataTransfer();
        files.items.add(new File([content], "<img src=x onerror=alert(3)>.json"));
        document.body.dispatchEvent(new DragEvent("drop", { dataTransfer: files, bubbles: true, cancelable: true }));
    }"""
    page.evaluate(script, model_file.read_text(encoding="utf-8"))
    expect(page.locator(".column")).to_have_count(3)
    expect(page.locator(".column").nth(2)).to_contain_text("<img src=x onerror=alert(3)>.json")
    expect(page.locator(".column").nth(2)).to_contain_text("same as column 1")
    assert page.locator("#main img, #main script").count() == 0


def test_a_text_from_right_to_left_is_laid_out_so(open_page: OpenPage) -> None:
    page = open_page()
    page.locator("#sample").select_option("he")
    expect(page.locator("#text")).to_have_value(re.compile("[א-ת]"))
    expect(page.locator(".column").first.locator(".t").nth(50)).to_be_attached()
    first, second = (page.locator(".column").first.locator(".t").nth(k).bounding_box() for k in (0, 3))
    assert first["x"] > second["x"]


def test_a_megabyte_has_few_elements_and_its_end_can_be_reached(open_page: OpenPage) -> None:
    page = open_page()
    line = "hello world, unhappiness öğrendik\n"
    n = 2**20 // len(line.encode())
    put(page, line * n)
    expect(page.locator("#size")).to_contain_text("too long to share as a link")
    total = page.locator(".column").first.locator("dd").first
    expect(total).to_have_text(re.compile(r"^\d{3},\d{3}$"))
    assert page.locator(".t").count() < 8000
    page.get_by_role("listbox").first.focus()
    page.keyboard.press("End")
    expect(page.locator(".detail").first).to_contain_text(f"of {total.inner_text()}")
    expect(page.locator(".t.active").first).to_be_visible()
    put(page, "hello" * 2**18)
    expect(page.locator("#message")).to_contain_text("at most 1,048,576 bytes")


def test_ids_are_copied_and_special_tokens_and_templates_chosen(open_page: OpenPage, model_file: Path) -> None:
    page = open_page()
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    put(page, "hello<s>")
    tokenizer = impls.load("compiled", impls.Model.load(model_file))
    for allowed in ((), "all"):
        ids = tokenizer.encode("hello<s>", allowed_special=allowed, disallowed_special=())
        expect(page.locator(".column").first.locator("dd").first).to_have_text(str(len(ids)))
        shown = page.locator(".ids").first
        if not allowed:
            shown.locator("summary").click()
        expect(shown.locator("code")).to_have_text(" ".join(map(str, ids)))
        shown.get_by_role("button").click()
        expect(shown.get_by_role("button")).to_have_text("copied")
        assert json.loads(page.evaluate("navigator.clipboard.readText()")) == ids
        page.get_by_label("special tokens").check()
    page.get_by_label("special tokens").uncheck()
    put(page, "hello")
    page.get_by_label("Chat template").select_option("ChatML")
    expect(page.locator("#text")).to_have_value("<|im_start|>user\nhello<|im_end|>\n<|im_start|>assistant\n")
    assert page.get_by_label("special tokens").is_checked()


def test_training_shows_merges_and_gives_a_column(open_page: OpenPage) -> None:
    page = open_page()
    page.locator("#text").fill("evlerimizden evlerinize, hello world hello")
    page.get_by_role("tab", name="Train").click()
    page.locator("#vocab-size").fill("275")
    page.get_by_role("button", name="Train on the text").click()
    expect(page.locator("#merges tbody tr")).to_have_count(19)
    expect(page.locator("#trained")).to_contain_text("19 merges")
    expect(page.locator("#curve path")).to_have_count(1)
    with page.expect_download() as download:
        page.get_by_role("link", name="download").click()
    assert impls.Model.load(download.value.path()).vocab_size == 275
    page.get_by_role("button", name="use as a column").click()
    expect(page.locator(".column")).to_have_count(3)
    expect(page.locator(".column").nth(2).locator(".t").first).to_be_visible()
    assert "".join(tokens(page, 2)) == "evlerimizden evlerinize, hello world hello"


def test_languages_have_bars_and_premiums(open_page: OpenPage) -> None:
    page = open_page()
    page.get_by_role("tab", name="Tokens").press("End")
    expect(page.locator("#bars tbody tr").nth(19)).to_be_visible()
    expect(page.locator("#bars meter")).to_have_count(2 * page.locator("#bars tbody tr").count())
    expect(page.locator("#bars tbody tr", has_text="English").first).to_contain_text("1.00 ×")
    expect(page.locator("#bars")).not_to_contain_text("NaN")


@pytest.mark.parametrize(("scheme", "width"), [("light", 360), ("dark", 1600)])
def test_nothing_overflows_in_any_tab(open_page: OpenPage, scheme: str, width: int) -> None:
    page = open_page(scheme=scheme, width=width)
    page.locator("#text").fill("x" * 500 + HOSTILE)
    for tab in ("Merge by merge", "Train", "Languages", "Tokens"):
        page.get_by_role("tab", name=tab).click()
        if tab == "Merge by merge":
            expect(page.locator(".derivation")).to_have_count(4)
        assert page.evaluate("document.documentElement.scrollWidth") <= width, tab
