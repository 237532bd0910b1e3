"""Counts and truncates by kernels: a part of a long text begins or ends at a line break at which the pattern cuts."""

from __future__ import annotations

import re
from functools import cached_property

from impls.compiled.cpython.builtins import Builtins
from impls.compiled.pretokenize.splitting import splitting_of, windows_wanted
from impls.core import arguments
from impls.core.errors import UnknownSymbol
from impls.core.pattern.tables import cuts_at_line_breaks
from impls.core.text.text import repair_surrogates
from impls.core.truncation import Truncation

_SAFE_CUT = re.compile(r"[0-9A-Za-z]\n(?=[0-9A-Za-z])")
"""Matches what `last_safe_cut` finds from the other end."""
_FASTER_WHOLE = 64
"""A text up to this many times as long as its head is encoded sooner than the head is split in Python."""


def last_safe_cut(data: bytes) -> int:
    """Return the end of the last line break that has an ASCII letter or digit on each side, or 0."""
    end = len(data)
    while (at := data.rfind(b"\n", 1, end - 1)) > 0:
        if data[at - 1 : at].isalnum() and data[at + 1 : at + 2].isalnum():
            return at + 1
        end = at + 1
    return 0


class KernelTruncation(Truncation):
    """Counts without building ids, and encodes no more of a long text than is needed."""

    _fast: Builtins | None

    def _count(self, text: str) -> int:
        if self._fast is not None and not self._model.added_tokens:
            try:
                counted = self._fast.count_ids(text)
            except (UnicodeEncodeError, TypeError):
                counted = None
            if counted is not None:
                return counted
        return super()._count(text)

    def _first_ids(self, text: str, n_tokens: int) -> list[int]:
        arguments.check_text(text)
        size = 16 * n_tokens + 256
        while size < len(text) and self._cuts_texts_at_line_breaks:
            head = repair_surrogates(text[:size]).encode()
            if not (end := last_safe_cut(head)):
                break
            ids = self.encode(head[:end].decode(), disallowed_special=())
            if len(ids) > n_tokens:
                return ids
            size *= 4
        if self._fast is not None and len(text) <= _FASTER_WHOLE * size:
            return self.encode(text, disallowed_special=())
        return super()._first_ids(text, n_tokens)

    def _last_ids(self, text: str, n_tokens: int) -> list[int]:
        """Return the ids of an end of the text; without a line break to cut at near its end, of the whole text."""
        arguments.check_text(text)
        size = 16 * n_tokens + 256
        while size < len(text) and self._cuts_texts_at_line_breaks:
            if found := _SAFE_CUT.search(text, len(text) - size):
                try:
                    ids = self.encode(text[found.end() :], disallowed_special=())
                except UnknownSymbol as error:
                    raise UnknownSymbol(error.character, found.end() + error.offset) from None
                if len(ids) > n_tokens:
                    return ids
            size *= 4
        return super()._last_ids(text, n_tokens)

    @cached_property
    def _cuts_texts_at_line_breaks(self) -> bool:
        """Return whether a text may be encoded in two parts that meet at a line break between letters or digits."""
        model = self._model
        if model.rewrites_text or model.whole_token_flags or any("\n" in added for added in model.added_tokens):
            return False
        splitting, _ = splitting_of(model.pattern, with_windows=windows_wanted())
        return splitting is not None and model.sentencepiece is None and cuts_at_line_breaks(splitting.automata)
