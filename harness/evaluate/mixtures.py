"""What to learn from, as the user writes it: sizes, shares of a text, and mixtures of languages (a TOML file).

pivot = "en"                   # what premiums are against; without it en, else the first
parallel = true                # the texts measured on say the same; without it, true of parts of one parallel corpus

[corpora]
en = "parallel/en"
tr = "parallel/tr"

[held_out]                     # may be left out: the held-out part of each corpus is measured on
tr = "devtest/tr.txt"

[mixtures.half]                # may be left out: each language alone, and all in equal shares
en = 1
tr = 1
"""

from __future__ import annotations

import math
import re
from array import array
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from harness.data import DataError
from harness.data.catalogue import real_corpora
from harness.data.documents import encoded, place_of, shuffle_key
from harness.data.user_files import read_toml
from harness.evaluate.texts import Documents
from impls.core.errors import BPEError


class InvalidSizes(BPEError):
    """Sizes or shares that cannot be parsed."""


def parse_sizes(text: str, least: int) -> list[int]:
    """Return numbers of ids, ascending: of `1k,2k,32768` these, of `1k..128k` doubled from the first to the last.

    k is 1,000, and the last is always among them. Raise `InvalidSizes`, also for one below `least`.

    >>> parse_sizes("500..3k,2500", 257)
    [500, 1000, 2000, 2500, 3000]
    """
    found = set()
    for part in text.split(","):
        ends = [_number(end, part) for end in part.split("..")]
        if len(ends) > 2 or ends[0] > ends[-1]:
            raise InvalidSizes(f"{part.strip()!r} is not a range of sizes; write it like 1k..128k")
        size = ends[0]
        while size < ends[-1]:
            found.add(size)
            size *= 2
        found.add(ends[-1])
    if min(found) < least:
        raise InvalidSizes(f"{min(found)} is too small: the {least - 1} bytes are tokens too, so the least is {least}")
    return sorted(found)


def _number(text: str, whole: str) -> int:
    parsed = re.fullmatch(r"\s*(\d+(?:\.\d+)?)(k?)\s*", text, re.ASCII | re.IGNORECASE)
    number = float(parsed[1]) * (1000 if parsed[2] else 1) if parsed else 0.0
    if not number or number != int(number) or number > 1e9:
        raise InvalidSizes(f"{whole.strip()!r} is no number of ids; write it like 32k, 32768 or 1k..128k")
    return int(number)


def parse_shares(text: str) -> list[float]:
    """Return shares, ascending, of `1%,10%,100%`; raise `InvalidSizes`.

    >>> parse_shares("100%, 0.5%")
    [0.005, 1.0]
    """
    found = set()
    for part in text.split(","):
        parsed = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*%\s*", part, re.ASCII)
        if parsed is None or not 0 < float(parsed[1]) <= 100:
            raise InvalidSizes(f"{part.strip()!r} is no share of the documents; write it like 10%, up to 100%")
        found.add(float(parsed[1]) / 100)
    return sorted(found)


_KEYS = {"pivot", "parallel", "corpora", "held_out", "mixtures"}


@dataclass(frozen=True, slots=True)
class Mixtures:
    """The contents of a mixtures file."""

    pivot: str
    is_parallel: bool
    corpora: dict[str, str]
    """Corpus by language."""
    held_out: dict[str, str]
    shares: dict[str, dict[str, float]]
    """Mixture -> language -> share of the bytes; the shares of a mixture add up to 1."""


def read_mixtures(file: Path) -> Mixtures:
    """Return the mixtures of a file; raise `DataError` naming the invalid entry."""
    document = read_toml(file, _KEYS)
    corpora = _names(file, document, "corpora")
    if len(corpora) < 2:
        raise DataError(f'{file}: needs a table [corpora] of two languages or more, as in tr = "parallel/tr"')
    held_out = _names(file, document, "held_out")
    pivot = document.get("pivot", "en" if "en" in corpora else next(iter(corpora)))
    for what, language in [("pivot", pivot), *(("[held_out]", language) for language in held_out)]:
        if language not in corpora:
            raise DataError(f"{file}: {what}: {language!r} is not in [corpora]; there are {', '.join(corpora)}")
    is_parallel = document.get("parallel", _are_parallel([held_out.get(one, name) for one, name in corpora.items()]))
    if not isinstance(is_parallel, bool):
        raise DataError(f"{file}: parallel must be true or false, not {is_parallel!r}")
    alone = {f"{language} alone": {language: 1} for language in corpora}
    mixtures = document.get("mixtures", {**alone, "equal": dict.fromkeys(corpora, 1)})
    if not isinstance(mixtures, dict) or not mixtures:
        raise DataError(f"{file}: mixtures must be tables, as in [mixtures.half]")
    shares = {name: _shares(file, name, some, corpora) for name, some in mixtures.items()}
    return Mixtures(pivot, is_parallel, corpora, held_out, shares)


def _names(file: Path, document: Mapping[str, Any], table: str) -> dict[str, str]:
    found = document.get(table, {})
    if not isinstance(found, dict) or not all(isinstance(name, str) and name for name in found.values()):
        raise DataError(f"{file}: [{table}] must give a corpus or file for each language")
    return found


def _shares(file: Path, mixture: str, parts: object, corpora: Mapping[str, str]) -> dict[str, float]:
    if not isinstance(parts, dict) or not parts:
        raise DataError(f"{file}: [mixtures.{mixture}] must give a share for each language in it")
    for language, part in parts.items():
        if language not in corpora:
            raise DataError(
                f"{file}: [mixtures.{mixture}]: {language!r} is not in [corpora]; there are {', '.join(corpora)}"
            )
        if isinstance(part, bool) or not isinstance(part, int | float) or not 0 < part < math.inf:
            raise DataError(f"{file}: [mixtures.{mixture}]: the share of {language!r} must be positive, not {part!r}")
    return {language: part / sum(parts.values()) for language, part in parts.items()}


def _are_parallel(names: Sequence[str]) -> bool:
    families = {name.partition("/")[0] for name in names}
    family = real_corpora().get(families.pop()) if len(families) == 1 else None
    return family is not None and len(family.parts) > 1


def sample(documents: Documents, share: float) -> Documents:
    """Return about that share of the documents, at least one.

    Documents are chosen by their text, so that a larger share includes a smaller one.
    """
    if share == 1:
        return documents
    limit = round(share * 2**64)

    def chosen() -> Iterator[str]:
        return (text for text in documents() if place_of(text) < limit)

    if any(True for _ in chosen()):
        return chosen
    return lambda: iter([min(documents(), key=shuffle_key)])


class Part(NamedTuple):
    """The part of a language that goes into a mixture."""

    documents: Documents
    n_bytes: int


def mixed(texts: Mapping[str, Documents], shares: Mapping[str, Mapping[str, float]]) -> dict[str, dict[str, Part]]:
    """Return the parts of each mixture by language; all mixtures have equally many bytes, up to a document per
    language.

    That size is the largest that every mixture can reach without repeating a document. Documents of a language are
    chosen by their text, so that a larger share includes a smaller one. Memory: 16 bytes per document.
    """
    ordered = {language: _Ordered(documents) for language, documents in texts.items()}
    n_bytes = min(
        ordered[language].n_bytes / share for shares_of in shares.values() for language, share in shares_of.items()
    )
    found: dict[str, dict[str, Part]] = {}
    for mixture, shares_of in shares.items():
        found[mixture] = {}
        for language, share in shares_of.items():
            part = ordered[language].first(share * n_bytes + 0.5)
            if part is None:
                raise DataError(
                    f"mixture {mixture!r}: {share:.1%} of {n_bytes:,.0f} bytes holds no document of {language!r}; "
                    "give more text, or a larger share"
                )
            found[mixture][language] = part
    return found


class _Ordered:
    """The documents of a language in an order that depends only on their texts."""

    def __init__(self, documents: Documents) -> None:
        self._documents = documents
        keys, sizes = array("Q"), array("q")
        for text in documents():
            keys.append(place_of(text))
            sizes.append(len(encoded(text)))
        order = np.argsort(np.array(keys), kind="stable")
        self._keys = np.array(keys)[order]
        self._up_to = np.cumsum(np.array(sizes)[order])

    @property
    def n_bytes(self) -> int:
        return int(self._up_to[-1])

    def first(self, n_bytes: float) -> Part | None:
        """Return the first documents that fit into `n_bytes`; None if none does."""
        n_fitting = int(np.searchsorted(self._up_to, n_bytes, side="right"))
        if not n_fitting:
            return None
        last = int(self._keys[n_fitting - 1])
        n_last = n_fitting - int(np.searchsorted(self._keys, last))

        def documents() -> Iterator[str]:
            n_left = n_last  # documents of the last key, which have the same text
            for text in self._documents():
                key = place_of(text)
                if key < last or (key == last and n_left):
                    n_left -= key == last
                    yield text

        return Part(documents, int(self._up_to[n_fitting - 1]))
