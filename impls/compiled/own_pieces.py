"""What SentencePiece does around the merges: pieces of other kinds in, a hidden space out."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping

import numpy as np

from impls.compiled.specials import common_prefix
from impls.errors import Unsupported
from impls.model import Model
from impls.sentencepiece_rules import SentencePieceRules
from impls.text import special_matcher

Merge = Callable[[str], np.ndarray]


class OwnPieces:
    """What a model has of them. Raises `Unsupported` where split stages stand before user-defined pieces."""

    def __init__(self, model: Model) -> None:
        texts = model.user_defined_texts
        if texts and model.pattern:
            raise Unsupported("compiled", "split stages before user-defined pieces")
        self._ids = {text: model.id_by_token[text.encode()] for text in texts}
        self._matcher = special_matcher(texts) if texts else None
        self._prefix = common_prefix(list(texts))
        self._unused = {} if model.sentencepiece is None else model.unused_parts

    def __bool__(self) -> bool:
        return bool(self._ids or self._unused)

    def absent(self, text: str) -> bool:
        """Whether the kernels alone encode a written text: nothing stands in it, and no id has to be undone."""
        if self._matcher is None or (self._prefix and self._prefix not in text):
            return not self._unused
        return not self._unused and self._matcher.search(text) is None

    def encode(self, text: str, merge: Merge) -> np.ndarray:
        """Ids (uint32) of a written text; `merge` encodes what lies between user-defined pieces."""
        ids = merge(text) if self._matcher is None else self._around_user_defined(text, merge)
        if not self._unused:
            return ids
        unused = self._unused
        return np.array([part for i in ids.tolist() for part in unused.get(i, (i,))], np.uint32)

    def _around_user_defined(self, text: str, merge: Merge) -> np.ndarray:
        parts: list[np.ndarray] = []
        start = 0
        assert self._matcher is not None
        for found in self._matcher.finditer(text):
            parts += [merge(text[start : found.start()]), np.array([self._ids[found[0]]], np.uint32)]
            start = found.end()
        return np.concatenate([*parts, merge(text[start:])])


def without_hidden_space(
    data: bytes,
    ids: Iterable[int],
    bytes_by_id: Mapping[int, bytes],
    marked: Collection[int],
    rules: SentencePieceRules,
) -> bytes | None:
    """What ids are read as, less the space of the mark that begins them; None where more than one may be hidden."""
    if not marked:
        return data
    if rules.remove_extra_spaces:
        return None
    for i in ids:
        if i in marked:
            return data[1:]
        if bytes_by_id[i]:
            break
    return data
