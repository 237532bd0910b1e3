"""Chromium without a window: pages that remember what they complained about and what they asked for."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

_ARGUMENTS = [
    "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run", "--disable-component-update",
    "--disable-sync",
]  # fmt: skip

expect.set_options(timeout=60_000)  # a busy machine is no failure


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=_ARGUMENTS)
        yield running
        running.close()


class Watched:
    """A page that remembers what it complained about and what it asked the network for."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.complaints: list[str] = []
        self.requests: list[str] = []
        page.on("console", lambda message: self.complaints.append(message.text))
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("dialog", lambda dialog: self.complaints.append(dialog.message))
        page.on("request", lambda request: self.requests.append(request.url))


@pytest.fixture
def open_page(browser: Browser) -> Iterator[object]:
    contexts = []

    def open_(url: str | Path, *, scheme: str = "light", width: int = 1280, height: int = 900, **more: Any) -> Watched:
        viewport: Any = {"width": width, "height": height}
        context = browser.new_context(color_scheme=scheme, viewport=viewport, **more)  # type: ignore[arg-type]
        contexts.append(context)
        watched = Watched(context.new_page())
        watched.page.goto(url.as_uri() if isinstance(url, Path) else url)
        return watched

    yield open_
    for context in contexts:
        context.close()
