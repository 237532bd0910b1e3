"""Shared by all tests: which of them run here, campaigns, random order, and models written by hand."""

from __future__ import annotations

import gc
import os
import random
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from hand_made import hand_made

import impls
from impls import Model
from impls.compiled.codegen.native import faults
from impls.core.text.unicode_16 import stand_ins

NEEDS = {
    "chromium": (lambda: shutil.which("chromium"), "the program chromium"),
    "node": (lambda: shutil.which("node"), "the program node"),
    "locked regex": (lambda: not stand_ins(), "the locked packages"),
    "newer regex": (stand_ins, "pip install --target FOLDER regex, then PYTHONPATH=FOLDER"),
    "transformers": (lambda: find_spec("transformers"), "pip install transformers"),
    "peers": (lambda: find_spec("kitoken"), "pip install -r requirements-peers.lock"),
}
"""What tests may need besides the locked packages, by the argument of their mark `needs`: is it here, where from."""


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("bpebench")
    group.addoption("--campaign", type=float, default=0.0, metavar="SECONDS",
                    help="repeat the tests that draw at random, with other seeds, and run those of campaigns only, "
                         "drawn in turn, for SECONDS in all")  # fmt: skip
    group.addoption("--seed", type=int, default=0, help="seed of a campaign and of --shuffle")
    group.addoption("--shuffle", action="store_true", help="run the tests in random order")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    missing = {name: how for name, (is_here, how) in NEEDS.items() if not is_here()}
    if "chromium" in missing and os.environ.get("BPEBENCH_PAGE_TESTS") == "required":
        raise pytest.UsageError("the page tests must run here, but there is no `chromium` on the PATH")
    left_out: dict[str, list[pytest.Item]] = {}
    for item in items:
        if lacking := [mark.args[0] for mark in item.iter_markers("needs") if mark.args[0] in missing]:
            left_out.setdefault(missing[lacking[0]], []).append(item)
        elif item.get_closest_marker("campaign") is not None and not config.option.campaign:
            left_out.setdefault("make campaign", []).append(item)
    gone = {item for those in left_out.values() for item in those}
    if config.option.campaign:
        gone |= {item for item in items if not _is_drawn(item) and item.get_closest_marker("campaign") is None}
    config.stash[_LEFT_OUT] = {how: len(those) for how, those in left_out.items()}
    config.hook.pytest_deselected(items=list(gone))
    items[:] = [item for item in items if item not in gone]
    if config.option.campaign:
        config.stash[_END] = time.monotonic() + config.option.campaign
        random.Random(config.option.seed).shuffle(whole := [item for item in items if not _is_drawn(item)])
        items[:] = [*filter(_is_drawn, items), *whole]
    config.stash[_SHARE] = config.option.campaign / max(1, sum(map(_is_drawn, items)))
    if config.option.shuffle:
        random.Random(config.option.seed).shuffle(items)


_LEFT_OUT = pytest.StashKey[dict[str, int]]()
_SHARE = pytest.StashKey[float]()
_END = pytest.StashKey[float]()


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Begin no further test of a campaign once its time is over."""
    if item.get_closest_marker("campaign") and time.monotonic() > item.config.stash.get(_END, float("inf")):
        pytest.skip("the campaign's seconds are over")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    if left_out := config.stash.get(_LEFT_OUT, {}):
        parts = ", ".join(f"{n} need `{how}`" for how, n in left_out.items())
        terminalreporter.write_line(f"tests left out: {parts}")


def _is_drawn(item: pytest.Item) -> bool:
    """Return whether a test draws at random: then a campaign repeats it."""
    return "fuzz" in getattr(item, "fixturenames", ())


@pytest.fixture(autouse=os.environ.get("BPEBENCH_COMPILED_BUILD") == "checked")
def no_access_outside() -> Iterator[None]:
    """In a run with the checked build, fail a test whose process accessed memory outside every declared region."""
    before = faults()
    yield
    gc.collect()
    assert faults()[0] == before[0], faults()


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """In a campaign, call a test that draws at random again and again, each time with other seeds."""
    if not pyfuncitem.config.option.campaign or not _is_drawn(pyfuncitem):
        return None
    arguments = {name: pyfuncitem.funcargs[name] for name in pyfuncitem._fixtureinfo.argnames}
    deadline = time.monotonic() + pyfuncitem.config.stash[_SHARE]
    number = 0
    while number == 0 or time.monotonic() < deadline:
        try:
            with _other_seeds(f"{pyfuncitem.config.option.seed} {number}"):
                pyfuncitem.obj(**arguments)
        except Exception as error:
            error.add_note(f"in round {number} of a campaign with --seed {pyfuncitem.config.option.seed}")
            raise
        number += 1
    return True


@contextmanager
def _other_seeds(prefix: str) -> Iterator[None]:
    """Give each generator of random numbers that is made here a seed of its own and of `prefix`."""

    class Prefixed(random.Random):
        def __init__(self, seed: Any = None) -> None:
            super().__init__(f"{prefix} {seed!r}")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(random, "Random", Prefixed)
        yield


@pytest.fixture(scope="session")
def fuzz() -> int:
    """Factor on the number of trials of random tests: BPEBENCH_FUZZ, 1 by default."""
    return int(os.environ.get("BPEBENCH_FUZZ", "1"))


@pytest.fixture(scope="session")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """A function that trains a small model on texts and saves it in a folder of its own."""

    def train(*texts: str, name: str = "model.json", **spec: Any) -> Path:
        path = tmp_path_factory.mktemp("models") / name
        impls.train("priority", texts, impls.TrainingSpec(**spec)).model.save(path)
        return path

    return train


@pytest.fixture(scope="session", name="hand_made")
def _hand_made() -> Callable[..., Model]:
    return hand_made
