"""What every test shares: whether a browser is at hand for the page tests."""

from __future__ import annotations

import os
import shutil

import pytest


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    page = [item for item in items if item.get_closest_marker("page")]
    if not page or shutil.which("chromium"):
        return
    if os.environ.get("BPEBENCH_PAGE_TESTS") == "required":
        raise pytest.UsageError("the page tests must run here, but there is no `chromium` on the PATH")
    config.hook.pytest_deselected(items=page)
    items[:] = [item for item in items if item not in page]
    config.stash[_LEFT_OUT] = len(page)


_LEFT_OUT = pytest.StashKey[int]()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    if left_out := config.stash.get(_LEFT_OUT, 0):
        terminalreporter.write_line(f"{left_out} page tests left out: they need `chromium` on the PATH")
