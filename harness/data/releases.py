"""Other releases of a package, installed into folders of the cache, pinned by version and, if given, by digest.

Nothing of them is imported here; to run one, put its folder first on PYTHONPATH of a separate process.
"""

from __future__ import annotations

import os
import re
import sys
import sysconfig
import tempfile
import tomllib
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from harness.data.cache import cache_folder, disk_error, put_in_place
from harness.data.catalogue import datasets_folder
from harness.data.errors import DataError
from harness.data.packages import install
from impls.core.private_files import Unsafe, check_folder, make_folder


@dataclass(frozen=True, slots=True)
class Release:
    """One release of a package."""

    package: str
    version: str
    sha256: tuple[str, ...]
    """Digests its file may have: one per platform and Python; empty if pip's index is trusted."""


@cache
def _pinned() -> dict[tuple[str, str], Release]:
    document = tomllib.loads((datasets_folder() / "releases.toml").read_text("utf-8"))
    releases = [Release(entry["package"], entry["version"], tuple(entry["sha256"])) for entry in document["release"]]
    return {(release.package, release.version): release for release in releases}


def pinned_names() -> list[str]:
    """Return `package@version` of every release with pinned digests."""
    return [f"{package}@{version}" for package, version in _pinned()]


def pinned_release(package: str, version: str) -> Release:
    """Return the release as pinned in `datasets/releases.toml`; raise `DataError` listing the pinned ones."""
    release = _pinned().get((package, version))
    if release is None:
        raise DataError(
            f"{package}@{version}: no digest is pinned for this release; pinned are: {', '.join(pinned_names())}; for "
            f"another give the digest of its file: {package}@{version}#sha256:HEX"
        )
    return release


def release_to_measure(name: str, packages: Collection[str]) -> Release:
    """Return the release `NAME==VERSION` of one of `packages`, with the digests pinned for it, if any.

    Raise `DataError` for another form or package.
    """
    package, equals, version = name.partition("==")
    if not equals or not re.fullmatch(r"\d[\w.+!-]*", version):
        raise DataError(f"{name!r} is no release; write NAME==VERSION, for example tiktoken==0.9.0")
    if package not in packages:
        raise DataError(
            f"{package!r} is no package whose version a run records; those are: {', '.join(sorted(packages))}"
        )
    return _pinned().get((package, version)) or Release(package, version, ())


@contextmanager
def imported_first(releases: Sequence[Release]) -> Iterator[None]:
    """Install missing releases; inside the context they come first on the import path, also in new processes."""
    folders = [str(installed(release)) for release in releases]
    path, variable = sys.path[:], os.environ.get("PYTHONPATH")
    try:
        if folders:
            sys.path[:0] = folders
            os.environ["PYTHONPATH"] = os.pathsep.join([*folders, *filter(None, [variable])])
        yield
    finally:
        sys.path[:] = path
        if variable is not None:
            os.environ["PYTHONPATH"] = variable
        else:
            os.environ.pop("PYTHONPATH", None)


def folder_of(release: Release) -> Path:
    """Return the folder of a release for this Python and platform."""
    platform = f"{sys.implementation.cache_tag}-{sysconfig.get_platform()}"
    trust = "" if release.sha256 else "-unpinned"
    return cache_folder() / "aside" / f"{release.package}-{release.version}-{platform}{trust}"


def installed(release: Release) -> Path:
    """Return the folder of the release, installed by pip if it is missing.

    Its content is executed, so raise `DataError` if another user could have written it, and if pip fails.
    """
    folder = folder_of(release)
    try:
        make_folder(folder.parent)
        check_folder(folder)
        if folder.is_dir():
            return folder
        print(f"installing {release.package} {release.version} separately …", file=sys.stderr, flush=True)
        with tempfile.TemporaryDirectory(
            prefix=".installing-", dir=folder.parent, ignore_cleanup_errors=True
        ) as scratch:
            install(release.package, release.version, release.sha256, Path(scratch))
            put_in_place(Path(scratch, "target"), folder)
    except Unsafe as error:
        raise DataError(f"{error}; or set BPEBENCH_CACHE to a folder of your own") from None
    except OSError as error:
        raise disk_error(error, folder) from None
    return folder
