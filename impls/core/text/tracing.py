"""Rewritten texts with their origin: the span of the original text that each character was made from.

    NFC          "e\\u0301t"  ->  "ét"     é from [0, 1), t from [2, 3)
    Metaspace    "hi"        ->  "▁hi"    ▁ and h from [0, 1), i from [1, 2)

The spans are those of Hugging Face's library, see `core.text.places`; those of SentencePiece's own normalisation are
the parts that it replaces.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from impls.core.text.normalization import call, normalizer, steps_of
from impls.core.text.places import places_of
from impls.core.text.sentencepiece_rules import SPACE_MARK, SentencePieceRules, replacements, write_text
from impls.core.text.text import repair_surrogates

Edit = tuple[int, int, str]
"""Start and end of a part of a text, and what replaces it; empty parts are insertions."""


@dataclass(frozen=True, slots=True)
class Traced:
    """A text, and for each character the start and the end of the span of the original that it comes from."""

    text: str
    starts: Sequence[int]
    ends: Sequence[int]
    origin: int = 0
    """Position in the original of an empty text."""

    @classmethod
    def of(cls, text: str) -> Traced:
        """Return `text` as its own original."""
        return cls(text, range(len(text)), range(1, len(text) + 1))

    def part(self, start: int, end: int) -> Traced:
        """Return the part from `start` to `end`."""
        return Traced(self.text[start:end], self.starts[start:end], self.ends[start:end], self._place(start))

    def _place(self, at: int) -> int:
        if at < len(self.starts):
            return self.starts[at]
        return self.ends[-1] if self.ends else self.origin

    def edited(self, edits: Iterable[Edit]) -> Traced:
        """Return the text with parts replaced; the edits are in order and do not overlap."""
        parts: list[str] = []
        starts: list[int] = []
        ends: list[int] = []
        at = 0
        for start, end, new in (*edits, (len(self.text), len(self.text), "")):
            parts += [self.text[at:start], new]
            first = self._place(start)
            starts += [*self.starts[at:start], *[first] * len(new)]
            ends += [*self.ends[at:start], *[self.ends[end - 1] if start < end else first] * len(new)]
            at = end
        return Traced("".join(parts), starts, ends, self.origin)

    def moved(self, text: str, places: Sequence[int]) -> Traced:
        """Return `text`; `places` gives for each of its characters the one of this text that it comes from."""
        return Traced(text, [self.starts[k] for k in places], [self.ends[k] for k in places], self.origin)

    def with_prefix(self, written: str) -> Traced:
        """Return `written`: this text with a prefix, which has the place of the first character, or with some
        characters replaced."""
        n_before = len(written) - len(self.text)
        if written == self.text:
            return self
        if not self.text:
            return self.edited([(0, 0, written)])
        return self.moved(written, [*[0] * n_before, *range(len(self.text))])


@dataclass(frozen=True, slots=True)
class Rewriting:
    """Steps of normalization, then SentencePiece's rules: as a function of a text, or of a traced one."""

    steps: str | None
    charsmap: bytes = b""
    rules: SentencePieceRules | None = None
    user_defined: Collection[str] = ()

    def __call__(self, text: str, first: bool) -> str:
        """Return `text` rewritten; `first` says whether it begins the whole text."""
        if self.steps is not None:
            text = normalizer(self.steps, self.charsmap)(text)
        return text if self.rules is None else write_text(text, self.rules, self.user_defined, first=first)

    def traced(self, source: Traced, first: bool) -> Traced:
        """Return `source` rewritten."""
        for name, texts in steps_of(self.steps) if self.steps else []:
            after = normalizer(call(name, *texts), self.charsmap)(source.text)
            if after != source.text or name.startswith("replace"):
                source = source.moved(after, places_of(name, texts, source.text, after, self.charsmap))
        return source if self.rules is None else _written(source, self.rules, self.user_defined, first)


def _written(source: Traced, rules: SentencePieceRules, user_defined: Collection[str], first: bool) -> Traced:
    """Rewrite `source` as `write_text` does, by the same steps."""
    written = write_text(source.text, rules, user_defined, first=first)
    if rules.looks_up or (rules.remove_extra_spaces and user_defined):
        source = source.edited(replacements(source.text, rules, user_defined))
        if rules.remove_extra_spaces:
            source = source.part(0, len(source.text.rstrip(f" {SPACE_MARK}" if rules.escape_spaces else " ")))
    elif rules.remove_extra_spaces:
        for expression in (r"\A +", rf"[ {SPACE_MARK}]+\Z" if rules.escape_spaces else r" +\Z", r" +(?= )"):
            source = source.edited((*match.span(), "") for match in re.finditer(expression, source.text))
    return source.with_prefix(written)


def surrogates_repaired(text: str) -> Traced:
    """Return `text` with surrogate pairs joined and lone ones replaced by U+FFFD, as `repair_surrogates` does."""
    traced = Traced.of(text)
    surrogates = re.finditer("[\ud800-\udbff][\udc00-\udfff]|[\ud800-\udfff]", text)
    edits = [(*match.span(), repair_surrogates(match[0])) for match in surrogates]
    return traced.edited(edits) if edits else traced
