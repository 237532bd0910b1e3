"""The steps of a file's decoder by name: how the tokens of ids become text, as in Hugging Face's library.

    replace("▁"," ")+byte-fallback+fuse+strip(" ","1","0")      ▁a <0xC3> <0xA9>  ->  "aé"
    spaces                                                      a ▁b              ->  "a ▁b"

`spaces` is what that library does without a decoder. Written like the steps of `core.text.normalization`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby

import regex

from impls.core.errors import InvalidModel, InvalidPattern
from impls.core.text.byte_alphabet import from_printable
from impls.core.text.normalization import call, read_calls, replacing
from impls.core.text.sentencepiece_rules import SPACE_MARK, SentencePieceRules

Step = Callable[[list[str]], list[str]]

SPACES, BYTE_LEVEL, BYTE_FALLBACK, FUSE = "spaces", "byte-level", "byte-fallback", "fuse"
MARKS, STRIP = call("replace", SPACE_MARK, " "), call("strip", " ", "1", "0")


def bytes_of(token: str) -> bytes:
    """Return the bytes of a token of printable characters, or the UTF-8 of any other token."""
    try:
        return from_printable(token)
    except KeyError:
        return token.encode()


def byte_of(token: str) -> int | None:
    """Return the byte that a token such as <0x0A> represents, or None."""
    if len(token) != 6 or not token.startswith("<0x") or not token.endswith(">"):
        return None
    digits = token[3:5].removeprefix("+")
    return int(digits, 16) if digits and all(digit in "0123456789abcdefABCDEF" for digit in digits) else None


def _with_bytes(tokens: list[str]) -> list[str]:
    """Return the tokens with each run of byte tokens as its text, or as one U+FFFD per byte if it is not UTF-8."""
    written: list[str] = []
    for are_bytes, run in groupby(tokens, key=lambda token: byte_of(token) is not None):
        part = list(run)
        if are_bytes:
            data = bytes(byte for token in part if (byte := byte_of(token)) is not None)
            try:
                part = [data.decode()]
            except UnicodeDecodeError:
                part = ["\ufffd" * len(data)]
        written += part
    return written


def _each(change: Callable[[str], str]) -> Step:
    return lambda tokens: list(map(change, tokens))


def _stripping(character: str, start: str, stop: str) -> Step:
    n_first, n_last = int(start), int(stop)

    def stripped(token: str) -> str:
        token = token[:n_first].lstrip(character) + token[n_first:]
        kept = max(len(token) - n_last, 0)
        return token[:kept] + token[kept:].rstrip(character)

    return _each(stripped)


def _without_suffix(suffix: str) -> Step:
    return lambda tokens: [token.replace(suffix, " " if k < len(tokens) else "") for k, token in enumerate(tokens, 1)]


def _by_metaspace(mark: str, first: str) -> Step:
    return lambda tokens: [token.replace(mark, " " if k else first) for k, token in enumerate(tokens)]


_PLAIN: dict[str, Step] = {
    SPACES: lambda tokens: [f" {token}" if k else token for k, token in enumerate(tokens)],
    BYTE_LEVEL: lambda tokens: [b"".join(map(bytes_of, tokens)).decode("utf-8", "replace")],
    BYTE_FALLBACK: _with_bytes,
    FUSE: lambda tokens: ["".join(tokens)],
}
_WITH_ARGUMENTS: dict[str, tuple[int, Callable[..., Step]]] = {
    "replace": (2, lambda old, new: _each(lambda token: token.replace(old, new))),
    "replace-regex": (2, lambda pattern, new: _each(replacing(pattern, new))),
    "strip": (3, _stripping),
    "suffix": (1, _without_suffix),
    "metaspace": (2, _by_metaspace),
}
"""Step -> the number of its arguments, and the function that makes the step from them."""


@dataclass(frozen=True)
class TokenDecoder:
    """The steps as a function of the tokens' texts."""

    steps: tuple[Step, ...]
    by_token: bool
    """Whether each token becomes a text by itself; only the first one, and the last, may be treated differently."""
    looks_ahead: bool
    """Whether the last token is treated differently."""
    joins_bytes: bool
    """Whether tokens are the bytes of a text: with byte tokens, whose runs are decoded together, or byte-level."""
    strips: bool
    """Whether, of a text of joined bytes, the space that begins it is removed."""
    marks: bool
    """Whether, of joined bytes, U+2581 is a space."""
    byte_level: bool

    def parts(self, tokens: Iterable[str]) -> list[str]:
        """Return the texts that join to the text of `tokens`; one per token if `by_token`."""
        parts = list(tokens)
        for step in self.steps:
            parts = step(parts)
        return parts

    def text(self, tokens: Iterable[str]) -> str:
        """Return the text of tokens."""
        return "".join(self.parts(tokens))

    def bytes_by_id(self, names: Mapping[int, str]) -> tuple[dict[int, bytes], Collection[int] | None]:
        """Return the bytes of each token and the ids of byte tokens, None if byte-level; for `joins_bytes`."""
        if self.byte_level:
            return {i: bytes_of(name) for i, name in names.items()}, None
        byte_by_id = {i: byte for i, name in names.items() if len(name) == 6 and (byte := byte_of(name)) is not None}
        mark = SPACE_MARK.encode() if self.marks else b" "
        by_id = {i: data.replace(mark, b" ") for i, data in zip(names, map(str.encode, names.values()), strict=True)}
        return by_id | {i: bytes([byte]) for i, byte in byte_by_id.items()}, frozenset(byte_by_id)


def steps_of_decoder(written: str) -> list[tuple[str, list[str]]]:
    """Return (name, arguments) of each step of `Model.decoder`; raise `InvalidModel` for an unknown one."""
    return read_calls("decoder", written, _PLAIN, _WITH_ARGUMENTS)


@lru_cache(maxsize=64)
def token_decoder(written: str) -> TokenDecoder:
    """Return the steps of `Model.decoder`; raise `InvalidModel` for an unknown one."""
    calls = steps_of_decoder(written)
    try:
        steps = tuple(_WITH_ARGUMENTS[name][1](*texts) if texts else _PLAIN[name] for name, texts in calls)
    except (regex.error, InvalidPattern, ValueError) as error:
        raise InvalidModel(f"decoder {written!r}: {error}") from None
    names = [name for name, _ in calls]
    n_steps = len(names) - (names[-1:] == [FUSE])  # the texts are joined anyway
    runs = [call(name, *texts) for name, texts in calls]
    marks, strips = runs[:1] == [MARKS], runs[-1:] == [STRIP]
    joins = runs[marks : len(runs) - strips] == [BYTE_FALLBACK, FUSE]
    return TokenDecoder(
        steps=steps[:n_steps],
        by_token=not {BYTE_LEVEL, BYTE_FALLBACK, FUSE}.intersection(names[:n_steps]),
        looks_ahead="suffix" in names,
        joins_bytes=joins or names == [BYTE_LEVEL],
        strips=joins and strips,
        marks=joins and marks,
        byte_level=names == [BYTE_LEVEL],
    )


def usual_decoders(rules: SentencePieceRules | None) -> list[str]:
    """Return the decoders that undo what `rules` do to white space; the first is written to a file."""
    if rules is None:
        return []
    hides, escapes = rules.hides_prefix, rules.escape_spaces
    written = [*([MARKS] if escapes else []), BYTE_FALLBACK, FUSE, *([STRIP] if hides else [])]
    usual = ["+".join(written)]
    if not rules.byte_ids:
        usual.append("+".join(step for step in written if step != BYTE_FALLBACK))
        if escapes and rules.dummy_prefix != "always":
            usual.append(call("metaspace", SPACE_MARK, "" if hides else " "))
    return usual
