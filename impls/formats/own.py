"""The suite's own format: one JSON document with a version and a digest of everything else in it.

A line per token (base64, null for a gap) and per merge (two ids), so that files can be read and diffed. The digest
covers the content, not the layout: reformatting keeps it valid, any other change does not.
"""

from __future__ import annotations

import hashlib
from typing import Any

import msgspec

from impls.core.errors import InvalidModel, Unsupported
from impls.core.model import Model
from impls.core.model.data import HuggingFaceRules, ModelData
from impls.formats.files import MAX_TABLE_ID, check_json_size, converted, parse_json
from impls.formats.parse_cache import cached_model

FORMAT = "bpebench"
NAME = "bpebench model"
VERSION = 7
"""What is written; files of lower versions lack some of the fields, and are read too."""


_HEAD = ("format", "version", "digest")
_DERIVED = "id_offset"
"""Written for other programs; the model derives it."""
_LISTS = ("tokens", "merges", "merge_counts")
_FIELDS = [name for name in ModelData.__dataclass_fields__ if name not in _LISTS] + [*_LISTS]
"""The fields of the model, in the order of the file."""


def read(content: bytes) -> Model:
    """Read the model; raise `InvalidModel` for another version, a digest that does not match, or an invalid field."""
    return cached_model(lambda: _parsed(content), FORMAT, content, hashlib.sha256(content).hexdigest())


def _parsed(content: bytes) -> Model:
    check_json_size(content)
    try:
        document = msgspec.json.decode(content)
    except (msgspec.MsgspecError, RecursionError, UnicodeError) as error:
        parse_json(content)  # raises an error with line and column, unless it accepts the document
        raise InvalidModel(f"not JSON ({error}); the file is damaged, get it again") from None
    if not isinstance(document, dict) or document.get("format") != NAME:
        raise InvalidModel(f"the field 'format' is not {NAME!r}; this is not a bpebench model")
    version = document.get("version")
    if version not in range(1, VERSION + 1):
        read = f"this release reads version 1 to {VERSION}"
        raise InvalidModel(f"the field 'version' is {version!r}; {read}; install the one that wrote it")
    if document.get("digest") != _digest(document):
        raise InvalidModel("digest does not match: the file was edited or damaged; save the model again")
    document.pop("training_documents", None)  # files of earlier releases may note them
    if "hugging_face" not in document:  # files of versions below 7
        rules = {name: document.pop(name) for name in HuggingFaceRules.__dataclass_fields__ if name in document}
        document["hugging_face"] = rules
    if unknown := document.keys() - {*_HEAD, *_FIELDS, _DERIVED}:
        raise InvalidModel(f"the field {min(unknown)!r} is not known")
    model = converted(document, Model)
    if len(model.tokens) > MAX_TABLE_ID + 1:
        raise InvalidModel(f"{len(model.tokens)} tokens; at most {MAX_TABLE_ID + 1} are allowed")
    return model


def write(model: Model) -> bytes:
    """Return the file of `model`, which loses nothing."""
    fields = {name: getattr(model, name) for name in (_DERIVED, *_FIELDS)}
    document = msgspec.to_builtins({"format": NAME, "version": VERSION, "digest": "", **fields}, enc_hook=dict)
    try:
        document["digest"] = _digest(document)
    except UnicodeEncodeError:
        raise Unsupported(FORMAT, "the pattern contains a lone surrogate, which cannot be written to a file") from None
    lines = [
        b"%b: %b" % (msgspec.json.encode(name), _lines(value) if name in _LISTS else msgspec.json.encode(value))
        for name, value in document.items()
    ]
    return b"{\n" + b",\n".join(lines) + b"\n}\n"


def losses(_: Model) -> list[str]:
    """Return no lines: the file loses nothing."""
    return []


def _digest(document: dict[str, Any]) -> str:
    content = {name: value for name, value in document.items() if name != "digest"}
    return "sha256:" + hashlib.sha256(msgspec.json.encode(content, order="sorted")).hexdigest()


def _lines(values: list[Any] | None) -> bytes:
    if not values:
        return msgspec.json.encode(values)
    return b"[\n" + b",\n".join(map(msgspec.json.encode, values)) + b"\n]"
