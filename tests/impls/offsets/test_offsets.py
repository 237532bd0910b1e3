"""Offsets of an encoding: the span of the text each token comes from, in every family of models and every unit."""

from __future__ import annotations

import random
import unicodedata
from typing import Any

import numpy as np
import pytest
import tokenizers
from foreign import foreign
from refusals import refused
from runnable import exact_over
from sentencepiece_models import pieces_model
from tiktoken_calls import WORDS

import impls
from impls import Model, SpecialToken, TrainingSpec, UnknownSymbol, Unsupported
from impls.core.text.sentencepiece_rules import SPACE_MARK
from impls.core.text.stages import DROPS_MATCHES
from impls.core.text.text import repair_surrogates
from impls.formats.tokenizer_json.writer import write_compact
from impls.interface import Tokenizer
from impls.operations.offsets import Unit
from impls.plugin import wrap

HARD = ["e\u0301", "ﬁ", "①", "가", "\u1100\u1161\u11a8", "[x]", " <m> ", "[Ü]", "a\u0323\u0301", "½", "ll", "l", "  "]
SURROGATES = ["\ud83d", "\ude00", "\ud83d\ude00"]
TEXT = f"{' '.join(WORDS)} {'hello world the cat ' * 3}{' '.join(HARD)}"
BYTES = impls.train("naive", [TEXT], TrainingSpec(vocab_size=420, special_tokens=("<s>",))).model
FLAGS: dict[str, Any] = {
    "added_tokens": {"[x]": 500, "<m>": 501, "[Ü]": 502},
    "whole_token_flags": {"<m>": ("lstrip", "rstrip"), "[Ü]": ("normalized",)},
}


def over_characters(**fields: Any) -> Model:
    """All characters of the texts, and their frequent neighbours."""
    spec = TrainingSpec(vocab_size=260, alphabet="chars", pattern=fields.pop("pattern", "gpt2"), **fields)
    return impls.train("naive", [TEXT], spec).model


def pieces(**fields: Any) -> Model:
    """A SentencePiece model; most characters are spelled in bytes, or unknown."""
    model = pieces_model("▁ ▁▁ h e l o he ll ▁he llo ▁hello a é 가 ▁[x] [x] [ x ]", **fields)
    return model.with_(normalization="nfc") if fields.get("remove_extra_spaces") else model


FAMILIES = {
    "bytes": BYTES,
    "added": BYTES.with_(**FLAGS),
    "drops": BYTES.with_(pattern=(DROPS_MATCHES + r"\p{White_Space}",)),
    "prefix space": BYTES.with_(normalization="prefix-space"),
    "nfc": BYTES.with_(normalization="nfc"),
    "nfkc, added": BYTES.with_(normalization="nfkc+lowercase", **FLAGS),
    "nfd, lower": BYTES.with_(normalization="nfd+strip-accents+lowercase"),
    "strip": BYTES.with_(normalization="strip"),
    "strip right": BYTES.with_(normalization="strip-right"),
    "replace": BYTES.with_(normalization='replace("l","xyz")+replace-regex("é|e","")+prepend("z")'),
    "characters": over_characters(unknown="<unk>"),
    "end of word": over_characters(unknown="<unk>", end_of_word="</w>", pattern=r"\S+|\s+"),
    "sentencepiece": pieces(),
    "missing": pieces(dummy_prefix="missing"),
    "first": pieces(dummy_prefix="first"),
    "never": pieces(dummy_prefix="never", escape_spaces=False),
    "extra spaces": pieces(remove_extra_spaces=True),
    "user-defined": pieces(user_defined=["[x]"], remove_extra_spaces=True),
    "unknown": pieces(byte_tokens=()),
    "unknown, each": pieces(byte_tokens=(), fuse_unknown=False),
}
every_family = pytest.mark.parametrize("family", FAMILIES)


def texts(n: int, seed: int, *, surrogates: bool = True) -> list[str]:
    rng = random.Random(seed)
    words = [*WORDS, *HARD, *(SURROGATES if surrogates else [])]
    drawn = [rng.choices([*words, "<s>", "h", " "], k=rng.choice((1, 1, 2, 3, 6))) for _ in range(n)]
    return ["", *map("".join, drawn)]


def spelled(model: Model, i: int) -> str | bytes | None:
    """What the text must contain for an id: its token without marks, or None for an unknown or special one."""
    if i == model.unknown_id or i in model.special_tokens.values() or i in model.added_tokens.values():
        return None
    rules = model.sentencepiece
    if rules is not None and i in rules.byte_ids:
        return bytes([rules.byte_ids.index(i)])
    return (model.tokens[i] or b"").removesuffix((model.end_of_word or "").encode())


def check_spans(tokenizer: Tokenizer, text: str) -> None:
    """Assert that spans are in order, and that each contains what its token is made of."""
    model = tokenizer.model
    ids, spans = tokenizer.encode_with_offsets(text, disallowed_special=())
    assert ids == tokenizer.encode(text, disallowed_special=())
    assert (spans.dtype, spans.shape) == (np.int64, (len(ids), 2))
    assert ((spans >= 0) & (spans <= len(text))).all()
    assert (spans[:, 0] <= spans[:, 1]).all()
    assert (np.diff(spans, axis=0) >= 0).all(), spans
    for i, (start, end) in zip(ids, spans.tolist(), strict=True):
        token = spelled(model, i)
        whole = {**model.added_tokens, "": -1}
        if i in whole.values():
            assert any(k == i and name in text[start:end] for name, k in whole.items())
        elif token is not None:
            while end < len(text) and (
                unicodedata.combining(text[end]) or "\u1160" <= text[end] <= "\u11ff"
            ):  # composed with the last character
                end += 1
            part = repair_surrogates(text[start:end])
            written = f"{model.normalize(part)} {part}".encode()
            mark = SPACE_MARK.encode()
            is_inserted = start == end and token in (mark, b" ", b"z")
            assert is_inserted or token in written or token.removeprefix(mark) in written


@every_family
def test_each_token_is_in_the_span_it_is_said_to_be_from(family: str, fuzz: int) -> None:
    tokenizer = impls.load("priority", FAMILIES[family])
    for text in texts(250 * fuzz, 1):
        check_spans(tokenizer, text)


@every_family
def test_places_in_bytes_and_utf16_are_those_of_the_code_points(family: str) -> None:
    tokenizer = impls.load("priority", FAMILIES[family])
    exact = family == "bytes"
    for text in texts(100, 2):
        spans = tokenizer.encode_with_offsets(text, disallowed_special=())[1].tolist()
        for unit, encoding, size in (("byte", "utf-8", 1), ("utf16", "utf-16-le", 2)):
            got = tokenizer.encode_with_offsets(text, unit=unit, disallowed_special=())[1].tolist()  # type: ignore[arg-type]
            wanted = [[len(text[:place].encode(encoding, "surrogatepass")) // size for place in span] for span in spans]
            if exact and unit == "byte" and not any(part in text for part in SURROGATES):
                assert all(start <= a < b <= end for (start, end), (a, b) in zip(wanted, got, strict=True))
            else:
                assert got == wanted, (unit, text)


@every_family
def test_all_implementations_give_the_same_spans(family: str) -> None:
    definition = impls.load("naive", FAMILIES[family])
    expected = {text: definition.encode_with_offsets(text, allowed_special={"<s>"}) for text in texts(60, 4)}
    for tokenizer in exact_over(FAMILIES[family]):
        for text, (expected_ids, expected_spans) in expected.items():
            ids, spans = tokenizer.encode_with_offsets(text, allowed_special={"<s>"})
            if ids == expected_ids:  # the families are not all regular
                assert spans.tolist() == expected_spans.tolist(), (tokenizer.name, text)
        assert ids == expected_ids


# --- beside Hugging Face's library -------------------------------------------------------------------------------


def beside(model: Model, text: str) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
    """The library's spans and ours."""
    theirs = tokenizers.Tokenizer.from_str(write_compact(model).decode()).encode(text, add_special_tokens=False)
    ids, spans = impls.load("priority", model).encode_with_offsets(text, disallowed_special=())
    assert theirs.ids == ids
    return theirs.offsets, [(start, end) for start, end in spans.tolist()]


ALIKE = ["bytes", "added", "drops", "prefix space", "nfd, lower", "strip", "sentencepiece", "missing"]


@pytest.mark.parametrize("family", ALIKE)
def test_spans_are_those_of_the_library(family: str, fuzz: int) -> None:
    model = FAMILIES[family].with_(special_tokens={})
    library = tokenizers.Tokenizer.from_str(write_compact(model).decode())
    tokenizer = impls.load("compiled", model)
    n_compared = 0
    for text in texts(300 * fuzz, 6, surrogates=False):
        theirs = library.encode(text, add_special_tokens=False)
        ids, spans = tokenizer.encode_with_offsets(text)
        if ids != theirs.ids:  # bytes that the library spells otherwise are compared elsewhere
            continue
        n_compared += 1
        assert list(map(tuple, spans.tolist())) == theirs.offsets, text
    assert n_compared > 200


@pytest.mark.parametrize(
    ("model", "text", "spans"),
    [
        (FAMILIES["prefix space"], "\t", [(0, 1), (0, 1)]),
        (FAMILIES["nfc"], "e\u0301", [(0, 1)]),
        (BYTES.with_(normalization='replace("ll","x")'), "ll", [(1, 2)]),
    ],
)
def test_what_is_inserted_composed_or_replaced_is_where_the_library_says(model: Model, text: str, spans: Any) -> None:
    model = model.with_(special_tokens={}) if model.special_tokens else model
    theirs, ours = beside(model, text)
    assert theirs == ours
    assert set(ours) == set(spans)


# --- single cases ------------------------------------------------------------------------------------------------


def spans_of(family: str, text: str, unit: Unit = "codepoint", **options: Any) -> list[list[int]]:
    tokenizer = impls.load("naive", FAMILIES[family])
    return tokenizer.encode_with_offsets(text, unit=unit, **options)[1].tolist()


def test_tokens_inside_a_character_have_its_span() -> None:
    model = Model(tokens=tuple(bytes([byte]) for byte in range(256)))
    tokenizer = impls.load("naive", model)
    assert tokenizer.encode_with_offsets("a😀")[1].tolist() == [[0, 1], *[[1, 2]] * 4]
    assert tokenizer.encode_with_offsets("a😀", unit="utf16")[1].tolist() == [[0, 1], *[[1, 3]] * 4]
    assert tokenizer.encode_with_offsets("a😀", unit="byte")[1].tolist() == [[k, k + 1] for k in range(5)]
    assert tokenizer.encode_with_offsets("")[1].shape == (0, 2)
    assert tokenizer.encode_with_offsets("\ud83d\ude00\ud83d")[1].tolist() == [*[[0, 2]] * 4, *[[2, 3]] * 3]


def test_special_and_added_tokens_have_the_span_of_their_text() -> None:
    assert spans_of("bytes", "h<s>h", allowed_special="all") == [[0, 1], [1, 4], [4, 5]]
    assert spans_of("added", "h <m>  h") == [[0, 1], [1, 7], [7, 8]]
    refused(SpecialToken, None, spans_of, "bytes", "h<s>")
    refused(SpecialToken, None, spans_of, "nfc", "h<s>")


def test_what_white_space_marks_are_made_of() -> None:
    assert spans_of("sentencepiece", "hello hello") == [[0, 5], [5, 11]]
    assert spans_of("sentencepiece", "a") == [[0, 1], [0, 1]]
    assert spans_of("extra spaces", "  hello   hello ") == [[2, 7], [9, 15]]
    assert spans_of("sentencepiece", "<s>a", allowed_special="all") == [[0, 3], [3, 4], [3, 4]]
    assert spans_of("first", "<s>a", allowed_special="all") == [[0, 3], [3, 4]]
    assert spans_of("unknown", "a日本 b") == [[0, 1], [0, 1], [1, 3], [3, 4], [4, 5]]
    assert spans_of("unknown, each", "a日本") == [[0, 1], [0, 1], [1, 2], [2, 3]]


def test_wrong_arguments_and_tokenizers_that_do_not_spell_the_text_are_refused() -> None:
    tokenizer = impls.load("naive", BYTES)
    with pytest.raises(ValueError, match=r"^unit must be one of codepoint, byte, utf16, not 'bytes'$"):
        tokenizer.encode_with_offsets("a", unit="bytes")  # type: ignore[arg-type]
    refused(TypeError, r"^text must be a str, not b", tokenizer.encode_with_offsets, b"a")

    characters = over_characters().with_(normalization="nfc")
    wrong = [(BYTES, [97, 97]), (BYTES, [BYTES.vocab_size]), (characters, []), (characters, [0] * 3)]
    for model, ids in wrong:
        with pytest.raises(Unsupported, match="do not spell the text"):
            wrap("wrong", foreign(encode=lambda text, ids=ids: ids))(model).encode_with_offsets("a")
    refused(UnknownSymbol, "at character 2", impls.load("naive", characters).encode_with_offsets, "e\u0301\u4dff")
