"""The start and end of a training: what it takes over from the model it continues, and where and why it stops.

The gain of k merges is the relative rise in bytes per token from k to k + 1,000 merges. The model is truncated to the
smallest k whose gain is below the share; further training would not have changed these merges.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from harness.training.vocabulary_curve import cut, uncuttable, vocabulary_curve
from impls import InvalidSpec, TrainingSpec
from impls.core.counts import PieceCounts
from impls.core.errors import BPEError
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


N_MERGES = 1000


class InvalidRule(BPEError):
    """Raised for a stop rule that cannot be parsed."""


@dataclass(frozen=True, slots=True)
class Until:
    """Stop when another `n_merges` merges gain less than `share` in bytes per token; `rule` is the rule as written."""

    rule: str
    share: float
    n_merges: int


class End(NamedTuple):
    """Where a training ended, and why."""

    rule: str
    n_merges: int
    by_rule: bool
    """Whether the rule ended it; otherwise all merges were kept."""
    gain: float | None
    """The gain at that size, or of the last merges if the rule did not end it; None if there are too few merges."""
    bytes_per_token: float
    text: str
    """The text the gain was measured on, and its bytes of UTF-8."""
    n_bytes: int
    why: str


def parse_until(text: str) -> Until:
    """Parse `gain<0.1%` (by another 1,000 merges) or `gain<0.1%/500` (by another 500); raise `InvalidRule`."""
    found = re.fullmatch(r"\s*gain\s*<\s*(\d+(?:\.\d+)?)\s*%\s*(?:/\s*([1-9]\d*)\s*)?", text, re.ASCII)
    if found is None or float(found[1]) == 0:
        raise InvalidRule(
            f"{text!r} is not a rule for the end; write 'gain<0.1%' to end where another {N_MERGES:,} merges gain less "
            "than 0.1 % in bytes per token, 'gain<0.1%/500' for another 500"
        )
    return Until(text.strip(), float(found[1]) / 100, N_MERGES if found[2] is None else int(found[2]))


def end_of_training(
    model: Model, until: Until, documents: Iterable[str], text: str, n_kept: int = 0
) -> tuple[Model, End]:
    """Return `model` truncated where `until` ends it, measured on `documents`, which are called `text`.

    The first `n_kept` merges, those of a model that training continued from, are always kept.

    Raise `InvalidRule` if the model cannot be truncated.
    """
    if why_not := uncuttable(model):
        raise InvalidRule(f"{until.rule}: the learned vocabulary cannot be cut: {why_not}")
    curve = vocabulary_curve(model, documents)
    n_merges, step = len(model.merges), until.n_merges
    gains = curve.n_tokens[:-step] / curve.n_tokens[step:] - 1
    below = n_kept + np.flatnonzero(gains[n_kept:] < until.share)
    by_rule = len(below) > 0
    kept = int(below[0]) if by_rule else n_merges
    gain = float(gains[kept] if by_rule else gains[-1]) if len(gains) else None
    if gain is None:
        why = f"{n_merges:,} merges were learned, and the rule compares sizes {step:,} apart"
    else:
        which, less = ("another", "less than") if by_rule else ("the last", "not less than")
        gained = f"{which} {step:,} merges gain {100 * gain:.4g} % in bytes per token on {text}"
        why = f"{gained}, {less} {100 * until.share:g} %"
    n_bytes = int(curve.n_bytes.sum())
    end = End(until.rule, kept, by_rule, gain, curve.bytes_per_token(kept), text, n_bytes, why)
    return cut(model, kept) if by_rule else model, end


def why_short(model: Model, spec: TrainingSpec, texts: Iterable[str] | PieceCounts) -> str | None:
    """Return why `model`, trained by `spec` on `texts`, has fewer ids than requested; None if it does not.

    Splits the texts once more to see what is left to merge.
    """
    if model.vocab_size >= spec.vocab_size:
        return None
    if spec.max_merges is not None and len(model.merges) >= spec.max_merges:
        return f"max_merges allows no more than {spec.max_merges} merges"
    distinct = dict(texts.items()) if isinstance(texts, PieceCounts) else set(corpus_pieces(texts, spec))
    pieces = (b"".join(piece_symbols(piece, spec)) for piece in distinct)
    left = [piece for piece in pieces if piece not in model.id_by_token]
    if not left:
        return "it ran out of pairs: every piece of the text is one token; give more text"
    bounds = [f"occurs {spec.min_count} times or more (min_count)"] if spec.min_count > 1 else []
    if spec.max_token_bytes is not None and any(len(piece) > spec.max_token_bytes for piece in left):
        bounds.append(f"makes a token of {spec.max_token_bytes} bytes or less (max_token_bytes)")
    most = spec.max_token_characters
    if most is not None and any(len(piece.decode().removesuffix(spec.end_of_word or "")) > most for piece in left):
        bounds.append(f"makes a token of {most} characters or less (max_token_characters)")
    if any(text.encode("utf-8", "surrogatepass") in piece for text in spec.forbidden_tokens for piece in left):
        bounds.append("makes no forbidden token (forbidden_tokens)")
    return f"no pair is left that {' and '.join(bounds)}" if bounds else "the trainer's own rules allow no more merges"
