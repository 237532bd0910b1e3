"""The cache is used only if no other user can have written it; otherwise its content is made again, with a reason."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from impls.core import cache
from impls.core.private_files import Unsafe, check_folder, open_checked

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="a user's folders are that user's own on Windows")
as_root = pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root gives files away")
SOMEBODY = 12345


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    """A file of the cache that is read, in `tmp_path/above/folder`."""
    path = tmp_path / "above" / "folder" / "entry.bin"
    assert cache.write_checked(path, b"content")
    assert read(path) == b"content"
    return path


def read(path: Path) -> bytes | None:
    found = cache.read_checked(path)
    return None if found is None else bytes(found.content)


def test_what_the_cache_makes_is_for_this_user_alone(kept: Path) -> None:
    assert kept.stat().st_mode & 0o077 == 0
    assert kept.parent.stat().st_mode & kept.parent.parent.stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("mode", [0o620, 0o602, 0o666])
def test_a_file_others_may_write_is_not_read_and_is_replaced(kept: Path, mode: int) -> None:
    kept.chmod(mode)
    assert read(kept) is None
    assert cache.write_checked(kept, b"made anew")
    assert read(kept) == b"made anew"


def test_a_folder_others_may_write_is_neither_read_nor_written_and_one_above_must_be_sticky(kept: Path) -> None:
    for mode in (0o770, 0o707, 0o1777):
        kept.parent.chmod(mode)
        assert read(kept) is None
        assert not cache.write_checked(kept.with_name("another"), b"content")
    kept.parent.chmod(0o700)
    for mode, content in ((0o777, None), (0o1777, b"content")):
        kept.parent.parent.chmod(mode)
        assert read(kept) == content


def test_the_reason_is_one_line_on_standard_error(kept: Path, capfd: pytest.CaptureFixture[str]) -> None:
    kept.parent.chmod(0o777)
    for _ in range(3):
        read(kept)
    out, error = capfd.readouterr()
    assert out == ""
    assert error.splitlines() == [
        f"bpebench: the cache is not used: others may write {kept.parent} (mode 777); chmod go-w forbids it"
    ]


@as_root
@pytest.mark.parametrize("level", [0, 1, 2])
def test_a_file_or_a_folder_of_another_user_is_not_used(kept: Path, level: int) -> None:
    os.chown([kept, *kept.parents][level], SOMEBODY, SOMEBODY)
    assert read(kept) is None
    with pytest.raises(Unsafe, match=f"belongs to another user \\({SOMEBODY}\\)"):
        os.close(open_checked(kept))


@as_root
def test_a_link_of_another_user_is_not_followed_to_a_folder_that_is_fine(kept: Path, tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(kept.parent)
    assert read(link / kept.name) == b"content"
    os.chown(link, SOMEBODY, SOMEBODY, follow_symlinks=False)
    assert read(link / kept.name) is None


def test_links_that_lead_in_a_circle_are_an_error_of_the_system(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    with pytest.raises(OSError, match="symbolic links"):
        check_folder(tmp_path / "a")
    assert not cache.write_checked(tmp_path / "a" / "entry", b"content")


def pipe(path: Path) -> None:
    os.mkfifo(path)


def link_to_a_copy(path: Path) -> None:
    shutil.copy(path.with_suffix(".copy"), path.with_name("target"))
    path.symlink_to(path.with_name("target"))


@pytest.mark.timeout(20)
@pytest.mark.parametrize("put", [pipe, link_to_a_copy, Path.mkdir])
def test_what_is_no_regular_file_is_not_waited_for(
    kept: Path, put: Callable[[Path], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(kept.parent)
    kept.rename(kept.with_suffix(".copy"))
    put(kept)
    assert read(kept) is None
    with pytest.raises(Unsafe, match="not a regular file"):
        os.close(open_checked(kept))
