"""Trainers agree, merge by merge, with each other and with a literal implementation of the specification."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest

import impls
from impls import Model, TrainingSpec
from impls.core.training import base_symbols, corpus_pieces, piece_symbols

TIES = ["smallest", "first", "largest", "shortest"]
CHARACTER_TRAINERS = ["naive", "wordcount", "priority", "compiled"]
BYTE_TRAINERS = [*CHARACTER_TRAINERS, "bytelevel"]
N_CORPORA = 500

Symbol = tuple[bytes, int]
"""A symbol's bytes and its byte offset in the whole corpus."""


def literally(texts: list[str], spec: TrainingSpec) -> tuple[list[tuple[bytes, bytes]], list[int]]:
    """Merges (as bytes) and their counts by the specification taken literally, every pair recounted from scratch."""
    pieces = list(corpus_pieces(texts, spec))
    base = base_symbols(pieces, spec)
    order = list(base)
    corpus: list[list[Symbol]] = []
    offset = 0
    for piece in pieces:
        corpus.append([])
        for symbol in piece_symbols(piece, spec):
            corpus[-1].append((symbol, offset))
            offset += len(symbol)
    reserved = {
        text.encode() for text in (*spec.special_tokens, spec.unknown, *spec.forbidden_tokens) if text is not None
    }
    budget = spec.vocab_size - len(base) - len(spec.special_tokens) - (spec.unknown is not None)
    if spec.max_merges is not None:
        budget = min(budget, spec.max_merges)
    merges: list[tuple[bytes, bytes]] = []
    counts: list[int] = []
    while len(merges) < budget:
        occurrences: dict[tuple[bytes, bytes], list[int]] = {}
        for piece_of_corpus in corpus:
            for (left, at), (right, _) in pairwise(piece_of_corpus):
                occurrences.setdefault((left, right), []).append(at)

        def allowed(pair: tuple[bytes, bytes]) -> bool:
            joined = pair[0] + pair[1]
            short_enough = spec.max_token_bytes is None or len(joined) <= spec.max_token_bytes
            n_characters = len(joined.decode("utf-8", "replace").removesuffix(spec.end_of_word or ""))
            short_enough &= spec.max_token_characters is None or n_characters <= spec.max_token_characters
            return joined not in reserved and short_enough and len(occurrences[pair]) >= max(1, spec.min_count)  # noqa: B023

        candidates = [pair for pair in occurrences if allowed(pair)]
        if not candidates:
            break
        top = max(len(occurrences[pair]) for pair in candidates)
        tied = [pair for pair in candidates if len(occurrences[pair]) == top]
        if spec.ties == "first":
            best = min(tied, key=lambda pair: min(occurrences[pair]))
        elif spec.ties == "largest":
            best = sorted(tied)[-1]
        else:
            tied.sort(key=lambda pair: (order.index(pair[0]), order.index(pair[1])))
            if spec.ties == "shortest":
                tied.sort(key=lambda pair: pair[0] + pair[1])
                tied.sort(key=lambda pair: len(characters(pair[0] + pair[1], spec)))
            best = tied[0]
        merges.append(best)
        counts.append(top)
        order.append(best[0] + best[1])
        corpus = [list(replaced(symbols, best)) for symbols in corpus]
    if spec.min_count == 0:
        room = budget - len(merges)
        merges += pairs_gone(pieces, base, merges, spec, reserved)[:room]
        counts += [0] * (len(merges) - len(counts))
    return merges, counts


def pairs_gone(
    pieces: list[str], base: list[bytes], merges: list[tuple[bytes, bytes]], spec: TrainingSpec, reserved: set[bytes]
) -> list[tuple[bytes, bytes]]:
    """Every pair that was adjacent after some single replacement, and makes no existing token."""
    seen: set[tuple[bytes, bytes]] = set()
    for piece in pieces:
        symbols = piece_symbols(piece, spec)
        seen |= set(pairwise(symbols))
        for pair in merges:
            while pair in (neighbours := list(pairwise(symbols))):
                at = neighbours.index(pair)
                symbols[at : at + 2] = [pair[0] + pair[1]]
                seen |= set(pairwise(symbols))
    order = [*base, *(left + right for left, right in merges)]
    gone = []
    for left, right in seen:
        token = left + right
        n_characters = len(token.decode("utf-8", "replace").removesuffix(spec.end_of_word or ""))
        short_enough = spec.max_token_bytes is None or len(token) <= spec.max_token_bytes
        short_enough &= spec.max_token_characters is None or n_characters <= spec.max_token_characters
        if short_enough and token not in order and token not in reserved:
            gone.append((left, right))
    if spec.ties == "largest":
        return sorted(gone, reverse=True)
    gone.sort(key=lambda pair: (order.index(pair[0]), order.index(pair[1])))
    if spec.ties == "shortest":
        gone.sort(key=lambda pair: (len(characters(pair[0] + pair[1], spec)), pair[0] + pair[1]))
    return gone


def characters(token: bytes, spec: TrainingSpec) -> bytes | str:
    return token if spec.alphabet == "bytes" else token.decode()


def replaced(symbols: list[Symbol], pair: tuple[bytes, bytes]) -> Iterator[Symbol]:
    rest = list(symbols)
    while rest:
        symbol, at = rest.pop(0)
        if rest and (symbol, rest[0][0]) == pair:
            symbol += rest.pop(0)[0]
        yield symbol, at


def random_corpus(chance: random.Random) -> list[str]:
    """A few short texts of few letters, so that ties are frequent; one letter takes two bytes, one four."""
    letters = chance.sample("aab cç😀'1", chance.randint(2, 5))
    return ["".join(chance.choices(letters, k=chance.randint(0, 18))) for _ in range(chance.randint(1, 4))]


def random_spec(chance: random.Random, ties: str, alphabet: str, texts: list[str]) -> TrainingSpec:
    optional: dict[str, Any] = {
        "min_count": chance.choice([1, 1, 2, 3, *([] if ties == "first" else [0])]),
        "max_merges": chance.choice([None, None, 4]),
        "max_token_bytes": chance.choice([None, None, 2, 5]),
        "special_tokens": chance.choice([(), ("<s>", "ab"), ("aa",)]),
        "forbidden_tokens": chance.choice([(), (), ("ba", " a"), ("aab", "ç😀", "1'")]),
        "special_ids": chance.choice(["first", "last"]),
        "unknown": chance.choice([None, "<unk>", "ba"]),
        "pattern": chance.choice(["none", "gpt2", "turkish"]),
    }
    if alphabet == "chars":
        optional["end_of_word"] = chance.choice([None, "</w>"])
        optional["max_token_characters"] = chance.choice([None] * 6 + [2, 4])
    else:
        optional["base_order"] = chance.choice(["raw", "gpt2"])
    shape = TrainingSpec(vocab_size=1, ties=ties, alphabet=alphabet, **optional)
    base_size = len(base_symbols(corpus_pieces(texts, shape), shape))
    return replace(shape, vocab_size=base_size + 4 + chance.choice([3, 12, 100]))


def as_bytes(model: Model) -> list[tuple[bytes | None, bytes | None]]:
    return [(model.tokens[left], model.tokens[right]) for left, right in model.merges]


@pytest.mark.parametrize("ties", TIES)
@pytest.mark.parametrize("alphabet", ["bytes", "chars"])
def test_every_trainer_learns_what_the_specification_says(alphabet: str, ties: str) -> None:
    trainers = BYTE_TRAINERS if alphabet == "bytes" else CHARACTER_TRAINERS
    chance = random.Random(f"{alphabet} {ties}")
    n_merges = 0
    for _ in range(N_CORPORA):
        texts = ["ab", *random_corpus(chance)]
        spec = random_spec(chance, ties, alphabet, texts)
        expected, counts = literally(texts, spec)
        n_merges += len(expected)
        models = [impls.get(name).train_model(texts, spec) for name in trainers]
        for name, model in zip(trainers, models, strict=True):
            assert as_bytes(model) == expected, (name, texts, spec)
            assert list(model.merge_counts or ()) == counts, (name, texts, spec)
        assert len({model.digest for model in models}) == 1, (texts, spec)
    assert n_merges > 2 * N_CORPORA


@pytest.mark.parametrize("ties", ["first"])
@pytest.mark.parametrize("alphabet", ["bytes", "chars"])
def test_greedy_trains_the_same_model_where_it_trains(alphabet: str, ties: str) -> None:
    chance = random.Random(f"greedy {alphabet}")
    for _ in range(100):
        texts = ["ab", *random_corpus(chance)]
        spec = random_spec(chance, ties, alphabet, texts)
        greedy, naive = (impls.get(name).train_model(texts, spec) for name in ("greedy", "naive"))
        assert greedy.digest == naive.digest, (texts, spec)


@pytest.mark.corpus
@pytest.mark.parametrize("ties", TIES)
def test_trainers_agree_on_50_kb_of_turkish_at_300_merges(ties: str, turkish_50_kb: list[str]) -> None:
    spec = TrainingSpec(vocab_size=256 + 300, ties=ties, pattern="turkish")  # type: ignore[arg-type]
    models = {name: impls.get(name).train_model(turkish_50_kb, spec) for name in BYTE_TRAINERS}
    assert len(models["naive"].merges) == 300
    assert len({model.digest for model in models.values()}) == 1


@pytest.mark.corpus
@pytest.mark.parametrize("ties", TIES)
def test_trainers_agree_on_turkish_characters(ties: str, turkish_50_kb: list[str]) -> None:
    texts = turkish_50_kb[: len(turkish_50_kb) // 5]
    spec = TrainingSpec(vocab_size=300, ties=ties, alphabet="chars", end_of_word="</w>")  # type: ignore[arg-type]
    models = [impls.get(name).train_model(texts, spec) for name in CHARACTER_TRAINERS]
    assert len(models[0].merges) > 100
    assert len({model.digest for model in models}) == 1


@pytest.fixture(scope="module")
def turkish_50_kb() -> list[str]:
    from harness.data import load_corpus

    return list(load_corpus("turkish", split="train", max_bytes=50_000).documents())


def test_the_order_of_base_symbols_decides_ties_by_smallest_ids() -> None:
    # "\x00" comes before "a" by value, behind it in the order of the printable stand-ins.
    raw, gpt2 = (
        impls.get("priority").train_model(
            ["\x00\x00aa"], TrainingSpec(vocab_size=257, pattern="none", base_order=order)
        )
        for order in ("raw", "gpt2")
    )
    assert as_bytes(raw) == [(b"\0", b"\0")]
    assert as_bytes(gpt2) == [(b"a", b"a")]


@pytest.mark.parametrize(
    ("text", "ties", "merges"),
    [
        ("dcba", "first", "d+c dc+b"),
        ("dcba", "smallest", "b+a c+ba"),
        ("dcba", "largest", "d+c dc+b"),
        ("dcba", "shortest", "b+a d+c"),
        ("hug hug pug pun pun bun hugs", "smallest", "u+g _+p h+ug u+n _+hug _p+un"),
        ("hug hug pug pun pun bun hugs", "first", "u+g h+ug _+p u+n _+hug _p+un"),
    ],
)
@pytest.mark.parametrize("name", BYTE_TRAINERS)
def test_corpora_that_tell_the_tie_rules_apart(name: str, text: str, ties: str, merges: str) -> None:
    n_merges = len(merges.split())
    spec = TrainingSpec(vocab_size=256 + n_merges, ties=ties)  # type: ignore[arg-type]
    pairs = as_bytes(impls.get(name).train_model([text], spec))
    shown = " ".join(b"+".join(pair).replace(b" ", b"_").decode() for pair in pairs)  # type: ignore[arg-type]
    assert shown == merges
