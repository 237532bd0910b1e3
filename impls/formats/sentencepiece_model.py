"""Reading SentencePiece's `.model`: a protocol buffer of pieces with scores and types, and how texts are normalised.

Only BPE is read; Unigram, word and character models are refused by name. Of two pieces the one with the higher score is
merged first, so scores become ranks; if ids are in that order already, the ids are the ranks.
Source of the fields: `sentencepiece_model.proto` of sentencepiece 0.2.3.
"""

from __future__ import annotations

import math
import struct
from dataclasses import dataclass, field
from itertools import pairwise

from impls.core.errors import InvalidFile
from impls.core.model import Model
from impls.core.text.sentencepiece_rules import SentencePieceRules
from impls.formats.files import MAX_TABLE_ID
from impls.formats.protobuf import FIXED32, LENGTH, VARINT, Value, fields

FORMAT = "sentencepiece"

NORMAL, UNKNOWN, CONTROL, USER_DEFINED, UNUSED, BYTE = range(1, 7)
BPE = 2
PIECES, TRAINER, NORMALIZER, DENORMALIZER = 1, 2, 3, 5
PIECE_TEXT, PIECE_SCORE, PIECE_TYPE = 1, 2, 3
TRAINER_MODEL_TYPE, TRAINER_VOCAB_SIZE, TRAINER_WHITESPACE_AS_SUFFIX, TRAINER_BYTE_FALLBACK = 3, 4, 24, 35
TRAINER_UNK_ID, TRAINER_BOS_ID, TRAINER_EOS_ID, TRAINER_PAD_ID, TRAINER_UNK_SURFACE = 40, 41, 42, 43, 44
NORMALIZER_NAME, NORMALIZER_CHARSMAP, NORMALIZER_DUMMY_PREFIX, NORMALIZER_REMOVE_EXTRA, NORMALIZER_ESCAPE = range(1, 6)
UNKNOWN_SURFACE = " \u2047 "
"""What the unknown piece decodes to, unless a model says otherwise."""

_OTHER_MODELS = {1: "Unigram", 3: "word", 4: "character"}
BYTE_PIECES = {f"<0x{byte:02X}>": byte for byte in range(256)}


@dataclass(slots=True)
class _Piece:
    text: str
    score: float = 0.0
    kind: int = NORMAL


@dataclass(slots=True)
class _Proto:
    """The parts of the file that affect ids and texts."""

    pieces: list[_Piece] = field(default_factory=list)
    trainer: dict[int, Value] = field(default_factory=dict)
    normalizer: dict[int, Value] = field(default_factory=dict)
    denormalizer: dict[int, Value] = field(default_factory=dict)


def looks_like(content: bytes) -> bool:
    """Return whether the file begins with a piece: a message that begins with a text that fits in it."""
    if len(content) < 4 or content[0] != 0x0A or content[1] >= 0x80 or content[2] != 0x0A:
        return False
    after = 4 + content[3]
    end = 2 + content[1]
    return 4 < after <= end and (after == end or content[after : after + 1] in (b"", b"\x15", b"\x18"))


def read(content: bytes, path: str) -> Model:
    """Read the model; raise `InvalidFile` naming the piece or field that is wrong or not supported."""
    proto = _read_proto(content, path)
    kind = proto.trainer.get(TRAINER_MODEL_TYPE, 1)
    if kind != BPE:
        name = _OTHER_MODELS.get(kind, str(kind)) if isinstance(kind, int) else "unknown"
        raise InvalidFile(path, f"a SentencePiece model of the type {name}, not byte pair encoding; only BPE is read")
    if proto.trainer.get(TRAINER_WHITESPACE_AS_SUFFIX):
        raise InvalidFile(path, "trainer_spec.treat_whitespace_as_suffix: marks behind words are not supported")
    if proto.denormalizer.get(NORMALIZER_CHARSMAP):
        raise InvalidFile(path, "denormalizer_spec: texts that are rewritten when they are decoded are not supported")
    if not proto.pieces:
        raise InvalidFile(path, "a SentencePiece model without pieces; the file is cut short, get it again")
    return _model(proto, path)


def _model(proto: _Proto, path: str) -> Model:
    by_kind: dict[int, list[int]] = {kind: [] for kind in range(NORMAL, BYTE + 1)}
    for i, piece in enumerate(proto.pieces):
        by_kind[piece.kind].append(i)
    _check_pieces(proto, by_kind, path)
    pieces = proto.pieces
    tokens = [piece.text.encode() if piece.kind in (NORMAL, USER_DEFINED, UNUSED) else None for piece in pieces]
    unknown_id = by_kind[UNKNOWN][0]
    charsmap = proto.normalizer.get(NORMALIZER_CHARSMAP, b"")
    assert isinstance(charsmap, bytes), "its wire type was checked"
    flags = proto.normalizer
    return Model(
        tokens=tuple(tokens),
        alphabet="chars",
        merge_rule="concatenation",
        special_tokens={pieces[i].text: i for i in by_kind[CONTROL]},
        unknown=pieces[unknown_id].text,
        unknown_id=unknown_id,
        normalization=(_text(flags, NORMALIZER_NAME, "", path) or "charsmap") if charsmap else None,
        sentencepiece=SentencePieceRules(
            escape_spaces=bool(flags.get(NORMALIZER_ESCAPE, 1)),
            dummy_prefix="always" if flags.get(NORMALIZER_DUMMY_PREFIX, 1) else "never",
            remove_extra_spaces=bool(flags.get(NORMALIZER_REMOVE_EXTRA, 1)),
            charsmap=charsmap,
            byte_ids=tuple(sorted(by_kind[BYTE], key=lambda i: BYTE_PIECES[pieces[i].text])),
            user_defined_ids=tuple(by_kind[USER_DEFINED]),
            unused_ids=tuple(by_kind[UNUSED]),
            ranks=_ranks(pieces),
            fuse_unknown=True,
            unknown_text=_text(proto.trainer, TRAINER_UNK_SURFACE, UNKNOWN_SURFACE, path),
        ),
    )


def _ranks(pieces: list[_Piece]) -> tuple[int, ...]:
    """Return ranks by id, the highest score first; empty if the ids of merged pieces are in that order."""
    made = [piece.score for piece in pieces if piece.kind in (NORMAL, UNUSED) and len(piece.text) > 1]
    if all(score > following for score, following in pairwise(made)):
        return ()
    rank_by_score = {score: rank for rank, score in enumerate(sorted({piece.score for piece in pieces}, reverse=True))}
    return tuple(rank_by_score[piece.score] for piece in pieces)


# --- pieces ---------------------------------------------------------------------------------------------------


def _check_pieces(proto: _Proto, by_kind: dict[int, list[int]], path: str) -> None:
    seen: dict[str, int] = {}
    for i, piece in enumerate(proto.pieces):
        if seen.setdefault(piece.text, i) != i:
            raise InvalidFile(
                path, f"piece {i}: the text {piece.text!a} was given already, to piece {seen[piece.text]}"
            )
    if len(by_kind[UNKNOWN]) != 1:
        raise InvalidFile(path, f"{len(by_kind[UNKNOWN])} unknown pieces; a model has one")
    for i in by_kind[BYTE]:
        if proto.pieces[i].text not in BYTE_PIECES:
            raise InvalidFile(path, f"piece {i}: {proto.pieces[i].text!a} is of the type byte, but names none")
    byte_fallback = bool(proto.trainer.get(TRAINER_BYTE_FALLBACK, 0))
    if len(by_kind[BYTE]) != (256 if byte_fallback else 0):
        wanted = "256 with" if byte_fallback else "none without"
        raise InvalidFile(path, f"{len(by_kind[BYTE])} pieces of the type byte; {wanted} trainer_spec.byte_fallback")


def _read_proto(content: bytes, path: str) -> _Proto:
    proto = _Proto()
    for number, wire, value in fields(content, path, "the model"):
        if number not in (PIECES, TRAINER, NORMALIZER, DENORMALIZER):
            continue
        if wire != LENGTH or not isinstance(value, bytes):
            raise InvalidFile(path, f"field {number}: a message is expected; this is not a SentencePiece model")
        if number == PIECES:
            if len(proto.pieces) > MAX_TABLE_ID:
                raise InvalidFile(path, f"more than {MAX_TABLE_ID + 1} pieces")
            proto.pieces.append(_piece(value, len(proto.pieces), path))
        elif number == TRAINER:
            proto.trainer |= _known(value, _TRAINER_FIELDS, "trainer_spec", path)
        elif number == NORMALIZER:
            proto.normalizer |= _known(value, _NORMALIZER_FIELDS, "normalizer_spec", path)
        else:
            proto.denormalizer |= _known(value, _NORMALIZER_FIELDS, "denormalizer_spec", path)
    return proto


_TRAINER_FIELDS = {
    TRAINER_MODEL_TYPE: VARINT,
    TRAINER_WHITESPACE_AS_SUFFIX: VARINT,
    TRAINER_BYTE_FALLBACK: VARINT,
    TRAINER_UNK_SURFACE: LENGTH,
}
_NORMALIZER_FIELDS = {
    NORMALIZER_NAME: LENGTH,
    NORMALIZER_CHARSMAP: LENGTH,
    NORMALIZER_DUMMY_PREFIX: VARINT,
    NORMALIZER_REMOVE_EXTRA: VARINT,
    NORMALIZER_ESCAPE: VARINT,
}
_PIECE_FIELDS = {PIECE_TEXT: LENGTH, PIECE_SCORE: FIXED32, PIECE_TYPE: VARINT}


def _known(message: bytes, wanted: dict[int, int], what: str, path: str) -> dict[int, Value]:
    """Return the fields of `wanted` (number -> wire type) in a message; of duplicates the last counts."""
    found: dict[int, Value] = {}
    for number, wire, value in fields(message, path, what):
        if wanted.get(number, wire) != wire:
            raise InvalidFile(path, f"{what}: field {number} has the wire type {wire}, not {wanted[number]}")
        if number in wanted:
            found[number] = value
    return found


def _piece(message: bytes, i: int, path: str) -> _Piece:
    what = f"piece {i}"
    found = _known(message, _PIECE_FIELDS, what, path)
    text = _text(found, PIECE_TEXT, "", path, what)
    if not text or "\0" in text:
        raise InvalidFile(path, f"{what}: {'is empty' if not text else 'holds a null character'}")
    score, kind = found.get(PIECE_SCORE, b"\0\0\0\0"), found.get(PIECE_TYPE, NORMAL)
    assert isinstance(score, bytes), "its wire type was checked"
    (number,) = struct.unpack("<f", score)
    if not math.isfinite(number):
        raise InvalidFile(path, f"{what}: {text!a} has the score {number}, which ranks nowhere")
    if not isinstance(kind, int) or not NORMAL <= kind <= BYTE:
        raise InvalidFile(path, f"{what}: {text!a} is of the type {kind!r}, which is not known")
    return _Piece(text, number, kind)


def _text(found: dict[int, Value], number: int, default: str, path: str, what: str = "a field") -> str:
    value = found.get(number, default.encode())
    assert isinstance(value, bytes), "its wire type was checked"
    try:
        return value.decode()
    except UnicodeDecodeError:
        raise InvalidFile(path, f"{what}: {value[:40]!r} is not UTF-8; the file is damaged, get it again") from None
