"""Shared by the formats: the written form of tokens, ids and merges, and parts of a model that a format cannot hold.

Tokens over bytes are written in GPT-2's printable characters. Knows no file format.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import chain
from typing import Any

import numpy as np

from impls.core.errors import InvalidModel, Unsupported, plural
from impls.core.model import Model
from impls.core.model.checks import MAX_ID
from impls.core.text.byte_alphabet import CHARACTER_TO_BYTE, from_printable
from impls.formats.files import token_table

Pair = tuple[int, int]


def check_ids(vocab: Any, field: str) -> dict[str, int]:
    """Return `vocab` as token -> id; raise `InvalidModel` naming the entry with an invalid id."""
    if not isinstance(vocab, dict) or not vocab:
        raise InvalidModel(f"{field}: expected an object of tokens and their ids")
    if "" in vocab:
        raise InvalidModel(f"{field}: the token with id {vocab['']!r} is empty")
    ids = vocab.values()
    if set(map(type, ids)) != {int} or min(ids) < 0 or max(ids) > MAX_ID:
        token, i = next((token, i) for token, i in vocab.items() if type(i) is not int or not 0 <= i <= MAX_ID)
        raise InvalidModel(f"{field}: the token {token!a} has the id {i!r}, not a whole number up to {MAX_ID}")
    return vocab


def read_tokens(vocab: Mapping[str, int], of_bytes: bool, field: str) -> tuple[bytes | None, ...]:
    """Return token bytes by id, of printable characters (`of_bytes`) or of texts.

    Raise `InvalidModel` naming a token with another character than the 256 printable ones, or a lone surrogate.
    """
    try:
        tokens = [_bytes_of_printable(*entry, field) if of_bytes else entry[0].encode() for entry in vocab.items()]
    except UnicodeEncodeError as error:
        raise InvalidModel(f"the token {error.object!a} of the vocabulary contains a lone surrogate") from None
    return token_table(tokens, vocab.values())


def bytes_of_printed(text: str) -> np.ndarray:
    """Return the byte that each character stands for: uint16 of shape (n_characters,), 256 or more for one that stands
    for none."""
    byte_by_code = np.full(1 << 16, 256, np.uint16)
    byte_by_code[list(map(ord, CHARACTER_TO_BYTE))] = list(CHARACTER_TO_BYTE.values())
    return byte_by_code[np.frombuffer(text.encode("utf-16-le", "surrogatepass"), np.uint16)]


def _bytes_of_printable(token: str, i: int, field: str) -> bytes:
    """Return the bytes of a printable token; raise `InvalidModel` if it is not one."""
    try:
        return from_printable(token)
    except KeyError as error:
        problem = f"the token {token!a} (id {i}) contains {error.args[0]!a}, which is not mapped to a byte"
        raise InvalidModel(f"{field}: {problem}; only byte-level vocabularies are read here") from None


def two_parts(line: str, where: str) -> tuple[str, str]:
    """Return the two parts of a merge, separated by a space; raise `InvalidModel` naming the place."""
    left, _, right = line.partition(" ")
    if not (left and right) or " " in right:
        raise InvalidModel(f"{where}: expected two tokens separated by a space, not {line[:40]!a}")
    return left, right


def pairs_of_ids(merges: Iterable[tuple[str, str]], vocab: Mapping[str, int]) -> tuple[Pair, ...]:
    """Return merges as pairs of ids; raise KeyError if a part is not in the vocabulary."""
    ids = map(vocab.__getitem__, chain.from_iterable(merges))
    return tuple(zip(ids, ids, strict=True))


def check_merges(merges: Iterable[tuple[str, str]], vocab: Mapping[str, int], field: str) -> None:
    """Raise `InvalidModel` naming a merge with a part or result outside the vocabulary."""
    for rank, (left, right) in enumerate(merges):
        for part in (left, right, left + right):
            if part not in vocab:
                raise InvalidModel(f"{field}: merge {rank} ({left!a} {right!a}): {part!a} is not in the vocabulary")


def without_unmerged(
    vocab: dict[str, int], merges: Sequence[tuple[str, str]], texts: Collection[str]
) -> dict[str, int]:
    """Return `vocab` without the tokens of `texts`, unless they are part of a merge."""
    listed = [text for text in texts if text in vocab]
    if not listed:
        return vocab
    used = set(listed).intersection(chain.from_iterable(merges))
    places = ((text, k) for text in listed for k in range(1, len(text)))
    if beginnings := {text[:k] for text, k in places if text[:k] in vocab and text[k:] in vocab}:
        used |= set(listed).intersection(left + right for left, right in merges if left in beginnings)
    kept = dict(vocab)
    for text in set(listed) - used:
        del kept[text]
    return kept


def add_whole_token(vocab: dict[str, int], text: str, i: int, format: str) -> None:
    """Add a special token by its plain text; raise `Unsupported` if that is another token's printable form."""
    if vocab.setdefault(text, i) != i:
        raise Unsupported(
            format, f"the special token {text!r} (id {i}) is written like the token with id {vocab[text]}"
        )


def first_other_id(added: Iterable[tuple[str, int]], vocab: Mapping[str, int]) -> tuple[int, int] | None:
    """Return the index of the first added token that Hugging Face's library gives another id, and that id, or None.

    It gives a token outside the vocabulary the next free id, whatever the file says.
    """
    highest = -1
    for index, (text, i) in enumerate(added):
        given = vocab.get(text, highest + 1 if highest >= len(vocab) else len(vocab))
        if given != i:
            return index, given
        highest = max(highest, i)
    return None


def listed_merges(model: Model) -> tuple[tuple[Pair, ...], str | None]:
    """Return merges that give the ids of `model` when only listed pairs merge, and why they are inexact, or None.

    For a model that looks up joined bytes, the merge of each token is recovered from lower ranks. If some tokens have
    none, every way to split a token in two is listed, lowest id first: the closest approximation by a list of merges.
    """
    if model.merge_rule == "pairs":
        return model.merges, None
    merges, underived = model.recovered_merges
    if not underived:
        return merges, _equal_ranks_differ(model)
    ids = model.id_by_token
    lengths = sorted({len(token) for token in ids})  # a long token is split only at the lengths of other tokens
    every = [
        (ids[token[:k]], ids[token[k:]])
        for token, i in sorted(ids.items(), key=lambda entry: (model.ranks[entry[1]], -len(entry[0])))
        for k in (range(1, len(token)) if len(token) <= len(lengths) else lengths)
        if token[:k] in ids and token[k:] in ids
    ]
    token = model.tokens[underived[0]]
    return tuple(every), (
        f"{plural(len(underived), 'token')} cannot be made from tokens of lower rank, the first is id {underived[0]} "
        f"({token!r}); all ways to make each token are listed instead"
    )


def _equal_ranks_differ(model: Model) -> str | None:
    """Return why a list of merges may give different ids for equal ranks, or None; runs of one character never do."""
    for i in model.equal_ranks:
        if len(set((model.tokens[i] or b"").decode("utf-8", "replace"))) > 1:
            return f"{model.tokens[i]!r} (id {i}) has the rank of another token, and the leftmost of them merges first"
    return None


# --- losses ----------------------------------------------------------------------------------------------------------


def lost_fields(model: Model, *names: str) -> list[str]:
    """Return a line for each of the fields `names` that `model` uses, in this order."""
    return [_described(name, value) for name in names if (value := getattr(model, name))]


def _described(name: str, value: Any) -> str:
    if name == "merge_counts":
        return f"{name}: how often each merge occurred in training"
    if name == "ignore_merges":
        return f"{name}: a whole piece in the vocabulary is merged like any other"
    if isinstance(value, str):
        return f"{name}: {value}"
    text, flags = next(iter(value.items()))
    first = f"{name}: {len(value)}, the first is {text!r}"
    return f"{first}: {', '.join(flags)}" if name == "whole_token_flags" else first
