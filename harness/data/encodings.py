"""OpenAI's encodings and models by name: tiktoken's module functions, over the files of the catalogue."""

from __future__ import annotations

import threading

from harness.data.catalogue import vocabularies, vocabulary_named
from harness.data.models import load_model
from impls.core.errors import UnknownName
from impls.core.text.patterns import IN_TIKTOKEN
from impls.drop_in.tiktoken import Encoding

_RESERVED = [f"reserved_{i}" for i in range(200000, 201088)]
_NAMED_IN_HARMONY = {2: "return", 3: "constrain", 5: "channel", 6: "start", 7: "end", 8: "message", 12: "call"}
for _place, _name in _NAMED_IN_HARMONY.items():
    _RESERVED[_place] = _name
_HARMONY = {"<|endoftext|>": 199999, "<|endofprompt|>": 200018, "<|startoftext|>": 199998}
_HARMONY |= {f"<|{name}|>": i for i, name in enumerate(_RESERVED, 200000)}
_EDIT = {"<|endoftext|>": 50256, "<|fim_prefix|>": 50281, "<|fim_middle|>": 50282, "<|fim_suffix|>": 50283}

_ENCODINGS: dict[str, tuple[str, dict[str, int] | None]] = {
    "gpt2": ("r50k_base", None),
    "r50k_base": ("r50k_base", None),
    "p50k_base": ("p50k_base", None),
    "p50k_edit": ("p50k_base", _EDIT),
    "cl100k_base": ("cl100k_base", None),
    "o200k_base": ("o200k_base", None),
    "o200k_harmony": ("o200k_base", _HARMONY),
}
"""Name -> its vocabulary, and its special tokens if they differ from the vocabulary's."""

_MODELS = {
    "o200k_base": "o1 o3 o4-mini gpt-5 gpt-4.1 gpt-4o",
    "cl100k_base": "gpt-4 gpt-3.5-turbo gpt-3.5 gpt-35-turbo davinci-002 babbage-002 text-embedding-ada-002 "
    "text-embedding-3-small text-embedding-3-large",
    "p50k_edit": "text-davinci-edit-001 code-davinci-edit-001",
    "p50k_base": "text-davinci-003 text-davinci-002 code-davinci-002 code-davinci-001 code-cushman-002 "
    "code-cushman-001 davinci-codex cushman-codex",
    "r50k_base": "davinci curie babbage ada text-davinci-001 text-curie-001 text-babbage-001 text-ada-001 "
    "text-similarity-davinci-001 text-similarity-curie-001 text-similarity-babbage-001 text-similarity-ada-001 "
    "text-search-davinci-doc-001 text-search-curie-doc-001 text-search-babbage-doc-001 text-search-ada-doc-001 "
    "code-search-babbage-code-001 code-search-ada-code-001",
    "gpt2": "gpt2 gpt-2",
}
_BEGINNINGS = {
    "o200k_base": "o1- o3- o4-mini- gpt-5 gpt-4.5- gpt-4.1- chatgpt-4o- gpt-4o- ft:gpt-4o",
    "cl100k_base": "gpt-4- gpt-3.5-turbo- gpt-35-turbo- ft:gpt-4 ft:gpt-3.5-turbo ft:davinci-002 ft:babbage-002",
    "o200k_harmony": "gpt-oss-",
}
"""Encoding -> prefixes of the names of releases and fine-tuned models; the first match counts."""
_BY_MODEL = {model: encoding for encoding, models in _MODELS.items() for model in models.split()}

_lock = threading.RLock()
_made: dict[tuple[str, str], Encoding] = {}


class UnknownEncoding(UnknownName, ValueError):
    """Raised for a name that is not an encoding."""


class UnknownOpenAIModel(UnknownName, KeyError):
    """Raised for a name that is not a model of OpenAI."""

    __str__ = Exception.__str__  # a KeyError would print its message in quotes


def get_encoding(encoding_name: str, implementation: str = "compiled") -> Encoding:
    """Return the encoding of that name, run by `implementation`; the same object every time.

    Names are those of `list_encoding_names`, and of other published vocabularies that are rank files. The file is
    fetched on first use. Raise ValueError for any other name, `Unsupported` or `UnknownName` for the implementation.
    """
    if not isinstance(encoding_name, str):
        raise ValueError(f"encoding_name must be a str, not {encoding_name!r}")
    with _lock:
        encoding = _made.get((encoding_name, implementation))
        if encoding is None:
            if encoding_name not in _ENCODINGS and vocabulary_named(encoding_name) is None:
                raise UnknownEncoding("encoding", encoding_name, list({**_ENCODINGS, **vocabularies()}))
            vocabulary, specials = _ENCODINGS.get(encoding_name, (encoding_name, None))
            model = load_model(vocabulary)
            specials = dict(model.special_tokens if specials is None else specials)
            if encoding_name in _ENCODINGS and (shipped := IN_TIKTOKEN.get(model.pattern)):
                model = model.with_(pattern=shipped)  # the ids are the same, but not always the end of the last piece
            encoding = Encoding.of_model(encoding_name, model, specials, implementation=implementation)
            encoding._restored_by = get_encoding, (encoding_name, implementation)
            _made[encoding_name, implementation] = encoding
    return encoding


def list_encoding_names() -> list[str]:
    """Return the names of OpenAI's encodings."""
    return list(_ENCODINGS)


def encoding_for_model(model_name: str, implementation: str = "compiled") -> Encoding:
    """Return the encoding of an OpenAI model: `encoding_for_model("gpt-4o")`."""
    return get_encoding(encoding_name_for_model(model_name), implementation)


def encoding_name_for_model(model_name: str) -> str:
    """Return the name of the encoding of an OpenAI model; raise KeyError for an unknown model."""
    if model_name in _BY_MODEL:
        return _BY_MODEL[model_name]
    for encoding, beginnings in _BEGINNINGS.items():
        if model_name.startswith(tuple(beginnings.split())):
            return encoding
    raise UnknownOpenAIModel("OpenAI model", model_name, list(_BY_MODEL))
