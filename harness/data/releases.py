"""Other releases of a package, installed into folders of the cache, pinned by version and digest.

Nothing of them is imported here; to run one, put its folder first on PYTHONPATH of a separate process.
"""

from __future__ import annotations

import sys
import sysconfig
import tempfile
import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from harness.data.cache import cache_folder, disk_error
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
    """Digests its file may have: one per platform and Python."""


@cache
def _pinned() -> dict[tuple[str, str], Release]:
    document = tomllib.loads((datasets_folder() / "releases.toml").read_text("utf-8"))
    releases = [Release(entry["package"], entry["version"], tuple(entry["sha256"])) for entry in document["release"]]
    return {(release.package, release.version): release for release in releases}


def pinned_names() -> list[str]:
    """Return `package@version` of every release with pinned digests."""
    return [f"{package}@{version}" for package, version in _pinned()]


def pinned_release(package: str, version: str) -> Release:
    """Return the release as pinned in `datasets/releases.toml`; raise `DataError` naming those that are."""
    release = _pinned().get((package, version))
    if release is None:
        raise DataError(
            f"{package}@{version}: no digest is pinned for this release; pinned are: {', '.join(pinned_names())}; for "
            f"another give the digest of its file: {package}@{version}#sha256:HEX"
        )
    return release


def folder_of(release: Release) -> Path:
    """Return the folder of a release for this Python and platform."""
    platform = f"{sys.implementation.cache_tag}-{sysconfig.get_platform()}"
    return cache_folder() / "aside" / f"{release.package}-{release.version}-{platform}"


def installed(release: Release) -> Path:
    """Return the folder of the release, installed by pip where it is missing.

    Its content is executed, so raise `DataError` where another user could have written it, and where pip fails.
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
            try:
                Path(scratch, "target").replace(folder)
            except OSError:
                if not folder.is_dir():  # otherwise another process was faster, with the same files
                    raise
    except Unsafe as error:
        raise DataError(f"{error}; or set BPEBENCH_CACHE to a folder of your own") from None
    except OSError as error:
        raise disk_error(error, folder) from None
    return folder
