"""The catalogue of available data: `datasets/*.toml`. Knows names, versions and digests; fetches and reads nothing.

The tables name packages and digests, never network locations: those come from the user's pip settings.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Literal


@dataclass(frozen=True, slots=True)
class Package:
    """One pinned file of a package index."""

    name: str
    version: str
    kind: Literal["wheel", "sdist"]
    file: str
    sha256: str
    n_bytes: int
    """Size of the download."""


@dataclass(frozen=True, slots=True)
class Item:
    """One file of the cache: its source, its reader, and its expected digest."""

    name: str
    """Corpus or vocabulary it belongs to; `parallel/ru` for one language of several."""
    path: str
    """Path in the cache folder."""
    sha256: str
    """Digest of the cached file; for a corpus also its `Corpus.digest`."""
    n_bytes: int
    """UTF-8 bytes of text (corpora), or size of the file (vocabularies)."""
    package: Package
    members: dict[str, str]
    """Member of the package (a glob for several) -> its SHA-256, empty if the other digests are enough."""
    reader: str = "as-is"
    """Name in `harness.data.readers.READERS`."""
    options: dict[str, Any] = field(default_factory=dict)
    part: str = ""
    """Which part of the reader's result."""


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """A published vocabulary: the files it is read from, and the facts they do not hold."""

    name: str
    language: str
    licence: str
    description: str
    path: str
    """Path in the cache of its file, or of the folder of its files."""
    items: tuple[Item, ...]
    aliases: tuple[str, ...] = ()
    normalization: str | None = None
    """Set if the library commonly used with it normalises but the file does not say so."""
    round_trip: str = "exact"
    """`Model.round_trip` of its model, given here so that listing need not load it."""

    @property
    def n_bytes(self) -> int:
        """Return the total size of its files in bytes."""
        return sum(item.n_bytes for item in self.items)


@dataclass(frozen=True, slots=True)
class RealCorpus:
    """A corpus taken from packages.

    `items` are its parts: usually one; for a parallel corpus one per language; for a corpus of several packages one per
    package; for a mixed corpus those of the corpora it draws on.
    """

    name: str
    language: str
    licence: str
    description: str
    items: tuple[Item, ...]
    sha256: str
    """`Corpus.digest` of a corpus of one item, or mixed of items."""
    mixed_of: Mapping[str, int]
    """For a corpus mixed of items, its own or those of other corpora: item -> number of bytes from its beginning."""
    n_bytes: int
    """UTF-8 bytes of text."""

    @property
    def parts(self) -> tuple[Item, ...]:
        """Return the items that can be loaded as corpora by their own names."""
        return tuple(item for item in self.items if item.name.partition("/")[0] == self.name)


_ABOUT = ("language", "licence", "description")
_OF_ITEM = ("sha256", "n_bytes", "members", "reader", "options")
_OF_VOCABULARY = (*_ABOUT, "normalization", "round_trip")
"""Fields that the tables name as the classes do."""


def datasets_folder() -> Path:
    """Return the folder `datasets`: inside the installed package, or beside it in the source tree."""
    package = Path(__file__).resolve().parent.parent
    inside = package / "datasets"
    return inside if inside.is_dir() else package.parent / "datasets"


def _read(file: str) -> tuple[dict[str, Any], dict[str, Package]]:
    """Return the tables of a file of the catalogue, and the packages that it names."""
    document = tomllib.loads((datasets_folder() / file).read_text("utf-8"))
    return document, {name: Package(name=name, **table) for name, table in document["packages"].items()}


def _items(name: str, table: dict[str, Any], path: str, suffix: str, packages: dict[str, Package]) -> tuple[Item, ...]:
    """Return the files of a vocabulary or corpus; a part takes from the table of all what it does not state."""
    return tuple(
        Item(
            name=f"{name}/{part}" if part else name,
            path=f"{path}/{part}{suffix}" if part else f"{path}{suffix}",
            package=packages[fields["package"]],
            part="" if "members" in own else part,
            **{key: fields[key] for key in _OF_ITEM if key in fields},
        )
        for part, own in table.get("parts", {} if "mixed_of" in table else {"": {}}).items()
        for fields in (table | own,)
    )


@cache
def vocabularies() -> dict[str, Vocabulary]:
    """Map name -> vocabulary, in the order of `vocabularies.toml`."""
    document, packages = _read("vocabularies.toml")
    published: dict[str, Vocabulary] = {}
    for name, table in document["vocabularies"].items():
        path = f"vocabularies/{table['file']}"
        published[name] = Vocabulary(
            name=name,
            path=path,
            items=_items(name, table, path, "", packages),
            aliases=tuple(table.get("aliases", ())),
            **{key: table[key] for key in _OF_VOCABULARY if key in table},
        )
    return published


@cache
def real_corpora() -> dict[str, RealCorpus]:
    """Map name -> corpus taken from packages, in the order of `corpora.toml`."""
    document, packages = _read("corpora.toml")
    corpora: dict[str, RealCorpus] = {}
    known: dict[str, tuple[Item, ...]] = {}
    for name, table in document["corpora"].items():
        own, mixed_of = _items(name, table, f"corpora/{name}", ".documents", packages), table.get("mixed_of", {})
        known |= {item.name: (item,) for item in own}
        known[name] = own or tuple(item for source in mixed_of for item in known[source])
        corpora[name] = RealCorpus(
            name=name,
            items=known[name],
            sha256=table.get("sha256", ""),
            mixed_of=mixed_of,
            n_bytes=table.get("n_bytes") or sum(item.n_bytes for item in own),
            **{key: table[key] for key in _ABOUT},
        )
    return corpora


def vocabulary_named(name: str) -> Vocabulary | None:
    """Return the vocabulary of that name or alias, or None if there is none."""
    return next((v for v in vocabularies().values() if name == v.name or name in v.aliases), None)


def all_items() -> dict[str, Item]:
    """Return every file `fetch` can put into the cache, by name."""
    items = [item for vocabulary in vocabularies().values() for item in vocabulary.items]
    items += [item for corpus in real_corpora().values() for item in corpus.items]
    return {item.name: item for item in items}
