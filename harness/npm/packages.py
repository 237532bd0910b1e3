"""Packages of npm pinned in `datasets/npm.toml`: fetched by the user's npm without running scripts, and served."""

from __future__ import annotations

import base64
import hashlib
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path

from harness.data import load_model
from harness.data.cache import cache_folder, disk_error, put_in_place
from harness.data.catalogue import datasets_folder
from harness.data.errors import DataError
from harness.records import write_atomically
from impls.core.model.model import Model
from impls.formats.tokenizer_json import write_compact

_SECONDS = 300


@dataclass(frozen=True, slots=True)
class NpmPackage:
    """One pinned archive."""

    name: str
    version: str
    integrity: str
    """Digest in npm's form: its name, and its value in base64."""
    models: tuple[str, ...]
    """Vocabularies it is judged on; empty for a package that others merely require."""
    requires: tuple[str, ...] = ()


@cache
def pinned() -> dict[str, NpmPackage]:
    """Return every package of `datasets/npm.toml` by name."""
    document = tomllib.loads((datasets_folder() / "npm.toml").read_text("utf-8"))
    lists = ("models", "requires")
    return {
        entry["name"]: NpmPackage(**{**entry, **{field: tuple(entry.get(field, ())) for field in lists}})
        for entry in document["package"]
    }


def tokenizers() -> list[NpmPackage]:
    """Return the packages that are judged."""
    return [package for package in pinned().values() if package.models]


def program(name: str) -> str:
    """Return the path of `node` or `npm`; raise `DataError` if it is not installed."""
    found = shutil.which(name)
    if found is None:
        raise DataError(f"{name} is not installed; tokenizers from npm need node and npm on PATH")
    return found


def module_folders(package: NpmPackage) -> list[Path]:
    """Return the `node_modules` folders of the package and its requirements, fetching missing ones."""
    return [_module_folder(package), *(_module_folder(pinned()[name]) for name in package.requires)]


def _module_folder(package: NpmPackage) -> Path:
    folder = cache_folder() / "npm" / f"{package.name.replace('/', '+')}-{package.version}"
    if folder.is_dir():
        return folder
    npm = program("npm")
    print(f"fetching {package.name} {package.version} by npm …", file=sys.stderr, flush=True)
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".fetching-", dir=folder.parent) as scratch:
            archive = _packed(npm, package, Path(scratch))
            verify(package, archive.read_bytes())
            unpack(archive, Path(scratch, "modules", package.name))
            put_in_place(Path(scratch, "modules"), folder)
    except OSError as error:
        raise disk_error(error, folder) from None
    return folder


def _packed(npm: str, package: NpmPackage, scratch: Path) -> Path:
    named = f"{package.name}@{package.version}"
    arguments = [npm, "pack", named, "--ignore-scripts", "--silent", "--pack-destination", str(scratch)]
    try:
        run = subprocess.run(arguments, cwd=scratch, capture_output=True, text=True, timeout=_SECONDS)
    except subprocess.TimeoutExpired:
        raise DataError(f"{named}: npm did not answer within {_SECONDS} s; run it again") from None
    archives = list(scratch.glob("*.tgz"))
    if run.returncode or len(archives) != 1:
        last = (run.stderr.strip().splitlines() or ["npm said nothing"])[-1]
        raise DataError(f"{named}: npm could not fetch it: {last}")
    return archives[0]


def verify(package: NpmPackage, content: bytes) -> None:
    """Raise `DataError` unless the digest of the archive is the pinned one."""
    kind, _, wanted = package.integrity.partition("-")
    got = base64.b64encode(hashlib.new(kind, content).digest()).decode()
    if got != wanted:
        raise DataError(
            f"{package.name}@{package.version}: wrong digest: expected {package.integrity}, got {kind}-{got}; "
            "nothing was kept"
        )


def unpack(archive: Path, folder: Path) -> None:
    """Extract the files of a package's archive, which are below one folder within it, to `folder`."""
    folder.mkdir(parents=True)
    with tarfile.open(archive) as opened:
        for member in opened.getmembers():
            if member.isfile() and "/" in member.name:
                member.name = member.name.partition("/")[2]
                opened.extract(member, folder, filter="data")


READS_JSON = ("@lenml/tokenizers",)
"""Packages without built-in vocabularies."""


def package_of(name: str) -> NpmPackage:
    """Return the package of that name; raise `DataError` naming the known ones."""
    known = {package.name: package for package in tokenizers()}
    if name not in known:
        raise DataError(f"{name}: no such tokenizer in datasets/npm.toml; it has {', '.join(known)}")
    return pinned()[name]


def command(package: NpmPackage, model: str) -> tuple[list[str], dict[str, str]]:
    """Return arguments and environment of the process that serves `package` with `model`; raise `DataError`."""
    if model not in package.models:
        raise DataError(f"{package.name} is judged on {', '.join(package.models)}, not on {model}")
    folders = os.pathsep.join(map(str, module_folders(package)))
    arguments = [program("node"), str(files("harness.npm") / "adapter.cjs"), package.name, model]
    if package.name in READS_JSON:
        arguments.append(_tokenizer_json(model))
    return arguments, {**os.environ, "NODE_PATH": folders}


def _tokenizer_json(model: str) -> str:
    """Return the path of the vocabulary as tokenizer.json, without special tokens: any text is ordinary text."""
    file = cache_folder() / "npm" / f"{model}.tokenizer.json"
    write_atomically(file, write_compact(_listed(model)))
    return str(file)


def _listed(name: str) -> Model:
    model = load_model(name)
    return model.with_(special_tokens={}, merges=model.recovered_merges[0], merge_rule="pairs", merge_counts=None)
