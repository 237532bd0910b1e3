"""The difference of two vocabularies: which tokens they share, by the bytes they decode to, whatever their kinds."""

from __future__ import annotations

from collections import Counter
from typing import Any

from harness.measure.token_use import KINDS, ordinary_tokens, script_of
from impls.core.model.model import Model


def difference(names: tuple[str, str], models: tuple[Model, Model]) -> dict[str, Any]:
    """Return the tokens that two vocabularies share, those with another id (`n_moved`), and those of one only."""
    one, other = map(ordinary_tokens, models)
    # A character and its byte (SentencePiece) decode to the same bytes; each has its own counterpart.
    ids_in_other: dict[bytes, list[int]] = {}
    for i, token in reversed(other.items()):
        ids_in_other.setdefault(token, []).append(i)
    shared = {i: ids.pop() for i, token in one.items() if (ids := ids_in_other.get(token))}
    reached = set(shared.values())
    only_one, only_other = [i for i in one if i not in shared], [i for i in other if i not in reached]
    special, others = (model.whole_token_ids for model in models)
    both = special.keys() & others.keys()
    n_shared, n_one, n_other = (
        Counter(script_of(tokens[i]) for i in ids)
        for tokens, ids in ((one, list(shared)), (one, only_one), (other, only_other))
    )
    return {
        **{
            side: {"model": name, "round_trip": model.round_trip}
            for side, name, model in zip(("one", "other"), names, models, strict=True)
        },
        "n_shared": len(shared), "n_moved": sum(i != k for i, k in shared.items()),
        "n_only_one": len(only_one), "n_only_other": len(only_other),
        "special": {
            "shared": len(both), "moved": sum(special[text] != others[text] for text in both),
            "only_one": len(special.keys() - both), "only_other": len(others.keys() - both),
        },
        "scripts": [
            {"script": kind, "n_shared": n_shared[kind], "n_only_one": n_one[kind], "n_only_other": n_other[kind]}
            for kind in KINDS
            if n_shared[kind] or n_one[kind] or n_other[kind]
        ],
        "only_one": only_one, "only_other": only_other,
    }  # fmt: skip
