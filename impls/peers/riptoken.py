"""riptoken: a reimplementation of tiktoken. Not exact: a long piece, such as a run of letters, gets different ids.

It silently skips unknown ids when it decodes.
"""

from __future__ import annotations

from impls.core.model import Model
from impls.peers.conversion import one_pattern_of
from impls.peers.peer import Calls, Peer
from impls.production.libraries import ranks_for


class Riptoken(Peer):
    """`riptoken.CoreBPE` over the model's ranks."""

    def _load(self, model: Model) -> Calls:
        return self._calls_of(self.library.CoreBPE(ranks_for(self.name, model), {}, one_pattern_of(model)))
