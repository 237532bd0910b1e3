"""SentencePiece's rules except the merges, as data: white space as a mark, bytes for unknown characters, pieces of
other types; how a text is rewritten before encoding, and how ids are decoded.

    "Hello  world"  ->  "▁Hello▁▁world"  ->  symbols  ->  merges  ->  ids

Encoding, exactly: the text is normalised (`charsmap`), extra spaces are removed (`remove_extra_spaces`), the dummy
prefix is prepended, U+0020 becomes U+2581 (`escape_spaces`). User-defined pieces are cut out, the longest at each place
from the left. The text between them starts as characters; one that is not a token becomes its UTF-8 bytes (`byte_ids`)
or the unknown token, and does not merge. The lowest of `ranks` merges first, of equal ranks the leftmost. A token of
`unused_ids` merges like any other, and is replaced by its parts at the end. Source: Kudo and Richardson 2018,
"SentencePiece: A simple and language independent subword tokenizer and detokenizer for Neural Text Processing", and its
library 0.2.3.

Knows no file format and runs no merges.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Literal

from impls.core.text.charsmap import charsmap_of
from impls.core.text.text import special_matcher

SPACE_MARK = "\u2581"

DummyPrefix = Literal["always", "missing", "first", "never"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SentencePieceRules:
    """The rules of a SentencePiece model, which is over characters, or of a conversion of one."""

    escape_spaces: bool = True
    """U+0020 is encoded as U+2581, and U+2581 is decoded as U+0020."""
    dummy_prefix: DummyPrefix = "always"
    """When a space is prepended to a non-empty text: `always`; if it is `missing`, that is, unless the text begins with
    one; if it is missing at the `first` position, but not after a special token; `never`. SentencePiece has only
    `always` and `never`."""
    remove_extra_spaces: bool = False
    """Strip spaces at the ends, and collapse runs of spaces into one. Decoding then hides a mark also after a token
    that is nothing but a hidden one."""
    charsmap: bytes = b""
    """The compiled normalisation that `Model.normalization` names; see `impls.core.text.charsmap`."""
    charsmap_by_graphemes: bool = False
    """The charsmap is a step of `Model.normalization`, looked up as Hugging Face does, before everything else."""
    byte_ids: tuple[int, ...] = ()
    """The id of each of the 256 bytes, for characters that are not tokens; empty: they become the unknown token. -1 for
    a byte without an id (Hugging Face): a character with such a byte becomes the unknown token."""
    user_defined_ids: tuple[int, ...] = ()
    """Tokens that are searched in a text first, and do not merge."""
    unused_ids: tuple[int, ...] = ()
    """Tokens that merge, and are replaced by their parts at the end."""
    ranks: tuple[int, ...] = ()
    """Merge rank by id, for the rule `concatenation`, lowest first. Empty: the ids are the ranks."""
    fuse_unknown: bool = True
    """Unknown characters in a row become one unknown token."""
    unknown_text: str = " \u2047 "
    """What the unknown token decodes to."""

    def __post_init__(self) -> None:
        for name in ("byte_ids", "user_defined_ids", "unused_ids", "ranks"):
            object.__setattr__(self, name, tuple(getattr(self, name)))

    @property
    def spells_all(self) -> bool:
        """Return whether every byte has an id, so that no character is unknown."""
        return bool(self.byte_ids) and -1 not in self.byte_ids

    def spelled(self, character: str) -> list[int]:
        """Return the ids of the bytes of a character; an empty list if a byte has none."""
        ids = [self.byte_ids[byte] for byte in character.encode()] if self.byte_ids else []
        return [] if -1 in ids else ids

    def written_byte(self, text: str) -> int | None:
        """Return the id of the byte that `text` names as its token does, `<0x41>`, or None."""
        if not self.byte_ids or not (named := re.fullmatch("<0x([0-9A-F]{2})>", text)):
            return None
        i = self.byte_ids[int(named[1], 16)]
        return None if i == -1 else i

    @property
    def hides_prefix(self) -> bool:
        """Return whether decoding removes the space that begins a text."""
        return self.escape_spaces and (self.dummy_prefix != "never" or self.remove_extra_spaces)

    @property
    def changes_text(self) -> bool:
        """Return whether `write_text` may change a text."""
        return self.escape_spaces or self.dummy_prefix != "never" or self.remove_extra_spaces or self.looks_up

    @property
    def looks_up(self) -> bool:
        """Return whether the charsmap is looked up as SentencePiece does."""
        return bool(self.charsmap) and not self.charsmap_by_graphemes


# --- writing a text ------------------------------------------------------------------------------------------


def write_text(text: str, rules: SentencePieceRules, user_defined: Collection[str], *, first: bool = True) -> str:
    """Return `text` rewritten for encoding; `first` is False for a segment that follows a special token.

    >>> write_text("a  b", SentencePieceRules(), ())
    '▁a▁▁b'
    """
    if not text:
        return ""
    if rules.looks_up or (rules.remove_extra_spaces and user_defined):
        text = "".join(part for _, _, part in replacements(text, rules, user_defined))
    elif rules.remove_extra_spaces:
        text = re.sub("  +", " ", text.strip(" "))
    if rules.remove_extra_spaces and not (text := text.rstrip(f" {SPACE_MARK}" if rules.escape_spaces else " ")):
        return ""
    mark = SPACE_MARK if rules.escape_spaces else " "
    text = text.replace(" ", mark)
    is_missing = not text.startswith(mark) and (first or rules.dummy_prefix == "missing")
    return mark + text if rules.dummy_prefix == "always" or (rules.dummy_prefix != "never" and is_missing) else text


def replacements(text: str, rules: SentencePieceRules, user_defined: Collection[str]) -> Iterator[tuple[int, int, str]]:
    """Yield (start, end, replacement) of each part of `text`: normalised, except user-defined pieces, and without
    spaces that begin the text or follow a space.

    A replacement may begin with spaces, or be empty: then the character before it decides what follows.
    """
    charsmap = charsmap_of(rules.charsmap) if rules.looks_up else None
    own = special_matcher(frozenset(user_defined)) if user_defined else None
    match = own.search(text) if own else None
    after_space = rules.remove_extra_spaces
    data = text.encode()
    at = at_byte = 0
    while at < len(text):
        start, part = at, text[at]
        n_bytes = len(part.encode())
        if own and match and match.start() < at:
            match = own.search(text, at)
        if match and match.start() == at:
            part = match[0]
            n_bytes, at = len(part.encode()), match.end()
        elif charsmap and (replaced := charsmap.prefix(data, at_byte)) is not None:
            n_bytes, replacement = replaced
            part = replacement.decode("utf-8", "replace")
            at += len(data[at_byte : at_byte + n_bytes].decode("utf-8", "replace"))
        else:
            at += 1
        at_byte += n_bytes
        if after_space:
            part = part.lstrip(" ")
        yield start, at, part
        if part:
            after_space = rules.remove_extra_spaces and part.endswith(" ")
