"""SentencePiece over our model: a `ModelProto` made of the model's tokens, and its trainer.

SentencePiece joins any two neighbours whose text together is a piece of its vocabulary, highest score first; scores
here are minus the ranks. It knows no pattern: we split, and it encodes each piece on its own, without normalising and
without its escape for white space. Bytes are written as GPT-2's printable characters, one for one; characters stand for
themselves. A model with listed merges runs only where that provably gives the same ids.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Any, ClassVar, Literal

import sentencepiece
from sentencepiece import sentencepiece_model_pb2

from impls.byte_alphabet import BYTE_TO_CHARACTER, to_printable
from impls.derivations import concatenation_differs
from impls.errors import UnknownSymbol, Unsupported
from impls.interface import Tokenizer, TrainingSpec
from impls.model import Model
from impls.production.sentencepiece_training import learned_tokens
from impls.production.training import merges_of_tokens, model_of_merges, require
from impls.training import base_symbols, corpus_pieces, merge_budget

_PB: Any = sentencepiece_model_pb2  # its classes are made when it is imported
_UNKNOWN_PIECE = "\U0010fffd"
_GAP_PIECE = "\U0010fffc%d"
_STAND_INS = {0: "\U0010fffb"}  # it refuses pieces with a null character


class SentencePiece(Tokenizer):
    """`sentencepiece.SentencePieceProcessor`, called for each piece the pattern cuts."""

    name: ClassVar[str] = "sentencepiece"
    summary: ClassVar[str] = "Google's library: C++, looks joined text up; split by us; has a trainer"
    kind: ClassVar[Literal["production"]] = "production"

    def __init__(self, model: Model) -> None:
        super().__init__(model)
        if model.sentencepiece is not None:
            raise Unsupported(self.name, "SentencePiece's own rules are not written yet")
        if model.end_of_word is not None:
            raise Unsupported(self.name, f"it has no symbols that end in {model.end_of_word!r}")
        if why := concatenation_differs(model):
            raise Unsupported(self.name, f"it looks joined text up, which gives other ids here: {why}")
        self._processor = _processor(model)
        self._whole = _pieces_it_would_not_make(model)
        self._has_null = model.alphabet == "chars" and b"\0" in model.id_by_token
        self._unknown = _outside(model) if model.alphabet == "chars" else None

    def encode_ordinary(self, text: str) -> list[int]:
        """Ids of a text in which nothing is special."""
        return list(chain.from_iterable(self._encode_pieces(self._pieces(text), 1)))

    def encode_ordinary_batch(self, texts: Sequence[str], threads: int) -> list[list[int]]:
        """As `encode_ordinary` for each text: all their pieces in one call of the library, on its threads."""
        split = list(map(self._pieces, texts))
        found = iter(self._encode_pieces(list(chain.from_iterable(split)), threads))
        return [list(chain.from_iterable(next(found) for _ in pieces)) for pieces in split]

    def _pieces(self, text: str) -> list[str]:
        pieces = self._splitter.split(text)
        if self._unknown is None:
            return pieces
        if self.model.unknown is None:
            if unknown := self._unknown.search(text):
                raise UnknownSymbol(unknown[0][0], unknown.start())
            return pieces
        # One at a time: the library gives one id for a run of unknown characters.
        return [part for piece in pieces for part in self._unknown.split(piece) if part]

    def _encode_pieces(self, pieces: list[str], threads: int) -> list[list[int]]:
        if self.model.alphabet == "bytes":
            written = [piece.encode().decode("latin-1").translate(BYTE_TO_CHARACTER) for piece in pieces]
        else:
            written = [piece.translate(_STAND_INS) for piece in pieces] if self._has_null else pieces
        found: list[list[int]] = self._processor.encode(written, out_type=int, num_threads=threads)
        if self._whole:
            found = [self._whole.get(piece, ids) for piece, ids in zip(written, found, strict=True)]
        return found

    @classmethod
    def train_model(cls, texts: Iterable[str], spec: TrainingSpec) -> Model:
        """Learn merges by the library's BPE trainer; raises `Unsupported` naming the field it cannot follow."""
        require(cls.name, spec, ties="shortest", min_count=1, max_token_bytes=None, end_of_word=None)
        pieces = list(corpus_pieces(texts, spec))
        base = base_symbols(pieces, spec)
        learned = learned_tokens(cls.name, pieces, spec, merge_budget(base, spec))
        return model_of_merges(cls.name, spec, base, merges_of_tokens(spec, base, learned))


def _processor(model: Model) -> sentencepiece.SentencePieceProcessor:
    try:
        return sentencepiece.SentencePieceProcessor(model_proto=_proto(model).SerializeToString())
    except RuntimeError as error:
        raise Unsupported(SentencePiece.name, f"it refuses the model: {error}") from None


def _written(token: bytes, model: Model) -> str:
    return to_printable(token) if model.alphabet == "bytes" else token.decode().translate(_STAND_INS)


def _proto(model: Model) -> Any:
    """Pieces by id; ids without a token are pieces no text can hold. The unknown piece, which must be, comes last."""
    types = _PB.ModelProto.SentencePiece
    proto = _PB.ModelProto()
    proto.trainer_spec.model_type = _PB.TrainerSpec.BPE
    proto.normalizer_spec.name = "identity"
    proto.normalizer_spec.add_dummy_prefix = False
    proto.normalizer_spec.remove_extra_whitespaces = False
    proto.normalizer_spec.escape_whitespaces = False
    unknown_id = model.vocab_size if model.unknown_id is None else model.unknown_id
    for i in range(max(model.vocab_size, unknown_id + 1)):
        token = model.tokens[i] if i < len(model.tokens) else None
        if i == unknown_id:
            proto.pieces.add(piece=_UNKNOWN_PIECE, score=0.0, type=types.UNKNOWN)
        elif token is None:
            proto.pieces.add(piece=_GAP_PIECE % i, score=0.0, type=types.UNUSED)
        else:
            proto.pieces.add(piece=_written(token, model), score=-float(i), type=types.NORMAL)
    return proto


def _pieces_it_would_not_make(model: Model) -> dict[str, list[int]]:
    """Whole pieces that are a token although no lower ranks make it; the library has no rule for whole pieces."""
    if model.merge_rule == "pairs":
        return {}
    return {_written(token, model): [i] for i in model.recovered_merges[1] if (token := model.tokens[i]) is not None}


def _outside(model: Model) -> re.Pattern[str]:
    """Matches a character the model has no token for, and keeps it when a text is split by it."""
    known = "".join(map(re.escape, (token.decode() for token in model.id_by_token if len(token.decode()) == 1)))
    return re.compile(f"([^{known}])")
