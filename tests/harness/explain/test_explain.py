"""`explain` names the first stage in which two sides differ, and no more than their answers prove."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from typing import Any
from unittest.mock import Mock

import pytest
import regex
import tiktoken
import tokenizers

import impls
from harness.explain import Side, explain, side_of
from harness.explain.algorithms import algorithm_of, derive
from harness.explain.rules import Rules
from harness.explanations import Explanation
from impls import Model
from impls.core.text.patterns import NAMED
from impls.formats.tokenizer_json.writer import write_compact

_TOKENS = ["12", "34", "123", "234", "'s", " a", "the", " the", "ab", "bc", "cd", "e\u0301", "\u00e9", "  "]
Encode = Callable[[str], list[int]]


def model_with(pattern: str = "cl100k", **fields: Any) -> Model:
    """256 bytes and a few tokens that show where a text is cut."""
    tokens: list[bytes] = [bytes([byte]) for byte in range(256)]
    for token in _TOKENS:
        data = token.encode()
        tokens += [data[:end] for end in range(2, len(data) + 1) if data[:end] not in tokens]
    return Model(tokens=tuple(tokens), merge_rule="concatenation", pattern=NAMED[pattern]).with_(**fields)


MODEL = model_with(special_tokens={"<|end|>": 400})
PRIORITY = impls.load("priority", MODEL)


def side(name: str, model: Model = MODEL, shown: str | None = None) -> Side:
    return side_of(impls.load(name, model), shown or name)


def hidden(encode: Encode, tokenizer: impls.Tokenizer = PRIORITY) -> Side:
    """What shows only its answers."""
    return Side(name="hidden", encode=encode, decode=tokenizer.decode)


def by_pattern(expression: str, tokenizer: impls.Tokenizer = PRIORITY) -> Side:
    """Byte pair encoding over other pieces, which it does not report."""
    cut = regex.compile(expression).findall
    return hidden(lambda text: [i for piece in cut(text) for i in tokenizer.encode_piece(piece)], tokenizer)


def by_piece(model: Model, encode_piece: Encode) -> Side:
    """A box that encodes the pieces of `model` by `encode_piece`."""
    tokenizer = impls.load("priority", model)
    return hidden(lambda text: [i for piece in tokenizer.pieces(text) for i in encode_piece(piece)], tokenizer)


def document(change: Callable[[dict[str, Any]], object] = lambda fields: None, model: Model = MODEL) -> Side:
    """tokenizers over the model's tokenizer.json with a change made to it."""
    fields: dict[str, Any] = json.loads(tokenizers.Tokenizer.from_str(write_compact(model).decode()).to_str())
    change(fields)
    return side_of(tokenizers.Tokenizer.from_str(json.dumps(fields)), "hf")


def _set_pattern(fields: dict[str, Any], expression: str) -> None:
    for step in fields["pre_tokenizer"]["pretokenizers"]:
        if step["type"] == "Split":
            step["pattern"] = {"Regex": expression}


def explained(a: Side, b: Side, text: str, stage: str, message: str = "") -> Explanation:
    """The explanation of a text, once it names the stage and says the message."""
    explanation = explain(a, b, text)
    assert explanation.stage == stage, explanation.what
    assert message in explanation.what.replace("␣", " ")
    return explanation


def tokens(explanation: Explanation) -> tuple[str, str]:
    a, b = (
        "·".join(token.text or "" for piece in side.pieces for token in piece.tokens)
        for side in (explanation.a, explanation.b)
    )
    return a, b


# --- failure, determinism, decoding ------------------------------------------------------------------------------


def test_what_one_side_refuses_is_a_failure_with_its_reason_and_a_panic_is_not_our_end() -> None:
    panics = Mock(side_effect=type("Panic", (BaseException,), {})("index out of bounds"))
    explained(side("tiktoken"), document(), "a\ud83d", "failure", "hf raises TypeError")
    explained(side("tiktoken"), hidden(panics), "ab", "failure", "hidden raises Panic: index out of bounds")


def test_other_ids_at_the_second_call_are_determinism() -> None:
    answers = iter([[97], [98]] * 20)
    explained(side("tiktoken"), hidden(lambda text: next(answers)), "a", "determinism")


# --- the text, special tokens, decoding --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("stage", "encode", "decode", "text", "message"),
    [
        ("normalisation", lambda t, text: t.encode(text.lower()), None, "the \u0130ab", "hidden lower-cases it"),
        ("normalisation", lambda t, text: t.encode(" " + text), None, "ab", "hidden prepends a space"),
        ("normalisation", lambda t, text: t.encode(text.strip()), None, "ab ", "strips white space at both ends"),
        ("normalisation", lambda t, text: t.encode(text.replace("b", "x")), None, "abc",
         "changes ‘bc’ to ‘xc’ at character 1"),
        ("normalisation", lambda t, text: t.encode(text.replace("!", "")), None, "ab!", "hidden drops ‘!’"),
        ("pieces or merges", lambda t, text: [i for c in text for i in t.encode(c)], None, "ab ab", "hidden has ‘a’"),
        ("decode", lambda t, text: t.encode(text), lambda t, ids: t.decode(ids).strip(), "ab ", "decodes them to"),
        ("special tokens", lambda t, text: t.encode(text, allowed_special="all"), None, "a<|end|>b",
         "hidden recognises ‘<|end|>’ (id 400) at character 1"),
    ],
)  # fmt: skip
def test_each_stage_is_named_by_a_planted_fault(stage: str, encode: Any, decode: Any, text: str, message: str) -> None:
    box = Side(
        name="hidden",
        encode=lambda text: encode(PRIORITY, text),
        decode=lambda ids: (decode or impls.Tokenizer.decode)(PRIORITY, ids),
    )
    explained(side("priority"), box, text, stage, message)


@pytest.mark.parametrize(
    ("model", "change", "text", "message"),
    [
        (MODEL, lambda fields: fields.update(normalizer={"type": "NFC"}), "the e\u0301", "hf normalises it to NFC"),
        (model_with("gpt2"), lambda fields: fields["pre_tokenizer"].update(add_prefix_space=True), "the",
         "hf prepends a space"),
    ],
)  # fmt: skip
def test_the_normaliser_of_a_library_is_known(model: Model, change: Any, text: str, message: str) -> None:
    explained(side("priority", model), document(change, model), text, "normalisation", message)


def test_special_text_that_one_side_parses_is_the_special_tokens_stage() -> None:
    encoding = tiktoken.Encoding(
        "mine", pat_str=MODEL.pattern[0], mergeable_ranks=dict(MODEL.id_by_token), special_tokens={"<|end|>": 400}
    )
    message = "hf recognises ‘<|end|>’ (id 400) at character 2"
    explained(side_of(encoding, "tiktoken"), document(), "ab<|end|>the", "special tokens", message)
    assert explain(side_of(encoding, "tiktoken", allow_special=True), document(), "ab<|end|>the").agree


def test_overlapping_specials_taken_the_shortest_first(hand_made: Any) -> None:
    model = hand_made("a+b", alphabet="bytes", special_tokens={"<s>": 300, "<s>a": 301})
    tokenizer = impls.load("priority", model)

    def shortest(text: str) -> list[int]:
        before, special, after = text.partition("<s>")
        return tokenizer.encode(before) + ([300] if special else []) + tokenizer.encode(after)

    ours = side_of(tokenizer, "priority", allow_special=True)
    message = "hidden recognises ‘<s>’ (id 300) at character 1"
    explained(ours, hidden(shortest, tokenizer), "b<s>ab", "special tokens", message)


@pytest.mark.parametrize("text", [" <|end|>", "ab <|end|> ab", "ab <|end|>  ", "ab \t<|end|>ab<|end|> 12"])
def test_white_space_dropped_beside_a_special_token_is_of_that_stage(text: str) -> None:
    stripping = document(lambda fields: fields["added_tokens"][0].update(lstrip=True, rstrip=True))
    ours = side_of(PRIORITY, "priority", allow_special=True)
    explained(ours, stripping, text, "special tokens", "hf drops white space beside a special token")


def test_bytes_without_a_token_are_lost_in_the_vocabulary() -> None:
    bare = tokenizers.Tokenizer(tokenizers.models.BPE(vocab={"w": 0, "r": 1, "l": 2, "d": 3}, merges=[]))
    bare.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    model = Model(tokens=tuple(bytes([byte]) for byte in range(256)), pattern=NAMED["gpt2"])
    explained(side("priority", model), side_of(bare, "hf"), "wörld", "vocabulary", "hf sees ‘wörld’ and drops ‘ö’")


# --- pieces ------------------------------------------------------------------------------------------------------


def test_known_pieces_and_a_token_across_a_cut_are_proof() -> None:
    other = document(lambda fields: _set_pattern(fields, NAMED["cl100k-0.14"][0]))
    explained(side("tiktoken"), other, "1234", "pieces", "tiktoken has the piece ‘123’; hf has the piece ‘1234’")
    explanation = explained(side("priority"), by_pattern(r"\p{N}+|\P{N}+"), "1234", "pieces")
    assert any("has the token ‘34’ across byte 3" in line for line in explanation.evidence)
    explained(side("tiktoken"), by_pattern(r"\p{N}+|\P{N}+"), "\u00e9 1234", "pieces")


def test_a_hidden_cut_is_not_told_from_merging(hand_made: Any) -> None:
    whole = model_with("none")
    other = by_pattern(r"\p{N}{1,3}|\P{N}+", impls.load("priority", whole))
    explanation = explained(side("priority", whole), other, "x1234", "pieces or merges")
    assert "whether it cuts ‘x1234’ or merges it differently is not known" in explanation.evidence[0]
    assert (explanation.a.pieces_from, explanation.b.pieces_from) == ("reported", "unknown")
    bytewise = replace(side("tiktoken"), encode=lambda text: list(text.encode()))
    explained(side("priority"), bytewise, "ab", "pieces or merges")
    chance, model, seen = random.Random(3), hand_made("a+b a+a b+c ab+c aa+c c+a", alphabet="bytes"), 0
    greedy, exact = impls.load("greedy", model), side("priority", model)
    for _ in range(200):
        text = "".join(chance.choices("abc", k=chance.randint(3, 8)))
        explanation = explain(exact, hidden(greedy.encode, greedy), text)
        seen += not explanation.agree
        assert explanation.stage in (None, "pieces or merges"), (text, explanation.what, explanation.evidence)
    assert seen > 20


_NEW_LETTERS, _NEW_NUMBERS = "\u0c5c\ua7ce\U0003d000", "\U00011de0-\U00011de9"
NEWER = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}NEW]?[\p{L}LETTERS]+|[\p{N}NUMBERS]{1,3}"
    r"| ?[^\s\p{L}\p{N}NEW]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
"""cl100k's pattern as an engine of a later Unicode reads it."""
for _name, _value in (("LETTERS", _NEW_LETTERS), ("NUMBERS", _NEW_NUMBERS), ("NEW", _NEW_LETTERS + _NEW_NUMBERS)):
    NEWER = NEWER.replace(_name, _value)


@pytest.mark.parametrize("known", ["tiktoken", "priority"])
def test_a_character_newer_than_one_engine_is_the_unicode_version(known: str) -> None:
    for text in ("1\U00011de0234", "\u0c5c's", "the \ua7ce's ab", "\U0003d000's"):
        for sides in ((side(known), by_pattern(NEWER)), (by_pattern(NEWER), side(known))):
            explanation = explained(*sides, text, "unicode version")
            assert "newer than Unicode 16: U+" in explanation.evidence[0]


# --- merges and the vocabulary -----------------------------------------------------------------------------------


def test_two_ways_over_one_model_part_at_a_step(hand_made: Any) -> None:
    model = hand_made("a+b a+a", alphabet="bytes")
    message = "merges ‘a’ + ‘b’ (rank 0) at byte 1"
    explanation = explained(side("priority", model), side("greedy", model), "aab", "merges", message)
    assert (explanation.step, explanation.rank, tokens(explanation)) == (1, 0, ("a·ab", "aa·b"))
    assert (explanation.a.steps_give_its_ids, explanation.b.steps_give_its_ids) == (True, True)
    split = model.with_(pattern=NAMED["gpt2"])
    far = explain(side("priority", split), side("greedy", split), " b" * 20 + " aab" + " b" * 20).a
    assert ([piece.differs for piece in far.pieces].index(True), len(far.pieces), far.pieces_left_out) == (6, 13, 28)


@pytest.mark.parametrize(
    ("merges", "one", "other", "text", "step", "rank", "split", "message"),
    [
        ("a+a a+aa", {}, {"merge_rule": "concatenation"}, "aaa", 1, 257, None, "whole piece"),
        ("a+a a+aa", {}, {"merge_rule": "concatenation"}, "baaa", 2, 257, None,
         "merges ‘aa’ + ‘a’ (rank 257) at byte 1; one has ‘b’ ‘aa’ ‘a’"),
        ("a+b", {"extra": "abcd"}, {"extra": "abcd", "merge_rule": "concatenation"}, "abcd", 1, 257,
         ("ab·c·d", "abcd"), "other takes the whole piece as one token"),
        ("a+b", {"extra": "abc"}, {"extra": "abc", "ignore_merges": True}, "abc", 1, None, ("ab·c", "abc"),
         "ignore_merges is set"),
    ],
)  # fmt: skip
def test_two_rules_over_the_same_tokens_part_at_a_step(
    hand_made: Any, merges: str, one: Any, other: Any, text: str, step: int, rank: int | None, split: Any, message: str
) -> None:
    sides = (side("priority", hand_made(merges, alphabet="bytes", **one), "one"),
             side("priority", hand_made(merges, alphabet="bytes", **other), "other"))  # fmt: skip
    explanation = explained(*sides, text, "merges", message)
    assert (explanation.step, explanation.rank) == (step, rank)
    assert split in (None, tokens(explanation))


@pytest.mark.parametrize("name", ["tokenizers", "priority"])
def test_of_a_merge_listed_twice_the_later_rank_counts(hand_made: Any, name: str) -> None:
    twice = side(name, hand_made("a+b b+c a+b", alphabet="bytes"), "twice")
    explanation = explained(twice, side(name, hand_made("a+b b+c", alphabet="bytes"), "once"), "abc", "merges")
    assert (explanation.step, explanation.rank, tokens(explanation)) == (1, 1, ("a·bc", "ab·c"))


@pytest.mark.parametrize(
    ("merges", "text", "message", "step"),
    [("b+c a+b", "xab", "‘ab’ has the id 256 in one, 257 in other", None), ("a+b", "abc", "no such token", 2)],
)
def test_another_id_is_the_vocabulary(hand_made: Any, merges: str, text: str, message: str, step: int | None) -> None:
    one = side("priority", hand_made("a+b b+c" if step is None else "a+b ab+c", alphabet="bytes"), "one")
    other = side("priority", hand_made(merges, alphabet="bytes"), "other")
    assert explained(one, other, text, "vocabulary", message).step == step


def test_other_rules_behind_a_black_box_are_not_proved_to_be_merges(hand_made: Any) -> None:
    model = hand_made("a+a", alphabet="bytes")
    rules = Rules(model)

    def rightmost(piece: str) -> list[int]:
        ids = model.symbols(piece)
        while merges := [(*merge, -at) for at, pair in enumerate(pairwise(ids)) if (merge := rules.merge(*pair))]:
            _, made, at = min(merges, key=lambda each: (each[0], each[2]))
            ids[-at : -at + 2] = [made]
        return ids

    explanation = explained(side("priority", model), by_piece(model, rightmost), "aaa", "pieces or merges")
    assert (explanation.step, explanation.rank) == (1, 0)
    model = hand_made("a+ab a+b", alphabet="bytes")
    replay = Rules(model)
    box = by_piece(model, lambda piece: derive(replay, piece, "replay").ids)
    explanation = explained(side("priority", model), box, "aab", "pieces or merges")
    assert (explanation.step, explanation.rank) == (2, 0)


@pytest.mark.parametrize("name", ["naive", "wordcount", "compiled", "backtracking", "greedy", "tiktoken", "tokenizers"])
def test_the_written_out_algorithms_are_those_of_the_implementations(name: str) -> None:
    spec = impls.TrainingSpec(vocab_size=400, pattern="gpt2")
    text = "the cat sat on the mat, and that was that; then the cat ate the hat of the matador"
    model = impls.get("priority").train_model([text], spec)
    tokenizer, rules = impls.load(name, model), Rules(model)
    for word in ("thethat", "matcatter", "ththth", "aaa", "xyz", "atadormat", "é"):
        assert derive(rules, word, algorithm_of(name)).ids == tokenizer.encode(word)


def test_one_id_for_different_bytes_is_a_difference_of_vocabularies() -> None:
    tables = {"A": {5: b"ab", 6: b"c"}, "B": {5: b"a", 7: b"bc"}}
    answers = {"A": [5, 6], "B": [5, 7]}

    def side_by(name: str) -> Side:
        def decode(ids: list[int]) -> str:
            return b"".join(tables[name][i] for i in ids).decode()

        return Side(name=name, encode=lambda text: answers[name], decode=decode, token_bytes=tables[name].get)

    explanation = explained(side_by("A"), side_by("B"), "abc", "vocabulary")
    assert explanation.what == "the id 5 is ‘ab’ in A, ‘a’ in B"
