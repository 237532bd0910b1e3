"""How tokens are derived: the merge that makes each token, and the irregularities of a model's merges."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import pairwise, zip_longest

from impls.core.errors import plural, shortened
from impls.core.model.data import ModelData
from impls.core.model.merging import character_ends, merged, middle_of
from impls.core.model.whole_tokens import normal_form
from impls.core.text.byte_alphabet import to_printable
from impls.core.text.sentencepiece_rules import SPACE_MARK

_LAST = 1 << 62  # above every rank


def bytes_by_id(model: ModelData) -> dict[int, bytes]:
    """Return the bytes that each id decodes to, by SentencePiece's rules before the leading space is removed."""
    rules, decoder = model.sentencepiece, model.token_decoder
    if decoder is not None and decoder.joins_bytes:
        return decoder.bytes_by_id(names_by_id(model))[0]
    by_id = {i: token for i, token in enumerate(model.tokens) if token is not None}
    if rules is not None:
        mark = (SPACE_MARK if rules.escape_spaces else " ").encode()
        by_id = {i: token.replace(mark, b" ") for i, token in by_id.items()}
    if model.end_of_word is not None:
        end = model.end_of_word.encode()
        by_id = {i: token.removesuffix(end) + b" " if token.endswith(end) else token for i, token in by_id.items()}
    shown = rules is None or decoder is not None
    by_id |= {i: text.encode() if shown else b"" for text, i in model.special_tokens.items()}
    by_id |= {i: text.encode() for text, i in model.added_tokens.items()}
    if model.unknown is not None and model.unknown_id is not None:
        by_id[model.unknown_id] = (model.unknown if rules is None else rules.unknown_text).encode()
    if rules is not None:
        by_id |= {i: bytes([byte]) for byte, i in enumerate(rules.byte_ids) if i >= 0}
    return by_id


def names_by_id(model: ModelData) -> dict[int, str]:
    """Return the texts of tokens as Hugging Face's library decodes them: bytes are printable characters, or `<0x41>`,
    and an added token is in normal form if it is searched so."""
    spell = to_printable if model.alphabet == "bytes" else bytes.decode
    names = {i: spell(token) for i, token in enumerate(model.tokens) if token is not None}
    if model.sentencepiece is not None:
        names |= {i: f"<0x{byte:02X}>" for byte, i in enumerate(model.sentencepiece.byte_ids) if i >= 0}
    return names | names_of_others(model)


def names_of_others(model: ModelData) -> dict[int, str]:
    """Return `names_by_id` of the unknown token, and of special and added tokens."""
    names: dict[int, str] = {}
    if model.unknown is not None and model.unknown_id is not None:
        names[model.unknown_id] = model.unknown
    normal = normal_form(model)
    for text, i in model.whole_token_ids.items():
        names[i] = normal(text, True) if "normalized" in model.whole_token_flags.get(text, ()) else text
    return names


Merges = tuple[tuple[int, int], ...]


def recovered_merges(model: ModelData) -> tuple[Merges, tuple[int, ...]]:
    """Return the merges of a model whose ids are its ranks, whatever its merge rule, and the ids without a merge.

    They are recovered once, and cached with the model. A token's merge is found by running byte pair encoding on its
    base symbols with all lower ranks; a token for which that does not end in two parts has no derivation. Merges are in
    rank order, of equal ranks the longest token first: when only listed pairs merge, a run of one character then grows
    from the left, as it does if the leftmost of equal ranks merges first.
    """
    if "recovered_merges" not in model.__dict__:
        model.__dict__["recovered_merges"] = _recover_merges(model)
    recovered: tuple[Merges, tuple[int, ...]] = model.__dict__["recovered_merges"]
    return recovered


def _recover_merges(model: ModelData) -> tuple[Merges, tuple[int, ...]]:
    ranks = _ranks_by_token(model)
    merges: list[tuple[int, int]] = []
    underived: list[int] = []
    for token, i in sorted(model.id_by_token.items(), key=lambda entry: (model.ranks[entry[1]], -len(entry[0]))):
        ends = _ends(model, token)
        if i in model.unmade_ids or len(ends) == 1:
            continue
        parts = _parts_of(token, ends, model.ranks[i] + 1, ranks, model)
        if parts is None:
            underived.append(i)
        else:
            merges.append(parts)
    return tuple(merges), tuple(underived)


def unused_parts(model: ModelData) -> dict[int, tuple[int, ...]]:
    """Return the ids that replace each token of `sentencepiece.unused_ids`: its two parts, recursively if these are
    unused too. A token without a derivation is not replaced."""
    if model.sentencepiece is None or not model.sentencepiece.unused_ids:
        return {}
    ranks = _ranks_by_token(model)
    parts_of: dict[int, tuple[int, ...]] = {}
    for i in sorted(set(model.sentencepiece.unused_ids), key=lambda i: len(model.tokens[i] or b"")):
        token = model.tokens[i] or b""
        ends = character_ends(token)
        if len(ends) > 1 and (parts := _parts_of(token, ends, _LAST, ranks, model)) is not None:
            parts_of[i] = tuple(unit for part in parts for unit in parts_of.get(part, (part,)))
    return parts_of


def _ranks_by_token(model: ModelData) -> dict[bytes, int]:
    return {token: model.ranks[i] for token, i in model.id_by_token.items() if i not in model.unmade_ids}


def _parts_of(
    token: bytes, ends: Sequence[int], limit: int, ranks: Mapping[bytes, int], model: ModelData
) -> tuple[int, int] | None:
    """Return the ids of the two parts that merging `token` by ranks below `limit` leaves, or None."""
    middle = middle_of(token, ends, limit, ranks)
    left, right = model.id_by_token.get(token[:middle]), model.id_by_token.get(token[middle:])
    return None if left is None or right is None else (left, right)


def ids_out_of_order(model: ModelData) -> str | None:
    """Return why the ids of `model` are not in the order of its ranks, or None if they are."""
    previous = -1
    for rank, result in enumerate(model.merge_results):
        if result <= previous:
            return f"merge {rank} makes id {result} after merge {rank - 1} made id {previous}"
        previous = result
    return None


def concatenation_differs(model: ModelData) -> str | None:
    """Return why looking up joined bytes, lowest id first, may give different ids than the model's rule, or None.

    The two rules agree if every token's derivation from lower ranks is the merge listed for it: when two neighbours are
    joined to a token, all lower ranks inside its span have been merged, so the span is in the state the derivation
    leaves, and its last two parts are the listed pair.
    """
    if model.merge_rule == "concatenation":
        return None
    if model.alphabet == "bytes" and model.end_of_word is not None:
        return f"words end in {model.end_of_word!r}"
    if why := ids_out_of_order(model):
        return why
    recovered, underived = recovered_merges(model)
    if underived:
        return _summary("no derivation from lower ranks", underived, model)[0]
    if recovered != model.merges:
        pairs = zip_longest(recovered, model.merges)
        rank = next(rank for rank, (derived, listed) in enumerate(pairs) if derived != listed)
        return f"merge {rank} is not how the lower ranks make that token"
    return None


def why_not_replayed(model: ModelData) -> str | None:
    """Return why merging rank by rank, never going back, may give different ids than the model's rule, or None.

    It gives the same if every merge ranks after all that make its parts: then no merge enables one of a lower rank.
    """
    equal = _summary("the rank of another", equal_ranks(model), model)
    return equal[0] if equal else why_out_of_order(model)


def why_out_of_order(model: ModelData) -> str | None:
    """Return why a merge may come before those that make its parts, or None if it never does."""
    if model.merge_rule == "concatenation":
        return next(iter(_summary("no derivation from lower ranks", recovered_merges(model)[1], model)), None)
    rank_of = {pair: rank for rank, pair in enumerate(model.merges)}  # of a pair that is listed twice the later one
    last_made = {model.merge_results[rank]: rank for rank in sorted(rank_of.values())}
    late = [rank for pair, rank in rank_of.items() if any(last_made.get(part, -1) >= rank for part in pair)]
    return None if not late else f"merge {min(late)} ranks before a merge that makes one of its parts"


def irregularities(model: ModelData) -> tuple[str, ...]:
    """Return how `model` differs from a trained one, one line each.

    On a regular model every exact algorithm gives the same ids; on an irregular one they may differ.
    """
    if model.merge_rule == "concatenation":
        return _summary("no derivation from lower ranks", recovered_merges(model)[1], model)
    problems: list[str] = []
    if model.ignore_merges:
        problems.append("ignore_merges: a whole piece in the vocabulary is one token whatever its merges")
    duplicates = [pair for pair, times in Counter(model.merges).items() if times > 1]
    if duplicates:
        problems.append(f"{plural(len(duplicates), 'duplicate merge')}; the later rank counts")
    last_rank = {pair: rank for rank, pair in enumerate(model.merges)}
    n_derivations = Counter(model.merge_results[rank] for rank in last_rank.values())
    problems += _summary("several derivations", [i for i, times in n_derivations.items() if times > 1], model)
    first_rank: dict[int, int] = {}
    for rank, result in enumerate(model.merge_results):
        first_rank.setdefault(result, rank)
    late = [rank for rank, pair in enumerate(model.merges) if any(first_rank.get(part, -1) >= rank for part in pair)]
    if late:
        problems.append(
            f"{plural(len(late), 'merge ranks', 'merges rank')} before a merge that makes "
            f"one of their parts, the first is rank {late[0]}"
        )
    derived = n_derivations.keys() | _base_ids(model)
    underived = [i for i in model.id_by_token.values() if i not in derived]
    problems += _summary("no derivation", underived, model)
    return tuple(problems)


def equal_ranks(model: ModelData) -> tuple[int, ...]:
    """Return the tokens that share their rank with another."""
    rules = model.sentencepiece
    if rules is None or not rules.ranks:
        return ()
    longer = [i for i in model.id_by_token.values() if len(character_ends(model.tokens[i] or b"")) > 1]
    times = Counter(rules.ranks[i] for i in longer if i not in model.unmade_ids)
    return tuple(i for i in longer if times[rules.ranks[i]] > 1)


def symbol_ids(model: ModelData) -> frozenset[int]:
    """Return the ids that `Model.symbols` can give: base symbols, the unknown token, the bytes of other characters."""
    spelling = () if model.sentencepiece is None else model.sentencepiece.byte_ids
    return frozenset(i for i in (*_base_ids(model), model.unknown_id, *spelling) if i is not None and i >= 0)


def _base_ids(model: ModelData) -> set[int]:
    """Return the ids of single bytes, or of single characters, inside a word and at its end."""
    suffix = (model.end_of_word or "").encode()
    return {i for token, i in model.id_by_token.items() if len(_ends(model, token.removesuffix(suffix) or token)) == 1}


def _ends(model: ModelData, token: bytes) -> Sequence[int]:
    """Return the offsets at which the bytes or characters of a token end."""
    return range(1, len(token) + 1) if model.alphabet == "bytes" else character_ends(token)


def _summary(what: str, ids: Sequence[int], model: ModelData) -> tuple[str, ...]:
    if not ids:
        return ()
    return (shortened(f"{plural(len(ids), 'token')} with {what}, the first is id {ids[0]} ({model.tokens[ids[0]]!r})"),)


def unreachable(model: ModelData) -> tuple[int, ...]:
    """Return the ids of tokens that no text encodes to by listed merges: merging their symbols does not give them.

    The text around a token does not matter: a merge across its border would prevent the token.
    """
    if concatenation_differs(model) is None:
        return ()
    return tuple(
        i
        for i, token in enumerate(model.tokens)
        if token and all(merged(symbols, model.merge_of)[0] != [i] for symbols in spellings(model, token))
    )


def spellings(model: ModelData, token: bytes) -> list[list[int]]:
    """Return the ways to spell a token in base symbols, as ids; none if a symbol is not a token.

    There are two for a text that ends in `end_of_word` (at the end of a word, and inside it), else one.
    """

    def symbols(part: bytes) -> list[bytes]:
        return [part[start:end] for start, end in pairwise((0, *_ends(model, part)))]

    ways, suffix = [symbols(token)], (model.end_of_word or "").encode()
    if suffix and token.endswith(suffix) and token != suffix:
        *stem, last = symbols(token.removesuffix(suffix))
        ways.insert(0, [*stem, last + suffix])
    ids = [[model.id_by_token.get(symbol) for symbol in way] for way in ways]
    return [[i for i in way if i is not None] for way in ids if None not in way]
