"""Training as the specification says it, word for word and slowly; random corpora and specifications."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

from impls import Model, TrainingSpec
from impls.core.training import base_symbols, corpus_pieces, piece_symbols

Symbol = tuple[bytes, int]
"""A symbol's bytes and its byte offset in the whole corpus."""
Merge = tuple[bytes, bytes]


def literally(
    texts: list[str], spec: TrainingSpec, base: list[bytes] | None = None, known: Sequence[Merge] = ()
) -> tuple[list[Merge], list[int]]:
    """Merges (as bytes) and their counts by the specification taken literally, every pair recounted from scratch.

    With `known` merges over a given `base`, those learned after them; symbols outside the base separate.
    """
    pieces = list(corpus_pieces(texts, spec))
    base = base_symbols(pieces, spec) if base is None else base
    order = [*base, *(left + right for left, right in known)]
    corpus: list[list[Symbol]] = []
    offset = 0
    for piece in pieces:
        corpus.append([])
        for symbol in piece_symbols(piece, spec):
            if symbol in base:
                corpus[-1].append((symbol, offset))
            else:
                corpus.append([])
            offset += len(symbol)
    for merge in known:
        corpus = [list(replaced(symbols, merge)) for symbols in corpus]
    budget = spec.vocab_size - len(base) - len(spec.special_tokens) - (spec.unknown is not None) - len(known)
    if spec.max_merges is not None:
        budget = min(budget, spec.max_merges - len(known))
    merges: list[Merge] = []
    counts: list[int] = []
    while len(merges) < budget and (best := chosen(corpus, spec, order)) is not None:
        merges.append(best[0])
        counts.append(best[1])
        order.append(best[0][0] + best[0][1])
        corpus = [list(replaced(symbols, best[0])) for symbols in corpus]
    return merges, counts


def chosen(corpus: list[list[Symbol]], spec: TrainingSpec, order: list[bytes]) -> tuple[Merge, int] | None:
    """Return the pair to merge next and its count; `order` are the symbols by their ids."""
    reserved = {text.encode() for text in (*spec.special_tokens, spec.unknown) if text is not None}
    occurrences: dict[Merge, list[int]] = {}
    for symbols in corpus:
        for (left, at), (right, _) in pairwise(symbols):
            occurrences.setdefault((left, right), []).append(at)

    def allowed(pair: Merge) -> bool:
        joined = pair[0] + pair[1]
        short_enough = spec.max_token_bytes is None or len(joined) <= spec.max_token_bytes
        return joined not in reserved and short_enough and len(occurrences[pair]) >= spec.min_count

    candidates = [pair for pair in occurrences if allowed(pair)]
    top = max((len(occurrences[pair]) for pair in candidates), default=0)
    tied = [pair for pair in candidates if len(occurrences[pair]) == top]
    if spec.ties == "first":
        tied.sort(key=lambda pair: min(occurrences[pair]))
    elif spec.ties == "largest":
        tied.sort(reverse=True)
    else:
        tied.sort(key=lambda pair: (order.index(pair[0]), order.index(pair[1])))
        if spec.ties == "shortest":
            tied.sort(key=lambda pair: pair[0] + pair[1])
            tied.sort(key=lambda pair: len(characters(pair[0] + pair[1], spec)))
    return (tied[0], top) if tied else None


def characters(token: bytes, spec: TrainingSpec) -> bytes | str:
    return token if spec.alphabet == "bytes" else token.decode()


def replaced(symbols: list[Symbol], pair: tuple[bytes, bytes]) -> Iterator[Symbol]:
    rest = list(symbols)
    while rest:
        symbol, at = rest.pop(0)
        if rest and (symbol, rest[0][0]) == pair:
            symbol += rest.pop(0)[0]
        yield symbol, at


def random_corpus(chance: random.Random, letters: str = "aab cç😀'1", longest: int = 18) -> list[str]:
    """A few short texts of few letters, so that ties are frequent; one letter takes two bytes, one four."""
    few = chance.sample(letters, chance.randint(2, 5))
    return ["".join(chance.choices(few, k=chance.randint(0, longest))) for _ in range(chance.randint(1, 4))]


def random_spec(chance: random.Random, ties: str, alphabet: str, texts: list[str]) -> TrainingSpec:
    optional: dict[str, Any] = {
        "min_count": chance.choice([1, 1, 2, 3]),
        "max_merges": chance.choice([None, None, None, 4, 4, 0]),
        "max_token_bytes": chance.choice([None, None, 2, 5]),
        "special_tokens": chance.choice([(), ("<s>", "ab"), ("aa",)]),
        "special_ids": chance.choice(["first", "last"]),
        "unknown": chance.choice([None, "<unk>", "ba"]),
        "pattern": chance.choice(["none", "gpt2", "turkish"]),
    }
    if alphabet == "chars":
        optional["end_of_word"] = chance.choice([None, "</w>"])
    else:
        optional["base_order"] = chance.choice(["raw", "gpt2"])
    shape = TrainingSpec(vocab_size=1, ties=ties, alphabet=alphabet, **optional)
    base_size = len(base_symbols(corpus_pieces(texts, shape), shape))
    return replace(shape, vocab_size=base_size + 4 + chance.choice([3, 12, 100]))


def as_bytes(model: Model) -> list[tuple[bytes | None, bytes | None]]:
    return [(model.tokens[left], model.tokens[right]) for left, right in model.merges]
