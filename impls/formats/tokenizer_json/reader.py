"""Reading Hugging Face's tokenizer.json: byte-level BPE, and BPE over the characters of the text.

What a model cannot express is refused with the name of the field, never ignored; `truncation` and `padding` are
not read. A `post_processor` that puts special tokens around a text is ignored
with a `TemplateIgnored` warning, and dropout, which makes encoding random, with a `DropoutIgnored` warning. Other types
of model (Unigram, WordPiece, WordLevel) are refused by name. A converted SentencePiece model (`byte_fallback`,
`fuse_unk`, marks for white space) gets that library's rules, with the listed merges. Ids decode by
the steps of `decoder`; with one that is not supported, and a `DecoderIgnored` warning, as joined texts of tokens.
"""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import chain, starmap
from operator import add
from typing import Any

from impls.core.errors import InvalidModel
from impls.core.model import Model
from impls.core.model.data import HuggingFaceRules, ModelData
from impls.core.model.whole_tokens import FLAGS, can_meet
from impls.core.text.byte_alphabet import CHARACTER_TO_BYTE
from impls.core.text.decoder_steps import usual_decoders
from impls.core.text.sentencepiece_rules import SentencePieceRules
from impls.formats.files import MAX_TABLE_ID, converted, parse_json
from impls.formats.parse_cache import Note, cached_with_notes
from impls.formats.sentencepiece_model import BYTE_PIECES, UNKNOWN_SURFACE
from impls.formats.tokenizer_json.columns import read_columns
from impls.formats.tokenizer_json.decoder_steps import DecoderIgnored, own_decoder, read_decoder
from impls.formats.tokenizer_json.document import AddedEntry, Bpe, File, MergesFile, OtherDocument
from impls.formats.tokenizer_json.space_steps import (
    OlderUnicode,
    Spaces,
    flat_steps,
    read_normalizer,
    settle_prefix,
)
from impls.formats.tokenizer_json.split_stages import read_stages
from impls.formats.vocabulary import (
    check_ids,
    check_merges,
    first_other_id,
    pairs_of_ids,
    read_tokens,
    two_parts,
    without_unmerged,
)

FORMAT = "tokenizer.json"


class DropoutIgnored(UserWarning):
    """The file has BPE-dropout; the model is read without it, and encodes deterministically."""


class OtherIds(UserWarning):
    """An added token has an id that Hugging Face's library would not give it; the model keeps the file's."""


class TemplateIgnored(UserWarning):
    """The file puts special tokens around every text; the model is read without them, and encodes only the text."""


def read(document: Any, path: str) -> Model:
    """Read the model of a parsed file, with a warning for each note of `read_with_notes`."""
    model, notes = read_with_notes(document)
    for note in notes:
        warnings.warn(f"{path}: {note}", type(note), stacklevel=4)
    return model


def read_content(content: bytes, path: str, change: Callable[[Any], Any] | None = None) -> Model:
    """Read the model of a file, from the cache if it was read before; raise `OtherDocument` for other JSON.

    `change` returns what the model is read from, given the parsed file.
    """

    def read_noted(document: Any) -> tuple[Model, list[Note]]:
        given = document if change is None else change(document)
        if not isinstance(given, dict) or "model" not in given:
            raise OtherDocument(given)
        model, notes = read_with_notes(given)
        return model, [(type(note).__name__, str(note)) for note in notes]

    def parsed() -> tuple[Model, list[Note]]:
        packed = read_columns(content, read_noted)
        return read_noted(parse_json(content)) if packed is None else (Model.restored(packed), packed.parts.notes)

    model, notes = cached_with_notes(parsed, FORMAT, content, hashlib.sha256(content).hexdigest(), change is None)
    kinds = {kind.__name__: kind for kind in (DecoderIgnored, DropoutIgnored, OlderUnicode, OtherIds, TemplateIgnored)}
    for kind, note in notes:
        warnings.warn(f"{path}: {note}", kinds[kind], stacklevel=4)
    return model


def read_with_notes(document: Any) -> tuple[Model, list[UserWarning]]:
    """Return the model of a parsed file, and notes on what it leaves out; raise `InvalidModel` naming a field that is
    invalid or not supported."""
    file = converted(document, File)
    bpe, entries = file.model, file.added_tokens or []
    check_kind(bpe.type)
    if prefix := bpe.continuing_subword_prefix:
        raise InvalidModel(f"model.continuing_subword_prefix: {prefix!a} inside words is not supported")
    spaces = read_normalizer(file.normalizer)
    stages, byte_level = read_stages(file.pre_tokenizer, spaces)
    settle_prefix(spaces, byte_level)
    special, added, flags = _whole_tokens(entries, spaces)
    vocab = check_ids(bpe.vocab, "model.vocab")
    merges = _merges(bpe.merges)
    listed_ids = {**special, **added}
    for text, i in listed_ids.items():
        if vocab.get(text, i) != i:
            raise InvalidModel(f"added_tokens: {text!a} has id {i} here and id {vocab[text]} in model.vocab")
    unknown = _unknown(bpe.unk_token, vocab, listed_ids, byte_level)
    if byte_level and unknown is not None and unknown in starmap(add, merges):
        unknown = None
    if unknown is not None and not byte_level and unknown in chain(starmap(add, merges), chain.from_iterable(merges)):
        raise InvalidModel(f"model.unk_token: {unknown!a} is part of a merge, which is not supported")
    listed = [*listed_ids, *([] if unknown is None else [unknown])]
    kept = without_unmerged(vocab, merges, [text for text in listed if not _occurs(text, bpe, byte_level)])
    rules = _rules(bpe, spaces, kept, unknown, byte_level)
    end_of_word = bpe.end_of_word_suffix or None
    _check_suffix(bpe, byte_level, rules)
    byte_ids = frozenset(() if rules is None else rules.byte_ids)
    kept = {token: i for token, i in kept.items() if i not in byte_ids} if byte_ids else kept
    tokens = read_tokens(kept, byte_level, "model.vocab")
    fields: dict[str, Any] = {
        "pattern": stages,
        "special_tokens": special,
        "added_tokens": added,
        "normalization": "+".join(spaces.steps) or None,
        "alphabet": "bytes" if byte_level else "chars",
        "end_of_word": end_of_word,
        "unknown": unknown,
        "unknown_id": None if unknown is None else vocab.get(unknown, listed_ids.get(unknown)),
        "sentencepiece": rules,
        "hugging_face": HuggingFaceRules(ignore_merges=bool(bpe.ignore_merges), whole_token_flags=flags),
    }
    notes = spaces.notes
    try:
        decoder = own_decoder(ModelData(**fields), read_decoder(file.decoder))
    except InvalidModel as error:
        notes.append(DecoderIgnored(f"{error}; ids decode as the joined texts of their tokens"))
        decoder = next(iter(usual_decoders(rules)), None)
    fields["hugging_face"] = replace(fields["hugging_face"], decoder=decoder)
    tokens += (None,) * (max(byte_ids, default=-1) + 1 - len(tokens))
    try:
        model = Model(tokens=tokens, merges=pairs_of_ids(merges, kept), **fields)
    except (KeyError, InvalidModel):
        check_merges(merges, kept, "model.merges")  # names a merge as the file spells it
        raise
    if bpe.dropout:
        skipped = f"model.dropout: {bpe.dropout} is left out; the model encodes without dropout"
        notes.append(DropoutIgnored(skipped))
    notes += [*_other_ids(entries, vocab), *_template(file.post_processor)]
    return model, notes


def _occurs(text: str, bpe: Bpe, byte_level: bool) -> bool:
    """Return whether a token may come from text without any merge: as a symbol, or as a whole piece."""
    if byte_level:
        printed = CHARACTER_TO_BYTE.keys() >= set(text)
        return printed and (len(text) == 1 or (bool(bpe.ignore_merges) and text.isascii()))
    symbol = text.removesuffix(bpe.end_of_word_suffix or "")
    return bool(bpe.ignore_merges) or len(symbol) == 1 or (bool(bpe.byte_fallback) and text in BYTE_PIECES)


def check_kind(kind: object) -> None:
    """Raise `InvalidModel` for another `model.type` than BPE."""
    if kind != "BPE":
        raise InvalidModel(f"model.type: {kind!r} is not byte pair encoding; only BPE models are read")


def _rules(
    bpe: Bpe, spaces: Spaces, vocab: dict[str, int], unknown: str | None, byte_level: bool
) -> SentencePieceRules | None:
    """Return SentencePiece's rules, or None if the file has none of them."""
    byte_ids = tuple(vocab.get(text, -1) for text in BYTE_PIECES) if bpe.byte_fallback else ()
    byte_ids = byte_ids if max(byte_ids, default=-1) >= 0 else ()
    fuse_unknown = bool(bpe.fuse_unk) and unknown is not None
    if (largest := max(byte_ids, default=0)) > MAX_TABLE_ID:
        raise InvalidModel(f"model.vocab: a byte token has the id {largest}; ids go up to {MAX_TABLE_ID}")
    if byte_level and spaces.rewrites:
        raise InvalidModel("pre_tokenizer.type: ByteLevel after marks for white space or Precompiled is not supported")
    if byte_level or not (byte_ids or fuse_unknown or spaces.rewrites):
        return None  # bytes are never unknown, so nothing falls back and nothing is fused
    return SentencePieceRules(
        escape_spaces=spaces.escape_spaces,
        dummy_prefix=spaces.dummy_prefix,
        remove_extra_spaces=spaces.remove_extra_spaces,
        charsmap=spaces.charsmap,
        charsmap_by_graphemes=bool(spaces.charsmap),
        byte_ids=byte_ids,
        fuse_unknown=fuse_unknown,
        unknown_text=unknown or UNKNOWN_SURFACE,
    )


def _check_suffix(bpe: Bpe, byte_level: bool, rules: SentencePieceRules | None) -> None:
    """Raise `InvalidModel` for a suffix of words together with a feature that excludes it."""
    if not (suffix := bpe.end_of_word_suffix):
        return
    excluded = {
        "ByteLevel": byte_level and not CHARACTER_TO_BYTE.keys() >= set(suffix),
        "byte_fallback, fuse_unk or marks for spaces": rules,
        "ignore_merges": bpe.ignore_merges,
    }
    for what, present in excluded.items():
        if present:
            raise InvalidModel(f"model.end_of_word_suffix: {suffix!a} with {what} is not supported")


def _unknown(text: str | None, vocab: dict[str, int], listed_ids: dict[str, int], byte_level: bool) -> str | None:
    """Return the unknown token, or None; bytes never need one, so theirs counts only if it is an ordinary token."""
    if text is None or (byte_level and (text in listed_ids or text not in vocab)):
        return None
    if text not in vocab and text not in listed_ids:
        raise InvalidModel(f"model.unk_token: {text!a} is not in the vocabulary")
    return text


def _whole_tokens(
    entries: list[AddedEntry], spaces: Spaces
) -> tuple[dict[str, int], dict[str, int], dict[str, tuple[str, ...]]]:
    """Return (special tokens, other added tokens, flags): text -> id, and text -> restrictions on where it matches."""
    special: dict[str, int] = {}
    added: dict[str, int] = {}
    flags: dict[str, tuple[str, ...]] = {}
    for index, entry in enumerate(entries):
        text = entry.content
        if text in flags:
            raise InvalidModel(f"added_tokens[{index}]: {text!a} occurs twice in added_tokens")
        (special if entry.special else added)[text] = entry.id
        flags[text] = tuple(flag for flag in FLAGS if getattr(entry, flag))
    if not (spaces.rewrites or spaces.steps) and not _order_matters(flags):
        flags = {text: tuple(flag for flag in names if flag != "normalized") for text, names in flags.items()}
    if not spaces.can_place_normalized and (later := [text for text, names in flags.items() if "normalized" in names]):
        raise InvalidModel(f"added_tokens: {later[0]!a} is normalized, which is not supported with this Metaspace")
    return special, added, {text: names for text, names in flags.items() if names}


def _order_matters(flags: dict[str, tuple[str, ...]]) -> bool:
    """Return whether searching for tokens that are not `normalized` first may change the result."""
    later = {text for text, names in flags.items() if "normalized" in names}
    looks_around = any({"single_word", "lstrip", "rstrip"} & set(names) for names in flags.values())
    others = flags.keys() - later
    return bool(later and others) and (looks_around or can_meet(later, others))


def _merges(given: Any) -> list[tuple[str, str]]:
    """Return the merges; raise `InvalidModel` naming one that is not of two texts."""
    if not isinstance(given, list):
        raise InvalidModel("model.merges: expected a list")
    entries = converted({"model": {"merges": given}}, MergesFile).model.merges
    return [
        two_parts(entry, f"model.merges[{rank}]") if isinstance(entry, str) else entry
        for rank, entry in enumerate(entries)
    ]


# --- parts of the file that the model leaves out -----------------------------------------------------------------


def _other_ids(entries: list[AddedEntry], vocab: dict[str, int]) -> Iterator[OtherIds]:
    """Note an id that the library does not keep."""
    if other := first_other_id([(entry.content, entry.id) for entry in entries], vocab):
        index, given = other
        has = f"added_tokens[{index}]: {entries[index].content!a} has the id {entries[index].id} here"
        yield OtherIds(f"{has}; Hugging Face's library gives it {given}")


def _template(post_processor: Any) -> Iterator[TemplateIgnored]:
    """Note special tokens that are put around a text; any other `post_processor` is ignored silently."""
    for _, step in flat_steps(post_processor, "post_processor", "processors"):
        kind = step.get("type")
        single = step.get("single") if kind == "TemplateProcessing" else None
        puts = isinstance(single, list) and any(isinstance(part, dict) and "SpecialToken" in part for part in single)
        if puts or kind in ("BertProcessing", "RobertaProcessing"):
            around = f"post_processor: {kind}, which puts special tokens around a text, is left out"
            yield TemplateIgnored(f"{around}; ids are those of the text alone")
            return
