"""What the adapters' trainers share: refusing a specification a library cannot follow, and converting what it learned
into our model. Counting and merging is the library's.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from impls.core.arguments import texts_in_turn
from impls.core.errors import Unsupported
from impls.core.model import Model
from impls.core.text.files import TextFiles
from impls.core.text.patterns import NAMED, WHOLE_TEXT, Splitter, resolve
from impls.core.text.stages import drops_text
from impls.core.text.text import repair_surrogates
from impls.core.training import base_symbols, first_base_id, may_become_token, merge_budget, trained_model
from impls.interface import TrainingSpec

Merges = Sequence[tuple[bytes, bytes]]
"""The parts of each merge, in the order they are learned."""


def require(name: str, spec: TrainingSpec, **accepted: Any) -> None:
    """Raise `Unsupported` naming the first field of `spec` whose value is not accepted; a tuple lists several."""
    for field, value in accepted.items():
        values = value if isinstance(value, tuple) else (value,)
        if (given := getattr(spec, field)) not in values:
            known = " or ".join(map(repr, values))
            raise Unsupported(name, f"TrainingSpec.{field}: it trains with {known} only, not with {given!r}")


def base_and_budget(name: str, spec: TrainingSpec, **accepted: Any) -> tuple[list[bytes], int]:
    """Return the base symbols of a model over bytes, and the most merges; raise `Unsupported` like `require`, also for
    a `max_token_bytes` unless that is accepted."""
    require(name, spec, **{"alphabet": "bytes", "max_token_bytes": None} | accepted)
    base = base_symbols((), spec)
    return base, merge_budget(base, spec)


def require_gpt2(name: str, spec: TrainingSpec) -> None:
    """Raise `Unsupported` unless pieces are those of GPT-2's pattern."""
    if resolve(spec.pattern) not in (NAMED["gpt2"], NAMED["gpt2-0.14"]):
        raise Unsupported(name, f"TrainingSpec.pattern: it trains with 'gpt2' only, not with {spec.pattern!r}")


def checked_texts(texts: Iterable[str], spec: TrainingSpec) -> Iterator[str]:
    """Yield the texts, lone surrogates replaced; raise `InvalidPattern` if the pattern leaves text out."""
    stages = resolve(spec.pattern)
    splitter = None if stages in NAMED.values() else Splitter(stages)
    for text in texts_in_turn(texts):
        text = repair_surrogates(text)
        if splitter is not None:
            splitter.split(text)
        yield text


def files_of_lines(texts: Iterable[str]) -> list[str] | None:
    """Return the paths of plain text files whose lines are the texts, for libraries that read files by lines; None for
    other texts."""
    if not isinstance(texts, TextFiles):
        return None
    plain = all(file.kind == "text" and file.documents == "lines" and not file.is_compressed for file in texts.files)
    return [str(file.path) for file in texts.files if file.path is not None] if plain else None


def model_of_merges(name: str, spec: TrainingSpec, base: Sequence[bytes], merges: Merges) -> Model:
    """Return the model of merges given as the bytes of their parts, in the order they were learned.

    Raise `Unsupported` if the library learned the text of a special token, which our own trainers skip.
    """
    first = first_base_id(spec)
    id_by_token = {symbol: first + index for index, symbol in enumerate(base)}
    pairs: list[tuple[int, int]] = []
    for left, right in merges:
        if not may_become_token(left + right, spec):
            reason = f"TrainingSpec.special_tokens: it learned the token {(left + right)!r}, which is reserved"
            raise Unsupported(name, reason)
        pairs.append((id_by_token[left], id_by_token[right]))
        id_by_token[left + right] = first + len(base) + len(pairs) - 1
    return trained_model(spec, base, pairs, None)


def that_occurred(base: Sequence[bytes], merges: Merges, pieces: Iterable[bytes]) -> Merges:
    """Return the merges without those of pairs that no longer occur, which a library appends when pairs run out.

    Pairs have run out only when every piece is a token, so the first piece that is not ends the search; otherwise the
    last merge that occurred makes a piece.
    """
    rank_of = {left + right: rank for rank, (left, right) in reversed([*enumerate(merges)])}
    last = -1
    for piece in pieces:
        if piece in rank_of:
            last = max(last, rank_of[piece])
        elif piece not in base:
            return merges
    return merges[: last + 1]


def merges_of(spec: TrainingSpec, base: Sequence[bytes], learned: Sequence[bytes]) -> Merges:
    """Return the merges of a library that reports only the tokens it learned, in order.

    Merging is deterministic, so a token's parts follow from the tokens before it.
    """
    tokens = (*base, *learned)
    pairs, underived = Model(tokens=tokens, merge_rule="concatenation", alphabet=spec.alphabet).recovered_merges
    assert not underived, "a learned token is made of two that were there before"
    return [(tokens[left], tokens[right]) for left, right in pairs]


def model_of_ranks(name: str, spec: TrainingSpec, base: Sequence[bytes], rank_by_token: Mapping[bytes, int]) -> Model:
    """Return the model of a library that reports its vocabulary, base symbols included."""
    learned = sorted(rank_by_token.keys() - set(base), key=rank_by_token.__getitem__)
    return model_of_merges(name, spec, base, merges_of(spec, base, learned))


def one_pattern(name: str, spec: TrainingSpec) -> str:
    """Return the specification's pattern as one expression; raise `Unsupported` for several split stages."""
    stages = resolve(spec.pattern)
    if len(stages) > 1:
        raise Unsupported(name, f"TrainingSpec.pattern: it splits by one expression, not by {len(stages)} stages")
    if drops_text(stages):
        raise Unsupported(name, "TrainingSpec.pattern: it cannot drop what a pattern leaves out")
    return stages[0] if stages else WHOLE_TEXT
