"""What a tokenizer.json says in odd corners is followed as its library does, or the file is refused in one line."""

from __future__ import annotations

import json
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from refusals import refused
from tokenizer_json_shapes import (
    LLAMA,
    MARKS_REMOVED,
    Document,
    a_file,
    before,
    byte_level,
    chain,
    charsmap,
    metaspace,
    read,
    replace,
    split,
    token,
)
from tokenizers import Regex, Tokenizer, pre_tokenizers

import impls
from impls.core.errors import InvalidFile, InvalidPattern, Unsupported
from impls.core.text import patterns
from impls.core.text.patterns import Splitter
from impls.drop_in import hf
from impls.formats import load, losses, save

IMPLEMENTATIONS = ("priority", "compiled", "tokenizers")
BEHAVIORS = ("Isolated", "Contiguous", "MergedWithPrevious", "MergedWithNext", "Removed")


BASE = {"<unk>": 0, "a": 1, "b": 2, "c": 3, "bc": 4}
SPELLED = BASE | {f"<0x{k:02X}>": 5 + k for k in range(256)}
LOWER = {"type": "Lowercase"}


def small_file(added: list[Document], bpe: Document | None = None, **fields: Any) -> Document:
    """Five tokens and one merge."""
    document = a_file("chars", normalizer=None, pre_tokenizer=None, added_tokens=added) | fields
    document["model"] |= {"vocab": BASE, "merges": [["b", "c"]], "unk_token": "<unk>"} | (bpe or {})
    return document


def ids_of_the_library(document: Document, text: str) -> list[int]:
    return Tokenizer.from_str(json.dumps(document)).encode(text, add_special_tokens=False).ids


A = token("a", 1, special=False, normalized=False)
WHOLE = {"ignore_merges": True, "vocab": BASE | {"xy": 5}}
ALPHABET = {
    "lower case": (small_file([A], normalizer=LOWER), "A", [1]),
    "compatibility": (small_file([A], normalizer={"type": "NFKC"}), "ａ", [1]),
    "inside a word": (small_file([A | {"single_word": True}]), "ba", [2, 1]),
    "without an unknown token": (small_file([A], {"unk_token": None}, normalizer=LOWER), "Ab", [1, 2]),
    "a whole piece": (small_file([token("xy", 5, normalized=False)], WHOLE, normalizer=LOWER), "XY", [5]),
    "a byte that is a whole piece": (
        small_file([], {"byte_fallback": True, "ignore_merges": True, "vocab": SPELLED}), "<0x41>", [5 + 0x41],
    ),
    "a byte": (
        small_file([token("<0x41>", 5 + 0x41)], {"byte_fallback": True, "vocab": SPELLED}), "aA", [1, 5 + 0x41],
    ),
    "the unknown token": (small_file([], {"unk_token": "a", "fuse_unk": True}), "xaxxb", [1, 1, 1, 2]),
    "a space before a space": (
        a_file("bytes", normalizer=LLAMA[0] | {"prepend": " "}, pre_tokenizer=byte_level(prefix=True, regex=False)),
        "z", None,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", ALPHABET)
def test_a_token_that_is_also_an_added_one_stays_a_symbol(name: str, tmp_path: Path) -> None:
    document, text, ids = ALPHABET[name]
    theirs = ids_of_the_library(document, text)
    assert ids in (None, theirs)
    model = read(document)
    for implementation in IMPLEMENTATIONS[:1] if model.ignore_merges else IMPLEMENTATIONS:
        assert impls.load(implementation, model).encode(text, disallowed_special=()) == theirs, implementation
        assert hf.Tokenizer.from_str(json.dumps(document), implementation=implementation).encode(text).ids == theirs
    save(model, tmp_path / "again.json", "tokenizer.json")
    assert load(tmp_path / "again.json").digest == model.digest


def test_a_special_token_that_is_not_allowed_is_its_symbol() -> None:
    document = small_file([token("a", 1, special=True)])
    library = Tokenizer.from_str(json.dumps(document))
    library.encode_special_tokens = True
    assert library.encode("ab").ids == [1, 2]
    for implementation in IMPLEMENTATIONS:
        assert impls.load(implementation, read(document)).encode("ab", disallowed_special=()) == [1, 2]


@pytest.mark.parametrize(
    "marks",
    [{"normalizer": replace(" ", "▁")}, {"pre_tokenizer": metaspace("never", splits=False)}],
    ids=["Replace", "Metaspace"],
)
def test_a_split_that_never_matches_is_not_nothing(marks: Document) -> None:
    for behavior, invert in product(BEHAVIORS, (False, True)):
        step = split(" ", behavior, invert=invert, kind="String")
        steps = [marks["pre_tokenizer"], step] if "pre_tokenizer" in marks else [step]
        document = small_file([], **marks | {"pre_tokenizer": {"type": "Sequence", "pretokenizers": steps}})
        theirs = ids_of_the_library(document, "a b")
        assert (theirs == []) == (behavior == "Removed" and invert)
        for implementation in IMPLEMENTATIONS:
            assert impls.load(implementation, read(document)).encode("a b") == theirs, implementation


_SNAKE = {"MergedWithPrevious": "merged_with_previous", "MergedWithNext": "merged_with_next"}
EMPTY = (r"(?=(?:\d{3})+(?!\d))", r"(?=(\d{3})+(?!\d))", "(?=[A-Z])", "(?<=[a-z])(?=[A-Z])", "", "(?!)", "(?=x)|(?<=1)")
OTHER = (r"(a|b)+", r"[\s\S]", r"z", r"(?:(\p{L})|(\p{N}))+")
TEXTS = ("1234567 12 x1000", "aBCd", "camelCaseText", "A", "", "x", "12345678901", "abAB12ab é😀")


@pytest.mark.parametrize("pattern", [*EMPTY, *OTHER])
def test_a_pattern_cuts_as_in_its_library(pattern: str, tmp_path: Path) -> None:
    for behavior, invert in product(BEHAVIORS, (False, True)):
        step = split(pattern, behavior, invert=invert)
        model = read(small_file([], pre_tokenizer=step))
        theirs = pre_tokenizers.Split(Regex(pattern), _SNAKE.get(behavior, behavior.lower()), invert)
        save(model, tmp_path / "again.json", "tokenizer.json")
        for read_pattern in (model.pattern, load(tmp_path / "again.json").pattern):
            for text in TEXTS:
                pieces = [text[start:end] for _, (start, end) in theirs.pre_tokenize_str(text)]
                assert Splitter(read_pattern).split(text) == pieces, (behavior, invert, text)


@pytest.mark.parametrize("pattern", ["x*", "a|(?=b)", r"\s+|", "a??", "(?:ab|c?)d{0,2}"])
def test_a_pattern_that_may_match_nothing_or_something_is_refused(pattern: str) -> None:
    for behavior, invert in product(BEHAVIORS, (False, True)):
        with pytest.raises(InvalidFile, match="pattern: it may match the empty text as well as characters"):
            read(small_file([], pre_tokenizer=split(pattern, behavior, invert=invert)))


def test_long_runs_of_digits_are_cut_in_time_or_refused_by_pattern(monkeypatch: pytest.MonkeyPatch) -> None:
    pattern = r"(?=(?:\d{3})+(?!\d))"
    model = read(a_file("bytes", pre_tokenizer=before(split(pattern, "Isolated", invert=False))))
    tokenizer = impls.load("priority", model)
    assert tokenizer.pieces("1" * 2_000)[:2] == ["11", "111"]
    monkeypatch.setattr(patterns, "LEAST_SECONDS", 0.3)
    caught = refused(InvalidPattern, None, tokenizer.encode, "1" * 30_000)
    assert str(caught).startswith(f"the pattern {pattern!r} takes more than 1 s for a text of 30000 characters")


# --- white space as SentencePiece marks it -----------------------------------------------------------------------


MARKS = {
    "vocab": {"<unk>": 0, "▁": 1, "a": 2, "▁▁": 3, "▁a": 4, "a▁": 5},
    "merges": [["▁", "▁"], ["▁", "a"], ["a", "▁"]],
}
METASPACE = metaspace("always", splits=False)
REMOVING = [replace(r"\A +", "", "Regex"), replace(r"[ ▁]+\z", "", "Regex"), replace(" {2,}", " ", "Regex")]
REMOVER = {"type": "Sequence", "decoders": MARKS_REMOVED}
DECODED = {
    "Strip": {"normalizer": chain(*LLAMA), "decoder": REMOVER},
    "Strip, spaces removed": {"normalizer": chain(*REMOVING, *LLAMA), "decoder": REMOVER},
    "Metaspace": {"pre_tokenizer": METASPACE, "decoder": METASPACE},
}


@pytest.mark.parametrize("name", DECODED)
def test_ids_that_begin_with_marks_decode_by_the_file(name: str, tmp_path: Path) -> None:
    document = small_file([], MARKS | {"fuse_unk": True}, **DECODED[name])
    library = Tokenizer.from_str(json.dumps(document))
    model = read(document)
    save(model, tmp_path / "again.json", "tokenizer.json")
    for implementation, again in product(IMPLEMENTATIONS, (model, load(tmp_path / "again.json"))):
        tokenizer = impls.load(implementation, again)
        for ids in product(range(1, 6), repeat=3):
            text = library.decode(list(ids))
            assert tokenizer.decode(ids) == text, (implementation, ids)
            decoder = tokenizer.decoder()
            assert "".join([*(decoder.push([i]) for i in ids), decoder.finish()]) == text, (implementation, ids)


TABLE = {"type": "Precompiled", "precompiled_charsmap": charsmap()}
NFC = {"type": "NFC"}
DROPPED = [replace(*step, "Regex") for step in ((r"\A +", ""), (r"[ ▁]+\z", ""), (" {2,}", " "))]


def steps(*normalizers: Document, **fields: Any) -> Document:
    return small_file([], normalizer={"type": "Sequence", "normalizers": normalizers}) | fields


UNREADABLE: list[tuple[Document, str]] = [
    (steps(NFC, TABLE), r"normalizers\[1\]\.type: 'Precompiled' is supported only as the first step"),
    (steps(*LLAMA, NFC), r"normalizers\[2\]\.type: 'NFC' after the steps that mark or remove white space"),
    (
        steps({"type": "BertNormalizer"}),
        r"normalizers\[0\]\.type: 'BertNormalizer' is not supported; supported are",
    ),
    (steps(*DROPPED, LLAMA[0]), "'Prepend' of '\\\\u2581' is not supported without a Replace"),
    (steps({"type": "Prepend", "prepend": 1}), r"normalizers\[0\]\.type: 'Prepend' is not supported"),
    (steps(TABLE | {"precompiled_charsmap": "?"}), "expected base64"),
    (steps(pre_tokenizer=METASPACE | {"replacement": "_"}), "pre_tokenizer.replacement"),
    (steps(*LLAMA, pre_tokenizer=byte_level(regex=False)), "ByteLevel after marks for white space"),
    (steps(pre_tokenizer=METASPACE | {"prepend_scheme": []}), r"prepend_scheme: \[\] is not one of"),
    (
        steps(pre_tokenizer={"type": "Sequence", "pretokenizers": [{"type": "Digits"}, METASPACE]}),
        r"pretokenizers\[1\]\.type: 'Metaspace' is not supported here",
    ),
    (
        steps(pre_tokenizer=metaspace("never"), added_tokens=[token("<x>", 5, normalized=True)]),
        "'<x>' is normalized, which is not supported with this Metaspace",
    ),
    (
        steps(LOWER, added_tokens=[token(text, 5 + k, normalized=True) for k, text in enumerate(("<X>", "<x>"))]),
        "'<X>' and '<x>' are the same when they are normalised",
    ),
    (small_file([], {"unk_token": "b"}), r"model\.unk_token: 'b' is part of a merge, which is not supported"),
    (small_file([], {"unk_token": "zz"}), r"model\.unk_token: 'zz' is not in the vocabulary"),
    (
        small_file([], {"vocab": BASE | {"<0x00>": 1 << 20}, "byte_fallback": True}),
        r"model\.vocab: a byte token has the id 1048576; ids go up to 1048575",
    ),
    (small_file([], {"vocab": BASE | {"\ud800": 5}}), r"'\\ud800' of .*contains a lone surrogate"),
]


@pytest.mark.parametrize(("document", "reason"), UNREADABLE)
def test_the_reason_named_is_the_real_one(document: Document, reason: str) -> None:
    refused(InvalidFile, reason, read, document)


# --- words of bytes with an end (CLIP) -----------------------------------------------------------------------------


def clip_like() -> Document:
    """A file of CLIP's kind: bytes, of which the last of a word carries `</w>`, after a pattern that drops the rest."""
    bytes_ = sorted(pre_tokenizers.ByteLevel.alphabet())
    merges = [("h", "o"), ("p", "ho"), ("t", "o</w>"), ("pho", "to</w>"), ("c", "a"), ("ca", "t</w>"), ("Ã", "©</w>")]
    texts = [*bytes_, *(text + "</w>" for text in bytes_), *("".join(pair) for pair in merges)]
    n = len(texts)
    around = {"sep": ["<|endoftext|>", n + 1], "cls": ["<|startoftext|>", n]}
    pattern = r"'s|'t|'re|'ve|'m|'ll|'d|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+"
    return a_file("bytes") | {
        "added_tokens": [token("<|startoftext|>", n, normalized=True), token("<|endoftext|>", n + 1)],
        "normalizer": chain("NFC", replace(r"\s+", " ", "Regex"), "Lowercase"),
        "pre_tokenizer": before(split(pattern, "Removed", invert=True)),
        "post_processor": {"type": "RobertaProcessing", **around, "trim_offsets": False, "add_prefix_space": False},
        "model": {
            "type": "BPE",
            "unk_token": "<|endoftext|>",
            "continuing_subword_prefix": "",
            "end_of_word_suffix": "</w>",
            "vocab": {text: i for i, text in enumerate([*texts, "<|startoftext|>", "<|endoftext|>"])},
            "merges": merges,
        },
    }


CLIP = ["", "a photo of a CAT", "café caf\u00e9s  é", "it's 12 photos!!", "<|startoftext|>cat<|endoftext|>", "日本 x"]


@pytest.mark.parametrize("implementation", ["naive", "wordcount", "priority", "backtracking", "compiled", "tokenizers"])
def test_words_of_bytes_with_an_end_are_merged_as_in_the_library(implementation: str) -> None:
    document = clip_like()
    library = Tokenizer.from_str(json.dumps(document))
    tokenizer = impls.load(implementation, read(document))
    for text in CLIP:
        theirs = library.encode(text, add_special_tokens=False)
        ids, spans = tokenizer.encode_with_offsets(text, allowed_special="all")
        assert (ids, [tuple(span) for span in spans.tolist()]) == (theirs.ids, theirs.offsets), text
        assert tokenizer.encode(text, allowed_special="all") == ids


def test_formats_without_ends_of_words_refuse_them(tmp_path: Path) -> None:
    model = read(clip_like())
    save(model, tmp_path / "own.json", "bpebench")
    save(model, tmp_path / "again.json", "tokenizer.json")
    assert load(tmp_path / "own.json") == load(tmp_path / "again.json") == model
    for format in ("tiktoken", "sentencepiece"):
        refused(Unsupported, None, losses, model, format)
    for implementation in ("bytelevel", "tiktoken", "sentencepiece"):
        refused(Unsupported, None, impls.load, implementation, model)
