"""Code from the cache is run only where no other user can have written it."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import pytest

from harness.data import DataError
from harness.data.cache import read_stored, sha256_of, store
from harness.data.releases import Release, folder_of, imported_first, installed, release_to_measure

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="a user's folders are that user's own on Windows")
RELEASE = Release("somepackage", "1.0", ("0" * 64,))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the release is installed."""
    monkeypatch.setenv("BPEBENCH_CACHE", str(tmp_path / "cache"))
    folder = folder_of(RELEASE)
    folder.mkdir(parents=True)
    assert installed(RELEASE) == folder
    return folder


@pytest.mark.parametrize("level", [0, 1, 2])
def test_a_release_others_may_write_is_not_run(folder: Path, level: int) -> None:
    open_to_others = [folder, *folder.parents][level]
    open_to_others.chmod(0o775)
    with pytest.raises(DataError, match=f"others may write {open_to_others} .*BPEBENCH_CACHE"):
        installed(RELEASE)


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root gives files away")
def test_a_release_of_another_user_is_not_run(folder: Path) -> None:
    os.chown(folder, 12345, 12345)
    with pytest.raises(DataError, match="belongs to another user"):
        installed(RELEASE)


def test_whatever_the_mask_the_cache_is_made_for_this_user_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BPEBENCH_CACHE", str(tmp_path / "cache"))
    before = os.umask(0)
    try:
        store("folder/file", b"content", sha256_of(b"content"))
    finally:
        os.umask(before)
    assert (tmp_path / "cache").stat().st_mode & 0o077 == 0
    assert (tmp_path / "cache" / "folder").stat().st_mode & 0o077 == 0


def test_a_release_comes_before_what_is_installed_here_and_in_processes_started(folder: Path) -> None:
    information = folder / "regex-0.1.dist-info"
    information.mkdir()
    (information / "METADATA").write_text("Metadata-Version: 2.1\nName: regex\nVersion: 0.1\n")
    asking = [sys.executable, "-P", "-c", "import importlib.metadata as m; print(m.version('regex'))"]
    here, path, variable = metadata.version("regex"), sys.path[:], os.environ.get("PYTHONPATH")
    with imported_first([RELEASE]):
        assert metadata.version("regex") == "0.1"
        assert subprocess.check_output(asking, text=True).strip() == "0.1"
    assert metadata.version("regex") == here != "0.1"
    assert (sys.path, os.environ.get("PYTHONPATH")) == (path, variable)


def test_a_release_to_measure_is_of_a_package_whose_version_is_recorded() -> None:
    assert release_to_measure("tiktoken==0.9.0", ["tiktoken"]) == Release("tiktoken", "0.9.0", ())
    pinned = release_to_measure("regex==2026.11.15", ["regex"])
    assert pinned.sha256
    assert folder_of(pinned) != folder_of(Release("regex", "2026.11.15", ()))
    for name, message in [
        ("tiktoken", "write NAME==VERSION"),
        ("tiktoken==", "write NAME==VERSION"),
        ("tiktoken==0.9 --index-url x", "write NAME==VERSION"),
        ("tiktoken==../x", "write NAME==VERSION"),
        ("other==1.0", "'other' is no package whose version"),
    ]:
        with pytest.raises(DataError, match=message):
            release_to_measure(name, ["tiktoken"])


@pytest.mark.timeout(20)
def test_a_pipe_in_place_of_a_file_is_not_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BPEBENCH_CACHE", str(tmp_path))
    os.mkfifo(tmp_path / "file")
    assert read_stored("file", sha256_of(b"content")) is None
    store("file", b"content", sha256_of(b"content"))
    assert read_stored("file", sha256_of(b"content")) == b"content"
