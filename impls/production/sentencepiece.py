"""SentencePiece over our model: a `.model` made of the model's tokens, and its trainer.

SentencePiece joins any two neighbours whose joined text is a piece of its vocabulary, highest score first; scores here
are the negated ranks. It runs models with its own rules unchanged, on whole texts, and decodes itself. It has no
pattern for other models: we split and normalise, and it encodes each piece separately, without its escape for white
space. Bytes are then written as GPT-2's printable characters, characters as they are. A model with listed merges runs
only where that provably gives the same ids.

To train, each base symbol is replaced by a private-use character, in the order of the symbols, and pieces are separated
by another. So the library finds no white space, script or digit to split at or to rewrite; the number of characters and
the order of strings, by which it breaks ties, do not change.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Sequence
from functools import partial
from itertools import chain
from typing import Any, ClassVar

import sentencepiece
from sentencepiece import sentencepiece_model_pb2

from impls.core.errors import UnknownSymbol, Unsupported
from impls.core.model import Model
from impls.core.text.byte_alphabet import to_printable
from impls.core.training import base_symbols, corpus_pieces, merge_budget, piece_symbols
from impls.formats.sentencepiece_model import check_merges, proto
from impls.interface import TrainingSpec
from impls.production.adapter import Adapter, Calls, Lists
from impls.production.training import merges_of, model_of_merges, require, that_occurred

_STAND_INS = {0: "\U0010fffb"}  # it refuses pieces with a null character

_PB: Any = sentencepiece_model_pb2  # its classes are created on import
_DELIMITER = "\U000f0000"
_FIRST_STAND_IN = 0xF0001
_MOST_SYMBOLS = 0xFFFD - 1
_LONGEST_PIECE = 512
_LONGEST_LINE = 2**30  # bytes; longer lines are silently skipped, and the default is 4192
_WORDS_PER_LINE = 10_000


class SentencePiece(Adapter):
    """`sentencepiece.SentencePieceProcessor`, called for each piece the pattern cuts."""

    name: ClassVar[str] = "sentencepiece"
    summary: ClassVar[str] = "Google's library: C++, merges by joined text; split by us; has a trainer"

    def _takes_original_texts(self, model: Model) -> bool:
        rules = model.sentencepiece
        if rules is None or model.pattern or model.whole_token_flags or model.normalization_steps is not None:
            return False
        is_known = rules.dummy_prefix in ("always", "never") and b"\0" not in model.id_by_token
        return is_known and not _unknown_by_us(model)

    def _load(self, model: Model) -> Calls:
        check_merges(model)
        # Special and added tokens are cut out before the library gets a text.
        plain = model.with_(special_tokens={}, added_tokens={})
        content = proto(plain, as_written=not self.normalizes, stand_ins=_STAND_INS)
        processor = sentencepiece.SentencePieceProcessor(model_proto=content)
        self._encode = partial(processor.encode, out_type=int)
        self._unmerged = _pieces_it_would_not_make(model)
        self._has_null = model.alphabet == "chars" and b"\0" in model.id_by_token
        self._unknown = _outside(model) if _unknown_by_us(model) else None
        if self.normalizes and model.sentencepiece is not None:
            # Without escapes it would decode U+2581 as a space, and we would not.
            decodable = {*model.id_by_token.values(), *model.sentencepiece.byte_ids}
            decodes_alike = model.sentencepiece.escape_spaces
            return Calls(
                encode=self._encode,
                batch=lambda texts, threads: self._encode(texts, num_threads=threads),
                decode=lambda ids: processor.decode(ids) if decodes_alike and decodable.issuperset(ids) else None,
            )
        return Calls(encode=lambda text: self._encode_split([text], 1)[0], batch=self._encode_split)

    def _encode_split(self, texts: list[str], threads: int) -> Lists:
        """Return the ids of texts: all their pieces are encoded in one call of the library, on its threads."""
        split = list(map(self._pieces, texts))
        ids_of_pieces = iter(self._encode_pieces(list(chain.from_iterable(split)), threads))
        return [list(chain.from_iterable(next(ids_of_pieces) for _ in pieces)) for pieces in split]

    def encode_byte_piece(self, piece: bytes) -> list[int]:
        """Return the ids of one piece that is not valid UTF-8."""
        return self._encode_pieces([piece.decode("utf-8", "surrogateescape")], 1)[0]

    def _pieces(self, text: str) -> list[str]:
        pieces = self.model.splitter.split(text)
        if self._unknown is None:
            return pieces
        if self.model.unknown is None:
            for start, end in self.model.splitter.spans(text):  # what the pattern drops need not be known
                if unknown := self._unknown.search(text, start, end):
                    raise UnknownSymbol(unknown[0][0], unknown.start())
            return pieces
        # One by one: the library gives one id for a run of unknown characters.
        return [part for piece in pieces for part in self._unknown.split(piece) if part]

    def _encode_pieces(self, pieces: list[str], threads: int) -> list[list[int]]:
        if self.model.alphabet == "bytes":
            written = [to_printable(piece.encode("utf-8", "surrogateescape")) for piece in pieces]
        else:
            written = [piece.translate(_STAND_INS) for piece in pieces] if self._has_null else pieces
        encoded: Lists = self._encode(written, num_threads=threads)
        pairs = zip(written, encoded, strict=True)
        return [self._unmerged.get(piece, ids) for piece, ids in pairs] if self._unmerged else encoded

    @classmethod
    def train_model(cls, texts: Iterable[str], spec: TrainingSpec) -> Model:
        """Learn merges by the library's BPE trainer; raise `Unsupported` naming the field it cannot follow."""
        require(cls.name, spec, ties="shortest", min_count=1, max_token_bytes=None, end_of_word=None)
        pieces = list(corpus_pieces(texts, spec))
        base = base_symbols(pieces, spec)
        learned = _learned_tokens(cls.name, pieces, spec, merge_budget(base, spec))
        merges = that_occurred(base, merges_of(spec, base, learned), map(str.encode, dict.fromkeys(pieces)))
        return model_of_merges(cls.name, spec, base, merges)


def _unknown_by_us(model: Model) -> bool:
    """Return whether we search for unknown characters: the library gives one id for a run of them, and never raises."""
    rules = model.sentencepiece
    if model.alphabet == "bytes" or (rules is not None and rules.byte_ids):
        return False
    return model.unknown is None or rules is None or not rules.fuse_unknown


def _written(token: bytes, model: Model) -> str:
    return to_printable(token) if model.alphabet == "bytes" else token.decode().translate(_STAND_INS)


def _pieces_it_would_not_make(model: Model) -> dict[str, list[int]]:
    """Return the pieces that are tokens although no lower ranks make them; the library looks up no whole pieces."""
    if model.merge_rule == "pairs" or model.sentencepiece is not None:
        return {}
    return {_written(token, model): [i] for i in model.recovered_merges[1] if (token := model.tokens[i]) is not None}


def _outside(model: Model) -> re.Pattern[str]:
    """Return an expression that matches a character without a token, and keeps it when a text is split by it."""
    known = "".join(map(re.escape, (token.decode() for token in model.id_by_token if len(token.decode()) == 1)))
    return re.compile(f"([^{known}])")


# --- training -----------------------------------------------------------------------------------------------------


def _learned_tokens(name: str, pieces: Sequence[str], spec: TrainingSpec, n_merges: int) -> list[bytes]:
    """Return up to `n_merges` tokens, in the order they are learned; raise `Unsupported` for too long a piece."""
    words = {piece: piece_symbols(piece, spec) for piece in dict.fromkeys(pieces)}
    symbols = sorted({symbol for word in words.values() for symbol in word})
    if len(symbols) > _MOST_SYMBOLS:
        raise Unsupported(name, f"it would need {len(symbols)} stand-in characters; there are {_MOST_SYMBOLS}")
    longest = max(map(len, words.values()), default=0)
    if longest > _LONGEST_PIECE:
        reason = f"it learns from pieces of up to {_LONGEST_PIECE} symbols, and one has {longest}"
        raise Unsupported(name, f"TrainingSpec.pattern: {reason}; use a pattern that cuts shorter pieces")
    stand_in = {symbol: chr(_FIRST_STAND_IN + index) for index, symbol in enumerate(symbols)}
    written = {piece: "".join(map(stand_in.__getitem__, word)) for piece, word in words.items()}
    mergeable = [written[piece] for piece in pieces if len(written[piece]) > 1]
    if not mergeable or n_merges == 0:
        return []
    learned = _train(mergeable, len(symbols) + n_merges + 1)
    symbol_of = {character: symbol for symbol, character in stand_in.items()}
    tokens = [piece for piece in learned if len(piece) > 1][:n_merges]
    return [b"".join(map(symbol_of.__getitem__, token)) for token in tokens]


def _train(words: list[str], vocab_size: int) -> list[str]:
    """Return the learned pieces, in order."""
    lines = (_DELIMITER.join(words[k : k + _WORDS_PER_LINE]) for k in range(0, len(words), _WORDS_PER_LINE))
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=lines,
        model_writer=model,
        model_type="bpe",
        vocab_size=vocab_size,
        hard_vocab_limit=False,
        pretokenization_delimiter=_DELIMITER,
        normalization_rule_name="identity",
        add_dummy_prefix=False,
        remove_extra_whitespaces=False,
        split_by_unicode_script=False,
        split_by_number=False,
        character_coverage=1.0,
        max_sentence_length=_LONGEST_LINE,
        max_sentencepiece_length=_LONGEST_PIECE,
        bos_id=-1,
        eos_id=-1,
        num_threads=1,
        minloglevel=2,
    )
    proto = _PB.ModelProto.FromString(model.getvalue())
    return [piece.piece for piece in proto.pieces if piece.type == _PB.ModelProto.SentencePiece.NORMAL]
