"""Code from the cache is run only where no other user can have written it."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from harness.data import DataError
from harness.data.cache import read_stored, sha256_of, store
from harness.data.releases import Release, folder_of, installed

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


@pytest.mark.timeout(20)
def test_a_pipe_in_place_of_a_file_is_not_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BPEBENCH_CACHE", str(tmp_path))
    os.mkfifo(tmp_path / "file")
    assert read_stored("file", sha256_of(b"content")) is None
    store("file", b"content", sha256_of(b"content"))
    assert read_stored("file", sha256_of(b"content")) == b"content"
