"""Reading Hugging Face's tokenizer.json: byte-level BPE, and BPE over the characters of the text.

What a model cannot express is refused with the name of the field, never ignored; `truncation`, `padding` and `decoder`
do not change the ids of a text and are not read. Nor are a `post_processor` that puts special tokens around a text,
with a `TemplateIgnored` warning, and dropout, which makes encoding random, with a `DropoutIgnored` warning. Other types
of model (Unigram, WordPiece, WordLevel) are refused by name. A converted SentencePiece model (`byte_fallback`,
`fuse_unk`, marks for white space) gets that library's rules, with the listed merges; its ids are assumed to decode as
in SentencePiece, except special tokens.
"""

from __future__ import annotations

import warnings
from typing import Any

from impls.core.errors import InvalidFile
from impls.core.model import Model
from impls.core.model.whole_tokens import FLAGS, can_meet
from impls.core.text.byte_alphabet import CHARACTER_TO_BYTE
from impls.core.text.normalization import call
from impls.core.text.sentencepiece_rules import SentencePieceRules
from impls.formats.files import MAX_TABLE_ID, parse_json, token_table, utf8
from impls.formats.printable import check_ids, read_merges, read_tokens, without_whole_tokens
from impls.formats.sentencepiece_model import BYTE_PIECES, UNKNOWN_SURFACE
from impls.formats.space_steps import Spaces, check_prefix, read_normalizer
from impls.formats.split_stages import read_stages

FORMAT = "tokenizer.json"


class DropoutIgnored(UserWarning):
    """The file has BPE-dropout; the model is read without it, and encodes deterministically."""


class OtherIds(UserWarning):
    """An added token has an id that Hugging Face's library would not give it; the model keeps the file's."""


class TemplateIgnored(UserWarning):
    """The file puts special tokens around every text; the model is read without them, and encodes only the text."""


def read(content: bytes, path: str) -> Model:
    """Read the model; raise `InvalidFile` naming the field that is wrong or not supported."""
    return read_document(parse_json(content, path), path)


def read_document(document: Any, path: str) -> Model:
    """Read the model of a parsed file."""
    fields = _object(document, "the document", path)
    bpe = _object(fields.get("model"), "model", path)
    _refuse_other_models(bpe, path)
    end_of_word, prefix = _affix("end_of_word_suffix", bpe, path), _affix("continuing_subword_prefix", bpe, path)
    spaces = read_normalizer(fields.get("normalizer"), path)
    stages, byte_level = read_stages(fields.get("pre_tokenizer"), path, spaces)
    if byte_level and spaces.prepended == " " and not spaces.escape_spaces:
        spaces.steps.append(call("prepend", " "))
        spaces.dummy_prefix, spaces.prepended = "never", ""
    check_prefix(spaces, path)
    special, added, flags = _whole_tokens(fields.get("added_tokens"), spaces, path)
    vocab = check_ids(bpe.get("vocab"), "model.vocab", path)
    merges = _merges(bpe.get("merges"), path)
    whole = {**special, **added}
    for text, i in whole.items():
        if vocab.get(text, i) != i:
            raise InvalidFile(path, f"added_tokens: {text!a} has id {i} here and id {vocab[text]} in model.vocab")
    unknown = _unknown(bpe.get("unk_token"), vocab, whole, byte_level, path)
    if byte_level and any(left + right == unknown for left, right in merges):
        unknown = None
    listed = [*whole, *([] if unknown is None else [unknown])]
    kept = without_whole_tokens(vocab, merges, listed, CHARACTER_TO_BYTE if byte_level else ())
    rules = _rules(bpe, spaces, kept, unknown, byte_level, path)
    affix = end_of_word or prefix
    if affix is not None and (byte_level or rules or bpe.get("ignore_merges") or (end_of_word and prefix)):
        what = (
            "ByteLevel"
            if byte_level
            else "byte_fallback, fuse_unk or marks for spaces"
            if rules
            else "ignore_merges or continuing_subword_prefix"
        )
        field = "end_of_word_suffix" if end_of_word else "continuing_subword_prefix"
        raise InvalidFile(path, f"model.{field}: {affix!a} with {what} is not supported")
    if byte_level:
        tokens = read_tokens(kept, "model.vocab", path)
    else:
        kept = {token: i for token, i in kept.items() if not rules or i not in rules.byte_ids}
        tokens = token_table(((utf8(token, path), i) for token, i in kept.items()), path)
        if rules and rules.byte_ids:
            tokens += (None,) * (max(rules.byte_ids) + 1 - len(tokens))
    model = Model(
        tokens=tokens,
        merges=read_merges(merges, kept, "model.merges", path, prefix or ""),
        pattern=stages,
        special_tokens=special,
        added_tokens=added,
        whole_token_flags=flags,
        normalization=spaces.normalization,
        alphabet="bytes" if byte_level else "chars",
        end_of_word=end_of_word,
        continuing_prefix=prefix,
        ignore_merges=bool(bpe.get("ignore_merges", False)),
        unknown=unknown,
        unknown_id=None if unknown is None else vocab.get(unknown, whole.get(unknown)),
        sentencepiece=rules,
    )
    _note_other_ids(fields.get("added_tokens") or [], vocab, path)
    _note_template(fields.get("post_processor"), path)
    return model


def _rules(
    bpe: dict[str, Any], spaces: Spaces, vocab: dict[str, int], unknown: str | None, byte_level: bool, path: str
) -> SentencePieceRules | None:
    """Return SentencePiece's rules, or None where the file has none of them."""
    byte_ids = tuple(vocab.get(text, -1) for text in BYTE_PIECES) if bpe.get("byte_fallback") else ()
    byte_ids = byte_ids if max(byte_ids, default=-1) >= 0 else ()
    fuse_unknown = bool(bpe.get("fuse_unk")) and unknown is not None
    if (largest := max(byte_ids, default=0)) > MAX_TABLE_ID:
        raise InvalidFile(path, f"model.vocab: a byte token has the id {largest}; ids go up to {MAX_TABLE_ID}")
    if not (byte_ids or fuse_unknown or spaces.rewrites):
        return None
    if byte_level:
        # Bytes are never unknown, so nothing falls back and nothing is fused.
        if spaces.rewrites:
            raise InvalidFile(
                path, "pre_tokenizer.type: ByteLevel after marks for white space or Precompiled is not supported"
            )
        return None
    return SentencePieceRules(
        escape_spaces=spaces.escape_spaces,
        dummy_prefix=spaces.dummy_prefix,
        remove_extra_spaces=spaces.remove_extra_spaces,
        charsmap=spaces.charsmap,
        charsmap_by_graphemes=bool(spaces.charsmap),
        byte_ids=byte_ids,
        fuse_unknown=fuse_unknown,
        unknown_text=unknown or UNKNOWN_SURFACE,
        shows_specials=True,
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
    if bpe.get("dropout"):
        warnings.warn(
            f"{path}: model.dropout: {bpe['dropout']} is left out; the model encodes without dropout",
            DropoutIgnored,
            stacklevel=4,
        )


def _affix(field: str, bpe: dict[str, Any], path: str) -> str | None:
    affix = bpe.get(field) or None
    if affix is not None and not isinstance(affix, str):
        raise InvalidFile(path, f"model.{field}: a text is expected, not {type(affix).__name__}")
    return affix


def _unknown(text: Any, vocab: dict[str, int], whole: dict[str, int], byte_level: bool, path: str) -> str | None:
    """Return the unknown token, or None; bytes never need one, so theirs counts only if it is an ordinary token."""
    if text is not None and not isinstance(text, str):
        raise InvalidFile(path, f"model.unk_token: a text is expected, not {type(text).__name__}")
    if text is None or (byte_level and (text in whole or text not in vocab)):
        return None
    if text not in vocab and text not in whole:
        raise InvalidFile(path, f"model.unk_token: {text!a} is not in the vocabulary")
    return text


def _whole_tokens(
    entries: Any, spaces: Spaces, path: str
) -> tuple[dict[str, int], dict[str, int], dict[str, tuple[str, ...]]]:
    """Return (special tokens, other added tokens, flags): text -> id, and text -> restrictions on where it matches."""
    if entries is None:
        entries = []
    if not isinstance(entries, list):
        raise InvalidFile(path, "added_tokens: a list is expected")
    special: dict[str, int] = {}
    added: dict[str, int] = {}
    flags: dict[str, tuple[str, ...]] = {}
    for index, entry in enumerate(entries):
        field = f"added_tokens[{index}]"
        text, i = _object(entry, field, path).get("content"), entry.get("id")
        if not isinstance(text, str) or not isinstance(i, int):
            raise InvalidFile(path, f"{field}: a text as 'content' and a whole number as 'id' are expected")
        if text in special or text in added:
            raise InvalidFile(path, f"{field}: {text!a} occurs twice in added_tokens")
        (special if entry.get("special") else added)[text] = i
        flags[text] = tuple(flag for flag in FLAGS if entry.get(flag))
    if not (spaces.rewrites or spaces.steps) and not _order_matters(flags):
        flags = {text: tuple(flag for flag in found if flag != "normalized") for text, found in flags.items()}
    if not spaces.can_place_normalized and (later := [text for text, found in flags.items() if "normalized" in found]):
        raise InvalidFile(path, f"added_tokens: {later[0]!a} is normalized, which is not supported with this Metaspace")
    return special, added, {text: found for text, found in flags.items() if found}


def _note_other_ids(entries: list[dict[str, Any]], vocab: dict[str, int], path: str) -> None:
    """Warn of an id the library does not keep: it gives a token that is not in the vocabulary the next free id."""
    highest = -1
    for index, entry in enumerate(entries):
        text, i = entry["content"], entry["id"]
        given = vocab.get(text, highest + 1 if highest >= len(vocab) else len(vocab))
        if given != i:
            warnings.warn(
                f"{path}: added_tokens[{index}]: {text!a} has the id {i} here; Hugging Face's library gives it {given}",
                OtherIds,
                stacklevel=4,
            )
            return
        highest = max(highest, i)


def _order_matters(flags: dict[str, tuple[str, ...]]) -> bool:
    """Return whether searching for tokens that are not `normalized` first may change the result."""
    later = {text for text, found in flags.items() if "normalized" in found}
    takes_spaces = any({"lstrip", "rstrip"} & set(found) for found in flags.values())
    others = flags.keys() - later
    return bool(later and others) and (takes_spaces or can_meet(later, others))


def _note_template(post_processor: Any, path: str) -> None:
    """Warn where special tokens are put around a text; any other `post_processor` is ignored silently."""
    steps = [post_processor]
    if isinstance(post_processor, dict) and isinstance(inner := post_processor.get("processors"), list):
        steps = inner
    for step in steps:
        kind = step.get("type") if isinstance(step, dict) else None
        if kind in ("BertProcessing", "RobertaProcessing") or (kind == "TemplateProcessing" and _puts_tokens(step)):
            warnings.warn(
                f"{path}: post_processor: {kind}, which puts special tokens around a text, is left out; ids are those "
                "of the text alone",
                TemplateIgnored,
                stacklevel=4,
            )
            return


def _puts_tokens(template: dict[str, Any]) -> bool:
    single = template.get("single")
    return isinstance(single, list) and any(isinstance(part, dict) and "SpecialToken" in part for part in single)


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
