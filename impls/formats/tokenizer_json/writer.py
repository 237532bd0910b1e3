"""Write Hugging Face's tokenizer.json so that its library gives the ids of the model."""

from __future__ import annotations

from typing import Any

import msgspec

from impls.core.errors import InvalidPattern, Unsupported
from impls.core.model import Model
from impls.core.model.whole_tokens import FLAGS
from impls.core.text.byte_alphabet import to_printable
from impls.core.text.normalization import without_prefix_space
from impls.core.text.sentencepiece_rules import SentencePieceRules
from impls.formats.tokenizer_json.decoder_steps import lost_decoding, write_decoder
from impls.formats.tokenizer_json.reader import FORMAT
from impls.formats.tokenizer_json.space_steps import write_metaspace, write_normalizer
from impls.formats.tokenizer_json.split_stages import write_stages
from impls.formats.vocabulary import add_whole_token, first_other_id, listed_merges, lost_fields


def write(model: Model) -> bytes:
    """Return the file, formatted like the library's; raise `Unsupported` with the reason."""
    return msgspec.json.format(write_compact(model), indent=2) + b"\n"


def write_compact(model: Model) -> bytes:
    """Return the file in one line; raise `Unsupported` with the reason."""
    return msgspec.json.encode(_document(model)[0])


def losses(model: Model) -> list[str]:
    """Return what the file would lose of `model`; raise `Unsupported` if it cannot hold it."""
    _, why_inexact = _document(model)
    lost = lost_fields(model, "merge_counts")
    if why_inexact:
        lost.append(f"merges: some texts may get different ids, as {why_inexact}")
    lost += lost_decoding(model)
    if model.sentencepiece is not None:
        lost += _lost_rules(model.sentencepiece, by_sentencepiece=model.decoder is None)
    return lost


def _lost_rules(rules: SentencePieceRules, by_sentencepiece: bool) -> list[str]:
    shows_unknown = rules.fuse_unknown and not rules.spells_all and rules.unknown_text
    lost = {
        "special_tokens: they are found in every text, and read as their text": by_sentencepiece,
        "normalization: Hugging Face looks up single graphemes, and normalises some texts differently": rules.looks_up,
        "user_defined_ids: text after such a token gets a prefix of its own": rules.user_defined_ids,
        "unknown_text: the unknown token is read as its own text": shows_unknown,
    }
    return [line for line, is_lost in lost.items() if is_lost]


def _document(model: Model) -> tuple[dict[str, Any], str | None]:
    if model.sentencepiece is not None and model.sentencepiece.unused_ids:
        raise Unsupported(FORMAT, "tokens that merge and are undone at the end are not written (unused pieces)")
    if model.end_of_word is not None and (model.ignore_merges or model.merge_rule == "concatenation"):
        raise Unsupported(FORMAT, f"whole words that end in {model.end_of_word!r} are not looked up there")
    byte_level = model.alphabet == "bytes"
    try:
        metaspace, stages = write_metaspace(model)
        prefix_space = without_prefix_space(model.normalization_steps)[1]
        pre_tokenizer = write_stages(stages, byte_level=byte_level, add_prefix_space=prefix_space, first=metaspace)
        normalizer = write_normalizer(model)
    except InvalidPattern as error:
        raise Unsupported(FORMAT, str(error)) from None
    text_of = to_printable if byte_level else bytes.decode
    texts = ["" if token is None else text_of(token) for token in model.tokens]
    vocab = {text: i for i, text in enumerate(texts) if text}
    merges, why_inexact = listed_merges(model)
    rules = model.sentencepiece
    for byte, i in enumerate(rules.byte_ids if rules else ()):
        if i >= 0:
            add_whole_token(vocab, f"<0x{byte:02X}>", i, FORMAT)
    if model.unknown is not None and model.unknown_id is not None:
        add_whole_token(vocab, model.unknown, model.unknown_id, FORMAT)
    document = {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": _added_tokens(model, vocab),
        "normalizer": normalizer,
        "pre_tokenizer": pre_tokenizer,
        "post_processor": None,
        "decoder": write_decoder(model),
        "model": {
            "type": "BPE",
            "dropout": None,
            "unk_token": model.unknown,
            "continuing_subword_prefix": None,
            "end_of_word_suffix": model.end_of_word,
            "fuse_unk": rules is not None and rules.fuse_unknown,
            "byte_fallback": rules is not None and bool(rules.byte_ids),
            "ignore_merges": model.ignore_merges or (why_inexact is not None and rules is None),
            "vocab": dict(sorted(vocab.items(), key=lambda item: item[1])),
            "merges": [[texts[left], texts[right]] for left, right in merges],
        },
    }
    return document, why_inexact


def _added_tokens(model: Model, vocab: dict[str, int]) -> list[dict[str, Any]]:
    """Return the special and added tokens in order of id; add them to `vocab` too if the library would change an id."""
    user_defined = {text: model.id_by_token[text.encode()] for text in model.user_defined_texts}
    in_order = sorted({**model.whole_token_ids, **user_defined}.items(), key=lambda item: item[1])
    if first_other_id(in_order, vocab) is not None:
        for text, i in in_order:
            add_whole_token(vocab, text, i, FORMAT)
    flags_of = {text: {flag: flag in model.whole_token_flags.get(text, ()) for flag in FLAGS} for text, _ in in_order}
    return [
        {"id": i, "content": text, **flags_of[text], "special": text in model.special_tokens} for text, i in in_order
    ]
