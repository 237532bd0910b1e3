"""Shared by all trainers, before and after the algorithm: pieces, base symbols, and the model of the learned merges.

Trainers share these definitions (they are the specification), never the counting and merging.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import groupby
from operator import ne
from typing import Any

from impls.core.arguments import texts_in_turn
from impls.core.counts import PieceCounts
from impls.core.errors import InvalidSpec
from impls.core.model import Model
from impls.core.specification import TrainingSpec
from impls.core.text.byte_alphabet import GPT2_BYTE_ORDER
from impls.core.text.patterns import Splitter, name_of, resolve
from impls.core.text.text import repair_surrogates

Pair = tuple[int, int]
Pairs = Sequence[Pair]
Texts = Iterable[str] | PieceCounts | Mapping[str, int]
"""What to train on: texts, counts of their pieces, or what `piece_weights` returned."""


class Corpus:
    """What a trainer starts from and ends with: the distinct pieces of `texts` as words of ids, in the order they first
    occur, and how often each occurs.

        "ab ab ac"    words: a b, _ a b, _ a c    weights: 1, 1, 1    tokens: the base symbols by id
    """

    def __init__(self, texts: Texts, spec: TrainingSpec, base: list[bytes] | None = None) -> None:
        """Prepare texts; symbols that are not among those of `base`, if it is given, take part in no merge."""
        self.spec = spec
        pieces = piece_weights(texts, spec)
        self._base = base_symbols(pieces, spec) if base is None else base
        first = first_base_id(spec)
        self.tokens = [b""] * first + self._base
        """Token bytes by id; `join` adds to it."""
        self.budget = merge_budget(self._base, spec)
        """The maximum number of merges."""
        id_of = {symbol: first + index for index, symbol in enumerate(self._base)}
        self.fill(pieces, lambda piece: [id_of.get(symbol, -1) for symbol in piece_symbols(piece, spec)], -1)

    def fill(self, pieces: Mapping[str, int], ids_of: Callable[[str], list[int]], unknown: int | None) -> None:
        """Take the ids of the pieces as words; what is `unknown` takes part in no merge."""
        self.words: list[list[int]] = []
        self.weights: list[int] = []
        for piece, weight in pieces.items():
            for is_known, run in groupby(ids_of(piece), partial(ne, unknown)):
                if is_known:
                    self.words.append([*run])
                    self.weights.append(weight)

    def may_join(self, pair: Pair) -> bool:
        """Return whether the specification allows the token that `pair` makes."""
        return may_become_token(self.tokens[pair[0]] + self.tokens[pair[1]], self.spec)

    def join(self, pair: Pair) -> int:
        """Add the token that `pair` makes; return its id."""
        self.tokens.append(self.tokens[pair[0]] + self.tokens[pair[1]])
        return len(self.tokens) - 1

    def model(self, merges: Sequence[Pair], counts: Sequence[int]) -> Model:
        """Return the model of the learned merges, with the count of each."""
        return trained_model(self.spec, self._base, merges, counts)


def piece_weights(texts: Texts, spec: TrainingSpec) -> Mapping[str, int]:
    """Return every distinct piece of the texts and how often it occurs, in the order they first occur."""
    if isinstance(texts, Mapping):
        return texts
    if not isinstance(texts, PieceCounts):
        return Counter(corpus_pieces(texts, spec))
    check_counts(texts, spec)
    return dict(texts.items())


def corpus_pieces(texts: Iterable[str], spec: TrainingSpec) -> Iterator[str]:
    """Yield every piece of every text, in order; no piece spans two texts."""
    splitter = Splitter(resolve(spec.pattern))
    for text in texts_in_turn(texts):
        yield from splitter.split(repair_surrogates(text))


def check_counts(counts: PieceCounts, spec: TrainingSpec) -> None:
    """Raise `InvalidSpec` if the counts are of another pattern, or lack what the rule for ties requires."""
    if counts.pattern != resolve(spec.pattern):
        counted, asked = (name_of(stages) or " | ".join(stages) for stages in (counts.pattern, resolve(spec.pattern)))
        raise InvalidSpec("pattern", f"the counts are of {counted!r}, not of {asked!r}; count the text again")
    if spec.ties == "first":
        raise InvalidSpec("ties", "'first' needs the order of the text, which counts do not keep; train on the text")


def piece_symbols(piece: str, spec: TrainingSpec) -> list[bytes]:
    """Return the base symbols of a piece as bytes: single bytes, or characters (the last one with `end_of_word`).

    >>> piece_symbols("hé", TrainingSpec(vocab_size=300))
    [b'h', b'\\xc3', b'\\xa9']
    >>> piece_symbols("hé", TrainingSpec(vocab_size=300, alphabet="chars", end_of_word="</w>"))
    [b'h', b'\\xc3\\xa9</w>']
    """
    if spec.alphabet == "bytes":
        return [bytes([byte]) for byte in piece.encode()]
    symbols = [character.encode() for character in piece]
    if spec.end_of_word is not None:
        symbols[-1] += spec.end_of_word.encode()
    return symbols


def base_symbols(pieces: Iterable[str], spec: TrainingSpec) -> list[bytes]:
    """Return the base symbols in id order: 256 bytes, or the distinct characters of `pieces` in code-point order.

    Raise `InvalidSpec` if a piece contains the text of `end_of_word`, which would be ambiguous.
    """
    if spec.alphabet == "bytes":
        return [bytes([byte]) for byte in (GPT2_BYTE_ORDER if spec.base_order == "gpt2" else range(256))]
    symbols: set[bytes] = set()
    for piece in pieces:
        if spec.end_of_word is not None and spec.end_of_word in piece:
            raise InvalidSpec("end_of_word", f"{spec.end_of_word!r} occurs in the corpus; choose another text")
        symbols.update(piece_symbols(piece, spec))
    return sorted(symbols)


def first_base_id(spec: TrainingSpec) -> int:
    """Return the id of the first base symbol: 0, unless special tokens come first."""
    return 0 if spec.special_ids == "last" else len(spec.reserved)


def merge_budget(base: Sequence[bytes], spec: TrainingSpec) -> int:
    """Return the maximum number of merges; raise `InvalidSpec` if the vocabulary is smaller than its base."""
    room = spec.vocab_size - len(base) - len(spec.reserved)
    if room < 0:
        base_size = f"{len(base)} base symbols and {len(spec.reserved)} special or unknown tokens"
        raise InvalidSpec("vocab_size", f"{spec.vocab_size} is below the base size: {base_size}")
    return room if spec.max_merges is None else min(room, spec.max_merges)


def may_become_token(token: bytes, spec: TrainingSpec) -> bool:
    """Return whether a merge may make `token`: short enough, and none of `texts_no_merge_makes`."""
    is_short = spec.max_token_bytes is None or len(token) <= spec.max_token_bytes
    return is_short and token not in texts_no_merge_makes(spec)


def texts_no_merge_makes(spec: TrainingSpec) -> list[bytes]:
    """Return the UTF-8 of the texts that no merge may make: special and unknown tokens."""
    return [text.encode("utf-8", "surrogatepass") for text in spec.reserved]


def trained_model(spec: TrainingSpec, base: Sequence[bytes], merges: Pairs, counts: Sequence[int] | None) -> Model:
    """Return the model of the learned merges.

    `merges` are pairs of final ids (base ids start at `first_base_id(spec)`); `counts` is None for a trainer that does
    not report them.
    """
    tokens = with_merged([None] * first_base_id(spec) + list(base), merges)
    return Model(
        tokens=tuple(tokens),
        merges=tuple(merges),
        merge_counts=None if counts is None else tuple(counts),
        pattern=resolve(spec.pattern),
        alphabet=spec.alphabet,
        end_of_word=spec.end_of_word,
        **reserved_tokens(spec, len(tokens)),
    )


def with_merged(tokens: Sequence[bytes | None], merges: Iterable[Pair]) -> list[bytes | None]:
    """Return `tokens`, by id, followed by those that the merges make."""
    tokens = list(tokens)
    for left, right in merges:
        tokens.append(tokens[left] + tokens[right])  # type: ignore[operator]
    return tokens


def reserved_tokens(spec: TrainingSpec, n_ids: int) -> dict[str, Any]:
    """Return the special and unknown tokens as fields of a model; if they come last, `n_ids` ids precede them."""
    start = 0 if spec.special_ids == "first" else n_ids
    return {
        "special_tokens": {text: start + index for index, text in enumerate(spec.special_tokens)},
        "unknown": spec.unknown,
        "unknown_id": None if spec.unknown is None else start + len(spec.special_tokens),
    }
