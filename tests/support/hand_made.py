"""Models written by hand."""

from __future__ import annotations

from typing import Any

from impls import Model


def hand_made(merges: str, extra: str = "", alphabet: str = "chars", **fields: Any) -> Model:
    """Return the model of merges such as "a+b ab+a"; `extra` adds tokens that no merge makes.

    Tokens: the letters in order (or the 256 bytes), then what the merges make, then the extra ones.
    """
    pairs = [tuple(part.encode() for part in merge.split("+")) for merge in merges.split()]
    if alphabet == "chars":
        tokens = sorted({letter.encode() for letter in f"{merges}{extra}" if letter not in "+ "})
    else:
        tokens = [bytes([byte]) for byte in range(256)]
    for token in [left + right for left, right in pairs] + [token.encode() for token in extra.split()]:
        if token not in tokens:
            tokens.append(token)
    ids = {token: i for i, token in enumerate(tokens)}
    listed = () if fields.get("merge_rule") == "concatenation" else [(ids[left], ids[right]) for left, right in pairs]
    return Model(tokens=tuple(tokens), merges=tuple(listed), alphabet=alphabet).with_(**fields)  # type: ignore[arg-type]
