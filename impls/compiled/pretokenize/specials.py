"""Whether a text holds a special token, decided quickly: most texts hold none."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from impls.compiled.layout import REST_BYTES, SOUGHT_ROW_BYTES
from impls.core.model import Model
from impls.core.model.whole_tokens import WholeTokens
from impls.core.text.text import special_matcher

_MOST_NEEDLES = 4
_MOST_BEGINNINGS = 4
"""How many the kernels look for, one after the other."""


SoughtTable = tuple[np.ndarray, int]
"""What `pretokenize/needle` reads, uint8, see `layout.SOUGHT_ROW_BYTES`, and how many rows that has."""


@dataclass(frozen=True, slots=True)
class Sought:
    """Special texts as the kernels look for them: by what those begin with that have the same first character."""

    rests: dict[str, tuple[str, ...]]
    """By beginning what is behind it, ordered; none begins with another, as who finds the shorter has found one."""

    @classmethod
    def of(cls, texts: Iterable[str]) -> Sought:
        """Looks for these texts."""
        groups: dict[str, list[str]] = defaultdict(list)
        for text in sorted(texts):
            group = groups[text[0]]
            if not group or not text.startswith(group[-1]):
                group.append(text)
        found = {common_prefix(group): group for group in groups.values()}
        return cls({prefix: tuple(text[len(prefix) :] for text in group) for prefix, group in found.items()})

    def table(self) -> SoughtTable:
        """An empty one with -1 rows where there are too many beginnings."""
        if len(self.rests) > _MOST_BEGINNINGS:
            return np.zeros(1, np.uint8), -1
        rows: list[tuple[int, int, int, int]] = []
        all_rows = SOUGHT_ROW_BYTES * len(self.rests)
        behind, at = b"", all_rows
        for beginning, rests in self.rests.items():
            needle, encoded = beginning.encode(), [rest.encode() for rest in rests]
            index, place = b"", REST_BYTES * len(encoded)
            for rest in encoded:
                index += np.array([place, len(rest)], np.int64).tobytes()
                place += len(rest)
            rows.append((at + place, len(needle), at, len(encoded)))
            more = index + b"".join(encoded) + needle
            behind += more.ljust(-len(more) % 8 + len(more), b"\0")
            at = all_rows + len(behind)
        return np.frombuffer(np.array(rows, np.int64).tobytes() + behind + bytes(1), np.uint8), len(rows)


class Specials:
    """The special and added tokens of a model, as strings to look for."""

    def __init__(self, model: Model) -> None:
        texts = list(model.whole_token_ids)
        self.none = not texts
        """Whether the model has no special texts."""
        self._hidden = WholeTokens(model).hidden
        self._prefix = common_prefix(texts)
        self._texts = frozenset(texts)

    def absent(self, text: str) -> bool:
        """Whether `text` holds no special text, so it is encoded as it stands."""
        if self._hidden:
            return False
        if self.none or (self._prefix and self._prefix not in text):
            return True
        if len(self._texts) <= _MOST_NEEDLES:
            return not any(special in text for special in self._texts)
        return special_matcher(self._texts).search(text) is None


def common_prefix(texts: list[str]) -> str:
    """What all of them begin with."""
    if not texts:
        return ""
    first, last = min(texts), max(texts)
    length = next((i for i, (a, b) in enumerate(zip(first, last, strict=False)) if a != b), min(len(first), len(last)))
    return first[:length]
