"""How tokens come about: the merge each token is made by, and what is irregular about a model's merges."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise, zip_longest
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from impls.model import Model

_LAST = 1 << 62  # no rank is above it


def recovered_merges(model: Model) -> tuple[tuple[tuple[int, int], ...], tuple[int, ...]]:
    """The merges of a model whose ids are its ranks, whatever its own merge rule, and the ids that have none.

    A token's merge is found by running byte pair encoding on its base symbols with no ranks above its own; a token for
    which that ends in other than two parts has no derivation. Merges are in rank order, of equal ranks that of the
    longest token first: when only listed pairs merge, a run of one character then grows from the left, as it does
    where the leftmost of equal ranks merges first.
    """
    ids = model.id_by_token
    ranks = _ranks_by_token(model)
    alone = () if model.sentencepiece is None else model.sentencepiece.user_defined_ids
    merges: list[tuple[int, int]] = []
    underived: list[int] = []
    for token, i in sorted(ids.items(), key=lambda entry: (model.ranks[entry[1]], -len(entry[0]))):
        if i in alone:
            continue
        ends = range(1, len(token) + 1) if model.alphabet == "bytes" else _character_ends(token)
        if len(ends) == 1:
            continue
        middle = ends[0] if len(ends) == 2 else _middle_of(token, ends, model.ranks[i] + 1, ranks)
        left, right = ids.get(token[:middle]), ids.get(token[middle:])
        if left is None or right is None:
            underived.append(i)
        else:
            merges.append((left, right))
    return tuple(merges), tuple(underived)


def unused_parts(model: Model) -> dict[int, tuple[int, ...]]:
    """The ids that stand for each token of `sentencepiece.unused_ids`: the parts that make it, theirs where they are
    unused themselves. One that nothing makes stands for itself."""
    if model.sentencepiece is None:
        return {}
    ids = model.id_by_token
    ranks = _ranks_by_token(model)
    unused = set(model.sentencepiece.unused_ids)
    found: dict[int, tuple[int, ...]] = {}
    for i in sorted(unused, key=lambda i: len(model.tokens[i] or b"")):
        token = model.tokens[i] or b""
        ends = _character_ends(token)
        middle = len(token) if len(ends) == 1 else ends[0] if len(ends) == 2 else _middle_of(token, ends, _LAST, ranks)
        left, right = ids.get(token[:middle]), ids.get(token[middle:])
        if left is not None and right is not None:
            found[i] = found.get(left, (left,)) + found.get(right, (right,))
    return found


def _ranks_by_token(model: Model) -> dict[bytes, int]:
    alone = () if model.sentencepiece is None else model.sentencepiece.user_defined_ids
    ranks = model.ranks
    return {token: ranks[i] for token, i in model.id_by_token.items() if i not in alone}


def _middle_of(token: bytes, ends: Sequence[int], limit: int, ranks: dict[bytes, int]) -> int:
    """Where the two parts meet that ranks below `limit` leave of `token`; its end where they leave more than two."""
    starts = [0, *ends]
    n_parts = len(ends)
    pair_ranks = [ranks.get(token[starts[k] : starts[k + 2]], limit) for k in range(n_parts - 1)]
    while n_parts > 2:
        best = min(pair_ranks)
        if best >= limit:
            return len(token)
        k = pair_ranks.index(best)
        n_parts -= 1
        del starts[k + 1], pair_ranks[k]
        if k < n_parts - 1:
            pair_ranks[k] = ranks.get(token[starts[k] : starts[k + 2]], limit)
        if k:
            pair_ranks[k - 1] = ranks.get(token[starts[k - 1] : starts[k + 1]], limit)
    return starts[1]


def _character_ends(token: bytes) -> list[int]:
    return [k for k in range(1, len(token) + 1) if k == len(token) or token[k] & 0xC0 != 0x80]


def ids_out_of_order(model: Model) -> str | None:
    """Why the ids of `model` are not in the order of its ranks, or None where they are."""
    previous = -1
    for rank, made in enumerate(model.merge_results):
        if made <= previous:
            return f"merge {rank} makes id {made} after merge {rank - 1} made id {previous}"
        previous = made
    return None


def concatenation_differs(model: Model) -> str | None:
    """Why looking up joined bytes, lowest id first, may give other ids than the model's own rule; None where it cannot.

    Both are one function where every token's derivation from lower ranks is the merge that is listed for it: when two
    neighbours are joined to a token, all lower ranks inside its span have been merged, so the span stands as that
    derivation left it, and its last two parts are the listed pair.
    """
    if model.merge_rule == "concatenation":
        return None
    if why := ids_out_of_order(model):
        return why
    recovered, underived = model.recovered_merges
    if underived:
        return _summary("no derivation from lower ranks", underived, model)[0]
    if recovered != model.merges:
        pairs = zip_longest(recovered, model.merges)
        rank = next(rank for rank, (found, listed) in enumerate(pairs) if found != listed)
        return f"merge {rank} is not how the lower ranks make that token"
    return None


def irregularities(model: Model) -> tuple[str, ...]:
    """What sets `model` apart from a trained one, a line each."""
    if model.merge_rule == "concatenation":
        return _summary("no derivation from lower ranks", model.recovered_merges[1], model)
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


def equal_ranks(model: Model) -> tuple[int, ...]:
    """Tokens that are made at the rank of another."""
    rules = model.sentencepiece
    if rules is None or not rules.ranks:
        return ()
    made = [i for i in model.id_by_token.values() if len(_character_ends(model.tokens[i] or b"")) > 1]
    times = Counter(rules.ranks[i] for i in made if i not in rules.user_defined_ids)
    return tuple(i for i in made if times[rules.ranks[i]] > 1)


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


def unreachable(model: Model) -> tuple[int, ...]:
    """Ids of tokens that no text is encoded to: merging a token's own symbols ends in something else.

    What stands around a token does not matter: had a merge crossed its border, the token would not be there. Where a
    whole piece is looked up (merge rule `concatenation`, `ignore_merges`) every token can be reached as one.
    """
    if model.merge_rule == "concatenation" and model.sentencepiece is not None and not model.ignore_merges:
        return model.recovered_merges[1]
    if model.merge_rule == "concatenation" or model.ignore_merges or concatenation_differs(model) is None:
        return ()
    ranks = {pair: rank for rank, pair in enumerate(model.merges)}
    results = model.merge_results
    return tuple(i for i, token in enumerate(model.tokens) if token and _merged(model, token, ranks, results) != [i])


def _merged(model: Model, token: bytes, ranks: dict[tuple[int, int], int], results: Sequence[int]) -> list[int] | None:
    """What the symbols of `token` merge to, the lowest rank first; None where they are no symbols of the model."""
    ids = _symbols_of(model, token)
    while ids is not None and len(ids) > 1:
        rank, at = min((ranks.get(pair, len(ranks)), at) for at, pair in enumerate(pairwise(ids)))
        if rank == len(ranks):
            break
        ids[at : at + 2] = [results[rank]]
    return ids


def _symbols_of(model: Model, token: bytes) -> list[int] | None:
    if model.alphabet == "bytes":
        return [model.id_by_token[bytes([byte])] for byte in token]
    suffix = model.end_of_word or ""
    text = token.decode("utf-8", "replace")
    ends = bool(suffix) and text.endswith(suffix) and text != suffix
    stem = text.removesuffix(suffix) if ends else text
    symbols = [*stem[:-1], stem[-1:] + (suffix if ends else "")]
    ids = [model.id_by_token.get(symbol.encode("utf-8", "replace")) for symbol in symbols]
    return None if None in ids else [i for i in ids if i is not None]
