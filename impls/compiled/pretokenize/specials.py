"""Tests quickly whether a text holds special tokens: most texts hold none.

Handles what is special to SentencePiece, around the kernels: user-defined and unused pieces, and the hidden space.
Unknown characters are refused here too.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import accumulate, chain
from os.path import commonprefix

import numpy as np

from impls.compiled.merge.symbols import single_characters
from impls.core.errors import Unsupported
from impls.core.model import Model
from impls.core.model.whole_tokens import WholeTokens
from impls.core.text.text import special_matcher
from impls.operations import pieces
from impls.operations.stream_rules import StreamRules

_MOST_PREFIXES = 4
"""Up to this many prefixes are searched by the kernels, one by one."""


SpecialTokenTable = tuple[Mapping[str, np.ndarray], int]
"""The arrays that `pretokenize/special_search` reads, by the fields that point at them, and their number of rows."""


def tokens_by_prefix(texts: Iterable[str]) -> dict[str, list[str]]:
    """Group special tokens by their first character; return each group, sorted, by its common prefix.

    Tokens that begin with another one are left out: finding the shorter token is enough.
    """
    groups: dict[str, list[str]] = defaultdict(list)
    for text in sorted(texts):
        group = groups[text[0]]
        if not group or not text.startswith(group[-1]):
            group.append(text)
    return {commonprefix(group): group for group in groups.values()}  # noqa: RUF071 - of strings, not of paths


def special_table(by_prefix: Mapping[str, Sequence[str]]) -> SpecialTokenTable:
    """Return the table for the kernels; if there are too many prefixes, an empty one with -1 rows."""
    if len(by_prefix) > _MOST_PREFIXES:
        return {}, -1
    n_tokens, texts = list(map(len, by_prefix.values())), [text.encode() for text in chain(*by_prefix.values())]
    n_bytes = list(map(len, texts))
    rows = zip((len(prefix.encode()) for prefix in by_prefix), accumulate(n_tokens, initial=0), n_tokens, strict=False)
    arrays: dict[str, np.ndarray] = {
        "specials": np.array(list(rows), np.int64),
        "special_tokens": np.array(list(zip(accumulate(n_bytes, initial=0), n_bytes, strict=False)), np.int64),
        "special_bytes": np.frombuffer(b"".join(texts) + bytes(1), np.uint8),
    }
    return arrays, len(n_tokens)


class Specials:
    """The special and added tokens of a model, as strings to search for."""

    def __init__(self, model: Model) -> None:
        texts = frozenset(model.whole_token_ids)
        self.none = not texts
        """Whether the model has no special texts."""
        self._hidden = WholeTokens(model).hidden
        # `in` finds one character many times as fast as `re`.
        self._texts, self._first = texts, commonprefix([*texts])[:1]  # noqa: RUF071

    def absent(self, text: str) -> bool:
        """Return whether `text` holds no special token, so that all of it is ordinary text."""
        if self._hidden:
            return False
        return self.none or self._first not in text or special_matcher(self._texts).search(text) is None


Merge = Callable[[str], np.ndarray]


class SpecialPieces:
    """The user-defined and unused pieces of a model; raises `Unsupported` for user-defined pieces behind a pattern."""

    def __init__(self, model: Model) -> None:
        texts = model.user_defined_texts
        if texts and model.pattern:
            raise Unsupported("compiled", "does not run split stages before user-defined pieces")
        self._model = model
        self._ids = {text: model.id_by_token[text.encode()] for text in texts}
        self._matcher = special_matcher(texts) if texts else None
        self._unused = {} if model.sentencepiece is None else model.unused_parts
        self._doubtful = _doubtful_characters(model)

    def __bool__(self) -> bool:
        return bool(self._ids or self._unused or self._doubtful)

    def absent(self, text: str) -> bool:
        """Return whether the kernels alone can encode a normalised text: no special piece, all characters known."""
        if self._unused or (self._doubtful and self._doubtful.search(text)):
            return False
        return self._matcher is None or self._matcher.search(text) is None

    def encode(self, text: str, merge: Merge) -> np.ndarray:
        """Return the ids (uint32) of a normalised text; `merge` encodes the text between user-defined pieces.

        Raises `UnknownSymbol`.
        """
        if self._doubtful and self._doubtful.search(text):
            pieces.encode(self._model, text, self._model.symbols)  # raises it, with its offset
        parts: list[np.ndarray] = []
        start = 0
        for match in () if self._matcher is None else self._matcher.finditer(text):
            parts += [merge(text[start : match.start()]), np.array([self._ids[match[0]]], np.uint32)]
            start = match.end()
        ids = np.concatenate([*parts, merge(text[start:])])
        if unused := self._unused:
            ids = np.array([part for i in ids.tolist() for part in unused.get(i, (i,))], np.uint32)
        return ids


def _doubtful_characters(model: Model) -> re.Pattern[str] | None:
    """Return an expression for a character that is unknown, or known only inside a piece, or only at its end.

    None if the model has an unknown token, or bytes, for those that it lacks.
    """
    spells_all = model.sentencepiece is not None and model.sentencepiece.spells_all
    if model.alphabet == "bytes" or model.unknown_id is not None or spells_all:
        return None
    inner, last = single_characters(model)
    known = "".join(map(re.escape, sorted(inner.keys() & last.keys())))
    return re.compile(f"[^{known}]" if known else r"[\s\S]")


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
