"""Writing SentencePiece's `.model`, so that its library gives the ids of the model."""

from __future__ import annotations

from collections.abc import Iterator

from impls.core.errors import Unsupported
from impls.core.model import Model
from impls.core.model.derivations import concatenation_differs
from impls.core.text.byte_alphabet import to_printable
from impls.core.text.sentencepiece_rules import SPACE_MARK, SentencePieceRules
from impls.formats import sentencepiece_model as fields
from impls.formats.files import MAX_TABLE_ID
from impls.formats.lost_fields import lost_fields
from impls.formats.protobuf import float32, length, varint
from impls.formats.sentencepiece_model import FORMAT

_UNKNOWN_PIECE = "\U0010fffd"
_GAP_PIECE = "\U0010fffc%d"
_NOTHING = SentencePieceRules(escape_spaces=False, dummy_prefix="never")


def write(model: Model) -> bytes:
    """Return the file; raise `Unsupported` with the reason where the library would give other ids, or refuse it."""
    if model.continuing_prefix is not None:
        raise Unsupported(FORMAT, f"it has no symbols that begin with {model.continuing_prefix!r}")
    if model.end_of_word is not None:
        raise Unsupported(FORMAT, f"it has no symbols that end in {model.end_of_word!r}")
    if why := concatenation_differs(model):
        raise Unsupported(FORMAT, f"it looks joined text up, which gives other ids here: {why}")
    for token, i in model.id_by_token.items():
        if b"\0" in token and model.alphabet == "chars":
            raise Unsupported(FORMAT, f"it refuses tokens with a null character, as {token!r} (id {i})")
    return proto(model)


def proto(model: Model, *, as_written: bool = False, stand_ins: dict[int, str] | None = None) -> bytes:
    """Return the file of `model`, even where it gives other ids; with `as_written` the library does not normalise, for
    texts that `Model.normalize` has rewritten already.

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
    parts = [length(fields.PIECES, _piece(*piece)) for piece in _pieces(model, rules, unknown_id, stand_ins or {})]
    parts.append(length(fields.TRAINER, _trainer(model, rules, unknown_id)))
    parts.append(length(fields.NORMALIZER, _normalizer(model, _NOTHING if as_written else rules)))
    return b"".join(parts)


def _pieces(
    model: Model, rules: SentencePieceRules, unknown_id: int, stand_ins: dict[int, str]
) -> Iterator[tuple[str, float, int]]:
    """Yield (text, score, type) of each piece in order of id."""
    byte_of = {i: byte for byte, i in enumerate(rules.byte_ids)}
    kinds = dict.fromkeys(rules.user_defined_ids, fields.USER_DEFINED) | dict.fromkeys(rules.unused_ids, fields.UNUSED)
    special = {i: text for text, i in model.special_tokens.items()}
    added = {i: text for text, i in model.added_tokens.items()}
    for i in range(max(model.vocab_size, unknown_id + 1)):
        token = model.tokens[i] if i < len(model.tokens) else None
        if i == unknown_id:
            text = model.unknown or ""
            yield text if text and text.encode() not in model.id_by_token else _UNKNOWN_PIECE, 0.0, fields.UNKNOWN
        elif token is not None:
            text = to_printable(token) if model.alphabet == "bytes" else token.decode().translate(stand_ins)
            yield text, -float(model.ranks[i]), kinds.get(i, fields.NORMAL)
        elif i in byte_of:
            yield f"<0x{byte_of[i]:02X}>", 0.0, fields.BYTE
        elif i in special:
            yield special[i], 0.0, fields.CONTROL
        elif i in added:
            text = added[i].replace(" ", SPACE_MARK) if rules.escape_spaces else added[i]
            yield text, 0.0, fields.USER_DEFINED
        else:
            yield _GAP_PIECE % i, 0.0, fields.UNUSED


def _piece(text: str, score: float, kind: int) -> bytes:
    message = length(fields.PIECE_TEXT, text.encode()) + float32(fields.PIECE_SCORE, score)
    return message if kind == fields.NORMAL else message + varint(fields.PIECE_TYPE, kind)


def _trainer(model: Model, rules: SentencePieceRules, unknown_id: int) -> bytes:
    message = varint(fields.TRAINER_MODEL_TYPE, fields.BPE)
    message += varint(fields.TRAINER_VOCAB_SIZE, max(model.vocab_size, unknown_id + 1))
    message += varint(fields.TRAINER_BYTE_FALLBACK, bool(rules.byte_ids))
    message += varint(fields.TRAINER_UNK_ID, unknown_id)
    for number, text in (
        (fields.TRAINER_BOS_ID, "<s>"),
        (fields.TRAINER_EOS_ID, "</s>"),
        (fields.TRAINER_PAD_ID, "<pad>"),
    ):
        message += varint(number, model.special_tokens.get(text, -1))
    if rules.unknown_text != fields.UNKNOWN_SURFACE:
        message += length(fields.TRAINER_UNK_SURFACE, rules.unknown_text.encode())
    return message


def _normalizer(model: Model, rules: SentencePieceRules) -> bytes:
    name = model.normalization if rules.looks_up and model.normalization else "identity"
    charsmap = rules.charsmap if rules.looks_up else b""
    message = length(fields.NORMALIZER_NAME, name.encode()) + length(fields.NORMALIZER_CHARSMAP, charsmap)
    message += varint(fields.NORMALIZER_DUMMY_PREFIX, rules.dummy_prefix != "never")
    message += varint(fields.NORMALIZER_REMOVE_EXTRA, rules.remove_extra_spaces)
    return message + varint(fields.NORMALIZER_ESCAPE, rules.escape_spaces)


def losses(model: Model) -> list[str]:
    """Return what the file would lose of `model`; raise `Unsupported` where it cannot hold it."""
    write(model)
    lost: list[str] = []
    rules = model.sentencepiece or _NOTHING
    if model.alphabet == "bytes":
        lost.append("alphabet: bytes are written as GPT-2's printable characters; give it texts written so")
    if model.pattern:
        lost.append("pattern: it splits no texts; give it their pieces one by one")
    if model.normalization is not None and not model.has_charsmap_only:
        lost.append(f"normalization: {model.normalization}; give it texts in this form")
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
    if model.special_tokens and (rules.shows_specials or model.sentencepiece is None):
        lost.append("special_tokens: they are never found in a text, and are read as nothing")
    if model.merge_rule == "concatenation" and model.sentencepiece is None and model.recovered_merges[1]:
        lost.append("merges: a whole piece that no lower ranks make is not a single token there")
    return lost + lost_fields(model, "ignore_merges", "merge_counts", "id_offset")
