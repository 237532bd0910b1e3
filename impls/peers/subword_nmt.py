"""subword-nmt: Sennrich's own trainer, over characters, with the end of a word marked; it only trains here.

Source: Sennrich, Haddow and Birch 2016, "Neural Machine Translation of Rare Words with Subword Units".

Words are counted here, by the specification's pattern, and passed as a dictionary the library can read. Its words have
no white space. Ties go to the largest pair of strings.
"""

from __future__ import annotations

import contextlib
import io
from collections.abc import Iterable

from impls.core.errors import Unsupported
from impls.core.model import Model
from impls.core.training import base_symbols, merge_budget, piece_weights
from impls.interface import TrainingSpec
from impls.peers.peer import Peer
from impls.production.training import model_of_merges, require


class SubwordNmt(Peer):
    """`subword_nmt.learn_bpe.learn_bpe`."""

    @classmethod
    def train_model(cls, texts: Iterable[str], spec: TrainingSpec) -> Model:
        """Learn merges; raise `Unsupported` naming the field it cannot follow.

        The pattern must put white space into pieces of one character, which give base symbols and no merges.
        """
        require(cls.name, spec, alphabet="chars", ties="largest", end_of_word="</w>", max_token_bytes=None)
        counts = piece_weights(texts, spec)
        base = base_symbols(counts, spec)
        words = {piece: count for piece, count in counts.items() if len(piece) > 1}
        for word in words:
            if word.split() != [word]:
                why = f"its words hold no white space, and this pattern leaves it in {word!a}"
                remedy = r"use '\S+|\s', or pass words as texts with 'none'"
                raise Unsupported(cls.name, f"TrainingSpec.pattern: {why}; {remedy}")
        n_merges = merge_budget(base, spec)
        dictionary = io.StringIO("".join(f"{word} {count}\n" for word, count in words.items()), newline="\n")
        codes = io.StringIO(newline="\n")
        if words:
            with contextlib.redirect_stderr(io.StringIO()):  # a progress bar
                cls.library.learn_bpe(dictionary, codes, n_merges, min_frequency=spec.min_count, is_dict=True)
        pairs = (line.encode().split(b" ") for line in codes.getvalue().split("\n")[1:-1])
        return model_of_merges(cls.name, spec, base, [(left, right) for left, right in pairs])
