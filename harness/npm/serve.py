"""The command that serves a package over the line protocol, and the vocabulary passed to it."""

from __future__ import annotations

import os
from importlib.resources import files

from harness.data import load_model
from harness.data.cache import cache_folder
from harness.data.errors import DataError
from harness.npm.packages import NpmPackage, module_folders, pinned, program, tokenizers
from harness.records import write_atomically
from impls.core.model.model import Model
from impls.formats.tokenizer_json import write_compact

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
    """Return the path of the vocabulary as tokenizer.json, without special tokens, which every text may contain."""
    file = cache_folder() / "npm" / f"{model}.tokenizer.json"
    write_atomically(file, write_compact(_listed(model)))
    return str(file)


def _listed(name: str) -> Model:
    model = load_model(name)
    return model.with_(special_tokens={}, merges=model.recovered_merges[0], merge_rule="pairs", merge_counts=None)
