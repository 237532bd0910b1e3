"""tiktoken's rules for ids, special tokens, threads and vocabularies, and the exceptions it raises for invalid ones.

They differ from those of `core.arguments`: an id that no uint32 holds is an OverflowError, a set of ids is refused but
bytes are accepted, and any text may be disallowed, whether it is a special token or not.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping
from typing import Any

from impls.core.arguments import check_text, unsigned, wrong_type
from impls.core.errors import SpecialToken
from impls.core.text.text import special_matcher


def token_ids(tokens: Any) -> list[int]:
    """Return `tokens` as a list; raise TypeError unless they are a sequence, OverflowError for one that no uint32
    holds."""
    if isinstance(tokens, str | Mapping) or not hasattr(type(tokens), "__getitem__"):
        raise wrong_type("tokens", "a sequence of whole numbers", tokens)
    return [unsigned(f"tokens[{position}]", token, 32) for position, token in enumerate(tokens)]


def as_bytes(text_or_bytes: Any) -> bytes:
    """Return a text as UTF-8, bytes as they are; raise TypeError, or UnicodeEncodeError for a surrogate."""
    if isinstance(text_or_bytes, str):
        return text_or_bytes.encode("utf-8")
    if not isinstance(text_or_bytes, bytes):
        raise wrong_type("text_or_bytes", "a str or bytes", text_or_bytes)
    return text_or_bytes


def check_utf8(text: Any, name: str = "text") -> None:
    """Raise TypeError unless `text` is a str, UnicodeEncodeError for a surrogate."""
    check_text(text, name)
    text.encode("utf-8")


def check_disallowed(text: str, disallowed: Any) -> None:
    """Raise `SpecialToken` if `text` contains one of the texts `disallowed`; TypeError for other arguments."""
    if not disallowed:
        return
    wanted = frozenset(disallowed)
    for item in wanted:
        check_text(item, "an item of disallowed_special")
    check_text(text)
    if match := special_matcher(wanted).search(text):
        raise SpecialToken(match[0], match.start())


def checked_allowed(allowed: Any) -> Collection[str]:
    """Return `allowed`; raise TypeError unless it is a set of texts, UnicodeEncodeError for a surrogate in one."""
    if not isinstance(allowed, set | frozenset):
        raise wrong_type("allowed_special", "a set of texts or 'all'", allowed)
    for item in allowed:
        check_utf8(item, "an item of allowed_special")
    return allowed


def threads_of(num_threads: Any) -> int:
    """Return `num_threads`, limited to the number of cores (also for None); raise ValueError below 1, or TypeError."""
    cores = os.cpu_count() or 1
    if num_threads is None:
        return cores
    if num_threads <= 0:
        raise ValueError(f"num_threads must be at least 1, not {num_threads}")
    return max(1, int(min(num_threads, cores)))


def check_vocabulary(ranks: Any, special_tokens: Any, pattern: Any, n_vocab: Any) -> None:
    """Raise for invalid arguments of an encoding.

    AttributeError without a method `values`, ValueError without ranks, TypeError or OverflowError for an item,
    AssertionError if there are not `n_vocab` ids.
    """
    highest = max(max(ranks.values()), max(special_tokens.values(), default=0))
    if n_vocab and not (len(ranks) + len(special_tokens) == n_vocab == highest + 1):
        counts = f"{len(ranks)} ranks and {len(special_tokens)} special tokens up to id {highest}"
        raise AssertionError(f"explicit_n_vocab is {n_vocab}, but there are {counts}")
    for name, given in (("mergeable_ranks", ranks), ("special_tokens", special_tokens)):
        if not isinstance(given, dict):
            raise wrong_type(name, "a dict", given)
        for key, rank in given.items():
            unsigned(f"{name}[{key!r}]", rank, 32)
    for token in ranks:
        if not isinstance(token, bytes):
            raise wrong_type("a key of mergeable_ranks", "bytes", token)
    for text in special_tokens:
        check_utf8(text, "a key of special_tokens")
    check_text(pattern, "pat_str")
