"""What the peers' trainers share: the single pattern most can split by, and reading what they learned."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from impls.core.errors import Unsupported
from impls.core.text.patterns import WHOLE_TEXT, drops_text, resolve
from impls.interface import TrainingSpec


def one_pattern(name: str, spec: TrainingSpec) -> str:
    """Return the specification's pattern as one expression; raise `Unsupported` for several split stages."""
    stages = resolve(spec.pattern)
    if len(stages) > 1:
        raise Unsupported(name, f"TrainingSpec.pattern: it splits by one expression, not by {len(stages)} stages")
    if drops_text(stages):
        raise Unsupported(name, "TrainingSpec.pattern: it cannot drop what a pattern leaves out")
    return stages[0] if stages else WHOLE_TEXT


def trained_on(base: Sequence[bytes], rank_by_token: Mapping[bytes, int]) -> list[bytes]:
    """Return the tokens learned beyond the base symbols, in the order they were learned."""
    known = set(base)
    return sorted(rank_by_token.keys() - known, key=rank_by_token.__getitem__)
