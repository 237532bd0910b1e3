"""Reading Hugging Face's tokenizer.json: byte-level BPE, and BPE over the characters of the text.

What a model cannot express is refused with the name of the field, never passed over; `truncation`, `padding`,
`post_processor` and `decoder` do not change the ids of a text and are left out. Dropout, which makes encoding random,
is left out with a `DropoutIgnored` warning. Other kinds of model (Unigram, WordPiece, WordLevel) and BPE after
SentencePiece (`byte_fallback`, Metaspace) are refused by name.
"""

from __future__ import annotations

import warnings
from typing import Any

from impls.byte_alphabet import CHARACTER_TO_BYTE
from impls.errors import InvalidFile
from impls.formats.files import parse_json, token_table
from impls.formats.printable import check_ids, read_merges, read_tokens, without_whole_tokens
from impls.formats.split_stages import read_stages
from impls.model import Model

FORMAT = "tokenizer.json"


class DropoutIgnored(UserWarning):
    """The file asks for BPE-dropout; the model is read without it, and encodes the same text the same way always."""


def read(content: bytes, path: str) -> Model:
    """The model; raises `InvalidFile` naming the field that is wrong or not supported."""
    return read_document(parse_json(content, path), path)


def read_document(document: Any, path: str) -> Model:
    """The model of a parsed file."""
    fields = _object(document, "the document", path)
    bpe = _object(fields.get("model"), "model", path)
    _refuse_other_models(bpe, path)
    stages, byte_level = read_stages(fields.get("pre_tokenizer"), path)
    normalization = _normalization(fields.get("normalizer"), "normalizer", path)
    special, added = _whole_tokens(fields.get("added_tokens"), path)
    vocab = check_ids(bpe.get("vocab"), "model.vocab", path)
    merges = _merges(bpe.get("merges"), path)
    whole = {**special, **added}
    for text, i in whole.items():
        if vocab.get(text, i) != i:
            raise InvalidFile(path, f"added_tokens: {text!a} has id {i} here and id {vocab[text]} in model.vocab")
    unknown = _unknown(bpe.get("unk_token"), vocab, whole, byte_level, path)
    listed = [*whole, *([] if unknown is None else [unknown])]
    kept = without_whole_tokens(vocab, merges, listed, CHARACTER_TO_BYTE if byte_level else ())
    if byte_level:
        tokens = read_tokens(kept, "model.vocab", path)
    else:
        tokens = token_table(((_utf8(token, path), i) for token, i in kept.items()), path)
    return Model(
        tokens=tokens,
        merges=read_merges(merges, kept, "model.merges", path),
        pattern=stages,
        special_tokens=special,
        added_tokens=added,
        normalization=normalization,
        alphabet="bytes" if byte_level else "chars",
        ignore_merges=bool(bpe.get("ignore_merges", False)),
        unknown=unknown,
        unknown_id=None if unknown is None else vocab.get(unknown, whole.get(unknown)),
    )


def _object(value: Any, field: str, path: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise InvalidFile(
            path, f"{field}: an object is expected, not {'nothing' if value is None else repr(value)[:40]}"
        )
    return value


def _refuse_other_models(bpe: dict[str, Any], path: str) -> None:
    kind = bpe.get("type", "BPE" if "merges" in bpe else None)
    if kind != "BPE":
        raise InvalidFile(path, f"model.type: {kind!r} is not byte pair encoding; only BPE models are read")
    for field, problem in (
        ("continuing_subword_prefix", "tokens inside a word are marked by a prefix, which is not supported"),
        ("end_of_word_suffix", "tokens at the end of a word are marked by a suffix, which is not supported"),
        ("byte_fallback", "characters that fall back to bytes (a converted SentencePiece model) are not supported"),
        ("fuse_unk", "unknown characters that are fused into one token are not supported"),
    ):
        # fuse_unk alone changes nothing, and stands in files that have no unknown token.
        if bpe.get(field) and not (field == "fuse_unk" and bpe.get("unk_token") is None):
            raise InvalidFile(path, f"model.{field}: {problem}")
    if bpe.get("dropout"):
        warnings.warn(
            f"{path}: model.dropout: {bpe['dropout']} is left out; the model encodes without dropout",
            DropoutIgnored,
            stacklevel=4,
        )


def _unknown(text: Any, vocab: dict[str, int], whole: dict[str, int], byte_level: bool, path: str) -> str | None:
    """The unknown token; bytes never need one, so theirs only counts where it is nothing else."""
    if text is not None and not isinstance(text, str):
        raise InvalidFile(path, f"model.unk_token: a text is expected, not {type(text).__name__}")
    if text is None or (byte_level and (text in whole or text not in vocab)):
        return None
    if text not in vocab and text not in whole:
        raise InvalidFile(path, f"model.unk_token: {text!a} is not in the vocabulary")
    return text


def _normalization(normalizer: Any, field: str, path: str) -> str | None:
    if normalizer is None:
        return None
    kind = _object(normalizer, field, path).get("type")
    if kind == "NFC":
        return "nfc"
    if kind == "Sequence":
        steps = normalizer.get("normalizers")
        if isinstance(steps, list):
            found = [_normalization(step, f"{field}.normalizers[{k}]", path) for k, step in enumerate(steps)]
            return next((step for step in found if step is not None), None)
    raise InvalidFile(path, f"{field}.type: {kind!r} is not supported; only NFC is")


def _whole_tokens(entries: Any, path: str) -> tuple[dict[str, int], dict[str, int]]:
    """(special tokens, other added tokens), text -> id."""
    if entries is None:
        entries = []
    if not isinstance(entries, list):
        raise InvalidFile(path, "added_tokens: a list is expected")
    special: dict[str, int] = {}
    added: dict[str, int] = {}
    for index, entry in enumerate(entries):
        field = f"added_tokens[{index}]"
        text, i = _object(entry, field, path).get("content"), entry.get("id")
        if not isinstance(text, str) or not isinstance(i, int):
            raise InvalidFile(path, f"{field}: a text as 'content' and a whole number as 'id' are expected")
        for flag in ("single_word", "lstrip", "rstrip"):
            if entry.get(flag):
                raise InvalidFile(path, f"{field}.{flag}: {text!a} takes in its surroundings, which is not supported")
        if text in special or text in added:
            raise InvalidFile(path, f"{field}: {text!a} stands twice in added_tokens")
        (special if entry.get("special") else added)[text] = i
    return special, added


def _merges(entries: Any, path: str) -> list[tuple[str, str]]:
    if not isinstance(entries, list):
        raise InvalidFile(path, "model.merges: a list is expected")
    merges: list[tuple[str, str]] = []
    for rank, entry in enumerate(entries):
        parts = entry.split(" ") if isinstance(entry, str) else entry
        match parts:
            case [str() as left, str() as right] if left and right:
                merges.append((left, right))
            case _:
                raise InvalidFile(
                    path, f"model.merges[{rank}]: two tokens are expected, as 'a b' or ['a', 'b'], not {entry!r}"
                )
    return merges


def _utf8(token: str, path: str) -> bytes:
    try:
        return token.encode()
    except UnicodeEncodeError:
        raise InvalidFile(path, f"model.vocab: the token {token!a} holds a lone surrogate") from None
