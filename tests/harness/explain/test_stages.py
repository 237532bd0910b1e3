"""`explain` on everything but merges: the text itself, special tokens, pieces, Unicode, ids, decoding, failures."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
import regex
import tiktoken
import tokenizers

import impls
from harness.explain import Side, black_box, explain, side_of
from impls import Model
from impls.core.text.patterns import NAMED

_TOKENS = ["12", "34", "123", "234", "'s", " a", "the", " the", "ab", "bc", "cd", "e\u0301", "\u00e9", "  "]


def model_with(pattern: str = "cl100k", **fields: Any) -> Model:
    """256 bytes and a few tokens that show where a text is cut."""
    tokens: list[bytes] = [bytes([byte]) for byte in range(256)]
    for token in _TOKENS:
        data = token.encode()
        tokens += [data[:end] for end in range(2, len(data) + 1) if data[:end] not in tokens]
    return Model(tokens=tuple(tokens), merge_rule="concatenation", pattern=NAMED[pattern], **fields)


MODEL = model_with(special_tokens={"<|end|>": 400})


def side(name: str, model: Model = MODEL, **options: Any) -> Side:
    return side_of(impls.load(name, model), name, **options)


def hidden(encode: Callable[[str], list[int]], name: str = "hidden") -> Side:
    """What shows only its answers."""
    return black_box(name, encode, impls.load("priority", MODEL).decode)


def by_pattern(expression: str) -> Side:
    """Byte pair encoding of MODEL over other pieces, which it does not report."""
    tokenizer = impls.load("priority", MODEL)
    compiled = regex.compile(expression)
    return hidden(lambda text: [i for piece in compiled.findall(text) for i in tokenizer.encode_piece(piece)])


def document(change: Callable[[dict[str, Any]], object], model: Model = MODEL) -> Side:
    """tokenizers over MODEL's tokenizer.json with a change made to it."""
    fields: dict[str, Any] = json.loads(tokenizers.Tokenizer.from_str(_json(model)).to_str())
    change(fields)
    return side_of(tokenizers.Tokenizer.from_str(json.dumps(fields)), "hf")


def _json(model: Model) -> str:
    from impls.formats.tokenizer_json import write_compact

    return write_compact(model).decode()


def _set_pattern(fields: dict[str, Any], expression: str) -> None:
    for step in fields["pre_tokenizer"]["pretokenizers"]:
        if step["type"] == "Split":
            step["pattern"] = {"Regex": expression}


# --- special tokens ----------------------------------------------------------------------------------------------


def test_special_text_that_one_side_parses_is_the_special_tokens_stage() -> None:
    ranks = dict(MODEL.id_by_token)
    encoding = tiktoken.Encoding(
        "mine", pat_str=MODEL.pattern[0], mergeable_ranks=ranks, special_tokens={"<|end|>": 400}
    )
    found = explain(side_of(encoding, "tiktoken"), document(lambda fields: None), "ab<|end|>the")
    assert found.stage == "special tokens"
    assert "hf recognises ‘<|end|>’ (id 400) at character 2" in found.what
    allowing = side_of(encoding, "tiktoken", allow_special=True)
    assert explain(allowing, document(lambda fields: None), "ab<|end|>the").agree


# --- the text itself ---------------------------------------------------------------------------------------------


def test_a_normal_form_in_tokenizer_json_is_normalisation() -> None:
    found = explain(side("tiktoken"), document(lambda fields: fields.update(normalizer={"type": "NFC"})), "the e\u0301")
    assert found.stage == "normalisation"
    assert "hf normalises it to NFC" in found.what
    assert found.where == 4


@pytest.mark.parametrize(
    ("change", "text", "said"),
    [
        (str.lower, "the \u0130ab", "lower-cases it"),
        (lambda text: " " + text, "ab", "prepends a space"),
        (lambda text: text.strip(), "ab  ", "strips white space at both ends"),
        (lambda text: text.replace("b", "x"), "abc", "changes ‘bc’ to ‘xc’ at character 1"),
    ],
)
def test_what_a_black_box_does_to_the_text_is_named(change: Callable[[str], str], text: str, said: str) -> None:
    tokenizer = impls.load("priority", MODEL)
    found = explain(side("tiktoken"), hidden(lambda text: tokenizer.encode(change(text))), text)
    assert found.stage == "normalisation"
    assert f"hidden {said}" in found.what


def test_a_prefix_space_of_hugging_face_is_normalisation_and_named() -> None:
    gpt2 = model_with("gpt2")
    found = explain(
        side("priority", gpt2),
        document(lambda fields: fields["pre_tokenizer"].update(add_prefix_space=True), gpt2),
        "the",
    )
    assert found.stage == "normalisation"
    assert "hf prepends a space" in found.what
    assert any("add_prefix_space" in line for line in found.evidence)


def test_characters_that_a_hidden_pattern_leaves_out_are_named() -> None:
    found = explain(side("priority"), by_pattern(r"[a-z]+| [a-z]+"), "ab!")
    assert found.stage == "normalisation"
    assert "hidden drops ‘!’" in found.what


def test_bytes_without_a_token_are_lost_in_the_vocabulary() -> None:
    bare = tokenizers.Tokenizer(tokenizers.models.BPE(vocab={"w": 0, "r": 1, "l": 2, "d": 3}, merges=[]))
    bare.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    model = Model(tokens=tuple(bytes([byte]) for byte in range(256)), pattern=NAMED["gpt2"])
    found = explain(side("priority", model), side_of(bare, "hf"), "wörld")
    assert found.stage == "vocabulary"
    assert "hf sees ‘wörld’ and drops ‘ö’" in found.what


# --- pieces ------------------------------------------------------------------------------------------------------


def test_the_possessive_pattern_given_to_hugging_face_is_explained() -> None:
    found = explain(side("tiktoken"), document(lambda fields: _set_pattern(fields, NAMED["cl100k-0.14"][0])), "1234")
    assert found.stage == "pieces"
    assert "tiktoken has the piece ‘123’; hf has the piece ‘1234’" in found.what
    assert any("Oniguruma" in line for line in found.evidence)


def test_a_token_across_a_cut_is_proof() -> None:
    found = explain(side("priority"), by_pattern(r"\p{N}+|\P{N}+"), "1234")
    assert found.stage == "pieces"
    assert any("has the token ‘34’ across byte 3" in line for line in found.evidence)


def test_a_hidden_cut_is_not_told_from_merging() -> None:
    whole = model_with("none")
    pieces = regex.compile(r"\p{N}{1,3}|\P{N}+")
    tokenizer = impls.load("priority", whole)
    side_hidden = black_box(
        "hidden",
        lambda text: [i for piece in pieces.findall(text) for i in tokenizer.encode_piece(piece)],
        tokenizer.decode,
    )
    found = explain(side("priority", whole), side_hidden, "x1234")
    assert found.stage == "pieces or merges"
    assert "whether it cuts ‘x1234’ or merges it differently is not known" in found.evidence[0]
    assert (found.a.pieces_from, found.b.pieces_from) == ("reported", "unknown")


def test_longest_match_behind_a_black_box_is_never_called_splitting(hand_made: Any) -> None:
    chance = random.Random(3)
    model = hand_made("a+b a+a b+c ab+c aa+c c+a", alphabet="bytes")
    greedy, exact = impls.load("greedy", model), side_of(impls.load("priority", model), "exact")
    box = black_box("box", greedy.encode, greedy.decode)
    seen = 0
    for _ in range(200):
        text = "".join(chance.choices("abc", k=chance.randint(3, 8)))
        found = explain(exact, box, text)
        if not found.agree:
            seen += 1
            assert found.stage == "pieces or merges", (text, found.what, found.evidence)
    assert seen > 20


def test_a_pattern_is_not_trusted_where_merging_its_pieces_gives_other_ids() -> None:
    bytewise = replace(side("tiktoken"), encode=lambda text: list(text.encode()))
    assert explain(side("priority"), bytewise, "ab").stage == "pieces or merges"


# --- Unicode -----------------------------------------------------------------------------------------------------

_NEW_LETTERS, _NEW_NUMBERS = "\u0c5c\ua7ce\U0003d000", "\U00011de0-\U00011de9"
NEWER = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}NEW]?[\p{L}LETTERS]+|[\p{N}NUMBERS]{1,3}"
    r"| ?[^\s\p{L}\p{N}NEW]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
"""cl100k's pattern as an engine of a later Unicode reads it."""
for _name, _value in (("LETTERS", _NEW_LETTERS), ("NUMBERS", _NEW_NUMBERS), ("NEW", _NEW_LETTERS + _NEW_NUMBERS)):
    NEWER = NEWER.replace(_name, _value)


@pytest.mark.parametrize("known", ["tiktoken", "tokenizers", "priority", "compiled"])
@pytest.mark.parametrize("text", ["1\U00011de0234", "\u0c5c's", "the \ua7ce's ab", "\U0003d000's"])
def test_a_character_newer_than_one_engine_is_the_unicode_version(known: str, text: str) -> None:
    for sides in ((side(known), by_pattern(NEWER)), (by_pattern(NEWER), side(known))):
        found = explain(*sides, text)
        assert found.stage == "unicode version"
        assert "is not assigned in Unicode 16" in " ".join(found.evidence)
        assert f"{known} knows the letters of Unicode 16.0" in found.evidence
        assert "hidden knows the letters of Unicode 17.0" in found.evidence


def test_another_pattern_is_not_taken_for_a_unicode_version() -> None:
    found = explain(side("tiktoken"), by_pattern(r"\p{N}+|\P{N}+"), "\u00e9 1234")
    assert found.stage == "pieces"


# --- ids, decoding, failures -------------------------------------------------------------------------------------


def test_what_one_side_refuses_is_a_failure_with_its_reason() -> None:
    found = explain(side("tiktoken"), document(lambda fields: None), "a\ud83d")
    assert found.stage == "failure"
    assert "hf raises TypeError" in found.what


def test_a_panic_is_a_failure_and_not_our_end() -> None:
    class Panic(BaseException):
        pass

    def encode(text: str) -> list[int]:
        raise Panic("index out of bounds")

    found = explain(side("tiktoken"), hidden(encode), "ab")
    assert found.stage == "failure"
    assert "hidden raises Panic: index out of bounds" in found.what


def test_other_ids_at_the_second_call_are_determinism() -> None:
    answers = iter([[97], [98]] * 20)
    found = explain(side("tiktoken"), hidden(lambda text: next(answers)), "a")
    assert found.stage == "determinism"
