"""The start and end of a training: what it takes over from the model it continues, and why it ends early."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from impls import InvalidSpec, TrainingSpec
from impls.core.counts import PieceCounts
from impls.core.model.model import Model
from impls.core.text.patterns import name_of
from impls.core.training import corpus_pieces, piece_symbols


def spec_like(model: Model, fields: Mapping[str, Any], given: Collection[str]) -> TrainingSpec:
    """Return the specification with these fields; pattern, alphabet and `end_of_word` are those of `model` unless
    `given`.

    Raise `InvalidSpec` if the model's pattern is needed but has several stages and no name.
    """
    kept: dict[str, Any] = {"alphabet": model.alphabet, "end_of_word": model.end_of_word}
    if "pattern" not in given:
        name = name_of(model.pattern)
        if name is None and len(model.pattern) != 1:
            raise InvalidSpec("pattern", f"that of the model has {len(model.pattern)} stages; give one")
        kept["pattern"] = name or model.pattern[0]
    return TrainingSpec(**{**fields, **{name: value for name, value in kept.items() if name not in given}})


def n_listed_merges(model: Model) -> int:
    """Return the number of merges of a model that training can continue from."""
    return len(model.merges if model.merge_rule == "pairs" else model.recovered_merges[0])


def why_short(model: Model, spec: TrainingSpec, texts: Iterable[str] | PieceCounts) -> str | None:
    """Return why `model`, trained by `spec` on `texts`, has fewer ids than requested; None if it does not.

    Splits the texts once more to see what is left to merge.
    """
    if model.vocab_size >= spec.vocab_size:
        return None
    if spec.max_merges is not None and len(model.merges) >= spec.max_merges:
        return f"max_merges allows only {spec.max_merges} merges"
    distinct = dict(texts.items()) if isinstance(texts, PieceCounts) else set(corpus_pieces(texts, spec))
    pieces = (b"".join(piece_symbols(piece, spec)) for piece in distinct)
    left = [piece for piece in pieces if piece not in model.id_by_token]
    if not left:
        return "it ran out of pairs, since every piece of the text is one token; give more text"
    bounds = [f"occurs {spec.min_count} times or more (min_count)"] if spec.min_count > 1 else []
    if spec.max_token_bytes is not None and any(len(piece) > spec.max_token_bytes for piece in left):
        bounds.append(f"makes a token of {spec.max_token_bytes} bytes or less (max_token_bytes)")
    return f"no remaining pair {' and '.join(bounds)}" if bounds else "the trainer's own rules allow no more merges"
