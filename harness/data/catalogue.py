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
    members: dict[str, str | None]
    """Member of the package (a glob for several) -> its SHA-256, or None if the package's digest is enough."""
    reader: str
    """Name in `harness.data.readers.READERS`."""
    options: dict[str, Any] = field(default_factory=dict)
    part: str = ""
    """Which part of the reader's result."""
    n_documents: int = 0


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
    sha256: str = ""
    """`Corpus.digest` of a corpus mixed of items; for other corpora each item has its own."""
    mixed_of: Mapping[str, int] = field(default_factory=dict)
    """For a corpus mixed of items, its own or those of other corpora: item -> number of bytes from its beginning."""
    n_bytes: int = 0
    """UTF-8 bytes of text."""

    @property
    def parts(self) -> tuple[Item, ...]:
        """Return the items that can be loaded as corpora by their own names."""
        return tuple(item for item in self.items if item.name.partition("/")[0] == self.name)


def datasets_folder() -> Path:
    """Return the folder `datasets`: inside the installed package, or beside it in the source tree."""
    package = Path(__file__).resolve().parent.parent
    inside = package / "datasets"
    return inside if inside.is_dir() else package.parent / "datasets"


def _read(file: str) -> dict[str, Any]:
    return tomllib.loads((datasets_folder() / file).read_text("utf-8"))


def _packages(tables: dict[str, dict[str, Any]]) -> dict[str, Package]:
    return {name: Package(name=name, **table) for name, table in tables.items()}


@cache
def vocabularies() -> dict[str, Vocabulary]:
    """Map name -> vocabulary, in the order of `vocabularies.toml`."""
    document = _read("vocabularies.toml")
    packages = _packages(document["packages"])
    return {name: _vocabulary(name, table, packages) for name, table in document["vocabularies"].items()}


def _vocabulary(name: str, table: dict[str, Any], packages: dict[str, Package]) -> Vocabulary:
    path = f"vocabularies/{table['file']}"
    items = tuple(
        Item(
            name=f"{name}/{part}" if part else name,
            path=f"{path}/{part}" if part else path,
            sha256=fields["sha256"],
            n_bytes=fields["n_bytes"],
            package=packages[table["package"]],
            members={fields["member"]: fields.get("member_sha256", fields["sha256"])},
            reader=fields.get("reader", "as-is"),
        )
        for part, fields in table.get("files", {"": table}).items()
    )
    return Vocabulary(
        name=name,
        path=path,
        items=items,
        aliases=tuple(table.get("aliases", ())),
        normalization=table.get("normalization"),
        round_trip=table.get("round_trip", "exact"),
        **{key: table[key] for key in ("language", "licence", "description")},
    )


@cache
def real_corpora() -> dict[str, RealCorpus]:
    """Map name -> corpus taken from packages, in the order of `corpora.toml`."""
    document = _read("corpora.toml")
    packages = _packages(document["packages"])
    corpora: dict[str, RealCorpus] = {}
    for name, table in document["corpora"].items():
        shared = {key: table[key] for key in ("language", "licence", "description")}
        if "mixed_of" in table:
            parts = {item.name: (item,) for corpus in corpora.values() for item in corpus.items}
            known = parts | {corpus.name: corpus.items for corpus in corpora.values()}
            corpora[name] = RealCorpus(
                name=name,
                items=tuple(item for source in table["mixed_of"] for item in known[source]),
                sha256=table["sha256"],
                mixed_of=table["mixed_of"],
                n_bytes=table["n_bytes"],
                **shared,
            )
        else:
            items = _corpus_items(name, table, packages)
            total = sum(item.n_bytes for item in items)
            mixed_of = {item.name: item.n_bytes for item in items} if "sha256" in table and len(items) > 1 else {}
            sha256 = table.get("sha256", "") if mixed_of else ""
            corpora[name] = RealCorpus(
                name=name, items=items, sha256=sha256, mixed_of=mixed_of, n_bytes=total, **shared
            )
    return corpora


def _corpus_items(name: str, table: dict[str, Any], packages: dict[str, Package]) -> tuple[Item, ...]:
    """Return the parts of a corpus; what a part does not say of its source stands in the corpus's table."""
    return tuple(
        Item(
            name=f"{name}/{part}" if part else name,
            path=f"corpora/{name}/{part}.documents" if part else f"corpora/{name}.documents",
            sha256=fields["sha256"],
            n_bytes=fields["n_bytes"],
            n_documents=fields["n_documents"],
            package=packages[source["package"]],
            members={path: sha256 or None for path, sha256 in source["members"].items()},
            reader=source["reader"],
            options=source.get("options", {}),
            part="" if "package" in fields else part,
        )
        for part, fields in table.get("parts", {"": table}).items()
        for source in (table | fields,)
    )


def vocabulary_named(name: str) -> Vocabulary | None:
    """Return the vocabulary of that name or alias, or None if there is none."""
    return next((v for v in vocabularies().values() if name == v.name or name in v.aliases), None)


def all_items() -> dict[str, Item]:
    """Return every file `fetch` can put into the cache, by name."""
    items = [item for vocabulary in vocabularies().values() for item in vocabulary.items]
    items += [item for corpus in real_corpora().values() for item in corpus.items]
    return {item.name: item for item in items}
