"""Which tokens are reached: planted faults are proven, with the rule; what is reached is never called unreachable."""

from __future__ import annotations

import random
from itertools import product
from typing import Any

from random_models import BYTES

import impls
from harness.lint.proofs import Proofs
from harness.lint.reach import Reach, Unreached, reach
from harness.measure.token_use import fastest
from impls import Model
from impls.core.text.sentencepiece_rules import SentencePieceRules


def reached(model: Model) -> Reach:
    return reach(fastest(model))


def of(reach_result: Reach, token: bytes) -> Unreached | None:
    """Return what is said of a token; None where it is reached."""
    return next((one for one in reach_result.unreached if one.token == token), None)


def proof(model: Model, token: bytes) -> tuple[str, tuple[int, ...] | None, str]:
    one = of(reached(model), token)
    assert one.proven
    return one.rule, one.ids, one.why


def test_a_lower_merge_across_its_parts_and_a_token_without_a_merge() -> None:
    # bc is made first, so that ab+c finds no ab: abc is never made; xyz has no merge at all.
    model = Model(tokens=(*BYTES, b"bc", b"ab", b"abc", b"xyz"), merges=((98, 99), (97, 98), (257, 99)))
    reach_result = reached(model)
    assert {one.token for one in reach_result.unreached if not one.is_unused_byte} == {b"abc", b"xyz"}
    rule, ids, why = proof(model, b"abc")
    assert (rule, ids) == ("merges", (97, 256))
    assert why.startswith("its symbols merge to ")
    rule, ids, why = proof(model, b"xyz")
    assert (rule, ids) == ("merges", (120, 121, 122))
    assert "no merge makes it" in why
    assert sum(one.is_unused_byte for one in reach_result.unreached) == 13


def test_where_whole_pieces_are_looked_up_a_token_without_a_derivation_is_reached_as_a_piece() -> None:
    tokens = (*BYTES, b"bc", b"abc", b"xab", b"12a")  # abc joins no two tokens that are left: a, bc do; xabc does not
    model = Model(tokens=tokens, merge_rule="concatenation", pattern=(r"\p{L}+|\p{N}|[^\p{L}\p{N}]",))
    assert of(reached(model), b"xab") is None
    rule, ids, why = proof(model, b"12a")
    assert rule == "merges"
    assert ids == (49, 50, 97)
    assert "not a whole piece of the pattern" in why


def test_a_token_that_no_piece_can_hold() -> None:
    merges = ((49, 50), (97, 32))
    model = Model(tokens=(*BYTES, b"12", b"a "), merges=merges, pattern=(r" ?\p{L}+|\p{N}|[^\p{L}\p{N}]",))
    assert proof(model, b"12")[:2] == ("pattern", (49, 50))
    assert proof(model, b"a ")[0] == "pattern"
    assert of(reached(model.with_(pattern=())), b"12") is None


def test_without_a_proof_nothing_is_claimed() -> None:
    # The lookahead never lets ab through, which the relaxed pattern does not know.
    model = Model(tokens=(*BYTES, b"ab"), merges=((97, 98),), pattern=(r"a(?!b)b|[\s\S]",))
    one = of(reached(model), b"ab")
    assert (one.proven, one.rule, one.ids) == (False, "context", (97, 98))
    assert one.why.startswith("its text is cut into ‘a’ ‘b’; in none of the ")


def test_a_token_of_other_text_only_is_reached_and_the_text_is_shown() -> None:
    model = Model(tokens=(*BYTES, b"I'"), merges=((73, 39),), pattern=(r"\p{L}+(?:'s)?|[^\p{L}]",))
    reach_result = reached(model)
    assert of(reach_result, b"I'") is None
    ids, text = reach_result.elsewhere[256]
    assert ids == (73, 39)
    assert 256 in impls.load("naive", model).encode(text)


def test_bytes_that_are_no_utf8_and_parts_of_characters() -> None:
    tokens = (*BYTES, b"\xff\xfe", b"\xed\xa0", b" \xc3", b"\xa9 ")
    merges = ((255, 254), (0xED, 0xA0), (32, 0xC3), (0xA9, 32))
    reach_result = reached(Model(tokens=tokens, merges=merges))
    assert {one.token for one in reach_result.unreached if not one.is_unused_byte} == {b"\xff\xfe", b"\xed\xa0"}
    assert of(reach_result, b"\xff\xfe").rule == "utf-8"
    assert reach_result.elsewhere[258].ids is None


def test_what_a_normal_form_rewrites_and_what_an_added_token_cuts_out() -> None:
    tokens = (*BYTES, b"e\xcc", b"e\xcc\x81", b"x<", b"x<a", b"x<a>")
    merges = ((101, 0xCC), (256, 0x81), (120, 60), (258, 97), (259, 62))
    model = Model(tokens=tokens, merges=merges)
    assert of(reached(model), b"e\xcc\x81") is None
    assert of(reached(model), b"x<a>") is None
    assert proof(model.with_(normalization="nfc"), b"e\xcc\x81")[0] == "normalization"
    cut = model.with_(added_tokens={"<a>": 261})
    assert proof(cut, b"x<a>")[0] == "added token"
    assert of(reached(cut), b"x<a") is None


def test_bytes_of_characters_that_are_tokens_themselves() -> None:
    tokens = [None] * 256 + ["▁".encode(), b"a", b"b", "▁a".encode()]
    rules = SentencePieceRules(byte_ids=tuple(range(256)))
    model = Model(tokens=tuple(tokens), merges=((256, 257),), alphabet="chars", sentencepiece=rules)
    reach_result = reached(model)
    unused = {one.id for one in reach_result.unreached if one.is_unused_byte}
    assert len(unused) == 13
    others = {one.id: one.rule for one in reach_result.unreached if one.id not in unused}
    assert others == {32: "normalization", 97: "merges", 98: "merges"}
    assert {257, 259} <= reach_result.elsewhere.keys(), "a text begins with a space, so b alone is never first"


def test_no_proof_is_ever_refuted() -> None:
    """Random vocabularies and patterns: every text of up to six characters, against what is claimed."""
    draw = random.Random(7)
    patterns = [
        (), (r"a+|[^a]+",), (r" ?[ab]+|1|[^ab1]",), (r"a?b|[\s\S]",), (r"ab(?=a)|[\s\S]",), (r"a+|[^a]+", r"bb?|[^b]+"),
    ]  # fmt: skip
    texts = ["".join(letters) for n in range(1, 7) for letters in product("ab1", repeat=n)]
    n_proven = n_elsewhere = 0
    for round in range(30):
        tokens = list(BYTES)
        merges = []
        while len(merges) < 7:
            left, right = (draw.choice([*map(ord, "ab1"), *range(256, len(tokens))]) for _ in range(2))
            if tokens[left] + tokens[right] not in tokens and len(tokens[left] + tokens[right]) < 5:
                merges.append((left, right))
                tokens.append(tokens[left] + tokens[right])
        draw.shuffle(merges)
        fields: dict[str, Any] = {"merges": tuple(merges)} if round % 2 else {"merge_rule": "concatenation"}
        model = Model(tokens=tuple(tokens), pattern=draw.choice(patterns), **fields)
        model = model.with_(ignore_merges=round % 3 == 1)
        tokenizer = fastest(model)
        met = {i for ids in tokenizer.encode_batch(texts, 1) for i in ids}
        proofs = Proofs(model)
        reach_result = reach(tokenizer)
        unreached = {one.id for one in reach_result.unreached}
        proven = {i for i in range(256, len(tokens)) if proofs.of(i, tokens[i])}
        assert not proven & met, "what some text has is called unreachable"
        assert {one.id for one in reach_result.unreached if one.proven} - set(range(256)) == proven
        assert all(i in tokenizer.encode(one.text) for i, one in reach_result.elsewhere.items())
        assert not {i for i in range(256, len(tokens)) if i not in met} - unreached - reach_result.elsewhere.keys()
        n_proven, n_elsewhere = n_proven + len(proven), n_elsewhere + sum(i > 255 for i in reach_result.elsewhere)
    assert n_proven > 20
    assert n_elsewhere > 0
