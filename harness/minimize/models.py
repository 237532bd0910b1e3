"""The smallest model that still shows a difference: merges and tokens are removed as long as it does."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from harness.minimize.texts import Budget, smallest_sequence
from impls.core.errors import InvalidModel
from impls.core.model.model import Model

Item = tuple[bytes, bytes]
"""A merge as its two parts, or a token that no merge makes, with an empty second part."""


def smallest_model(model: Model, differs: Callable[[Model], bool], budget: Budget) -> Model:
    """Return a model with as few merges and tokens as still satisfy `differs`; ids are renumbered in the same order.

    `differs(model)` must hold. Models with an unknown token or an end-of-word suffix are returned unchanged.
    """
    if model.unknown is not None or model.end_of_word is not None:
        return model
    changes: dict[str, Any]
    for changes in ({"special_tokens": {}, "added_tokens": {}}, {"pattern": ()}, {"ignore_merges": False}):
        simpler = model.with_(merge_counts=None, **changes)
        if not budget.exhausted and differs(simpler):
            model = simpler

    def holds(items: Sequence[Item]) -> bool:
        try:
            candidate = _with_only(model, items)
        except InvalidModel:
            return False
        return differs(candidate)

    items = _items(model)
    return _with_only(model, smallest_sequence(items, holds, budget)) if holds(items) else model


def _items(model: Model) -> tuple[Item, ...]:
    made = {model.tokens[i] for i in model.merge_results} | _fixed(model)
    merges = ((model.tokens[left] or b"", model.tokens[right] or b"") for left, right in model.merges)
    return (*merges, *((token, b"") for token in model.tokens if token is not None and token not in made))


def _fixed(model: Model) -> set[bytes]:
    return {bytes([byte]) for byte in range(256)} if model.alphabet == "bytes" else set()


def _with_only(model: Model, items: Sequence[Item]) -> Model:
    """Reduce `model` to `items`; a merge is removed with either of its parts."""
    alone = _fixed(model) | {token for token, rest in items if not rest}
    merges = [item for item in items if item[1]]
    while True:
        known = alone | {left + right for left, right in merges}
        kept = [(left, right) for left, right in merges if left in known and right in known]
        if len(kept) == len(merges):
            break
        merges = kept
    tokens = [token for token in model.tokens if token in known]
    ids = {token: i for i, token in enumerate(tokens)}
    others = {text: len(tokens) + n for n, text in enumerate(model.whole_token_ids)}
    return model.with_(
        tokens=tuple(tokens),
        merges=tuple((ids[left], ids[right]) for left, right in merges),
        merge_counts=None,
        special_tokens={text: others[text] for text in model.special_tokens},
        added_tokens={text: others[text] for text in model.added_tokens},
        id_offset=0,
    )
