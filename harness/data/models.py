"""Models by name: the published vocabularies, those trained here, and model files of any format."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import impls
from harness.data.cache import cache_folder
from harness.data.catalogue import Vocabulary, vocabularies, vocabulary_named
from harness.data.errors import DataError
from harness.data.fetching import ensure, is_fetched, read_item
from harness.data.hub import PREFIX, hub_tokenizer_file
from impls.core.arguments import wrong_type
from impls.core.errors import UnknownName, near_and_known
from impls.core.model.model import Model

_TRAINED_SUFFIX = ".json"
_COLUMNS = ("name", "language", "licence", "round_trip", "bytes", "cached", "about")


def load_model(name_or_path: str | Path, pattern: str | Sequence[str] | None = None) -> Model:
    """Return a published model (fetched on first use), one trained here, or one from a file of any known format.

    `pattern` replaces that of the model: a name or an expression; a rank file has none of its own.
    Raise `UnknownName` listing the known names, `DataError` if it is unavailable, `InvalidFile` for a bad file.
    """
    if not isinstance(name_or_path, str | os.PathLike):
        raise wrong_type("model", "a name or a path", name_or_path)
    name = str(name_or_path)
    if not name.strip():
        raise UnknownName("model", name, model_names())
    if isinstance(name_or_path, str):
        vocabulary = vocabulary_named(name)
        if vocabulary is not None:
            return _published(vocabulary, pattern)
        if name.startswith(PREFIX):
            from impls.formats import load

            return load(hub_tokenizer_file(name), pattern=pattern)
    path = Path(name_or_path)
    if isinstance(name_or_path, str) and _is_plain(name):
        trained = trained_model_path(name)
        if trained.is_file():
            path = trained
        elif not os.path.lexists(path):
            raise _unknown(name)
    if not path.exists():
        raise DataError(f"{path}: there is no such model file; {near_and_known(path.name, model_names())}")
    from impls.formats import load

    return load(path, pattern=pattern)


def _unknown(name: str) -> UnknownName:
    error = UnknownName("model", name, model_names())
    if name in impls.names():
        how = f"bpebench.load({name!r}, MODEL) in Python, -e {name} -m MODEL on the command line"
        error.args = (f"{error}; {name!r} is an implementation, which needs a model: {how}",)
    return error


def model_file(name_or_path: str | Path) -> Path | None:
    """Return the file or folder that `load_model` reads a model from; None if it is not available."""
    name = str(name_or_path)
    if isinstance(name_or_path, str):
        vocabulary = vocabulary_named(name)
        if vocabulary is not None:
            return cache_folder() / vocabulary.path if is_fetched(vocabulary.name) else None
        if name.startswith(PREFIX):
            return hub_tokenizer_file(name)
        if _is_plain(name) and (trained := trained_model_path(name)).is_file():
            return trained
    return Path(name_or_path) if Path(name_or_path).exists() else None


def _published(vocabulary: Vocabulary, pattern: str | Sequence[str] | None) -> Model:
    from impls.formats import load

    path = cache_folder() / vocabulary.path
    if [item.path for item in vocabulary.items] == [vocabulary.path]:
        model = load(path, pattern=pattern, content=read_item(vocabulary.items[0]))
    else:
        ensure(vocabulary.items)
        model = load(path, pattern=pattern)
    return model if vocabulary.normalization is None else model.with_(normalization=vocabulary.normalization)


def _is_plain(name: str) -> bool:
    return re.fullmatch(r"[\w+-][\w.+-]*", name) is not None


def trained_model_path(name: str) -> Path:
    """Return the path of a model trained under `name`; raise `DataError` for an invalid name."""
    if not _is_plain(name):
        raise DataError(f"{name!r} cannot be a model's name: use letters, digits, '_', '-', '+' and '.'")
    if vocabulary_named(name) is not None:
        raise DataError(f"{name!r} is the name of a published vocabulary; choose another")
    return cache_folder() / "models" / f"{name}{_TRAINED_SUFFIX}"


def trained_model_names() -> list[str]:
    """Return the names of models trained here and saved."""
    folder = cache_folder() / "models"
    return sorted(file.name.removesuffix(_TRAINED_SUFFIX) for file in folder.glob(f"[!.]*{_TRAINED_SUFFIX}"))


def model_names() -> list[str]:
    """Return every name `load_model` accepts: published vocabularies, then models trained here."""
    published = [name for v in vocabularies().values() for name in (v.name, *v.aliases)]
    return [*published, *trained_model_names()]


def is_model_name(name: str) -> bool:
    """Return whether `load_model` takes `name` for the name of a model, even if there is a file of that name."""
    return vocabulary_named(name) is not None or name.startswith(PREFIX) or name in model_names()


def available_models() -> list[str]:
    """Return names of models that load without a network: cached vocabularies, and models trained here."""
    return [*filter(is_fetched, vocabularies()), *trained_model_names()]


def aliases(model: str) -> tuple[str, ...]:
    """Return the other names of a published vocabulary, as gpt2 of r50k_base."""
    vocabulary = vocabulary_named(model)
    return () if vocabulary is None else vocabulary.aliases


def describe_models() -> list[dict[str, Any]]:
    """Return a row per model: name, language, licence, round trip (of one trained here ''), bytes, cached, about."""
    rows = [
        (name, v.language, v.licence, v.round_trip, v.n_bytes, is_fetched(v.name), v.description)
        for v in vocabularies().values()
        for name in (v.name, *v.aliases)
    ]
    for name in trained_model_names():
        size = trained_model_path(name).stat().st_size
        rows.append((name, "", "", "", size, True, "trained here"))
    return [dict(zip(_COLUMNS, row, strict=True)) for row in rows]
