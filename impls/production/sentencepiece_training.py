"""SentencePiece's BPE trainer on our pieces, with the input and options that make it follow the specification.

Each base symbol is replaced by a private-use character, in the order of the symbols, and pieces are separated by
another. So the library finds no white space, script or digit to split at or to rewrite; the number of characters and
the order of strings, by which it breaks ties, do not change.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import sentencepiece
from sentencepiece import sentencepiece_model_pb2

from impls.core.errors import Unsupported
from impls.core.training import piece_symbols
from impls.interface import TrainingSpec

_PB: Any = sentencepiece_model_pb2  # its classes are made when it is imported
_DELIMITER = "\U000f0000"
_FIRST_STAND_IN = 0xF0001
_MOST_SYMBOLS = 0xFFFD - 1
_LONGEST_PIECE = 512
_LONGEST_LINE = 2**30  # bytes; longer lines are skipped in silence, the default being 4192
_WORDS_PER_LINE = 10_000


def learned_tokens(name: str, pieces: Sequence[str], spec: TrainingSpec, n_merges: int) -> list[bytes]:
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
    most = _LONGEST_PIECE if spec.max_token_characters is None else spec.max_token_characters
    if most > _LONGEST_PIECE:
        raise Unsupported(name, f"TrainingSpec.max_token_characters: {most}; it takes {_LONGEST_PIECE} at most")
    found = _train(mergeable, len(symbols) + n_merges + 1, most)
    tokens = [piece for piece in found if len(piece) > 1][:n_merges]
    symbol_of = {character: symbol for symbol, character in stand_in.items()}
    if spec.min_count > 0:
        tokens = _that_occur(tokens, mergeable)
    return [b"".join(map(symbol_of.__getitem__, token)) for token in tokens]


def _train(words: list[str], vocab_size: int, most_characters: int) -> list[str]:
    """Return the pieces it learned, in order."""
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
        byte_fallback=False,
        max_sentence_length=_LONGEST_LINE,
        max_sentencepiece_length=most_characters,
        unk_id=0,
        bos_id=-1,
        eos_id=-1,
        pad_id=-1,
        num_threads=1,
        minloglevel=2,
    )
    proto = _PB.ModelProto.FromString(model.getvalue())
    return [piece.piece for piece in proto.pieces if piece.type == _PB.ModelProto.SentencePiece.NORMAL]


def _that_occur(tokens: list[str], words: list[str]) -> list[str]:
    """Return the tokens that merging some word makes: the library continues with pairs that no longer occur."""
    rank = {token: index for index, token in enumerate(tokens)}
    last = -1
    # The last token first: where it occurs, so do all.
    for word in sorted(set(words), key=lambda word: tokens[-1] not in word) if tokens else ():
        last = max(last, _last_rank(word, rank))
        if last == len(tokens) - 1:
            break
    return tokens[: last + 1]


def _last_rank(word: str, rank: dict[str, int]) -> int:
    """Return the rank of the last merge in a word, or -1; `rank` is that of the joined text."""
    parts, last = list(word), -1
    while True:
        ranks = [rank.get(left + right, len(rank)) for left, right in pairwise(parts)]
        best = min(ranks, default=len(rank))
        if best == len(rank):
            return last
        last, at = max(last, best), ranks.index(best)
        parts[at : at + 2] = [parts[at] + parts[at + 1]]
