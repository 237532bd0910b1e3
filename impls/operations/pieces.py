"""A text in normal form as its pieces: the default of `Tokenizer.encode_normalized`, and bytes that are not UTF-8."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from impls.core.arguments import check_text, checked_bytes
from impls.core.errors import UnknownSymbol, Unsupported
from impls.core.model import Model
from impls.core.text.text import repair_surrogates
from impls.operations.coder import Coder


def of_text(model: Model, text: str) -> list[str]:
    """Return the pieces of any text."""
    check_text(text)
    return model.split(model.normalize(repair_surrogates(text)))


def encode(model: Model, text: str, encode_piece: Callable[[str], list[int]]) -> list[int]:
    """Return the ids of all pieces: user-defined ones get their id, unused tokens are replaced by their parts."""
    if model.cuts is not None:
        encode_piece = model.cuts.around_user_defined(encode_piece)
    ids: list[int] = []
    start = 0
    for piece in model.split(text):
        try:
            ids += encode_piece(piece)
        except UnknownSymbol as error:
            raise UnknownSymbol(error.character, model.splitter.offset(text, start + error.offset)) from None
        start += len(piece)
    parts = model.unused_parts
    return [part for i in ids for part in parts.get(i, (i,))] if parts else ids


def encode_bytes(tokenizer: Coder, data: bytes, own_rule: Callable[[bytes], list[int]] | None = None) -> list[int]:
    """Return the ids of bytes that need not be UTF-8, as ordinary text; like tiktoken's `_encode_bytes`.

    Valid UTF-8 is encoded as its text. Otherwise the text before the first invalid byte is normalised and split; its
    last piece and everything after it is one piece, since a pattern applies only to text. If the last piece begins with
    a token of blanks (" ", line feed, tab), so are such tokens before it, which the pattern might have split
    differently. A library with a rule of its own follows that. Decoding restores the bytes, except
    for normalisation. Raise `Unsupported` for a model over characters, and for invalid UTF-8 if an implementation takes
    only texts.

        "be or not" + b"\\xff?"    ->    be,  or, then the piece b" not\\xff?"
    """
    data, model = checked_bytes(data), tokenizer.model
    if model.alphabet != "bytes":
        raise Unsupported(tokenizer.name, "encodes bytes by models over bytes; this model's alphabet is 'chars'")
    try:
        return tokenizer.encode_ordinary(data.decode())
    except UnicodeDecodeError as error:
        text, bad = model.normalize(data[: error.start].decode()), data[error.start :]
    if own_rule is not None:
        return own_rule(text.encode() + bad)
    ids = tokenizer.encode_normalized(text)
    start = last_piece_start(model, text, ids)
    return ids[:start] + tokenizer.encode_byte_piece(b"".join([model.tokens[i] or b"" for i in ids[start:]]) + bad)


def last_piece_start(model: Model, text: str, ids: Sequence[int]) -> int:
    """Return the index in `ids`, those of a text in normal form, at which its last piece begins.

    If it begins with a token of blanks, such tokens before it are included: how a pattern splits there may depend on
    what follows.
    """
    tokens = model.tokens
    pieces = model.splitter.split(text)
    rest = len(pieces[-1].encode()) if pieces else 0
    start = len(ids)
    while rest > 0 and start > 0:
        start -= 1
        rest -= len(tokens[ids[start]] or b"")
    if start < len(ids) and _is_blank(tokens[ids[start]]):
        while start > 0 and _is_blank(tokens[ids[start - 1]]):
            start -= 1
    return start


def _is_blank(token: bytes | None) -> bool:
    return token is not None and not token.strip(b" \n\t")


def encode_byte_piece(tokenizer: Coder, piece: bytes) -> list[int]:
    """Return the ids of one piece that is not valid UTF-8, by an implementation that takes it with surrogates."""
    try:
        return tokenizer.piece_ids(piece.decode("utf-8", "surrogateescape"))
    except (Unsupported, UnicodeEncodeError):
        raise Unsupported(tokenizer.name, "encodes text only, not bytes that are not UTF-8") from None
