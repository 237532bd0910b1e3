"""mbpe: tiktoken's interface in Mojo. It reads rank files, and splits by the patterns of GPT-2, cl100k and o200k.

A lone surrogate ends the process, so every text is searched for one before the library gets it. Its Python wrapper
searches texts for special tokens; the call behind it does not. It merges only, so a token that no lower ranks make is
never given; and for some ids without a token it decodes nothing.
"""

from __future__ import annotations

import os

from impls.core.errors import Unsupported
from impls.core.model import Model
from impls.core.text.patterns import NAMED
from impls.peers.conversion import file_of, has_ranks, plain_pattern, rank_file, underived_reason
from impls.peers.peer import Calls, Peer

_CLASSES = {NAMED["gpt2"]: "GPT2Tokenizer", NAMED["cl100k"]: "GPT4Tokenizer", NAMED["o200k"]: "GPT4oTokenizer"}


class Mbpe(Peer):
    """`mbpe`'s tokenizer of the model's pattern over its ranks."""

    surrogate_errors = ()

    def _load(self, model: Model) -> Calls:
        kind = _CLASSES.get(plain_pattern(model))
        if kind is None or not has_ranks(model):
            raise Unsupported(self.name, "it reads rank files, and splits by GPT-2's, cl100k's and o200k's patterns")
        if why := underived_reason(model):
            raise Unsupported(self.name, why)
        tokenizer = getattr(self.library, kind)()
        with file_of(rank_file(model), "model.tiktoken") as path:
            tokenizer.load_tiktoken(path)
        return self._calls_of(tokenizer)


# Importing Mojo has set these, with which no child of this process would start.
for variable in ("PYTHONEXECUTABLE", "PYTHONPATH"):
    if variable in os.environ:
        os.putenv(variable, os.environ[variable])
    else:
        os.unsetenv(variable)
