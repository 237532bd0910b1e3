"""Readers turn members of a package into files of the cache: documents, or a rank file. Pure functions of bytes.

Documents of a corpus come in a fixed shuffled order, so that any prefix of it is a fair sample of the whole.
"""

from __future__ import annotations

import base64
import gzip
import html
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from operator import itemgetter
from typing import Any

from harness.data.documents import distinct, join, pack, shuffle_key
from impls.core.text.byte_alphabet import from_printable

Members = Mapping[str, bytes]
Reader = Callable[[Members, Mapping[str, Any]], dict[str, bytes]]
"""Members and options -> content of each part; a single part is named ""."""


def _only(members: Members) -> bytes:
    (content,) = members.values()
    return content


def _shuffled(documents: Iterable[str]) -> dict[str, bytes]:
    return {"": b"".join(pack(sorted(documents, key=shuffle_key)))}


def _joined(texts: Iterable[str], options: Mapping[str, Any]) -> dict[str, bytes]:
    """Return consecutive texts, each once, joined by newlines into documents of `options["document_bytes"]`."""
    return _shuffled(join(distinct(texts), options["document_bytes"]))


def wordnet(members: Members, options: Mapping[str, Any]) -> dict[str, bytes]:
    """Return definitions and examples of a WordNet in XML: `options["elements"]`, cut at `|`.

    Runs of white space become one space, each text is kept once, and consecutive texts are joined by newlines into
    documents of `options["document_bytes"]`: as no text occurs twice, the split is disjoint by text too.
    """
    import io
    from xml.etree.ElementTree import iterparse

    wanted = set(options["elements"])
    texts: list[str] = []
    for _, element in iterparse(io.BytesIO(_only(members))):
        if element.tag in wanted:
            texts += (" ".join(part.split()) for part in (element.text or "").split("|"))
        elif element.tag == "SYNSET":
            element.clear()
    return _joined(texts, options)


def documentation(members: Members, options: Mapping[str, Any]) -> dict[str, bytes]:
    """Return the fields `documentation` of compressed JSON files as text, each once.

    Tags are dropped, character references resolved, runs of white space become one space; consecutive texts are joined
    by newlines into documents of `options["document_bytes"]`.
    """
    fields = (field for path in sorted(members) for field in _fields(json.loads(gzip.decompress(members[path]))))
    return _joined((" ".join(html.unescape(_TAG.sub(" ", field)).split()) for field in fields), options)


_TAG = re.compile("<[^<>]*>")


def _fields(value: Any) -> Iterator[str]:
    """Yield the texts called `documentation` in a JSON value, in its order."""
    if isinstance(value, dict):
        for key, inner in value.items():
            if key == "documentation" and isinstance(inner, str):
                yield inner
            else:
                yield from _fields(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _fields(inner)


def files(members: Members, options: Mapping[str, Any]) -> dict[str, bytes]:
    """Return one document per file; duplicates are kept once, blank ones are dropped."""
    texts = (members[path].decode("utf-8") for path in sorted(members))
    return _shuffled(distinct(text for text in texts if text.strip()))


def catalogues(members: Members, options: Mapping[str, Any]) -> dict[str, bytes]:
    """Return gettext catalogues, parallel by key; a part for each of `options["languages"]`, and `en` for the keys.

    Only messages that exist in every language, with a new text in each, are kept. Every `texts_a_document` of them, in
    the order of their keys, are joined by newlines into a document. Documents are ordered by the English text, so
    document i has the same meaning in every language.
    """
    folders = {path.split("/LC_MESSAGES/")[0].rsplit("/", 1)[1]: path for path in members}
    by_language = {language: _messages(members[folders[folder]]) for language, folder in options["languages"].items()}
    common = sorted(set.intersection(*(set(messages) for messages in by_language.values())))
    by_language = {"en": {key: key for key in common}} | by_language
    keys = _new_in_every_language(common, by_language)
    size = options["texts_a_document"]
    groups = [keys[start : start + size] for start in range(0, len(keys), size)]
    groups.sort(key=lambda group: shuffle_key("\n".join(group)))
    return {
        language: b"".join(pack("\n".join(messages[key] for key in group) for group in groups))
        for language, messages in by_language.items()
    }


def messages(members: Members, options: Mapping[str, Any]) -> dict[str, bytes]:
    """Return the translated messages of gettext catalogues, one catalogue after the other, each text once.

    Messages are kept that differ from their key and match `options["containing"]` (a regular expression); consecutive
    texts are joined by newlines into documents of `options["document_bytes"]`.
    """
    wanted = re.compile(options["containing"])
    texts = [
        text.strip()
        for path in sorted(members)
        for key, text in _catalogue(members[path]).items()
        if _source_text(key) not in ("", text) and wanted.search(text)
    ]
    return _joined(texts, options)


def _source_text(key: Any) -> str:
    """Return the message of a catalogue's key: without context, and the first form of a plural."""
    text: str = key[0] if isinstance(key, tuple) else key
    return text.rpartition("\x04")[2]


def _new_in_every_language(keys: list[str], by_language: Mapping[str, Mapping[str, str]]) -> list[str]:
    seen: set[tuple[str, str]] = set()
    kept = []
    for key in keys:
        texts = {(language, messages[key]) for language, messages in by_language.items()}
        if seen.isdisjoint(texts):
            seen |= texts
            kept.append(key)
    return kept


def _messages(content: bytes) -> dict[str, str]:
    """Map key -> text of the plain messages of a compiled catalogue: no context, no plural."""
    return {
        key: text.strip()
        for key, text in _catalogue(content).items()
        if isinstance(key, str) and key.strip() and "\x04" not in key and text.strip()
    }


def _catalogue(content: bytes) -> dict[Any, str]:
    """Return all entries of a compiled catalogue; the key of a plural is a tuple, one with a context holds U+0004."""
    import io
    from gettext import GNUTranslations

    catalogue: dict[Any, str] = GNUTranslations(io.BytesIO(content))._catalog  # type: ignore[attr-defined]
    return catalogue


def as_is(members: Members, options: Mapping[str, Any]) -> dict[str, bytes]:
    """Return the member unchanged."""
    return {"": _only(members)}


def gpt2_encoder(members: Members, options: Mapping[str, Any]) -> dict[str, bytes]:
    """Return the rank file equivalent to GPT-2's `encoder.json`.

    With `options["most_spaces"]`, runs of 2 to that many spaces follow after `<|endoftext|>`, as in p50k's.
    """
    entries = json.loads(_only(members)).items()
    tokens = [from_printable(text) for text, _ in sorted(entries, key=itemgetter(1)) if text != "<|endoftext|>"]
    ranks = {token: rank for rank, token in enumerate(tokens)}
    ranks |= {b" " * n: len(tokens) + n - 1 for n in range(2, options.get("most_spaces", 0) + 1)}
    return {"": b"".join(b"%b %d\n" % (base64.b64encode(token), rank) for token, rank in ranks.items())}


_READERS: tuple[Reader, ...] = (wordnet, documentation, files, catalogues, messages, as_is, gpt2_encoder)
READERS: dict[str, Reader] = {reader.__name__.replace("_", "-"): reader for reader in _READERS}
"""Name in the tables -> reader."""
