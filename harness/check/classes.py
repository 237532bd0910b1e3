"""Agreement classes: whether two implementations must agree, and under which conditions.

Every exact implementation of ours follows the definition (the lowest rank, of equal ranks the leftmost, one merge at a
time) on every model that it does not refuse. Greedy longest match may differ on any.
"""

from __future__ import annotations

from dataclasses import dataclass

import impls
from harness.records import AgreementClass
from harness.targets import PUBLISHED, is_target

OWN_KINDS = ("pure", "compiled")
REFERENCE = "priority"
"""The implementation that targets are compared with."""


@dataclass(frozen=True, slots=True)
class Relation:
    """The agreement class of a pair."""

    agreement_class: AgreementClass
    conditions: str

    @property
    def must_agree(self) -> bool:
        """Return whether a difference is a fault."""
        return self.agreement_class != "expected to differ"


def registered(name: str) -> str | None:
    """Return the registered implementation that `name` runs, or None for any other kind of target."""
    return None if is_target(name) or name == PUBLISHED else name


def relation(a: str, b: str, *, sentencepiece: bool = False) -> Relation:
    """Return how `a` and `b` relate; `sentencepiece`: the model is SentencePiece's."""
    for name in (a, b):
        known = registered(name)
        if known is not None and not impls.get(known).exact:
            return Relation("expected to differ", f"{name} is not byte pair encoding in merge order")
    conditions = sorted({condition for name in (a, b) for condition in conditions_of(name, sentencepiece)})
    return Relation("equal under conditions" if conditions else "provably equal", "; ".join(conditions))


def conditions_of(name: str, sentencepiece: bool = False) -> list[str]:
    """Return under which conditions an implementation equals ours; none for those that split as ours do."""
    known = registered(name)
    if known == "sentencepiece" or (name == PUBLISHED and sentencepiece):
        return []
    if known == "tokenizers" and sentencepiece:
        return ["white space written by Prepend and Replace or by us, and the merges that ranks imply"]
    if name in (PUBLISHED, "tiktoken", "tokenizers"):
        return ["splitting engines with the same Unicode version (16)"]
    is_own = known is not None and impls.get(known).kind in OWN_KINDS
    return [] if is_own else [f"{name} is exact, as its author claims"]
