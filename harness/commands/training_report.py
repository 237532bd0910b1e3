"""What `train` prints about the vocabulary it learned."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from harness.commands import options
from harness.printable import printable
from impls import Model


def first_tokens(model: Model, n_kept: int, n_shown: int) -> list[dict[str, Any]]:
    """Return id, token and count of the first tokens learned after the `n_kept` merges that training began with."""
    counts = model.merge_counts
    return [
        {"id": i, "token": _readable(model.tokens[i] or b""), "count": None if counts is None else counts[rank]}
        for rank, i in enumerate(model.merge_results[n_kept : n_kept + n_shown], n_kept)
    ]


def lines(document: Mapping[str, Any], model: Model) -> str:
    """Return the document of `train` as text: first tokens, sizes, why training ended, when merges gain little."""
    shown: list[str] = []
    if first := document["first_tokens"]:
        shown += [options.table([list(row.values()) for row in first], ["id", "token", "count"]), ""]
    kept = f", {document['n_kept_merges']} of them kept" if document["extended"] else ""
    size = f"{document['n_merges']} merges{kept}, {model.vocab_size} ids"
    shown.append(f"{size}, learned in {document['seconds']:.2f} s from {document['n_bytes']} bytes")
    if (short := document["why_short"]) is not None:
        asked_for = document["vocab_size_asked_for"]
        shown.append(printable(f"ended {asked_for - model.vocab_size} ids short of {asked_for}: {short}"))
    if (end := document["until"]) is not None and not end["by_rule"]:
        shown.append(printable(f"not ended by {end['rule']}: {end['why']}"))
    flat = document["plateau_merge"]
    if first and flat is not None and model.merge_counts is not None:
        most = model.merge_counts[flat]
        shown.append(f"later merges (after {flat}) each replace at most {most} pairs")
    return "\n".join(shown)


def _readable(token: bytes) -> str:
    r"""Return a token as a Python literal: ' ev', or b' \xd7' if it is not a whole text."""
    try:
        return repr(token.decode())
    except UnicodeDecodeError:
        return repr(token)
