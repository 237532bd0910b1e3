"""turkish-tokenizer: Turkish roots, suffixes and letter pairs, longest first; no byte pair encoding, and lossy.

It has one vocabulary, built in, in which several suffixes share an id, and decodes by vowel harmony: what comes back
may be another word. So it runs no model of ours; METHODOLOGY.md says how much of a text comes back.
"""

from __future__ import annotations

from typing import ClassVar, Literal

from impls.errors import Unsupported
from impls.interface import Tokenizer
from impls.model import Model
from impls.peers.packages import library

library("turkish-tokenizer", "turkish-tokenizer", "turkish_tokenizer")


class TurkishTokenizer(Tokenizer):
    """`turkish_tokenizer.TurkishTokenizer`, which reads no vocabulary."""

    name: ClassVar[str] = "turkish-tokenizer"
    summary: ClassVar[str] = "Python: Turkish roots and suffixes, a vocabulary of its own; lossy"
    kind: ClassVar[Literal["peer"]] = "peer"
    exact: ClassVar[bool] = False

    def __init__(self, model: Model) -> None:
        raise Unsupported(self.name, "it has a vocabulary of roots and suffixes built in, is lossy, and reads no other")
