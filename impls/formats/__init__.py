"""File formats of vocabularies <-> `Model`: format detection, reading, atomic writing, and what a format cannot hold.

Knows files and models; runs no model and knows nothing of the harness. One module or package per format.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from types import ModuleType

from impls.core.errors import InvalidModel, UnknownName
from impls.core.model import Model
from impls.core.text.patterns import resolve
from impls.formats import (
    gpt2_pair,
    minbpe,
    own,
    sentencepiece_model,
    tekken,
    tiktoken_ranks,
)
from impls.formats.files import (
    checked_content,
    is_folder,
    naming,
    read_bytes,
    without_collecting,
    write_atomically,
)
from impls.formats.tiktoken_ranks import PatternAssumed
from impls.formats.tokenizer_json import reader, writer
from impls.formats.tokenizer_json.document import OtherDocument
from impls.formats.tokenizer_json.reader import DropoutIgnored, OtherIds, TemplateIgnored
from impls.formats.tokenizer_json.space_steps import OlderUnicode

__all__ = [
    "READ_ONLY",
    "DropoutIgnored",
    "OlderUnicode",
    "OtherIds",
    "PatternAssumed",
    "TemplateIgnored",
    "formats",
    "load",
    "load_with_format",
    "losses",
    "save",
]


_BLANK = b"\xef\xbb\xbf \t\r\n"  # a byte order mark and white space
_LOOKED_AT = 4096


_FORMATS: dict[str, ModuleType] = {
    module.FORMAT: module for module in (own, tiktoken_ranks, writer, sentencepiece_model)
}

READ_ONLY = (gpt2_pair.FORMAT, minbpe.FORMAT, tekken.FORMAT)
"""Formats that `load` reads in addition to those of `formats`."""


def formats() -> list[str]:
    """Return the names `save` and `losses` take; `load` reads these and `READ_ONLY`."""
    return list(_FORMATS)


def load(
    path: Path,
    *,
    pattern: str | Sequence[str] | None = None,
    special_tokens: Mapping[str, int] | None = None,
    content: bytes | None = None,
) -> Model:
    """Read the model in a file or folder, its format detected by content; raise `InvalidFile` naming what is wrong.

    `pattern` and `special_tokens`, if given, replace the file's own. tiktoken rank files have neither: published ones
    (`impls.formats.known`) are recognised by their SHA-256 and get theirs; any other is read with the pattern `gpt2`
    (the default of `TrainingSpec`), no special tokens, and a `PatternAssumed` warning, since the ids are right only if
    the vocabulary was made with that pattern. Pass `pattern=` to be sure ("none" included); an invalid pattern raises
    `InvalidPattern`. `content` is the content of the file, if it was read already.
    """
    path = Path(path)
    stages = None if pattern is None else resolve(pattern)
    with naming(path), without_collecting():
        format, model = _read(path, content, stages, special_tokens)
        if format != tiktoken_ranks.FORMAT:
            given = {"pattern": stages, "special_tokens": special_tokens}
            changes = {name: value for name, value in given.items() if value is not None}
            model = model.with_(**changes) if changes else model
    return model


def load_with_format(path: Path, *, pattern: str | None = None) -> tuple[str, Model]:
    """Return the detected format, and the model as from `load`; `pattern` is that of a rank file, and of no other."""
    with naming(path), without_collecting():
        return _read(path, stages=None if pattern is None else resolve(pattern))


def _read(
    path: Path,
    content: bytes | None = None,
    stages: tuple[str, ...] | None = None,
    special_tokens: Mapping[str, int] | None = None,
) -> tuple[str, Model]:
    if content is None and is_folder(path):
        return _read_folder(path)
    content = read_bytes(path) if content is None else checked_content(content)
    if sentencepiece_model.looks_like(content):
        return sentencepiece_model.FORMAT, sentencepiece_model.read(content)
    start = content[:_LOOKED_AT].lstrip(_BLANK)
    if start.startswith((b"{", b"[")):
        return _read_json(content, path)
    if start.startswith(b"minbpe "):
        return minbpe.FORMAT, minbpe.read(content)
    if gpt2_pair.looks_like_merges(content, path):
        return _read_pair(path)
    return tiktoken_ranks.FORMAT, tiktoken_ranks.read_model(content, str(path), stages, special_tokens)


def _read_folder(path: Path) -> tuple[str, Model]:
    for file in (path / "tokenizer.json", path / "tekken.json"):
        if file.is_file():
            with naming(file):
                return _read_json(read_bytes(file), file)
    if pair := gpt2_pair.find_pair(path):
        return gpt2_pair.FORMAT, gpt2_pair.read(*pair)
    wanted = ["tokenizer.json", "tekken.json", *gpt2_pair.PAIRS]
    raise InvalidModel(f"a folder without a model; looked for: {', '.join(wanted)}")


def _read_json(content: bytes, path: Path) -> tuple[str, Model]:
    if own.NAME.encode() in content[:100]:
        return own.FORMAT, own.read(content)
    try:
        return reader.FORMAT, reader.read_content(content, str(path))
    except OtherDocument as other:
        document = other.document
    if isinstance(document, dict):
        if "format" in document:
            return own.FORMAT, own.read(content)
        if tekken.is_document(document):
            return tekken.FORMAT, tekken.read(document)
        if document and all(isinstance(i, int) for i in document.values()):
            return _read_pair(path)
    raise InvalidModel(
        "JSON, but not of a known format: it has neither 'format' (bpebench) nor 'model' (tokenizer.json) nor "
        "'config' and 'vocab' (tekken)"
    )


def _read_pair(path: Path) -> tuple[str, Model]:
    if (pair := gpt2_pair.find_pair(path)) is None:
        half = "half of GPT-2's format, which is two files in one folder"
        raise InvalidModel(f"{half}: {' or '.join(gpt2_pair.PAIRS)}; codes of subword-nmt alone are not supported")
    return gpt2_pair.FORMAT, gpt2_pair.read(*pair)


def save(model: Model, path: Path, format: str) -> None:
    """Write `model` atomically; raise `UnknownName` for the format, `Unsupported` if it cannot hold the model."""
    write_atomically(Path(path), _get(format).write(model))


def losses(model: Model, format: str) -> list[str]:
    """Return what the format would lose of `model`, one line each; raise as `save` does if it cannot hold the model."""
    lost: list[str] = _get(format).losses(model)
    return lost


def _get(format: str) -> ModuleType:
    """Return a format; raise `UnknownName`."""
    if format not in _FORMATS:
        raise UnknownName("format", format, formats())
    return _FORMATS[format]
