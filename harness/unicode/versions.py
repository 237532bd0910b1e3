"""Which Unicode version a splitting engine knows, found by asking it: is this letter of that version a letter?

For every version one letter that it added. A tiny model holds each of them joined to an `a` as one token and splits
letters from the rest: a letter the engine knows comes back as one token, one it does not as several.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import regex

from impls import Model, get

LETTERS = {
    "10.0": "\u0860",
    "11.0": "\u0560",
    "12.0": "\u0e86",
    "13.0": "\u08be",
    "14.0": "\u0870",
    "15.0": "\U0001e4d0",
    "15.1": "\U0002ebf0",
    "16.0": "\u1c89",
    "17.0": "\ua7ce",
}
"""Unicode version -> a letter that appeared in it."""
_PATTERN = r"\p{L}+|\P{L}+"


def version(is_letter: Callable[[str], bool]) -> str | None:
    """The newest version all of whose letters, and those of the versions before, are letters; None for none."""
    newest: str | None = None
    for name, letter in LETTERS.items():
        if not is_letter(letter):
            break
        newest = name
    return newest


def probe_model() -> Model:
    """The tiny model: 256 bytes, and each letter behind an `a` merged from the left."""
    tokens: list[bytes | None] = [bytes([byte]) for byte in range(256)]
    merges: list[tuple[int, int]] = []
    ids = {bytes([byte]): byte for byte in range(256)}
    for letter in LETTERS.values():
        whole = ("a" + letter).encode()
        for end in range(2, len(whole) + 1):
            part = whole[:end]
            if part not in ids:
                ids[part] = len(tokens)
                tokens.append(part)
                merges.append((ids[part[:-1]], ids[part[-1:]]))
    return Model(tokens=tuple(tokens), merges=tuple(merges), pattern=(_PATTERN,))


def versions(implementations: Iterable[str]) -> dict[str, str | None]:
    """The version each implementation's splitting knows, None where it cannot run the tiny model; and `regex`'s."""
    found: dict[str, str | None] = {"regex": version(lambda letter: bool(regex.match(r"\p{L}", letter)))}
    model = probe_model()
    for name in implementations:
        found[name] = _version_of(name, model)
    return found


def _version_of(name: str, model: Model) -> str | None:
    try:
        tokenizer = get(name)(model)
        return version(lambda letter: len(tokenizer.encode("a" + letter)) == 1)
    except BaseException:
        return None
