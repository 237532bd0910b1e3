"""Models of SentencePiece: our implementations give its library's ids and texts, whatever the rules."""

from __future__ import annotations

import random
from typing import Any

import pytest
from every_form import every_form
from refusals import refused
from sentencepiece_models import random_texts

import impls
from harness.round_trip import round_trip_text
from impls import InvalidModel, Model, UnknownSymbol, Unsupported
from impls.core.text.decoder_steps import usual_decoders
from impls.core.text.sentencepiece_rules import SentencePieceRules

EXACT = ("naive", "wordcount", "priority", "backtracking")


@pytest.mark.parametrize("name", [*EXACT, "compiled", "tokenizers", "sentencepiece"])
def test_ids_and_texts_are_the_librarys(name: str, trained: Any, fuzz: int) -> None:
    theirs, ours = trained.library, impls.load(name, trained.model)
    texts = random_texts(250 * fuzz)
    expected = theirs.encode(texts)
    assert every_form(ours, texts, disallowed_special=()) == expected
    assert list(map(ours.count, texts)) == list(map(len, expected))
    assert list(map(ours.decode, expected)) == list(map(theirs.decode, expected))
    if name == "sentencepiece":
        specials = list(trained.model.special_tokens.values())
        assert ours.decode(specials) == theirs.decode(specials)
        assert ours.encode("a\ud83d", disallowed_special=()) == theirs.encode("a\ufffd")


def test_any_ids_are_decoded_as_the_library_does(trained: Any) -> None:
    ours, theirs = impls.load("priority", trained.model), trained.library
    kernels, rng = impls.load("compiled", trained.model), random.Random(2)
    for _ in range(300):
        ids = [rng.randrange(rng.choice((8, ours.model.vocab_size))) for _ in range(rng.randrange(9))]
        text = theirs.decode(ids)
        assert ours.decode(ids) == kernels.decode(ids) == text, ids
        assert ours.decode_bytes(ids) == kernels.decode_bytes(ids)
        found, offsets = ours.decode_with_offsets(ids)
        assert found == text
        assert offsets == sorted(offsets)
        assert len(offsets) == len(ids)


# --- models made by hand ---------------------------------------------------------------------------------------


def model_of(*tokens: str, **changes: object) -> Model:
    """A model of these tokens in the order of their ids, and nothing done about white space."""
    rules: dict[str, object] = {"escape_spaces": False, "dummy_prefix": "never"}
    rules |= {name: changes.pop(name) for name in list(changes) if name in SentencePieceRules.__dataclass_fields__}
    given: dict[str, object] = {"merge_rule": "concatenation", "alphabet": "chars", **changes}
    return Model(
        tokens=tuple(token.encode() for token in tokens),
        sentencepiece=SentencePieceRules(**rules),  # type: ignore[arg-type]
        **given,  # type: ignore[arg-type]
    )


def encode(model: Model, text: str, name: str = "naive") -> list[str]:
    tokenizer = impls.load(name, model)
    by_id = model.bytes_by_id()
    return [by_id[i].decode() for i in tokenizer.encode(text, disallowed_special=())]


@pytest.mark.parametrize("name", EXACT)
def test_ranks_decide_and_not_ids(name: str) -> None:
    model = model_of("a", "b", "c", "ab", "bc", ranks=(9, 9, 9, 2, 1))
    assert encode(model, "abc", name) == ["a", "bc"]
    assert encode(model_of("a", "b", "c", "ab", "bc", ranks=(9, 9, 9, 1, 2)), "abc", name) == ["ab", "c"]


@pytest.mark.parametrize("name", ["naive", "priority", "backtracking"])
def test_of_equal_ranks_the_leftmost_merges_first(name: str) -> None:
    model = model_of("a", "aa", "aaaa", "aaa", ranks=(9, 0, 0, 0))
    refused(Unsupported, "3 tokens with the rank of another", impls.load, "wordcount", model)
    assert encode(model, "a" * 7, name) == ["aaaa", "aaa"]
    model = model_of("a", "b", "c", "d", "ab", "cd", "abc", ranks=(9, 9, 9, 9, 0, 0, 0))
    assert encode(model, "abcd", name) == ["abc", "d"]


@pytest.mark.parametrize("name", EXACT)
def test_unused_tokens_are_given_as_their_parts(name: str) -> None:
    model = model_of("a", "b", "ab", "abab", "ababa", unused_ids=(2, 3))
    assert encode(model, "abab", name) == ["a", "b", "a", "b"]
    assert encode(model, "ababa", name) == ["ababa"]


@pytest.mark.parametrize("name", EXACT)
def test_a_whole_piece_may_be_one_token_whatever_its_merges(name: str) -> None:
    model = model_of("a", "b", "c", "ab", "bc", merge_rule="pairs", merges=((0, 1),)).with_(ignore_merges=True)
    assert [encode(model, text, name) for text in ("", "abc", "bc")] == [[], ["ab", "c"], ["bc"]]


@pytest.mark.parametrize("name", [*EXACT, "greedy"])
def test_unknown_characters_become_bytes_or_the_unknown_token(name: str) -> None:
    unknown = {"unknown": "<unk>", "unknown_id": 3, "unknown_text": "?"}
    one = model_of("a", "b", "ab", **unknown, fuse_unknown=False)
    assert encode(one, "xyabz", name) == ["?", "?", "ab", "?"]
    fused = model_of("a", "b", "ab", **unknown)
    assert encode(fused, "xyabz", name) == ["?", "ab", "?"]
    refused(UnknownSymbol, None, encode, model_of("a", "b"), "abc", name)
    tokens = (b"a", *[None] * 256)
    rules = SentencePieceRules(byte_ids=tuple(range(1, 257)), dummy_prefix="never")
    bytes_ = Model(tokens=tokens, alphabet="chars", merge_rule="concatenation", sentencepiece=rules)
    assert impls.load(name, bytes_).encode("aé") == [0, 1 + 0xC3, 1 + 0xA9]


@pytest.mark.parametrize(
    ("prefix", "texts", "lost"),
    [
        ("always", ["▁a", "▁▁a", "▁▁"], ""),
        ("missing", ["▁a", "▁a", "▁"], "a space at the start of a text is removed; "),
        ("first", ["▁a", "▁a", "▁"], "a space at the start of a text is removed; "),
        ("never", ["a", "▁a", "▁"], ""),
    ],
)
def test_the_dummy_prefix(prefix: str, texts: list[str], lost: str) -> None:
    model = model_of("a", "▁", escape_spaces=True, dummy_prefix=prefix)
    assert [model.normalize(text) for text in ("a", " a", " ")] == texts
    assert model.normalize("") == ""
    assert model.normalize("a", first=False) == ("▁a" if prefix in ("always", "missing") else "a")
    assert model.lossy == f"{lost}U+2581 becomes a space"
    without_marks = model_of("a", dummy_prefix=prefix).lossy
    assert without_marks == (None if prefix == "never" else f"{lost}a space is put before the text")


def test_what_comes_back_is_not_promised_where_it_depends_on_marks_in_tokens() -> None:
    spaces = model_of("a", "▁", escape_spaces=True, remove_extra_spaces=True, dummy_prefix="always")
    assert [round_trip_text(spaces, text) for text in ("a▁a", " a  a ")] == [None, "a a"]
    model = model_of("a", "▁", escape_spaces=True, dummy_prefix="missing")
    metaspace = model.with_(decoder=usual_decoders(model.sentencepiece)[-1])
    assert [round_trip_text(metaspace, text) for text in ("a▁a", "a")] == [None, "a"]
    never = model_of("a", "▁", escape_spaces=True, dummy_prefix="never")
    assert round_trip_text(never, " a▁") == " a "


def test_a_text_is_cut_only_where_no_token_reaches_across() -> None:
    tokenizer = impls.load("naive", model_of("a", "b", "c", "ab", "ca", "cab"))
    assert tokenizer.pieces("abcabacb") == ["ab", "cab", "a", "c", "b"]


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"alphabet": "bytes"}, "254 bytes have no token, the first is 0x00"),
        ({"end_of_word": "</w>"}, "no end_of_word"),
        ({"dummy_prefix": "often"}, "dummy_prefix must be"),
        ({"normalization": "nmt_nfkc"}, "normalization 'nmt_nfkc' is not one of: nfc, "),
        ({"charsmap": b"\x08\0\0\0ab"}, "go together"),
        ({"charsmap": b"\x08\0\0\0ab", "normalization": "nfkc"}, "cut short or damaged"),
        ({"charsmap": b"\x04\0\0\0\0\0\0\0ab", "normalization": "nfkc"}, "ends within a replacement"),
        ({"charsmap_by_graphemes": True}, "no charsmap to look graphemes up in"),
        ({"byte_ids": (0,)}, "256 different ones"),
        ({"byte_ids": (-1,) * 256}, "256 of the 256 byte ids are missing"),
        ({"byte_ids": tuple(range(256))}, "byte 0x00: the id 0 is in use"),
        ({"user_defined_ids": (7,)}, "no token has id 7"),
        ({"unused_ids": (0,), "user_defined_ids": (0,)}, "user-defined and unused"),
        ({"ranks": (1, 2)}, "3 tokens but 2 ranks"),
        ({"ranks": (1, 2, -1)}, "a rank must be"),
        ({"ranks": (1, 2, 3), "merge_rule": "pairs"}, "belong to the rule"),
    ],
)
def test_what_contradicts_itself_is_refused(changes: dict[str, object], problem: str) -> None:
    refused(InvalidModel, problem, model_of, "a", "b", "ab", **changes)


def test_a_token_of_characters_that_are_none_is_refused() -> None:
    refused(InvalidModel, r"the token 'ax' \(id 1\) contains 'x'", model_of, "a", "ax")
    assert model_of("a", "ax", user_defined_ids=(1,)).n_tokens == 2
