"""Tests quickly whether a text holds special tokens: most texts hold none.

Handles what is special to SentencePiece, around the kernels: user-defined and unused pieces, and the hidden space.
Unknown characters are refused here too.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np

from impls.compiled.merge.spelling_tables import single_characters
from impls.compiled.pretokenize.layout import SpecialRow, SuffixRow
from impls.core.errors import UnknownSymbol, Unsupported
from impls.core.model import Model
from impls.core.model.cuts import Cuts
from impls.core.model.whole_tokens import WholeTokens
from impls.core.text.patterns import Splitter
from impls.core.text.text import special_matcher
from impls.operations.stream_rules import StreamRules

_MOST_PREFIXES = 4
"""Up to this many prefixes are searched by the kernels, one by one."""


SpecialTokenTable = tuple[np.ndarray, int]
"""The table that `pretokenize/special_search` reads (uint8, see `SpecialRow`) and its number of rows."""


def suffixes_by_prefix(texts: Iterable[str]) -> dict[str, list[str]]:
    """Group special tokens by their first character; return what follows the common prefix in each group, sorted.

    No suffix is a prefix of another: finding the shorter token is enough.
    """
    groups: dict[str, list[str]] = defaultdict(list)
    for text in sorted(texts):
        group = groups[text[0]]
        if not group or not text.startswith(group[-1]):
            group.append(text)
    return {(prefix := common_prefix(group)): [text[len(prefix) :] for text in group] for group in groups.values()}


def special_table(by_prefix: Mapping[str, Sequence[str]]) -> SpecialTokenTable:
    """Return the table for the kernels; if there are too many prefixes, an empty one with -1 rows."""
    if len(by_prefix) > _MOST_PREFIXES:
        return np.zeros(1, np.uint8), -1
    all_rows = SpecialRow.dtype.itemsize * len(by_prefix)
    text_at = all_rows + SuffixRow.dtype.itemsize * sum(map(len, by_prefix.values()))
    rows: list[tuple[int, ...]] = []
    suffix_rows: list[tuple[int, ...]] = []
    text = bytearray()

    def put(part: str) -> tuple[int, int]:
        data = part.encode()
        text.extend(data)
        return text_at + len(text) - len(data), len(data)

    for prefix, suffixes in by_prefix.items():
        first = all_rows + SuffixRow.dtype.itemsize * len(suffix_rows)
        rows.append((*put(prefix), first, len(suffixes)))
        suffix_rows += map(put, suffixes)
    data = np.array(rows, np.int64).tobytes() + np.array(suffix_rows, np.int64).tobytes() + text + bytes(1)
    return np.frombuffer(data, np.uint8), len(rows)


class Specials:
    """The special and added tokens of a model, as strings to search for."""

    def __init__(self, model: Model) -> None:
        texts = list(model.whole_token_ids)
        self.none = not texts
        """Whether the model has no special texts."""
        self._hidden = WholeTokens(model).hidden
        self._prefix, self._matcher = common_prefix(texts), special_matcher(frozenset(texts))

    def absent(self, text: str) -> bool:
        """Return whether `text` holds no special token, so that all of it is ordinary text."""
        if self._hidden:
            return False
        return self.none or self._prefix not in text or self._matcher.search(text) is None


def common_prefix(texts: list[str]) -> str:
    """Return the longest common prefix of all texts."""
    if not texts:
        return ""
    first, last = min(texts), max(texts)
    length = next((i for i, (a, b) in enumerate(zip(first, last, strict=False)) if a != b), min(len(first), len(last)))
    return first[:length]


Merge = Callable[[str], np.ndarray]


class SpecialPieces:
    """The user-defined and unused pieces of a model; raises `Unsupported` for user-defined pieces behind a pattern."""

    def __init__(self, model: Model) -> None:
        texts = model.user_defined_texts
        if texts and model.pattern:
            raise Unsupported("compiled", "split stages before user-defined pieces")
        self._ids = {text: model.id_by_token[text.encode()] for text in texts}
        self._matcher = special_matcher(texts) if texts else None
        self._prefix = common_prefix(list(texts))
        self._unused = {} if model.sentencepiece is None else model.unused_parts
        self._alphabet = Alphabet(model) if may_be_refused(model) else None

    def __bool__(self) -> bool:
        return bool(self._ids or self._unused or self._alphabet)

    def absent(self, text: str) -> bool:
        """Return whether the kernels alone can encode a normalised text: no special piece, all characters known."""
        if self._alphabet is not None and self._alphabet.is_doubtful(text):
            return False
        if self._unused:
            return False
        return self._matcher is None or self._prefix not in text or self._matcher.search(text) is None

    def encode(self, text: str, merge: Merge) -> np.ndarray:
        """Return the ids (uint32) of a normalised text; `merge` encodes the text between user-defined pieces.

        Raises `UnknownSymbol`.
        """
        if self._alphabet is not None and self._alphabet.is_doubtful(text):
            self._alphabet.check(text)
        ids = merge(text) if self._matcher is None else self._around_user_defined(text, merge)
        if not self._unused:
            return ids
        unused = self._unused
        return np.array([part for i in ids.tolist() for part in unused.get(i, (i,))], np.uint32)

    def _around_user_defined(self, text: str, merge: Merge) -> np.ndarray:
        parts: list[np.ndarray] = []
        start = 0
        assert self._matcher is not None
        for match in self._matcher.finditer(text):
            parts += [merge(text[start : match.start()]), np.array([self._ids[match[0]]], np.uint32)]
            start = match.end()
        return np.concatenate([*parts, merge(text[start:])])


def may_be_refused(model: Model) -> bool:
    """Return whether the model refuses characters: it has neither an unknown token nor bytes for those it lacks."""
    return (
        model.alphabet == "chars"
        and model.unknown_id is None
        and not (model.sentencepiece and model.sentencepiece.spells_all)
    )


class Alphabet:
    """The characters of a model that cannot encode any other: the kernels get only texts of these."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self._splitter = Splitter(model.pattern)
        self._cuts = None if model.sentencepiece is None else Cuts(model)
        inner, last = single_characters(model)
        known = "".join(map(re.escape, sorted(inner.keys() & last.keys())))
        self._doubtful = re.compile(f"[^{known}]" if known else r"[\s\S]")

    def is_doubtful(self, text: str) -> bool:
        """Return whether a character of `text` is unknown, or known only inside a piece, or only at its end."""
        return self._doubtful.search(text) is not None

    def check(self, text: str) -> None:
        """Raise `UnknownSymbol` for the first character of a normalised text that is unknown at its position."""
        offset = 0
        for piece in self._splitter.split(text):
            for part in [piece] if self._cuts is None else self._cuts.cut(piece):
                if self._cuts is None or part not in self._cuts.user_defined:
                    try:
                        self._model.symbols(part)
                    except UnknownSymbol as error:
                        at = self._splitter.offset(text, offset + error.offset)
                        raise UnknownSymbol(error.character, at) from None
                offset += len(part)


def without_hidden_space(data: bytes, ids: Iterable[int], rules: StreamRules) -> bytes | None:
    """Return the decoded bytes without the hidden space of their first mark; None if more may be hidden."""
    if not rules.ids_with_mark:
        return data
    if rules.removes_all_marks:
        return None
    for i in ids:
        if i in rules.ids_with_mark:
            return data[1:]
        if rules.bytes_by_id[i]:
            break
    return data
