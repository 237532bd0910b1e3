"""The `incremental` method of a tokenizer, with what `core.incremental` needs of the model prepared once.

Knows the hooks of a tokenizer, and no algorithm.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from impls.core.arguments import SpecialSet, check_special_sets, check_text
from impls.core.incremental import Incremental
from impls.core.truncation import Truncation


class Growing(Truncation):
    """The part of a `Tokenizer` that keeps the ids of a changing text."""

    def incremental(
        self, text: str = "", *, allowed_special: SpecialSet = (), disallowed_special: SpecialSet = "all"
    ) -> Incremental:
        """Return `text` with its ids, those of `encode` with these arguments, to be appended to and edited.

        Each step encodes only what it may affect: see `core.incremental`. A step raises what `encode` would raise.
        """
        check_text(text)
        check_special_sets(allowed_special, disallowed_special)
        # Certain places depend on these sets, so they are copied: the caller may change its own.
        allowed_special, disallowed_special = _frozen(allowed_special), _frozen(disallowed_special)
        cuts = self._cuts_around(self._whole_tokens.searched(allowed_special, disallowed_special))
        encode, further = (
            partial(take, allowed_special=allowed_special, disallowed_special=disallowed_special)
            for take in (self.encode, self._encode_further)
        )
        return Incremental(encode, further, cuts, self, text)

    def _encode_cut(self, text: str) -> Sequence[Any] | None:
        """Encode a text in two parts, up to its last certain place and from there on.

        Return that place (or 0), the ids before it and the ids after it; None if the caller must do it, as for a text
        in which a special token may begin. An implementation may override it for texts that are rewritten alike at
        their beginning and after a cut.
        """
        return None


def _frozen(special: SpecialSet) -> SpecialSet:
    return special if special == "all" else frozenset(special or ())
