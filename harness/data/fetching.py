"""Fetching: what is missing in the cache is downloaded, taken out of its package, verified and kept.

Each package is downloaded once for all that is wanted of it. What is there and right is not fetched again, so an
interrupted fetch goes on where it stopped; temporary files are removed on every way out. Two processes that fetch at
once do the work twice, and both leave the same whole files.
"""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.data.cache import cache_folder, disk_error, is_stored, read_stored, sha256_of, store
from harness.data.catalogue import Item, Package, all_items, real_corpora, vocabularies, vocabulary_named
from harness.data.errors import DataError
from harness.data.packages import download, members_of
from harness.data.readers import READERS
from impls.core.errors import UnknownName
from impls.core.private_files import make_folder

_SECONDS_UNTIL_STALE = 86_400


@dataclass(frozen=True, slots=True)
class FetchProgress:
    """How far a fetch is: bytes of all downloads together, and what is being done."""

    what: str
    done_bytes: int
    total_bytes: int


@dataclass(frozen=True, slots=True)
class Fetched:
    """One file of the cache, there and verified."""

    name: str
    file: Path
    n_bytes: int
    """Size of the file."""
    fresh: bool
    """Whether it was fetched now rather than found."""


Progress = Callable[[FetchProgress], None]


def fetchable_names() -> list[str]:
    """What `fetch` takes: vocabularies and corpora; `parallel` stands for all its languages."""
    return [*vocabularies(), *real_corpora()]


def items_named(names: Iterable[str] | None) -> list[Item]:
    """The files of the cache that `names` stand for, all for None; raises `UnknownName`."""
    items = all_items()
    if names is None:
        return list(items.values())
    chosen: dict[str, Item] = {}
    for name in names:
        vocabulary = vocabulary_named(name)
        if vocabulary is not None:
            chosen |= {item.name: item for item in vocabulary.items}
        elif name in items:
            chosen[name] = items[name]
        elif name in real_corpora():
            chosen |= {item.name: item for item in real_corpora()[name].items}
        else:
            raise UnknownName("corpus or vocabulary", name, fetchable_names())
    return list(chosen.values())


def fetch(names: Iterable[str] | None = None, progress: Progress | None = None) -> list[Fetched]:
    """Bring what `names` stand for (everything, for None) into the cache, downloading only what is missing.

    Raises `DataError`: no network, wrong digest, full disk, version gone. What came before it stays.
    """
    items = items_named(names)
    there = {item.name for item in items if read_stored(item.path, item.sha256) is not None}
    missing: dict[Package, list[Item]] = {}
    for item in items:
        if item.name not in there:
            missing.setdefault(item.package, []).append(item)
    total = sum(package.n_bytes for package in missing)
    done = 0
    for package, wanted in missing.items():

        def report(what: str, n_bytes: int, package: Package = package, done: int = done) -> None:
            if progress is not None:
                progress(FetchProgress(what, done + min(n_bytes, package.n_bytes), total))

        _fetch_package(package, wanted, report)
        done += package.n_bytes
    return [_fetched(item, item.name not in there) for item in items]


def _fetched(item: Item, fresh: bool) -> Fetched:
    file = cache_folder() / item.path
    return Fetched(item.name, file, file.stat().st_size, fresh)


def _fetch_package(package: Package, items: Sequence[Item], report: Callable[[str, int], None]) -> None:
    downloads = cache_folder() / "downloads"
    _remove_stale(downloads)
    try:
        make_folder(downloads)
        folder = Path(tempfile.mkdtemp(prefix="fetch-", dir=downloads))
    except OSError as error:
        raise disk_error(error, cache_folder()) from None
    try:
        what = f"downloading {package.name} {package.version}"
        report(what, 0)
        file = download(package, folder, lambda n_bytes: report(what, n_bytes))
        report(f"unpacking {package.name} {package.version}", package.n_bytes)
        for group in _by_reader(items):
            _unpack(package, file, group)
    except OSError as error:
        raise disk_error(error, cache_folder()) from None
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _by_reader(items: Sequence[Item]) -> list[list[Item]]:
    """Items that are parts of one reading, together."""
    groups: dict[tuple[str, tuple[str, ...]], list[Item]] = {}
    for item in items:
        groups.setdefault((item.reader, tuple(item.members)), []).append(item)
    return list(groups.values())


def _unpack(package: Package, file: Path, items: Sequence[Item]) -> None:
    first = items[0]
    members = members_of(package, file, first.members)
    for path, sha256 in first.members.items():
        if sha256 is not None and sha256_of(members[path]) != sha256:
            raise DataError(
                f"{package.file}: {path}: wrong digest: expected sha256 {sha256}, got {sha256_of(members[path])}"
            )
    contents = READERS[first.reader](members, first.options)
    for item in items:
        store(item.path, contents[item.part], item.sha256)


def ensure(items: Sequence[Item]) -> None:
    """Fetch, with progress on standard error, what is missing of `items`."""
    absent = [item for item in items if read_stored(item.path, item.sha256) is None]
    if not absent:
        return
    from harness.progress import progress

    missing = [item.name for item in absent]
    title = missing[0] if len(missing) == 1 else missing[0].partition("/")[0]
    with progress(f"fetching {title}", sum(package.n_bytes for package in {item.package for item in absent})) as bar:
        done = 0

        def show(state: FetchProgress) -> None:
            nonlocal done
            bar.advance(state.done_bytes - done, state.what)
            done = state.done_bytes

        fetch(missing, show)


def read_item(item: Item) -> bytes:
    """The verified content of a file of the cache, fetched where it is missing."""
    content = read_stored(item.path, item.sha256)
    if content is None:
        ensure([item])
        content = read_stored(item.path, item.sha256)
    if content is None:
        raise DataError(f"{cache_folder() / item.path}: gone as soon as it was fetched; is something clearing it?")
    return content


def is_fetched(name: str) -> bool:
    """Whether everything `name` stands for is in the cache."""
    return all(is_stored(item.path) for item in items_named([name]))


def _remove_stale(downloads: Path) -> None:
    """Remove what a fetch that was killed left behind."""
    if not downloads.is_dir():
        return
    for folder in downloads.iterdir():
        try:
            stale = time.time() - folder.stat().st_mtime > _SECONDS_UNTIL_STALE
        except FileNotFoundError:
            continue
        if stale:
            shutil.rmtree(folder, ignore_errors=True)
