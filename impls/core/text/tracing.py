"""Rewritten texts with their origin: the span of the original text that each character was made from.

    NFC          "e\\u0301t"  ->  "ét"     é from [0, 2), t from [2, 3)
    Metaspace    "hi"        ->  "▁hi"    ▁ from [0, 0), h from [0, 1), i from [1, 2)

An inserted character has an empty span at its place, a removed one is in no span. Characters that are rewritten
together (a letter and its marks, an entry of a charsmap, a match that is replaced) all have the span of the whole
group. If a step rewrites a text differently than its parts, the text between its unchanged ends is one such group.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

import regex

from impls.core.text.normalization import PREFIX_SPACE, WHITE_SPACE, call, normalizer, steps_of
from impls.core.text.sentencepiece_rules import SPACE_MARK, SentencePieceRules, replacements, write_text
from impls.core.text.unicode_16 import as_unicode_16

Edit = tuple[int, int, str]
"""Start and end of a part of a text, and what replaces it; empty parts are insertions."""

_CHUNKS = tuple(map(regex.compile, (r"[\s\S]", r"[\s\S]\p{M}*", r"\X")))
"""Parts that a step rewrites separately: characters, if it composes none; else with marks, or (Hangul) graphemes."""


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

    def rewritten(self, written: str, ways: Iterable[Callable[[str], Iterable[Edit]]]) -> Traced:
        """Return the text rewritten to `written`: by the first of `ways` whose edits give that, else by one edit."""
        if written == self.text:
            return self
        for edits_of in ways:
            if (found := self.edited(edits_of(self.text))).text == written:
                return found
        return self.edited([_one_edit(self.text, written)])


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
            step = normalizer(call(name, *texts), self.charsmap)
            source = source.rewritten(step(source.text), _ways(name, texts, step))
        return source if self.rules is None else _written(source, self.rules, self.user_defined, first)


def _ways(name: str, texts: Sequence[str], step: Callable[[str], str]) -> list[Callable[[str], Iterable[Edit]]]:
    """Return candidate ways to find the edits of a step."""
    if name.startswith("strip") and name != "strip-accents":
        return [_ends_stripped]
    if name in (PREFIX_SPACE, "prepend"):
        return [lambda text: [(0, 0, texts[0] if texts else " ")]]
    if name == "replace":
        return [lambda text: [(*found.span(), texts[1]) for found in re.finditer(re.escape(texts[0]), text)]]
    if name == "replace-regex":
        expression = regex.compile(texts[0])
        return [lambda text: [(*each.span(), texts[1]) for each in expression.finditer(as_unicode_16(text, texts[0]))]]

    def by(chunks: regex.Pattern[str]) -> Callable[[str], Iterator[Edit]]:
        return lambda text: _changed(chunks, step, text)

    return [by(chunks) for chunks in _CHUNKS]


def _changed(chunks: regex.Pattern[str], step: Callable[[str], str], text: str) -> Iterator[Edit]:
    for chunk in chunks.finditer(as_unicode_16(text)):
        before = text[chunk.start() : chunk.end()]
        if (new := step(before)) != before:
            yield (*chunk.span(), new)


def _ends_stripped(text: str) -> list[Edit]:
    """Return the edits that strip both ends; a step that strips only one of them may need `_one_edit` instead."""
    kept = text.strip(WHITE_SPACE)
    start = text.find(kept)
    return [(0, start, ""), (start + len(kept), len(text), "")]


def _one_edit(text: str, written: str) -> Edit:
    shorter = min(len(text), len(written))
    start = next((k for k in range(shorter) if text[k] != written[k]), shorter)
    same = (k for k in range(shorter - start) if text[-1 - k] != written[-1 - k])
    n_last = next(same, shorter - start)
    return start, len(text) - n_last, written[start : len(written) - n_last]


def _written(source: Traced, rules: SentencePieceRules, user_defined: Collection[str], first: bool) -> Traced:
    """Rewrite `source` as `write_text` does, by the same steps."""
    written = write_text(source.text, rules, user_defined, first=first)
    if written == source.text:
        return source
    traced = source
    if rules.looks_up or (rules.remove_extra_spaces and user_defined):
        traced = traced.edited(replacements(source.text, rules, user_defined))
    elif rules.remove_extra_spaces:
        kept = source.text.strip(" ")
        start = source.text.find(kept) if kept else len(source.text)
        inner = [(start + run.start(), start + run.end(), " ") for run in re.finditer("  +", kept)]
        traced = traced.edited([(0, start, ""), *inner, (start + len(kept), len(source.text), "")])
    if rules.remove_extra_spaces:
        traced = traced.part(0, len(traced.text.rstrip(f" {SPACE_MARK}" if rules.escape_spaces else " ")))
    if rules.escape_spaces:
        traced = Traced(traced.text.replace(" ", SPACE_MARK), traced.starts, traced.ends, traced.origin)
    if len(written) == len(traced.text) + 1:
        traced = traced.edited([(0, 0, written[0])])
    return traced if traced.text == written else source.edited([_one_edit(source.text, written)])


def surrogates_repaired(text: str) -> Traced:
    """Return `text` with surrogate pairs joined and lone ones replaced by U+FFFD, as `repair_surrogates` does."""
    traced = Traced.of(text)
    if text.isascii():
        return traced
    found = re.finditer("([\ud800-\udbff][\udc00-\udfff])|[\ud800-\udfff]", text)
    edits = [(*one.span(), _joined(one[0]) if one[1] else "\ufffd") for one in found]
    return traced.edited(edits) if edits else traced


def _joined(pair: str) -> str:
    return pair.encode("utf-16-le", "surrogatepass").decode("utf-16-le")
