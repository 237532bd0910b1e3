"""The cache is used only if no other user can have written it; otherwise its content is made again, with a reason."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from impls.core import cache

SOMEBODY = 12345


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    """A file of the cache that is read, in `tmp_path/above/folder`."""
    path = tmp_path / "above" / "folder" / "entry.bin"
    assert cache.write_checked(path, b"content")
    assert read(path) == b"content"
    modes = [each.stat().st_mode & 0o077 for each in (path, path.parent, path.parent.parent)]
    assert not any(modes), "what the cache makes is for this user alone"
    return path


def read(path: Path) -> bytes | None:
    found = cache.read_checked(path)
    return None if found is None else bytes(found.content)


@pytest.mark.parametrize("mode", [0o620, 0o602, 0o666])
def test_a_file_others_may_write_is_not_read_and_is_replaced(kept: Path, mode: int) -> None:
    kept.chmod(mode)
    assert read(kept) is None
    assert cache.write_checked(kept, b"made anew")
    assert read(kept) == b"made anew"


def test_a_folder_others_may_write_is_not_used_for_a_reason(kept: Path, capfd: pytest.CaptureFixture[str]) -> None:
    for mode in (0o770, 0o707, 0o1777, 0o1777):
        kept.parent.chmod(mode)
        assert read(kept) is None
        assert not cache.write_checked(kept.with_name("another"), b"content")
    reasons = [f"others may write {kept.parent} (mode {mode}); run chmod go-w on it" for mode in (770, 707, 1777)]
    assert capfd.readouterr().err.splitlines() == [f"bpebench: the cache is not used: {reason}" for reason in reasons]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
@pytest.mark.parametrize("level", [0, 1])
def test_what_belongs_to_another_user_is_not_used(kept: Path, level: int, capfd: pytest.CaptureFixture[str]) -> None:
    os.chown([kept, kept.parent][level], SOMEBODY, SOMEBODY)
    assert read(kept) is None
    assert f"belongs to another user ({SOMEBODY})" in capfd.readouterr().err


def link_to_a_copy(path: Path) -> None:
    shutil.copy(path.with_suffix(".copy"), path.with_name("target"))
    path.symlink_to(path.with_name("target"))


@pytest.mark.timeout(20)
@pytest.mark.parametrize("put", [os.mkfifo, link_to_a_copy, Path.mkdir, lambda path: path.symlink_to(path)])
def test_what_is_no_regular_file_is_not_waited_for(kept: Path, put: Callable[[Path], None]) -> None:
    kept.rename(kept.with_suffix(".copy"))
    put(kept)
    assert read(kept) is None
