"""Models by the names used in columns: those of this machine, those of the command line, uploaded and trained ones.

A request names no path: a model that is not listed here is not found.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

import impls
from harness.data import available_models, load_model
from harness.data.models import aliases
from harness.play.messages import MAX_COLUMNS, Column
from harness.play.tasks import Source
from harness.printable import printable
from harness.targets.availability import availability
from impls.core.errors import UnknownName
from impls.core.text.patterns import NAMED

MOST_HELD = 12
_FIRST = ("o200k_base", "cl100k_base")
MOST_HELD_BYTES = 128 << 20


@dataclass(frozen=True, slots=True)
class StoredModel:
    """An uploaded or trained model: the content of its file."""

    name: str
    label: str
    content: bytes


class InitialView(msgspec.Struct, frozen=True):
    """What the page shows if its address does not say."""

    text: str | None
    columns: list[Column]


class Store:
    """The models and implementations that requests may name."""

    def __init__(self, named: Sequence[str] = ()) -> None:
        """Add models of the command line, by name or file; let exceptions of `load_model` through."""
        self._named: dict[str, str] = {}
        for name in named:
            load_model(name)
            self._named[Path(name).name if Path(name).is_file() else name] = name
        self._held: dict[str, StoredModel] = {}

    def models(self) -> list[str]:
        """Return the names of models that need no network, those of the command line first."""
        published = [name for model in available_models() for name in (model, *aliases(model))]
        return list(dict.fromkeys([*self._named, *published, *self._held]))

    def choices(self) -> dict[str, Any]:
        """Return the possible columns, as JSON."""
        rows = [availability(name) for name in impls.names()]
        labels = {held.name: held.label for held in self._held.values()}
        usable = [row for row in rows if row.state in ("ready", "installed", "plug-in")]
        return {
            "implementations": [{"name": row.name, "kind": row.kind, "about": printable(row.about)} for row in usable],
            "models": [{"name": name, "label": labels.get(name, name)} for name in self.models()],
            "patterns": list(NAMED),
        }

    def source(self, model: str) -> Source:
        """Return the source from which a worker loads the model; raise `UnknownName`."""
        if model in self._held:
            return self._held[model].content
        if model not in self.models():
            raise UnknownName("model", printable(model), self.models())
        return self._named.get(model, model)

    def sources(self, columns: Iterable[Column]) -> list[tuple[str, Source]]:
        """Return (implementation, source) of columns; raise `UnknownName`."""
        columns = list(columns)
        for column in columns:
            if column.implementation not in impls.names():
                raise UnknownName("implementation", printable(column.implementation), impls.names())
        return [(column.implementation, self.source(column.model)) for column in columns]

    def hold(self, kind: str, label: str, content: bytes) -> StoredModel:
        """Keep a file in memory under a name made of its digest; remove the oldest if there are too many."""
        held = StoredModel(f"{kind}:{hashlib.sha256(content).hexdigest()[:12]}", printable(label)[:80] or kind, content)
        self._held.pop(held.name, None)
        self._held[held.name] = held
        while len(self._held) > MOST_HELD or sum(len(model.content) for model in self._held.values()) > MOST_HELD_BYTES:
            del self._held[next(iter(self._held))]
        return held

    def held(self, name: str) -> StoredModel | None:
        """Return an uploaded or trained model, or None if there is none of that name."""
        return self._held.get(name)

    def beginning(self, implementations: Sequence[str] = (), text: str | None = None) -> InitialView:
        """Return what the page shows first: each implementation on each model; raise `UnknownName`.

        Without models of the command line, those of `_FIRST` that are available; without implementations `compiled`.
        """
        models = list(self._named) or [name for name in _FIRST if name in self.models()] or self.models()[:1]
        columns = [Column(name, model) for model in models for name in implementations or ("compiled",)]
        self.sources(columns)
        return InitialView(text, columns[:MAX_COLUMNS])
