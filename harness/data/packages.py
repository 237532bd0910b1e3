"""Download one pinned file of a package index through pip, and extract members; no downloaded code is executed.

pip runs the build back end of a source distribution even to download it. It is therefore given a neutral back end that
only copies the metadata in the distribution (`PKG-INFO`): without build isolation, and first on `PYTHONPATH`, it
replaces setuptools, so that no code of the distribution runs. Hashes are checked before that.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import sys
import tarfile
import tomllib
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from fnmatch import fnmatchcase
from functools import partial
from importlib.resources import files
from pathlib import Path
from subprocess import DEVNULL, PIPE, STDOUT, Popen, TimeoutExpired
from typing import Any

from harness.data.cache import cache_folder, disk_error, sha256_of
from harness.data.catalogue import Package
from harness.data.errors import DataError

_SECONDS_BETWEEN_LOOKS = 0.1

_NEUTRAL_BACKEND = """
import email, pathlib, shutil, sys

def prepare_metadata_for_build_wheel(metadata_directory, config_settings=None):
    fields = email.message_from_bytes(pathlib.Path("PKG-INFO").read_bytes())
    folder = pathlib.Path(metadata_directory, f"{fields['Name'].replace('-', '_')}-{fields['Version']}.dist-info")
    folder.mkdir()
    shutil.copy("PKG-INFO", folder / "METADATA")
    return folder.name

__legacy__ = sys.modules[__name__]
"""


def download(package: Package, folder: Path, watch: Callable[[int], None]) -> Path:
    """Let pip download the file of `package` and verify its digest; `watch` is called with the bytes so far.

    Everything on disk stays below `folder`, which the caller removes. Raise `DataError`.
    """
    target, scratch, requirements = (folder / name for name in ("target", "scratch", "requirements.txt"))
    target.mkdir(parents=True)
    scratch.mkdir()
    requirements.write_text(f"{package.name}=={package.version} --hash=sha256:{package.sha256}\n", "utf-8")
    how, environment = "--only-binary=:all:", _environment(scratch)
    if package.kind == "sdist":
        how = "--no-build-isolation"
        environment |= {"PIP_USE_PEP517": "1", "PYTHONPATH": str(_neutral_backend(folder))}
    arguments = [sys.executable, "-m", "pip", "download", "--no-deps", "--retries", "2", "--require-hashes", how]
    arguments += ["--dest", str(target), "--requirement", str(requirements)]
    status, output = run_pip(arguments, environment, lambda: watch(_bytes_below(folder)))
    if status:
        raise _failure(package, output)
    file = target / package.file
    if not file.is_file():
        raise DataError(
            f"{package.file}: pip downloaded another file ({', '.join(p.name for p in target.iterdir()) or 'none'}); "
            "check pip's settings with `pip config list`"
        )
    got = sha256_of(file.read_bytes())
    if got != package.sha256:
        raise _wrong_digest(package, got)
    return file


def _environment(scratch: Path) -> dict[str, str]:
    environment = os.environ | {
        "TMPDIR": str(scratch), "TEMP": str(scratch), "TMP": str(scratch),
        "PIP_DISABLE_PIP_VERSION_CHECK": "1", "PIP_NO_INPUT": "1", "PIP_PROGRESS_BAR": "off",
    }  # fmt: skip
    environment.pop("PIP_QUIET", None)
    return environment


def _neutral_backend(folder: Path) -> Path:
    setuptools = folder / "backend" / "setuptools"
    setuptools.mkdir(parents=True)
    (setuptools / "__init__.py").write_text("", "utf-8")
    (setuptools / "build_meta.py").write_text(_NEUTRAL_BACKEND, "utf-8")
    return setuptools.parent


def run_pip(arguments: list[str], environment: dict[str, str], look: Callable[[], None]) -> tuple[int, str]:
    """Run pip, calling `look` meanwhile; return its exit status and output. pip never outlives this call.

    The output is kept in memory: on a full disk no file could hold the reason for a failure.
    """
    with Popen(arguments, env=environment, stdin=DEVNULL, stdout=PIPE, stderr=STDOUT) as process:
        try:
            while True:
                try:
                    output, _ = process.communicate(timeout=_SECONDS_BETWEEN_LOOKS)
                    return process.returncode, output.decode("utf-8", "replace")
                except TimeoutExpired:
                    look()
        finally:
            process.kill()


def _bytes_below(folder: Path) -> int:
    """Return the size of the largest file below `folder`: the one being downloaded."""
    largest = 0
    with contextlib.suppress(OSError):  # one was removed in the meantime
        for file in folder.rglob("*"):
            largest = max(largest, file.stat().st_size)
    return largest


_MEANINGS = tomllib.loads((files("harness.data") / "pip_failures.toml").read_text(encoding="utf-8"))


def _failure(package: Package, output: str) -> DataError:
    if got := re.search(r"Got\s+([0-9a-f]{64})", output):
        return _wrong_digest(package, got[1])
    if os.strerror(errno.ENOSPC) in output or os.strerror(errno.EDQUOT) in output:
        return disk_error(OSError(errno.ENOSPC, ""), cache_folder())
    unreachable, why = (_meaning(output, kind) for kind in ("unreachable", "failures"))
    if unreachable is not None:
        why = f"the package index cannot be reached ({unreachable}); check the network and `pip config list`, then run "
        why += "`bpebench fetch` again: files fetched so far are kept"
    elif why is None:
        lines = [line.strip() for line in output.splitlines() if line.strip()] or ["it printed nothing"]
        errors = [line for line in lines if line.startswith("ERROR")] or lines
        why = f"pip could not download it: {errors[-1][:300]}"
    return DataError(f"{package.name} {package.version}: {why}")


def _meaning(output: str, kind: str) -> str | None:
    """Return the words of the first pattern of a kind that is in the output."""
    matching = (words for pattern, words in _MEANINGS[kind].items() if re.search(pattern, output, re.IGNORECASE))
    return next(matching, None)


def _wrong_digest(package: Package, got: str) -> DataError:
    return DataError(
        f"{package.file}: wrong digest: expected sha256 {package.sha256}, got {got}; nothing was kept. The index "
        "serves another file than the one this suite was made with: check `pip config list`, or try again"
    )


_MAX_UNPACKED_BYTES = 256 << 20
"""Limit on the size of all files extracted from one package; no package of the catalogue comes near it."""


def members_of(package: Package, file: Path, patterns: Iterable[str]) -> dict[str, bytes]:
    """Map path in the package -> content of every file that matches one of `patterns` (globs); each pattern must match.

    The first folder of a source distribution (`name-version`) is not part of the paths. Raise `DataError` for an
    archive that is damaged or too large.
    """
    patterns = list(patterns)
    contents: dict[str, bytes] = {}
    left = _MAX_UNPACKED_BYTES
    try:
        for path, opened in _members(package, file):
            if any(fnmatchcase(path, pattern) for pattern in patterns):
                with opened() as content:
                    contents[path] = content.read(left + 1)
                left -= len(contents[path])
                if left < 0:
                    raise DataError(f"{package.file}: {path}: unpacks to more than {_MAX_UNPACKED_BYTES >> 20} MiB")
    except (zipfile.BadZipFile, tarfile.TarError, EOFError, OSError, zlib.error, ValueError, RuntimeError) as error:
        raise DataError(f"{package.file}: cannot be opened: {error}") from None
    for pattern in patterns:
        if not any(fnmatchcase(path, pattern) for path in contents):
            raise DataError(f"{package.file}: contains no {pattern}")
    return contents


def _members(package: Package, file: Path) -> Iterator[tuple[str, Callable[[], Any]]]:
    """Yield the path of each file, and how to open it."""
    if package.kind == "wheel":
        with zipfile.ZipFile(file) as wheel:
            yield from ((path, partial(wheel.open, path)) for path in wheel.namelist())
        return
    with tarfile.open(file) as archive:
        for member in archive:
            if member.isfile():
                yield member.name.partition("/")[2], partial(archive.extractfile, member)
