"""Shared by all tests: whether a browser is available for the page tests, and models written by hand."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from typing import Any

import pytest

from impls import Model


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


HandMade = Callable[..., Model]


@pytest.fixture(scope="session")
def hand_made() -> HandMade:
    """A function from merges such as "a+b ab+a" to a model; `extra` adds tokens that no merge makes.

    Tokens: the letters in order (or the 256 bytes), then what the merges make, then the extra ones.
    """

    def build(merges: str, extra: str = "", alphabet: str = "chars", **fields: Any) -> Model:
        pairs = [tuple(part.encode() for part in merge.split("+")) for merge in merges.split()]
        if alphabet == "chars":
            tokens = sorted({letter.encode() for letter in f"{merges}{extra}" if letter not in "+ "})
        else:
            tokens = [bytes([byte]) for byte in range(256)]
        for token in [left + right for left, right in pairs] + [token.encode() for token in extra.split()]:
            if token not in tokens:
                tokens.append(token)
        ids = {token: i for i, token in enumerate(tokens)}
        listed = (
            () if fields.get("merge_rule") == "concatenation" else [(ids[left], ids[right]) for left, right in pairs]
        )
        return Model(tokens=tuple(tokens), merges=tuple(listed), alphabet=alphabet, **fields)

    return build
