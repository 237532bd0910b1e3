"""OpenAI's encodings and models by name: tiktoken's module functions, over the files of the catalogue."""

from __future__ import annotations

import threading
import tomllib
from functools import cache
from typing import Any

from harness.data.catalogue import datasets_folder, vocabularies, vocabulary_named
from harness.data.models import load_model
from impls.core.errors import UnknownName
from impls.core.text.patterns import IN_TIKTOKEN
from impls.drop_in.tiktoken import Encoding

_lock = threading.RLock()
_made: dict[tuple[str, str], Encoding] = {}


class UnknownEncoding(UnknownName, ValueError):
    """Raised for a name that is not an encoding."""


class UnknownOpenAIModel(UnknownName, KeyError):
    """Raised for a name that is not a model of OpenAI."""

    __str__ = Exception.__str__  # a KeyError would print its message in quotes


@cache
def _encodings() -> dict[str, dict[str, Any]]:
    return tomllib.loads((datasets_folder() / "encodings.toml").read_text("utf-8"))


def encodings_by(field: str) -> dict[str, str]:
    """Return the name of the encoding for each of the `models`, or of their `beginnings`."""
    return {entry: name for name, table in reversed(_encodings().items()) for entry in table.get(field, ())}


def get_encoding(encoding_name: str, implementation: str = "compiled") -> Encoding:
    """Return the encoding of that name, run by `implementation`; the same object every time.

    Names are those of `list_encoding_names`, and of other published vocabularies that are rank files. The file is
    fetched on first use. Raise ValueError for any other name, `Unsupported` or `UnknownName` for the implementation.
    """
    if not isinstance(encoding_name, str):
        raise ValueError(f"encoding_name must be a str, not {encoding_name!r}")
    with _lock:
        if (encoding_name, implementation) not in _made:
            table = _encodings().get(encoding_name, {})
            if not table and vocabulary_named(encoding_name) is None:
                raise UnknownEncoding("encoding", encoding_name, list({**_encodings(), **vocabularies()}))
            model = load_model(table.get("vocabulary", encoding_name))
            specials = dict(table.get("special_tokens", model.special_tokens))
            named, reserved = set(specials.values()), range(*table.get("reserved", (0,)))
            specials |= {f"<|reserved_{i}|>": i for i in reserved if i not in named}
            if table and (shipped := IN_TIKTOKEN.get(model.pattern)):
                model = model.with_(pattern=shipped)  # the ids are the same, but not always the end of the last piece
            encoding = Encoding.of_model(encoding_name, model, specials, implementation=implementation)
            encoding._restored_by = get_encoding, (encoding_name, implementation)
            _made[encoding_name, implementation] = encoding
        return _made[encoding_name, implementation]


def list_encoding_names() -> list[str]:
    """Return the names of OpenAI's encodings."""
    return list(_encodings())


def encoding_for_model(model_name: str, implementation: str = "compiled") -> Encoding:
    """Return the encoding of an OpenAI model: `encoding_for_model("gpt-4o")`."""
    return get_encoding(encoding_name_for_model(model_name), implementation)


def encoding_name_for_model(model_name: str) -> str:
    """Return the name of the encoding of an OpenAI model; raise KeyError for an unknown model."""
    by_model, beginnings = encodings_by("models"), encodings_by("beginnings")
    if model_name in by_model:
        return by_model[model_name]
    if matching := list(filter(model_name.startswith, beginnings)):
        return beginnings[max(matching, key=len)]
    raise UnknownOpenAIModel("OpenAI model", model_name, list(by_model))
