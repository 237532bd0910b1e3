"""Text that grows within one piece: the ids of a fresh encoding after every append, which costs time by what is new."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import get_args

import pytest
from random_models import random_merges
from refusals import refused

import impls
from impls import Model, SpecialToken, TrainingSpec, UnknownSymbol, Unsupported
from impls.core.pattern.runs import Runs
from impls.interface import Tokenizer
from impls.operations import cut_piece, truncation
from impls.operations.certain_cuts import pair_cuts_of
from impls.operations.changes import Change
from impls.operations.growing_piece import LEAST
from impls.operations.incremental import Incremental
from impls.operations.truncation import Side, Whole

IMPLEMENTATIONS = ["backtracking", "compiled"]
TEXTS: dict[str, Callable[[random.Random, int], str]] = {
    "letters": lambda rng, n: "".join(rng.choices("aeinrst", k=n)),
    "one letter": lambda rng, n: "a" * n,
    "blanks": lambda rng, n: " " * n,
    "two letters": lambda rng, n: "".join(rng.choices("ae", (1, 50), k=n)),
    "Han": lambda rng, n: "".join(map(chr, rng.choices(range(0x4E00, 0x4E40), k=n))),
    "digits": lambda rng, n: "".join(rng.choices("0123456789", k=n)),
    "signs": lambda rng, n: "".join(rng.choices("<|>=-", k=n)),
    "all": lambda rng, n: "".join(rng.choices(["a", "b", " ", "\n", "'s", "1", ".", "日", "é", "\ud83d", "😀"], k=n)),
}

CHARACTERS = "a' 1.\nsA日\u0378"
"""Of the last one, which is not assigned, deepseek's pattern makes a gap."""


def random_model(rng: random.Random, *, pattern: str | tuple[str, ...]) -> Model:
    """Merges of random tokens of few letters: some in an order in which parts come late, some never happen."""
    letters = "aeinrst"[: rng.choice((1, 2, 3, 7))] + rng.choice(("", "日", "  "))
    symbols = [bytes([byte]) for byte in letters.encode()]
    model = random_merges(rng, rng.choice((3, 10, 40, 100)), symbols, longest=39, once=True, pattern=pattern)
    return model.with_(merges=(), merge_rule="concatenation") if rng.random() < 0.3 else model


def grow(tokenizer: Tokenizer, rng: random.Random, make: Callable[[random.Random, int], str], n_steps: int) -> int:
    """Append, take back and fork at random, and compare with a fresh encoding; count steps within a growing piece."""
    text = make(rng, rng.choice((LEAST - 3, LEAST, 3 * LEAST)))
    grown, n_followed = tokenizer.incremental(text, disallowed_special=()), 0
    ids = grown.ids
    for _ in range(n_steps):
        if rng.random() < 0.08:
            stop = len(text) - rng.choice((0, 1, 2, 30))
            change, more = grown.replace(stop, len(text), ""), ""
            text = text[:stop]
        else:
            continues = rng.random() < 0.9
            more = (
                make(rng, rng.choice((0, 1, 1, 1, 2, 7, 300))) if continues else rng.choice((" ", "a", "1", "é", "\n"))
            )
            change = grown.append(more)
        text += more
        ids[change.start : change.start + change.n_removed] = change.ids
        n_followed += grown._piece is not None
        wanted = tokenizer.encode(text, disallowed_special=())
        assert (ids, grown.n_ids) == (wanted, len(wanted)), (tokenizer.model.merges, text, more)
        if rng.random() < 0.2:
            assert (grown.ids, grown.text) == (wanted, text)
            grown = grown.copy()
    return n_followed


@pytest.mark.parametrize("kind", TEXTS)
@pytest.mark.parametrize("name", IMPLEMENTATIONS)
def test_random_models_give_the_ids_of_a_fresh_encoding(name: str, kind: str, fuzz: int) -> None:
    rng, n_followed = random.Random(f"{name} {kind}"), 0
    for _ in range((12 if name == "compiled" else 8) * fuzz):
        model = random_model(rng, pattern=rng.choice(["none", "gpt2", "cl100k", "o200k"]))
        try:
            tokenizer = impls.load(name, model)
        except Unsupported:
            continue
        n_followed += grow(tokenizer, rng, TEXTS[kind], 12)
    assert n_followed > 0 or kind in ("digits", "all")


@pytest.mark.parametrize("kind", ["letters", "one letter", "Han"])
@pytest.mark.parametrize("name", IMPLEMENTATIONS)
def test_an_append_within_a_piece_encodes_nothing_again(name: str, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    texts = ["the cat sat on the mat, and the rat that sat there as well; 12 cats"] * 3
    model = impls.train("priority", texts, TrainingSpec(vocab_size=300, pattern="cl100k")).model
    tokenizer, rng = impls.load(name, model), random.Random(kind)
    text = TEXTS[kind](rng, 5_000)
    grown: Incremental = tokenizer.incremental(text)
    grown.append("a")
    with monkeypatch.context() as patch:
        for method in ("_encode", "_encode_continued", "_encoder"):
            patch.setattr(grown, method, None)
        for _ in range(50):
            grown.append(TEXTS[kind](rng, 1))
    assert grown.ids == tokenizer.encode(grown.text)
    assert grown.append(" the cat").ids[-2:] == tokenizer.encode(" the cat")[-2:]
    assert grown.ids == tokenizer.encode(grown.text)


def test_a_model_whose_tokens_have_several_derivations_encodes_the_tail_again() -> None:
    tokens = (*(bytes([byte]) for byte in range(256)), b"aba", b"ab")  # no lower rank leads to "aba"
    tokenizer = impls.load("compiled", Model(tokens=tokens, merge_rule="concatenation", pattern="gpt2"))
    assert tokenizer.token_ends() is None
    grown = tokenizer.incremental("ab" * LEAST)
    grown.append("ab")
    assert grown._piece is None
    assert grown.ids == tokenizer.encode(grown.text)


@pytest.mark.parametrize("name", IMPLEMENTATIONS)
def test_a_special_token_within_a_growing_piece_is_seen(name: str) -> None:
    tokens = (*(bytes([byte]) for byte in range(256)), b"==")
    model = Model(tokens=tokens, merges=((61, 61),), special_tokens={"==>": 257}, pattern="none")
    grown = impls.load(name, model).incremental("=" * (LEAST + 1))
    assert grown.append("=").ids == [256]
    raised = refused(SpecialToken, None, grown.append, ">")
    assert (raised.offset, grown.n_ids) == (LEAST, LEAST // 2 + 1)
    allowed = impls.load(name, model).incremental("=" * LEAST, allowed_special="all")
    assert (allowed.append("=").ids, allowed.append(">")) == ([61], Change(LEAST // 2 - 1, 2, [61, 257]))


def test_a_character_without_a_token_is_refused_and_changes_nothing(hand_made: Callable[[str], Model]) -> None:
    grown = impls.load("backtracking", hand_made("a+a")).incremental("a" * LEAST)
    assert grown.append("a") == Change(LEAST // 2, 0, [0])
    with pytest.raises(UnknownSymbol) as raised:
        grown.append("z")
    assert raised.value.offset == LEAST + 1
    assert grown.append("a") == Change(LEAST // 2, 1, [1])


@pytest.mark.parametrize("name", ["none", "gpt2", "cl100k", "o200k", "deepseek"])
def test_all_that_is_said_to_be_in_the_last_piece_is_and_may_be_continued(name: str, fuzz: int) -> None:
    model = Model(tokens=tuple(bytes([byte]) for byte in range(256)), pattern=name)
    cuts, tokenizer = pair_cuts_of(model.pattern), impls.load("priority", model)
    runs, rng, n_told = Runs(cuts.stages), random.Random(name), 0
    for _ in range(600 * fuzz):
        text = "".join(rng.choices(CHARACTERS, weights=rng.choices((1, 9), k=len(CHARACTERS)), k=rng.randrange(1, 14)))
        last = runs.last_of(text, rng.choice((1, 3, 6, 20)))
        if last is not None:
            place, state = last
            pieces = tokenizer.pieces(text)
            assert len(pieces[-1]) >= len(text) - place, text
            more = rng.choice(CHARACTERS)
            if runs.continued(state, more) is not None:
                assert tokenizer.pieces(text + more) == [*pieces[:-1], pieces[-1] + more], (text, more)
            n_told += 1
    assert n_told > 100


@pytest.mark.parametrize("side", ["right", "left"])
@pytest.mark.parametrize("kind", ["letters", "one letter", "two letters", "blanks", "Han", "all"])
def test_of_a_long_piece_the_most_is_kept(kind: str, side: Side, fuzz: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Compare with one that encodes again all that it keeps."""
    rng = random.Random(kind + side)
    for _ in range(8 * fuzz):
        pattern = rng.choice(["none", "gpt2", "cl100k", "o200k", "deepseek", r"a[ae]*t|[ae]+|[\s\S]"])
        model = random_model(rng, pattern=pattern)
        tokenizer = impls.load(rng.choice(["compiled", "priority"]), model)
        first = TEXTS[kind](rng, 1_500)
        text = first + rng.choice((" ", "a", "", "b" * 30, "t", "T")) + TEXTS[rng.choice([kind, "all"])](rng, 900)
        n_ids, n_first = len(tokenizer.encode(text)), len(tokenizer.encode(first))
        for n_tokens in (n_ids - 1, n_ids - 2, n_first - 1, n_first, rng.randrange(n_ids // 3, n_ids)):
            for whole in get_args(Whole):
                cuts = set()
                for least in (10_000, 100):
                    for module in (cut_piece, truncation):
                        monkeypatch.setattr(module, "LEAST", least)
                    cuts.add(tokenizer.truncate(text, n_tokens, side=side, whole=whole))
                assert len(cuts) == 1, (model.merges, text, n_tokens, whole)


def test_a_piece_that_a_cut_changes_up_to_its_end_is_counted_as_it_then_is() -> None:
    tokens = (*(bytes([byte]) for byte in range(256)), b"et", b"  ", b"    ")
    merges = ((0x65, 0x74), (0x20, 0x20), (257, 257))

    def truncated(pattern: str, text: str, n_tokens: int, side: Side) -> int:
        tokenizer = impls.load("priority", Model(tokens=tokens, merges=merges, pattern=pattern))
        return len(tokenizer.truncate(text, n_tokens, side=side))

    # It goes on up to "t" only from an "a", which the cut leaves out.
    assert truncated(r"a[ae]*t|[ae]+|[\s\S]", "a" + "e" * 1_000 + "t", 800, "left") == 800
    # The last of the blanks belongs to the next piece, except where they end the text.
    assert truncated("gpt2", " " * 1_001 + "b", 251, "right") == 1_001
    assert truncated(r"[e]+(?!t)|[\s\S]", "e" * 1_000 + "t", 1_000, "right") == 1_000


def test_a_long_beginning_keeps_the_token_before_it() -> None:
    """More letters than there is room for at first; the token before would merge with them were it another."""
    model = Model(tokens=(*(bytes([byte]) for byte in range(256)), b"\0b"), merges=((0, ord("b")),), pattern="gpt2")
    ends = impls.load("compiled", model).token_ends()
    assert ends is not None
    ends.begin(ord("x"))
    assert ends.extend(0, b"b" * 9000)
    assert ends.changed(0, 9000) == (0, [ord("b")] * 9000)
