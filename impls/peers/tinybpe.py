"""tinybpe: encodes in C the pieces that the package `regex` cuts, and numbers bytes by a table and merges after them.

Not exact by its own vocabularies (its `r50k_base` has different ids); here it gets the model's merges.
"""

from __future__ import annotations

import warnings

from impls.core.model import Model
from impls.peers.conversion import merges_after_bytes, one_pattern_of
from impls.peers.peer import Calls, Peer


class Tinybpe(Peer):
    """`tinybpe.Tokenizer` over the model's merges and the ids of its bytes."""

    def _load(self, model: Model) -> Calls:
        merges, id_of_byte = merges_after_bytes(self.name, model)
        with warnings.catch_warnings(action="ignore"):  # it warns that there are no special tokens
            tokenizer = self.library.Tokenizer(merges, bytes_maps=id_of_byte, pat_str=one_pattern_of(model))
        return self._calls_of(tokenizer)
