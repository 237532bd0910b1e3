"""Tests quickly whether a text holds special tokens: most texts hold none."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from impls.compiled.pretokenize.layout import SpecialRow, SuffixRow
from impls.core.model import Model
from impls.core.model.whole_tokens import WholeTokens
from impls.core.text.text import special_matcher

_MOST_TEXTS = 4
"""Up to this many special texts are searched one by one, more of them by one regular expression."""
_MOST_PREFIXES = 4
"""Up to this many prefixes are searched by the kernels, one by one."""


SpecialTokenTable = tuple[np.ndarray, int]
"""The table that `pretokenize/special_search` reads (uint8, see `SpecialRow`) and its number of rows."""


@dataclass(frozen=True, slots=True)
class SpecialTokenIndex:
    """Special tokens as the kernels search them: grouped by first character, split into common prefix and suffix."""

    suffixes: dict[str, tuple[str, ...]]
    """Sorted suffixes by prefix. No suffix is a prefix of another: finding the shorter token is enough."""

    @classmethod
    def of(cls, texts: Iterable[str]) -> SpecialTokenIndex:
        """Index these special tokens."""
        groups: dict[str, list[str]] = defaultdict(list)
        for text in sorted(texts):
            group = groups[text[0]]
            if not group or not text.startswith(group[-1]):
                group.append(text)
        found = {common_prefix(group): group for group in groups.values()}
        return cls({prefix: tuple(text[len(prefix) :] for text in group) for prefix, group in found.items()})

    def table(self) -> SpecialTokenTable:
        """Return the table for the kernels; if there are too many prefixes, an empty one with -1 rows."""
        if len(self.suffixes) > _MOST_PREFIXES:
            return np.zeros(1, np.uint8), -1
        rows: list[tuple[int, int, int, int]] = []
        all_rows = SpecialRow.dtype.itemsize * len(self.suffixes)
        payload, at = b"", all_rows
        for text, suffixes in self.suffixes.items():
            prefix, encoded = text.encode(), [suffix.encode() for suffix in suffixes]
            index, place = b"", SuffixRow.dtype.itemsize * len(encoded)
            for suffix in encoded:
                index += np.array([place, len(suffix)], np.int64).tobytes()
                place += len(suffix)
            rows.append((at + place, len(prefix), at, len(encoded)))
            more = index + b"".join(encoded) + prefix
            payload += more.ljust(-len(more) % 8 + len(more), b"\0")
            at = all_rows + len(payload)
        return np.frombuffer(np.array(rows, np.int64).tobytes() + payload + bytes(1), np.uint8), len(rows)


class Specials:
    """The special and added tokens of a model, as strings to search for."""

    def __init__(self, model: Model) -> None:
        texts = list(model.whole_token_ids)
        self.none = not texts
        """Whether the model has no special texts."""
        self._hidden = WholeTokens(model).hidden
        self._prefix = common_prefix(texts)
        self._texts = frozenset(texts)

    def absent(self, text: str) -> bool:
        """Return whether `text` holds no special token, so that all of it is ordinary text."""
        if self._hidden:
            return False
        if self.none or (self._prefix and self._prefix not in text):
            return True
        if len(self._texts) <= _MOST_TEXTS:
            return not any(special in text for special in self._texts)
        return special_matcher(self._texts).search(text) is None


def common_prefix(texts: list[str]) -> str:
    """Return the longest common prefix of all texts."""
    if not texts:
        return ""
    first, last = min(texts), max(texts)
    length = next((i for i, (a, b) in enumerate(zip(first, last, strict=False)) if a != b), min(len(first), len(last)))
    return first[:length]
