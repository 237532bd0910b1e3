"""Models by name: the published vocabularies, those trained here, and model files of any format.

A file is inspected for its format, which vocabulary it holds whatever its name, and anything unusual: a published
vocabulary is recognised by its tokens, in any format and under any name.
"""

from __future__ import annotations

import hashlib
import os
import re
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import impls
from harness.data.cache import cache_folder
from harness.data.catalogue import Vocabulary, all_items, vocabularies, vocabulary_named
from harness.data.errors import DataError
from harness.data.fetching import ensure, is_fetched, read_item
from harness.data.hub import PREFIX, hub_tokenizer_file
from impls.core.arguments import wrong_type
from impls.core.errors import UnknownName, near_and_known
from impls.core.model.model import Model
from impls.core.text.patterns import NAMED, name_of
from impls.formats import load, load_with_format
from impls.formats.known import KNOWN, Known
from impls.formats.tiktoken_ranks import digest_of

_TRAINED_SUFFIX = ".json"
_COLUMNS = ("name", "language", "licence", "round_trip", "bytes", "cached", "about")


def load_model(name_or_path: str | Path, pattern: str | Sequence[str] | None = None) -> Model:
    """Return a published model (fetched on first use), one trained here, or one from a file of any known format.

    `pattern` replaces that of the model: a name or an expression; a rank file has none of its own.
    Raise `UnknownName` listing the known names, `DataError` if it is unavailable, `InvalidFile` for a bad file.
    """
    if not isinstance(name_or_path, str | os.PathLike):
        raise wrong_type("model", "a name or a path", name_or_path)
    source, name = _source(name_or_path), str(name_or_path)
    if isinstance(source, Vocabulary):
        is_folder = source.items[0].path != source.path
        if is_folder:
            ensure(source.items)
        content = None if is_folder else read_item(source.items[0])
        model = load(cache_folder() / source.path, pattern=pattern, content=content)
        return model if source.normalization is None else model.with_(normalization=source.normalization)
    is_name = isinstance(name_or_path, str) and _is_plain(name) and not name.endswith((".json", ".model", ".tiktoken"))
    if not name.strip() or (is_name and not os.path.lexists(source)):
        raise _unknown(name)
    if not source.exists():
        raise DataError(f"{source}: no such model file; {near_and_known(source.name, model_names())}")
    return load(source, pattern=pattern)


def _source(name_or_path: str | Path) -> Vocabulary | Path:
    """Return the published vocabulary that a name means, or the file or folder, which need not exist."""
    name = str(name_or_path)
    if not isinstance(name_or_path, str):
        return Path(name_or_path)
    if os.sep not in name and (vocabulary := vocabulary_named(name)) is not None:
        return vocabulary
    if name.startswith(PREFIX):
        return hub_tokenizer_file(name)
    return trained if _is_plain(name) and (trained := trained_model_path(name)).is_file() else Path(name)


def _unknown(name: str) -> UnknownName:
    error = UnknownName("model", name, model_names())
    if name in impls.names():
        how = f"bpebench.load({name!r}, MODEL) in Python, -e {name} -m MODEL on the command line"
        error.args = (f"{error}; {name!r} is an implementation, which needs a model: {how}",)
    return error


def model_file(name_or_path: str | Path) -> Path | None:
    """Return the file or folder that `load_model` reads a model from; None if it is not available."""
    source = _source(name_or_path)
    if isinstance(source, Vocabulary):
        return cache_folder() / source.path if is_fetched(source.name) else None
    return source if source.exists() else None


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
        (name, v.language, v.licence, v.round_trip, v.n_bytes, is_fetched(v.name), about)
        for v in vocabularies().values()
        for name, about in ({v.name: v.description} | dict.fromkeys(v.aliases, f"another name of {v.name}")).items()
    ]
    for name in trained_model_names():
        rows.append((name, "", "", "", trained_model_path(name).stat().st_size, True, "trained here"))
    return [dict(zip(_COLUMNS, row, strict=True)) for row in rows]


class Inspection(NamedTuple):
    """The result of inspecting a file."""

    format: str
    bytes: int
    sha256: str | None
    """Digest of the file; None for a folder."""
    published_file: str | None
    """The published vocabulary whose file this is, byte for byte."""
    published_vocabulary: str | None
    """The published vocabulary whose tokens these are, id by id."""
    findings: list[str]
    """Problems, one line each."""
    notes: list[str]
    """Assumptions and omissions of the reader."""
    model: Model

    def document(self) -> dict[str, object]:
        """Return what the file is, for JSON and tables; the model is described elsewhere."""
        return {name: value for name, value in self._asdict().items() if name != "model"}


def inspect(path: Path) -> Inspection:
    """Inspect a file or folder; raise `InvalidFile` if it is not a readable vocabulary."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        format, model = load_with_format(path)
    content = path.read_bytes() if path.is_file() else None
    sha256 = None if content is None else hashlib.sha256(content).hexdigest()
    known = KNOWN.get(digest_of(model.id_by_token))
    irregular = [f"irregular: {line}" for line in model.irregularities if known is None]
    return Inspection(
        format=format,
        bytes=len(content) if content is not None else sum(file.stat().st_size for file in path.iterdir()),
        sha256=sha256,
        published_file=next((i.name.partition("/")[0] for i in all_items().values() if i.sha256 == sha256), None),
        published_vocabulary=None if known is None else known.name,
        findings=[*_other_rules(model, known), *irregular],
        notes=[str(warning.message) for warning in caught],
        model=model,
    )


def _other_rules(model: Model, known: Known | None) -> list[str]:
    """Return how a model's rules differ from those of the published vocabulary's publisher, which changes the ids."""
    if known is None or known.pattern is None or model.pattern == NAMED[known.pattern]:
        return []
    name = name_of(model.pattern) or "another"
    is_equal = name == f"{known.pattern}-0.14"
    return [] if is_equal else [f"pattern: {name}, where {known.name} is used with {known.pattern}"]
