"""turkish-tokenizer: Turkish roots, suffixes and letter pairs, longest first; no byte pair encoding, and lossy.

It has one vocabulary, built in, in which several suffixes share an id, and decodes by vowel harmony: the result may be
another word. So it runs no model of ours, and no other implementation runs its own, the model `turkish-tokenizer`.

The package's releases from 1.0 on are in Rust: they do not expose the vocabulary, and have a wheel for only one system.
The extra `peers` installs the last one before.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar

from impls.core.arguments import check_text, checked_ids
from impls.core.errors import UnknownId, Unsupported
from impls.core.model import Model
from impls.peers.peer import Peer, library

turkish_tokenizer = library("turkish-tokenizer", "turkish-tokenizer", "turkish_tokenizer")


class TurkishTokenizer(Peer):
    """`turkish_tokenizer.TurkishTokenizer` over its own vocabulary."""

    name: ClassVar[str] = "turkish-tokenizer"
    summary: ClassVar[str] = "Python: Turkish roots and suffixes, a vocabulary of its own; lossy"
    surrogate_errors = ()
    exact: ClassVar[bool] = False

    def _load(self, model: Model) -> Any:
        if model.belongs_to != self.name:
            reason = "it has a vocabulary of roots and suffixes built in, is lossy, and reads no other"
            raise Unsupported(self.name, reason)
        return turkish_tokenizer.TurkishTokenizer()

    @classmethod
    def own_model(cls) -> Model:
        """Return its vocabulary, each id with the first of the texts that share it.

        Raise `Unsupported` for a release that does not expose it.
        """
        texts = getattr(turkish_tokenizer.TurkishTokenizer(), "reverse_dict", None)
        if texts is None:
            reason = "its releases from 1.0 on do not show their vocabulary; install turkish-tokenizer==0.2.26"
            raise Unsupported(cls.name, reason)
        tokens = tuple(texts[i][0].encode() for i in range(len(texts)))
        return Model(tokens=tokens, alphabet="chars", belongs_to=cls.name)

    def decode(self, ids: Iterable[int], errors: str = "replace") -> str:
        """Return the text the library decodes the ids to."""
        check_text(errors, "errors")
        ids = checked_ids(ids)
        for position, i in enumerate(ids):
            if not 0 <= i < len(self.model.tokens):
                raise UnknownId(i, position)
        return self._library.decode(ids)

    def decode_bytes(self, ids: Iterable[int]) -> bytes:
        """Return the UTF-8 of the text of `decode`."""
        return self.decode(ids).encode()
