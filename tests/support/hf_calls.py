"""The same random calls to Hugging Face's `Tokenizer` and to ours, and where their answers differ."""

from __future__ import annotations

import copy
import json
import os
import pickle
import warnings
from collections.abc import Callable
from random import Random
from typing import Any

import tokenizers
from tokenizer_json_shapes import (
    FALL_BACK,
    LLAMA,
    MARKS_REMOVED,
    Document,
    a_file,
    added,
    byte_level,
    chain,
    metaspace,
    n_ids,
)

from impls.core.errors import UnknownSymbol
from impls.drop_in import hf

os.environ.setdefault("RUST_BACKTRACE", "0")  # the library's panics are expected here, and their traces long

BYTE_LEVEL = {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True}
MARKS_REMOVER = {"type": "Sequence", "decoders": MARKS_REMOVED}
MARKS_FILE = a_file("chars", FALL_BACK, added_tokens=added("chars"), normalizer=chain(*LLAMA), decoder=MARKS_REMOVER)
PARTS = (
    *("a", "b", "the", " the", " ", "  ", "\r\n", "\n", "\t", "ç", "日本", "é", "e\u0301", "\u0301", "👍🏽", "İ", "12"),
    *("'s", ".", "<m>", "<n>", "<w>", "x<w>y", "\t\t", " <m> ", "🏽\u200d", "ﬁ", "\u00a0", "", "q"),
)  # fmt: skip
Call = Callable[[Any], Any]
"""What is asked of either tokenizer."""


def both(content: Document, implementation: str = "priority") -> tuple[hf.Tokenizer, Any]:
    """Our tokenizer of a tokenizer.json, and the library's."""
    written = json.dumps(content)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ours = hf.Tokenizer.from_str(written, implementation=implementation)
    return ours, tokenizers.Tokenizer.from_str(written)


def shown(encoding: Any) -> dict[str, Any]:
    """All that an encoding says of itself."""
    rows = ("ids", "tokens", "word_ids", "offsets", "type_ids", "special_tokens_mask", "attention_mask")
    rows = (*rows, "sequence_ids", "n_sequences")
    return {row: getattr(encoding, row) for row in rows} | {"overflowing": [shown(e) for e in encoding.overflowing]}


def text(rng: Random, longest: int = 5) -> str:
    return "".join(rng.choices(PARTS, k=rng.randrange(longest)))


def words(rng: Random) -> list[str]:
    return [text(rng, 4) for _ in range(rng.randrange(4))]


def document(rng: Random) -> Document:
    """A tokenizer.json over bytes or over characters, with added tokens of any flags, a post-processor, a decoder."""
    alphabet = rng.choice(("bytes", "chars"))
    flags = {flag: True for flag in ("single_word", "lstrip", "rstrip", "normalized") if rng.random() < 0.3}
    fields: Document = {"added_tokens": added(alphabet, **flags), "post_processor": processor(rng, alphabet)}
    if alphabet == "bytes":
        fields["pre_tokenizer"] = byte_level(prefix=rng.random() < 0.4, regex=rng.random() < 0.8)
        if rng.random() < 0.4:
            fields["normalizer"] = {"type": rng.choice(("NFC", "NFKC", "NFD", "Lowercase"))}
        return a_file(alphabet, decoder=BYTE_LEVEL, **fields)
    if rng.random() < 0.6:
        return a_file(alphabet, FALL_BACK, normalizer=chain(*LLAMA), decoder=MARKS_REMOVER, **fields)
    scheme = rng.choice(("always", "first", "never"))
    return a_file(alphabet, pre_tokenizer=metaspace(scheme, splits=rng.random() < 0.5), decoder=MARKS_REMOVER, **fields)


def processor(rng: Random, alphabet: str) -> Document | None:
    template, trimming = _template(rng, alphabet), byte_level(prefix=rng.random() < 0.5)
    trimming["trim_offsets"] = rng.random() < 0.8
    around = {"sep": ["<n>", n_ids(alphabet) + 1], "cls": ["<m>", n_ids(alphabet)]}
    roberta = {"trim_offsets": rng.random() < 0.7, "add_prefix_space": rng.random() < 0.5}
    whole = rng.choice(
        (template, {"type": "RobertaProcessing", **around, **roberta}, {"type": "BertProcessing", **around})
    )
    steps = rng.choice(([trimming, whole], [whole, trimming], [trimming, trimming], [template]))
    return rng.choice((None, whole, trimming, {"type": "Sequence", "processors": steps}))


def _template(rng: Random, alphabet: str) -> Document:
    ids = {"<m>": n_ids(alphabet), "<n>": n_ids(alphabet) + 1}
    special = {name: {"id": name, "ids": [i], "tokens": [name]} for name, i in ids.items()}
    special["both"] = {"id": "both", "ids": [*ids.values()], "tokens": [*ids]}

    def pieces(written: str) -> list[Document]:
        named = (part.partition(":") for part in written.split())
        return [
            {"Sequence" if name in "AB" else "SpecialToken": {"id": name, "type_id": int(type_id or 0)}}
            for name, _, type_id in named
        ]

    single = rng.choice(("<m> A <n>", "A", "A:2 both:1", "<m> <n>:3 A A:1", "<m>"))
    pair = rng.choice(("<m> A <n> B:1 <n>:1", "B A:1", "A both:1 B", "A A:1", "B:4", "A B"))
    return {"type": "TemplateProcessing", "single": pieces(single), "pair": pieces(pair), "special_tokens": special}


# --- calls -------------------------------------------------------------------------------------------------------


def _settings(rng: Random) -> Call:
    kind = rng.randrange(8)
    side, strategy = rng.choice(("left", "right")), rng.choice(("longest_first", "only_first", "only_second"))
    if kind < 3:
        length, stride = rng.choice((0, 1, 6, 7, 8, 9, 12, 20)), rng.choice((0, 0, 1, 2))
        return lambda t: t.enable_truncation(length, stride=stride, strategy=strategy, direction=side)
    if kind < 5:
        options = {
            "direction": side,
            "length": rng.choice((None, None, 0, 3, 10)),
            "pad_to_multiple_of": rng.choice((None, None, 0, 4)),
            **rng.choice(({}, {"pad_id": 7, "pad_type_id": 3, "pad_token": "P"})),
        }
        return lambda t: t.enable_padding(**options)
    if kind == 5:
        return lambda t: t.no_truncation()
    if kind == 6:
        return lambda t: t.no_padding()
    as_text = rng.random() < 0.5
    return lambda t: setattr(t, "encode_special_tokens", as_text)


def _adding(rng: Random) -> Call:
    # Of two tokens with one normal form the library finds either, as its hash tables have it.
    texts = [part for part in (*PARTS, "zz") if part not in ("e\u0301", "\u00a0")]
    plain, flagged, special = rng.choice(texts), rng.choice(texts), rng.random() < 0.4
    names = ("single_word", "lstrip", "rstrip", "normalized", "special")
    flags = {name: rng.random() < 0.5 for name in names if rng.random() < 0.4}

    def call(t: Any) -> Any:
        token = (hf if isinstance(t, hf.Tokenizer) else tokenizers).AddedToken(flagged, **flags)
        return (t.add_special_tokens if special else t.add_tokens)([plain, token])

    return call


def _encoding(rng: Random) -> Call:
    kind, adds = rng.randrange(4), rng.random() < 0.7
    if kind == 0:
        batch = [rng.choice((text(rng), (text(rng), text(rng)))) for _ in range(rng.randrange(4))]
        method = rng.choice(("encode_batch", "encode_batch_fast"))
        return lambda t: [shown(e) for e in getattr(t, method)(batch, add_special_tokens=adds)]
    if kind == 1:
        many, pair = words(rng), rng.choice((None, words(rng)))
        return lambda t: shown(t.encode(many, pair, is_pretokenized=True, add_special_tokens=adds))
    one, other = text(rng), rng.choice((None, text(rng)))
    if kind == 2:
        return lambda t: shown(t.post_process(t.encode(one, add_special_tokens=False), t.encode(other or "")))
    return lambda t: shown(t.encode(one, other, add_special_tokens=adds))


def _places(rng: Random) -> Call:
    one, other = text(rng), text(rng)
    token, word, character, of = rng.randrange(12), rng.randrange(6), rng.randrange(9), rng.randrange(3)

    def call(t: Any) -> Any:
        e = t.encode(one, other)
        answer = (e.char_to_token(character, of), e.char_to_word(character, of), e.token_to_chars(token))
        return (*answer, e.token_to_word(token), e.word_to_tokens(word, of), e.word_to_chars(word, of))

    return call


def _decoding(rng: Random) -> Call:
    ids, skips = [rng.randrange(800) for _ in range(rng.randrange(6))], rng.random() < 0.5
    return lambda t: (t.decode(ids, skip_special_tokens=skips), t.decode_batch([ids, ids[1:]]))


def _asking(rng: Random) -> Call:
    def call(t: Any) -> Any:
        written = json.loads(t.to_str())
        return (
            t.get_vocab(),
            t.get_vocab(with_added_tokens=False),
            t.get_vocab_size(),
            t.get_vocab_size(with_added_tokens=False),
            [t.num_special_tokens_to_add(is_pair) for is_pair in (False, True)],
            {i: (token.__getstate__(), repr(token)) for i, token in t.get_added_tokens_decoder().items()},
            (t.truncation, t.padding, t.encode_special_tokens),
            [t.id_to_token(i) for i in range(800)],
            [t.token_to_id(part) for part in PARTS],
            {name: written[name] for name in ("truncation", "padding", "added_tokens", "post_processor")},
        )

    return call


CALLS = (*[_settings] * 5, _adding, *[_encoding] * 9, *[_places] * 2, *[_decoding] * 3, _asking)


def outcome(call: Call, tokenizer: Any) -> Any:
    """What a call returns, or the exception it raises."""
    try:
        return call(tokenizer)
    except BaseException as error:
        return error


def differs(ours: Any, theirs: Any) -> bool:
    """Whether outcomes differ; an exception may be a subclass, and anything may be in place of the library's panic."""
    if type(theirs).__name__ == "PanicException":
        return False
    if isinstance(theirs, BaseException) or isinstance(ours, BaseException):
        return not (isinstance(theirs, BaseException) and isinstance(ours, type(theirs)))
    return bool(ours != theirs)


COPIES: tuple[Callable[[hf.Tokenizer], hf.Tokenizer], ...] = (
    copy.deepcopy,
    lambda t: pickle.loads(pickle.dumps(t)),
    lambda t: hf.Tokenizer.from_str(t.to_str(), implementation=t.implementation.name),
    lambda t: hf.Tokenizer.from_buffer(t.to_str().encode(), implementation=t.implementation.name),
)


def first_difference(seed: object, n_calls: int, implementation: str) -> tuple[Any, Any] | None:
    """Return the first two outcomes that differ, or None; each tokenizer gets fifty calls."""
    rng = Random(str(seed))
    for _ in range(max(n_calls // 50, 1)):
        content = json.dumps(document(rng))
        theirs = tokenizers.Tokenizer.from_str(content)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            ours = hf.Tokenizer.from_str(content, implementation=implementation)
        if rng.random() < 0.4:
            ours = rng.choice(COPIES)(ours)
        for _ in range(50):
            call = rng.choice(CALLS)(rng)
            answer = outcome(call, ours)
            if isinstance(answer, UnknownSymbol):  # the library drops such a character
                continue
            expected = outcome(call, theirs)
            if differs(answer, expected):
                return answer, expected
            if type(expected).__name__ == "PanicException":
                break  # what it leaves behind is undefined
    return None
