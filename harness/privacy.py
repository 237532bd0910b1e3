"""Find what must not be published with a run: paths, addresses, names of the machine and of its user."""

from __future__ import annotations

import getpass
import platform
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec

_TEXTS = ("base64", "escaped")
"""Fields that hold texts of corpora, which may contain anything."""
_PRIVATE = (
    (re.compile(r"(?<![\w.~/-])(?:/[A-Za-z][\w.-]*/|~/|[A-Z]:\\)\S*"), "a path"),
    (re.compile(r"file://\S+"), "a path"),
    (re.compile(r"[\w.+-]+@[A-Za-z][\w-]*\.[A-Za-z][\w.]*"), "an address of mail"),
    (re.compile(r"\b(?:10\.\d+|192\.168|172\.(?:1[6-9]|2\d|3[01]))\.\d{1,3}\.\d{1,3}\b"), "an address of a machine"),
    (re.compile(r"(?<=[@/])\d{1,3}(?:\.\d{1,3}){3}\b|\b\d{1,3}(?:\.\d{1,3}){3}(?=:\d)"), "an address of a machine"),
    (re.compile(r"\b[\w-]+\.(?:local|lan|internal|localdomain)\b"), "the name of a machine"),
)
_COMMON = ("root", "user", "admin", "ubuntu", "runner", "localhost", "debian", "home")
"""Names that identify nobody."""


def private_faults(run: Path, files: Sequence[str]) -> Iterator[str]:
    """Yield a line for each text of the files that holds a path or an address."""
    for where, text in _strings(run, files):
        for pattern, what in _PRIVATE:
            if (found := pattern.search(text)) is not None:
                yield f"{where}: holds {what}, {found[0]!r}; nothing of a machine but its kind belongs there"


def own_names() -> list[str]:
    """Return the names of this machine and its user, which must not be published."""
    names = [platform.node(), platform.node().partition(".")[0], Path.home().name]
    with suppress(KeyError, OSError, ImportError):
        names.append(getpass.getuser())
    return [name for name in dict.fromkeys(names) if len(name) > 2 and name.lower() not in _COMMON]


def named_faults(run: Path, files: Sequence[str], names: Sequence[str]) -> Iterator[str]:
    """Yield a line for each text of the files that holds one of these names."""
    found = re.compile("|".join(rf"\b{re.escape(name)}\b" for name in names), re.IGNORECASE)
    for where, text in _strings(run, files) if names else ():
        if (name := found.search(text)) is not None:
            yield f"{where}: holds the name {name[0]!r} of this machine or its user"


def _strings(run: Path, files: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield every text of the run's files and where it is, except texts of corpora; each kind of place once."""
    seen: set[tuple[str, str]] = set()
    for name in files:
        lines = (run / name).read_bytes().splitlines() if name.endswith(".jsonl") else [(run / name).read_bytes()]
        for line in lines:
            with suppress(msgspec.MsgspecError):
                for where, text in _inner(msgspec.json.decode(line) if line.strip() else None, name):
                    if (where, text) not in seen:
                        seen.add((where, text))
                        yield where, text


def _inner(value: Any, where: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, str):
        yield where, value
    elif isinstance(value, list):
        for one in value:
            yield from _inner(one, where)
    elif isinstance(value, dict):
        for key, one in value.items():
            if key not in _TEXTS:
                yield where, key
                yield from _inner(one, f"{where}: {key}")
