"""How tokens come about: the merge each token is made by, and what is irregular about a model's merges."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from impls.model import Model


def recovered_merges(model: Model) -> tuple[tuple[tuple[int, int], ...], tuple[int, ...]]:
    """The merges of a `concatenation` model, and the ids that have none.

    A token's merge is found by running byte pair encoding on its bytes with the lower ranks only; a token for
    which that ends in other than two parts has no derivation. Merges are in rank order.
    """
    ranks = model.id_by_token
    merges: list[tuple[int, int]] = []
    underived: list[int] = []
    for i, token in enumerate(model.tokens):
        if token is None or len(token) == 1:
            continue
        parts = _merged_below(token, i, ranks)
        if len(parts) == 2:
            merges.append((ranks[parts[0]], ranks[parts[1]]))
        else:
            underived.append(i)
    return tuple(merges), tuple(underived)


def _merged_below(token: bytes, limit: int, ranks: dict[bytes, int]) -> list[bytes]:
    parts = [token[k : k + 1] for k in range(len(token))]
    while len(parts) > 2:
        best, where = limit, -1
        for k in range(len(parts) - 1):
            rank = ranks.get(parts[k] + parts[k + 1], limit)
            if rank < best:
                best, where = rank, k
        if where < 0:
            break
        parts[where : where + 2] = [parts[where] + parts[where + 1]]
    return parts


def irregularities(model: Model) -> tuple[str, ...]:
    """What sets `model` apart from a trained one, a line each."""
    if model.merge_rule == "concatenation":
        return _summary("no derivation from lower ranks", recovered_merges(model)[1], model)
    found: list[str] = []
    if model.ignore_merges:
        found.append("ignore_merges: a whole piece in the vocabulary is one token whatever its merges")
    duplicates = [pair for pair, times in Counter(model.merges).items() if times > 1]
    if duplicates:
        found.append(f"{len(duplicates)} duplicate merge(s); the later rank counts")
    last_rank = {pair: rank for rank, pair in enumerate(model.merges)}
    made = Counter(model.merge_results[rank] for rank in last_rank.values())
    found += _summary("several derivations", [i for i, times in made.items() if times > 1], model)
    first_rank: dict[int, int] = {}
    for rank, made_id in enumerate(model.merge_results):
        first_rank.setdefault(made_id, rank)
    late = [rank for rank, pair in enumerate(model.merges) if any(first_rank.get(part, -1) >= rank for part in pair)]
    if late:
        found.append(
            f"{len(late)} merge(s) rank before a merge that makes one of their parts, the first is rank {late[0]}"
        )
    base = _base_ids(model)
    underived = [i for i, token in enumerate(model.tokens) if token is not None and i not in made and i not in base]
    found += _summary("no derivation", underived, model)
    return tuple(found)


def _base_ids(model: Model) -> set[int]:
    suffix = (model.end_of_word or "").encode()
    base: set[int] = set()
    for token, i in model.id_by_token.items():
        if model.alphabet == "bytes":
            if len(token) == 1:
                base.add(i)
            continue
        stem = token.removesuffix(suffix) if suffix else token
        if len((stem or token).decode("utf-8", "replace")) == 1:
            base.add(i)
    return base


def _summary(what: str, ids: Sequence[int], model: Model) -> tuple[str, ...]:
    if not ids:
        return ()
    return (f"{len(ids)} token(s) with {what}, the first is id {ids[0]} ({model.tokens[ids[0]]!r})",)
