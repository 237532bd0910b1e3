"""SentencePiece's `.model`: a protocol buffer of pieces with scores and types, and how texts are normalised.

Only BPE is read; Unigram, word and character models are refused by name. Of two pieces the one with the higher score is
merged first, so scores become ranks; if ids are already in that order, the ids are the ranks. Files are written so that
the library gives the ids of the model. Source of the fields: `sentencepiece_model.proto` of sentencepiece 0.2.3.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from impls.core.errors import InvalidModel, Unsupported
from impls.core.model import Model
from impls.core.model.derivations import concatenation_differs
from impls.core.text.byte_alphabet import to_printable
from impls.core.text.sentencepiece_rules import SPACE_MARK, SentencePieceRules
from impls.formats import protobuf
from impls.formats.files import MAX_TABLE_ID
from impls.formats.vocabulary import lost_fields

FORMAT = "sentencepiece"
UNKNOWN_SURFACE = " \u2047 "
"""What the unknown piece decodes to, unless the model says otherwise."""
BYTE_PIECES = {f"<0x{byte:02X}>": byte for byte in range(256)}

NORMAL, UNKNOWN, CONTROL, USER_DEFINED, UNUSED, BYTE = range(1, 7)
_BPE = 2
_OTHER_MODELS = {1: "Unigram", 3: "word", 4: "character"}
_SPECIAL_IDS = {"bos_id": "<s>", "eos_id": "</s>", "pad_id": "<pad>"}
_NORMALIZER: protobuf.Schema = {
    1: ("name", str),
    2: ("precompiled_charsmap", bytes),
    3: ("add_dummy_prefix", int),
    4: ("remove_extra_whitespaces", int),
    5: ("escape_whitespaces", int),
}
_TRAINER: protobuf.Schema = {
    3: ("model_type", int),
    4: ("vocab_size", int),
    24: ("treat_whitespace_as_suffix", int),
    35: ("byte_fallback", int),
    40: ("unk_id", int),
    41: ("bos_id", int),
    42: ("eos_id", int),
    43: ("pad_id", int),
    44: ("unk_surface", str),
}
_MODEL: protobuf.Schema = {
    1: ("piece", [{1: ("text", str), 2: ("score", float), 3: ("type", int)}]),
    2: ("trainer_spec", _TRAINER),
    3: ("normalizer_spec", _NORMALIZER),
    5: ("denormalizer_spec", _NORMALIZER),
}

_UNKNOWN_PIECE = "\U0010fffd"
_GAP_PIECE = "\U0010fffc%d"
_NOTHING = SentencePieceRules(escape_spaces=False, dummy_prefix="never")


def looks_like(content: bytes) -> bool:
    """Return whether the file begins with a piece: a message that begins with a text that fits in it."""
    if len(content) < 4 or content[0] != 0x0A or content[1] >= 0x80 or content[2] != 0x0A:
        return False
    after = 4 + content[3]
    end = 2 + content[1]
    return 4 < after <= end and (after == end or content[after : after + 1] in (b"", b"\x15", b"\x18"))


# --- reading ---------------------------------------------------------------------------------------------------


def read(content: bytes) -> Model:
    """Read the model; raise `InvalidModel` naming the piece or field that is invalid or not supported."""
    file = protobuf.read(content, _MODEL, "the model")
    trainer, normalizer = file.get("trainer_spec", {}), file.get("normalizer_spec", {})
    if (kind := trainer.get("model_type", 1)) != _BPE:
        name = _OTHER_MODELS.get(kind, str(kind))
        raise InvalidModel(f"a SentencePiece model of type {name}, not byte pair encoding; only BPE is read")
    if trainer.get("treat_whitespace_as_suffix"):
        raise InvalidModel("trainer_spec.treat_whitespace_as_suffix: marks behind words are not supported")
    if file.get("denormalizer_spec", {}).get("precompiled_charsmap"):
        raise InvalidModel("denormalizer_spec: texts that are rewritten when they are decoded are not supported")
    pieces = file["piece"]  # `looks_like` has seen the first
    by_kind = _checked_by_kind(pieces, bool(trainer.get("byte_fallback")))
    texts = [piece["text"] for piece in pieces]
    (unknown_id,) = by_kind[UNKNOWN]
    charsmap = normalizer.get("precompiled_charsmap", b"")
    return Model(
        tokens=tuple(
            piece["text"].encode() if piece["type"] in (NORMAL, USER_DEFINED, UNUSED) else None for piece in pieces
        ),
        alphabet="chars",
        merge_rule="concatenation",
        special_tokens={texts[i]: i for i in by_kind[CONTROL]},
        unknown=texts[unknown_id],
        unknown_id=unknown_id,
        normalization=(normalizer.get("name") or "charsmap") if charsmap else None,
        sentencepiece=SentencePieceRules(
            escape_spaces=bool(normalizer.get("escape_whitespaces", 1)),
            dummy_prefix="always" if normalizer.get("add_dummy_prefix", 1) else "never",
            remove_extra_spaces=bool(normalizer.get("remove_extra_whitespaces", 1)),
            charsmap=charsmap,
            byte_ids=tuple(sorted(by_kind[BYTE], key=lambda i: BYTE_PIECES[texts[i]])),
            user_defined_ids=tuple(by_kind[USER_DEFINED]),
            unused_ids=tuple(by_kind[UNUSED]),
            ranks=_ranks(pieces),
            fuse_unknown=True,
            unknown_text=trainer.get("unk_surface", UNKNOWN_SURFACE),
        ),
    )


def _ranks(pieces: list[dict[str, Any]]) -> tuple[int, ...]:
    """Return ranks by id, the highest score first; empty if the ids of merged pieces are in that order."""
    scores = [piece["score"] for piece in pieces]
    merged = [piece["score"] for piece in pieces if piece["type"] in (NORMAL, UNUSED) and len(piece["text"]) > 1]
    if all(score > following for score, following in pairwise(merged)):
        return ()
    rank_by_score = {score: rank for rank, score in enumerate(sorted(set(scores), reverse=True))}
    return tuple(rank_by_score[score] for score in scores)


def _checked_by_kind(pieces: list[dict[str, Any]], byte_fallback: bool) -> dict[int, list[int]]:
    """Return the ids of each kind of piece, and give each piece a text, a score and a type; raise `InvalidModel` naming
    an invalid piece."""
    by_kind: dict[int, list[int]] = {kind: [] for kind in range(NORMAL, BYTE + 1)}
    seen: dict[str, int] = {}
    for i, piece in enumerate(pieces):
        text = piece.setdefault("text", "")
        score, kind = piece.setdefault("score", 0.0), piece.setdefault("type", NORMAL)
        if not text or "\0" in text:
            raise InvalidModel(f"piece {i}: {'is empty' if not text else 'contains a null character'}")
        if not math.isfinite(score):
            raise InvalidModel(f"piece {i}: {text!a} has the score {score}, which cannot be ranked")
        if kind not in by_kind:
            raise InvalidModel(f"piece {i}: {text!a} has the unknown type {kind!r}")
        if seen.setdefault(text, i) != i:
            raise InvalidModel(f"piece {i}: {text!a} is already the text of piece {seen[text]}")
        if kind == BYTE and text not in BYTE_PIECES:
            raise InvalidModel(f"piece {i}: {text!a} has the type byte, but is not written like <0x41>")
        by_kind[kind].append(i)
    if len(by_kind[UNKNOWN]) != 1:
        raise InvalidModel(f"{len(by_kind[UNKNOWN])} unknown pieces; there must be one")
    if len(by_kind[BYTE]) != (256 if byte_fallback else 0):
        wanted = "256 with" if byte_fallback else "none without"
        raise InvalidModel(f"{len(by_kind[BYTE])} pieces of type byte; {wanted} trainer_spec.byte_fallback")
    return by_kind


# --- writing ---------------------------------------------------------------------------------------------------


def check_merges(model: Model) -> None:
    """Raise `Unsupported` if the library would give different ids than the merges of the model."""
    if model.end_of_word is not None:
        raise Unsupported(FORMAT, f"it has no symbols that end in {model.end_of_word!r}")
    if why := concatenation_differs(model):
        raise Unsupported(FORMAT, f"it merges by joined text, which gives different ids here: {why}")


def write(model: Model) -> bytes:
    """Return the file; raise `Unsupported` with the reason if the library would give different ids, or refuse it."""
    check_merges(model)
    for token, i in model.id_by_token.items():
        if b"\0" in token and model.alphabet == "chars":
            raise Unsupported(FORMAT, f"it refuses tokens with a null character, as {token!r} (id {i})")
    return proto(model)


def proto(model: Model, *, as_written: bool = False, stand_ins: dict[int, str] | None = None) -> bytes:
    """Return the file of `model`, even if it gives different ids; with `as_written` the library does not normalise, for
    texts that `Model.normalize` has already rewritten.

    Bytes are written as GPT-2's printable characters; characters are translated by `stand_ins`. An id without a token
    becomes a piece that no text contains. The mandatory unknown piece comes last if the model has none.
    """
    rules = model.sentencepiece or _NOTHING
    if rules.byte_ids and not rules.spells_all:
        raise Unsupported(FORMAT, f"all 256 bytes have a piece there; {rules.byte_ids.count(-1)} have none here")
    unknown_id = model.vocab_size if model.unknown_id is None else model.unknown_id
    if model.vocab_size > MAX_TABLE_ID:
        raise Unsupported(
            FORMAT, f"it has a piece for every id, and one id is {model.vocab_size - 1}; ids go up to {MAX_TABLE_ID}"
        )
    as_read = _NOTHING if as_written else rules
    file = {
        "piece": list(_pieces(model, rules, unknown_id, stand_ins or {})),
        "trainer_spec": {
            "model_type": _BPE,
            "vocab_size": max(model.vocab_size, unknown_id + 1),
            "byte_fallback": bool(rules.byte_ids),
            "unk_id": unknown_id,
            **{name: model.special_tokens.get(text, -1) for name, text in _SPECIAL_IDS.items()},
            **({} if rules.unknown_text == UNKNOWN_SURFACE else {"unk_surface": rules.unknown_text}),
        },
        "normalizer_spec": {
            "name": model.normalization if as_read.looks_up and model.normalization else "identity",
            "precompiled_charsmap": as_read.charsmap if as_read.looks_up else b"",
            "add_dummy_prefix": as_read.dummy_prefix != "never",
            "remove_extra_whitespaces": as_read.remove_extra_spaces,
            "escape_whitespaces": as_read.escape_spaces,
        },
    }
    return protobuf.write(file, _MODEL)


def _pieces(
    model: Model, rules: SentencePieceRules, unknown_id: int, stand_ins: dict[int, str]
) -> Iterator[dict[str, Any]]:
    """Yield each piece in order of id."""
    others = {i: (f"<0x{byte:02X}>", BYTE) for byte, i in enumerate(rules.byte_ids)}
    for text, i in model.added_tokens.items():
        others.setdefault(i, (text.replace(" ", SPACE_MARK) if rules.escape_spaces else text, USER_DEFINED))
    others |= {i: (text, CONTROL) for text, i in model.special_tokens.items() if i not in rules.byte_ids}
    kinds = dict.fromkeys(rules.user_defined_ids, USER_DEFINED) | dict.fromkeys(rules.unused_ids, UNUSED)
    for i in range(max(model.vocab_size, unknown_id + 1)):
        token = model.tokens[i] if i < len(model.tokens) else None
        if i == unknown_id:
            text = model.unknown or ""
            known = not text or text.encode() in model.id_by_token
            yield {"text": _UNKNOWN_PIECE if known else text, "score": 0.0, "type": UNKNOWN}
        elif token is None:
            text, kind = others.get(i, (_GAP_PIECE % i, UNUSED))
            yield {"text": text, "score": 0.0, "type": kind}
        else:
            text = to_printable(token) if model.alphabet == "bytes" else token.decode().translate(stand_ins)
            kind_of = {"type": kinds[i]} if i in kinds else {}
            yield {"text": text, "score": -float(model.ranks[i]), **kind_of}


def losses(model: Model) -> list[str]:
    """Return what the file would lose of `model`; raise `Unsupported` if it cannot hold it."""
    write(model)
    lost: list[str] = []
    rules = model.sentencepiece or _NOTHING
    if model.alphabet == "bytes":
        lost.append("alphabet: bytes are written as GPT-2's printable characters; encode texts written like that")
    if model.pattern:
        lost.append("pattern: SentencePiece does not split texts; encode their pieces one by one")
    if model.normalization_steps is not None:
        lost.append(f"normalization: {model.normalization}; encode texts in this form")
    if rules.dummy_prefix in ("missing", "first"):
        lost.append("dummy_prefix: a space is put before every text, also before one that begins with a space")
    if model.added_tokens:
        lost.append(
            f"added_tokens: {len(model.added_tokens)} become user-defined pieces; text after one gets no prefix"
        )
    if model.unknown is None:
        lost.append(f"unknown: there must be such a token; it gets the id {model.vocab_size}")
    elif not rules.fuse_unknown or (model.sentencepiece is None and model.alphabet == "chars"):
        lost.append("unknown: unknown characters in a row become one token")
    if model.special_tokens and (model.decoder is not None or model.sentencepiece is None):
        lost.append("special_tokens: they are never recognised in a text, and decode to nothing")
    if model.merge_rule == "concatenation" and model.sentencepiece is None and model.recovered_merges[1]:
        lost.append("merges: a whole piece that no lower ranks make is not a single token there")
    return lost + lost_fields(model, "ignore_merges", "merge_counts", "whole_token_flags")
