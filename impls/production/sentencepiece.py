"""SentencePiece over our model: a `.model` made of the model's tokens, and its trainer.

SentencePiece joins any two neighbours whose joined text is a piece of its vocabulary, highest score first; scores here
are the negated ranks. A model with its own rules it runs as is, on whole texts, and decodes itself. It has no pattern
for others: we split and normalise, and it encodes each piece separately, without its escape for white space. Bytes are
then written as GPT-2's printable characters, characters as they are. A model with listed merges runs only where that
provably gives the same ids.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import chain
from typing import ClassVar, Literal

import sentencepiece

from impls.core.arguments import checked_ids
from impls.core.errors import UnknownSymbol, Unsupported
from impls.core.model import Model
from impls.core.model.derivations import concatenation_differs
from impls.core.text.byte_alphabet import to_printable
from impls.core.training import base_symbols, corpus_pieces, merge_budget
from impls.formats.sentencepiece_model import proto
from impls.interface import Tokenizer, TrainingSpec
from impls.production.libraries import loading
from impls.production.sentencepiece_training import learned_tokens
from impls.production.training import model_of_tokens, require

_STAND_INS = {0: "\U0010fffb"}  # it refuses pieces with a null character


class SentencePiece(Tokenizer):
    """`sentencepiece.SentencePieceProcessor`, called for each piece the pattern cuts."""

    name: ClassVar[str] = "sentencepiece"
    summary: ClassVar[str] = "Google's library: C++, looks joined text up; split by us; has a trainer"
    kind: ClassVar[Literal["production"]] = "production"

    def __init__(self, model: Model) -> None:
        self.normalizes = _takes_whole_texts(model)
        super().__init__(model)
        for where, affix in (("begin with", model.continuing_prefix), ("end in", model.end_of_word)):
            if affix is not None:
                raise Unsupported(self.name, f"it has no symbols that {where} {affix!r}")
        if why := concatenation_differs(model):
            raise Unsupported(self.name, f"it looks joined text up, which gives other ids here: {why}")
        self._processor = _processor(model, as_written=not self.normalizes)
        self._whole = _pieces_it_would_not_make(model)
        self._has_null = model.alphabet == "chars" and b"\0" in model.id_by_token
        self._unknown = _outside(model) if _unknown_by_us(model) else None
        self._decodable = _ids_it_decodes_alike(model) if self.normalizes else frozenset()

    def _encode_text(self, text: str) -> list[int]:
        """Return the ids of a text without special tokens."""
        if self.normalizes:
            return self._processor.encode(text, out_type=int)
        return list(chain.from_iterable(self._encode_pieces(self._pieces(text), 1)))

    def _encode_texts(self, texts: Sequence[str], threads: int) -> list[list[int]]:
        """As `_encode_text` for each text: all their pieces in one call of the library, on its threads."""
        if self.normalizes:
            return self._processor.encode(list(texts), out_type=int, num_threads=threads)
        split = list(map(self._pieces, texts))
        found = iter(self._encode_pieces(list(chain.from_iterable(split)), threads))
        return [list(chain.from_iterable(next(found) for _ in pieces)) for pieces in split]

    def _encode_byte_piece(self, piece: bytes) -> list[int]:
        """Return the ids of one piece that is not valid UTF-8."""
        return self._encode_pieces([piece.decode("utf-8", "surrogateescape")], 1)[0]

    def _pieces(self, text: str) -> list[str]:
        pieces = self._splitter.split(text)
        if self._unknown is None:
            return pieces
        if self.model.unknown is None:
            if unknown := self._unknown.search(text):
                raise UnknownSymbol(unknown[0][0], unknown.start())
            return pieces
        # One by one: the library gives one id for a run of unknown characters.
        return [part for piece in pieces for part in self._unknown.split(piece) if part]

    def _encode_pieces(self, pieces: list[str], threads: int) -> list[list[int]]:
        if self.model.alphabet == "bytes":
            written = [to_printable(piece.encode("utf-8", "surrogateescape")) for piece in pieces]
        else:
            written = [piece.translate(_STAND_INS) for piece in pieces] if self._has_null else pieces
        found: list[list[int]] = self._processor.encode(written, out_type=int, num_threads=threads)
        if self._whole:
            found = [self._whole.get(piece, ids) for piece, ids in zip(written, found, strict=True)]
        return found

    def decode(self, ids: Iterable[int], errors: str = "replace") -> str:
        """Return the text of the ids, by the library if it runs its own rules and `errors` is `replace`."""
        ids = checked_ids(ids)
        if errors != "replace" or not self._decodable or not self._decodable.issuperset(ids):
            return super().decode(ids, errors)
        return self._processor.decode(ids)

    @classmethod
    def train_model(cls, texts: Iterable[str], spec: TrainingSpec) -> Model:
        """Learn merges by the library's BPE trainer; raise `Unsupported` naming the field it cannot follow."""
        least = min(spec.min_count, 1)
        require(cls.name, spec, ties="shortest", min_count=least, max_token_bytes=None, end_of_word=None)
        pieces = list(corpus_pieces(texts, spec))
        base = base_symbols(pieces, spec)
        learned = learned_tokens(cls.name, pieces, spec, merge_budget(base, spec))
        return model_of_tokens(cls.name, spec, base, learned)


def _takes_whole_texts(model: Model) -> bool:
    """Return whether the library can encode whole texts, without splitting and normalising by us."""
    rules = model.sentencepiece
    if rules is None or model.pattern or model.whole_token_flags or b"\0" in model.id_by_token:
        return False
    if model.normalization is not None and not model.has_charsmap_only:
        return False
    return rules.dummy_prefix in ("always", "never") and not _unknown_by_us(model)


def _unknown_by_us(model: Model) -> bool:
    """Return whether we search for unknown characters: the library gives one id for a run of them, and never raises."""
    rules = model.sentencepiece
    if model.alphabet == "bytes" or (rules is not None and rules.byte_ids):
        return False
    return model.unknown is None or rules is None or not rules.fuse_unknown


def _processor(model: Model, *, as_written: bool) -> sentencepiece.SentencePieceProcessor:
    # Special and added tokens are cut out before the library gets a text.
    content = proto(model.with_(special_tokens={}, added_tokens={}), as_written=as_written, stand_ins=_STAND_INS)
    with loading(SentencePiece.name):
        return sentencepiece.SentencePieceProcessor(model_proto=content)


def _written(token: bytes, model: Model) -> str:
    return to_printable(token) if model.alphabet == "bytes" else token.decode().translate(_STAND_INS)


def _ids_it_decodes_alike(model: Model) -> frozenset[int]:
    """Return the ids of the library's pieces; none if it would decode U+2581 as a space, and we would not."""
    rules = model.sentencepiece
    if rules is None or not rules.escape_spaces:
        return frozenset()
    return frozenset({*model.id_by_token.values(), *rules.byte_ids})


def _pieces_it_would_not_make(model: Model) -> dict[str, list[int]]:
    """Return the pieces that are tokens although no lower ranks make them; the library looks up no whole pieces."""
    if model.merge_rule == "pairs" or model.sentencepiece is not None:
        return {}
    return {_written(token, model): [i] for i in model.recovered_merges[1] if (token := model.tokens[i]) is not None}


def _outside(model: Model) -> re.Pattern[str]:
    """Return an expression that matches a character without a token, and keeps it when a text is split by it."""
    known = "".join(map(re.escape, (token.decode() for token in model.id_by_token if len(token.decode()) == 1)))
    return re.compile(f"([^{known}])")
