"""How a tokenizer treats white space and digits, measured on texts made for it rather than read off the pattern."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import numpy as np

from harness.lint.proofs import text_of
from impls import BPEError, Tokenizer

_LONGEST_RUN = 256
_RUNS = {"space": " ", "tab": "\t", "line feed": "\n"}
_NUMBER = "8276154930718204659374"
"""Digits without a repeated pair, so that it contains no common number."""


def policy(tokenizer: Tokenizer, tokens: Mapping[int, bytes]) -> dict[str, dict[str, Any]]:
    """Return `digits` and `white_space`: how a tokenizer with these ordinary tokens treats them."""
    return {"digits": _digits(tokenizer, tokens), "white_space": _white_space(tokenizer, tokens)}


def _digits(tokenizer: Tokenizer, tokens: Mapping[int, bytes]) -> dict[str, Any]:
    """Return digits per piece, the longest token of digits found, and the share of numbers that are one token.

    `one_token_share` is over all numbers of a given count of digits, with leading zeros, each after a space.
    """
    shares = {}
    longest = 0
    for n_digits in range(1, 5):
        numbers = [f"{number:0{n_digits}}" for number in range(10**n_digits)]
        found = [[token for token in one if token.strip().isdigit()] for one in _encoded(tokenizer, numbers, tokens)]
        shares[str(n_digits)] = sum(len(one) == 1 for one in found) / len(numbers)
        longest = max(longest, *(len(token.strip()) for one in found for token in one), 0)
    with_space = sum(token[:1] == b" " and token[1:].isdigit() for token in tokens.values())
    return {"pieces_of_a_long_number": _pieces(tokenizer, _NUMBER), "longest_token_digits": longest,
            "one_token_share": shares, "n_tokens_of_space_and_digits": with_space}  # fmt: skip


def _encoded(tokenizer: Tokenizer, numbers: list[str], tokens: Mapping[int, bytes]) -> list[list[bytes]]:
    try:
        ids, offsets = tokenizer.encode_ragged([f"a {number}" for number in numbers], disallowed_special=())
    except BPEError:  # the alphabet has no digits
        return [[] for _ in numbers]
    listed, ends = ids.tolist(), offsets.tolist()
    return [[tokens.get(i, b"") for i in listed[a:b]] for a, b in pairwise(ends)]


def _pieces(tokenizer: Tokenizer, number: str) -> list[int] | None:
    """Return the digits of each piece of a long number; None if no pattern cuts pieces."""
    if tokenizer.model.sentencepiece is not None or not tokenizer.model.pattern:
        return None
    try:
        return [len(piece) for piece in tokenizer.pieces(number)]
    except BPEError:
        return None


def _white_space(tokenizer: Tokenizer, tokens: Mapping[int, bytes]) -> dict[str, Any]:
    """Return where the space before a word goes, tokens of words with and without it, the longest runs in one token."""
    texts = [text for token in tokens.values() if (text := text_of(token)) is not None]
    words = [text for text in texts if text.lstrip(" ")[:1].isalpha()]
    n_spaced = sum(text.startswith(" ") for text in words)
    return {
        "space_before_a_word": _space(tokenizer),
        "n_tokens_of_space_and_letters": n_spaced,
        "n_tokens_of_letters": len(words) - n_spaced,
        "longest_run_in_one_token": {name: _run(tokenizer, tokens, character) for name, character in _RUNS.items()},
        "four_spaces_before_a_word": _four_spaces(tokenizer, tokens),
    }


def _space(tokenizer: Tokenizer) -> str:
    """Return which piece a single space between words belongs to, by the pieces or, without a pattern, the model."""
    if tokenizer.model.sentencepiece is not None or not tokenizer.model.pattern:
        return "no pattern: merges decide"
    try:
        pieces = tokenizer.pieces("ab cd")
    except BPEError:
        return "not known: the alphabet has no such letters"
    if " cd" in pieces:
        return "in the piece of the word after it"
    if "ab " in pieces:
        return "in the piece of the word before it"
    return (
        "in one piece with both words"
        if "ab cd" in pieces
        else "dropped"
        if "ab" in pieces and " " not in pieces
        else "a piece of its own"
    )


def _run(tokenizer: Tokenizer, tokens: Mapping[int, bytes], character: str) -> int:
    """Return the longest run of a character that is one token somewhere in runs of up to `_LONGEST_RUN`."""
    try:
        ids, _ = tokenizer.encode_ragged([f"a{character * n}" for n in range(1, _LONGEST_RUN + 1)])
    except BPEError:
        return 0
    met = [tokens.get(i, b"") for i in np.unique(ids).tolist()]
    return max((len(token) for token in met if token and not token.strip(character.encode())), default=0)


def _four_spaces(tokenizer: Tokenizer, tokens: Mapping[int, bytes]) -> list[str] | None:
    try:
        ids = tokenizer.encode("a\n    return", disallowed_special=())
    except BPEError:
        return None
    return [tokens.get(i, b"").decode("utf-8", "backslashreplace") for i in ids]
