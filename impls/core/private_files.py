"""Files that only this user (or root) can have written: machine code and unchecked tables are read from no others.

The rules are those of ssh for its keys: a regular file, not a link, owned by this user or root, and not writable by its
group or others; the same for its folder and every folder above, where a shared folder may be sticky, as /tmp is.
Nothing is checked on Windows, where a user's folders are private.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from pathlib import Path

_OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH
_FLAGS = os.O_RDONLY | sum(getattr(os, name, 0) for name in ("O_NOFOLLOW", "O_NONBLOCK", "O_CLOEXEC", "O_BINARY"))


class Unsafe(Exception):
    """A file or folder that another user can write; the message says which, and why."""


def make_folder(folder: Path) -> None:
    """Create a folder and its missing parents, accessible to this user only; raise `OSError`."""
    if not folder.is_dir():
        if folder.parent != folder:
            make_folder(folder.parent)
        folder.mkdir(mode=0o700, exist_ok=True)


def check_folder(folder: Path) -> None:
    """Raise `Unsafe` if another user could put a file into `folder`, or replace the folder.

    Folders that do not exist yet pass; raise `OSError` for one that cannot be examined.
    """
    if hasattr(os, "geteuid"):
        with contextlib.suppress(FileNotFoundError):
            folder.stat()  # raises for a cycle of links
        _check_parents(folder.absolute(), may_be_shared=False)


def _check_parents(folder: Path, *, may_be_shared: bool) -> None:
    """Check an absolute path, its parents except the root, and the targets of links; a shared folder must be sticky."""
    for place in [folder, *folder.parents][:-1]:
        try:
            about = place.lstat()
        except FileNotFoundError:
            continue
        shared = (may_be_shared or place != folder) and bool(about.st_mode & stat.S_ISVTX)
        is_link = stat.S_ISLNK(about.st_mode)
        _check(place, about, must_be_folder=True, may_be_written=shared or is_link)
        if is_link:
            _check_parents(place.parent / place.readlink(), may_be_shared=may_be_shared or place != folder)


def open_checked(path: Path) -> int:
    """Open a file for reading after checking it and its folder, and return the descriptor.

    Raise `Unsafe`, or `OSError` if there is no such file. Does not block on a pipe without a writer.
    """
    check_folder(path.parent)
    try:
        descriptor = os.open(path, _FLAGS)
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.ENXIO):  # a link; a socket
            raise Unsafe(f"{path} is not a regular file") from None
        raise
    try:
        _check(path, os.fstat(descriptor), must_be_folder=False, may_be_written=False)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def _check(path: Path, about: os.stat_result, *, must_be_folder: bool, may_be_written: bool) -> None:
    kind = stat.S_IFMT(about.st_mode)
    if kind not in ((stat.S_IFDIR, stat.S_IFLNK) if must_be_folder else (stat.S_IFREG,)):
        raise Unsafe(f"{path} is not a {'folder' if must_be_folder else 'regular file'}")
    if not hasattr(os, "geteuid"):
        return
    if about.st_uid not in (os.geteuid(), 0):
        raise Unsafe(f"{path} belongs to another user ({about.st_uid})")
    if about.st_mode & _OTHERS_WRITE and not may_be_written:
        raise Unsafe(f"others may write {path} (mode {stat.S_IMODE(about.st_mode):o}); chmod go-w forbids it")
