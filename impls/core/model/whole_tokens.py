r"""Finding special and added tokens in a text, as Hugging Face's library does.

A token may absorb the white space before it (`lstrip`) or after it (`rstrip`), match only at word boundaries
(`single_word`), or be searched in the normalised text (`normalized`), in a second pass: the first cuts the others out
of the original text. Of tokens that begin at one place the longest wins.

    "<mask>" with lstrip:    "a  <mask> b"  ->  "a"   <mask> (and the spaces before it)   " b"

Knows models; runs no merges.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import regex

from impls.core.errors import SpecialToken
from impls.core.model.data import ModelData
from impls.core.text.normalization import PREFIX_SPACE, WHITE_SPACE, without_prefix_space
from impls.core.text.text import repair_surrogates, special_matcher
from impls.core.text.tracing import Rewriting, Traced
from impls.core.text.unicode_16 import as_unicode_16

if TYPE_CHECKING:
    from impls.core.arguments import SpecialSet

FLAGS = ("single_word", "lstrip", "rstrip", "normalized")
"""Possible flags of a token in `Model.whole_token_flags`."""

Part = tuple[str, int | None, int]
"""A part of a text, the id of the special or added token that it is (or None), and its offset."""

_LONGEST, _MOST = 200, 20_000
_WORD = regex.compile(r"[\p{Alphabetic}\p{M}\p{Nd}\p{Pc}\u200c\u200d]")


class WholeTokens:
    """Finds the special and added tokens of a model in a text."""

    def __init__(self, model: ModelData) -> None:
        self._specials, self._added = model.special_tokens.keys(), model.added_tokens.keys()
        self._ids = model.whole_token_ids
        self._flags = model.whole_token_flags
        later = [text for text, flags in self._flags.items() if "normalized" in flags]
        self._before, self._after = normal_form(model), mark_spaces(model)
        self._all = model.rewriting
        self._later = {self._before(text, True): text for text in later}
        self.hidden = bool(later) and model.rewrites_text
        """Whether a token may occur only in the normalised text."""

    def _listed(self, special: SpecialSet) -> set[str]:
        return set(self._specials) if special == "all" else self._specials & set(special or ())

    def searched(self, allowed_special: SpecialSet, disallowed_special: SpecialSet) -> frozenset[str]:
        """Return the texts that are encoded as one token, or refused."""
        return frozenset(self._listed(allowed_special) | self._listed(disallowed_special) | self._added)

    def occur(self, text: str, allowed_special: SpecialSet, disallowed_special: SpecialSet) -> bool:
        """Return whether an allowed or added token may occur in `text`; raise `SpecialToken` for a disallowed one."""
        if not self._ids:
            return False
        allowed = self._listed(allowed_special)
        disallowed = self._listed(disallowed_special) - (allowed if disallowed_special == "all" else set())
        if disallowed and (match := special_matcher(frozenset(disallowed)).search(text)):
            raise SpecialToken(match[0], match.start())
        wanted = allowed | self._added
        if not wanted or self.hidden:
            return bool(wanted)
        return special_matcher(frozenset(wanted)).search(repair_surrogates(text)) is not None

    def parts(self, text: str, allowed_special: SpecialSet, normalize: Callable[[str, bool], str]) -> Iterator[Part]:
        """Yield the parts of `text`, which has no surrogate, in order.

        Text between tokens is normalised by `normalize`, or here if tokens are searched in the normalised text.
        """
        now, later = self._searched(allowed_special)
        for segment, i, start in self._cut(text, now):
            if i is not None:
                yield segment, i, start
            elif not later:
                yield normalize(segment, start == 0), None, start
            else:
                for part, k, at in self._cut(self._before(segment, start == 0), later):
                    yield part if k is not None else self._after(part, start == 0 and at == 0), k, start + at

    def traced_parts(self, source: Traced, allowed_special: SpecialSet) -> Iterator[tuple[Traced, Traced, int | None]]:
        """Yield the parts of `source` like `parts`: before and after rewriting, and the id of a whole token."""
        now, later = self._searched(allowed_special)
        for segment, i, start in self._cut(source.text, now):
            part = source.part(start, start + len(segment))
            if i is not None:
                yield part, part, i
            elif not later:
                yield part, self._all.traced(part, start == 0), None
            else:
                before = self._before.traced(part, start == 0)
                for written, k, at in self._cut(before.text, later):
                    part = before.part(at, at + len(written))
                    yield part, part if k is not None else self._after.traced(part, start == 0 and at == 0), k

    def _searched(self, allowed_special: SpecialSet) -> tuple[dict[str, str], dict[str, str]]:
        """Return the tokens searched in the text, and those searched in the normalised text: written form -> text."""
        wanted = self._listed(allowed_special) | self._added
        later = {written: token for written, token in self._later.items() if token in wanted}
        return {token: token for token in wanted.difference(later.values())}, later

    def _cut(self, text: str, texts: Mapping[str, str]) -> Iterator[Part]:
        """Yield the parts of `text` that match `texts` (written form of a token -> its text), and those between."""
        for part, token, start in cut(text, texts, self._flags):
            yield part, None if token is None else self._ids[token], start


def cut(
    text: str, texts: Mapping[str, str], flags_of: Mapping[str, Collection[str]], skipped: Collection[str] = ()
) -> Iterator[tuple[str, str | None, int]]:
    """Yield the parts of `text`, each with its offset and the token it matches, or None.

    `texts` maps the written form of a token to the token. A match of a token in `skipped` hides any within it, but is
    not a part of its own.
    """
    start = 0
    for match in special_matcher(frozenset(texts)).finditer(text) if texts else ():
        begin, end = match.span()
        token = texts[match[0]]
        flags = flags_of.get(token, ())
        if token in skipped:
            continue
        if "single_word" in flags and (is_word(text[begin - 1 : begin]) or is_word(text[end : end + 1])):
            continue
        if "lstrip" in flags:
            begin = start + len(text[start:begin].rstrip(WHITE_SPACE))
        if "rstrip" in flags:
            while end < len(text) and text[end] in WHITE_SPACE:
                end += 1
        if begin >= end:  # the token before has absorbed all of it
            continue
        if start < begin:
            yield text[start:begin], None, start
        yield text[begin:end], token, begin
        start = end
    if start != len(text):
        yield text[start:], None, start


def normal_form(model: ModelData) -> Rewriting:
    """Return Hugging Face's normalizer of `model`, a function of a text and whether it begins the whole text."""
    steps, _ = without_prefix_space(model.normalization_steps)
    rules = model.writing_rules
    if rules is not None and rules.dummy_prefix in ("missing", "first"):  # Metaspace adds it, which comes later
        rules = replace(rules, escape_spaces=False, dummy_prefix="never")
    return Rewriting(steps, model.charsmap, rules, model.user_defined_texts)


def mark_spaces(model: ModelData) -> Rewriting:
    """Return what Hugging Face's pre-tokenizer of `model` does to white space after `normal_form`."""
    rules = model.writing_rules
    if rules is not None and rules.dummy_prefix in ("missing", "first"):
        return Rewriting(
            None, rules=replace(rules, charsmap=b"", charsmap_by_graphemes=False, remove_extra_spaces=False)
        )
    return Rewriting(PREFIX_SPACE if without_prefix_space(model.normalization)[1] else None)


def is_word(character: str) -> bool:
    """Return whether a `single_word` token does not match beside `character`."""
    return _WORD.match(as_unicode_16(character)) is not None


def can_meet(some: Collection[str], others: Collection[str]) -> bool:
    """Return whether a match of `some` and one of `others` may overlap; True if checking would take too long.

    >>> can_meet(["<a>"], ["a>b"]), can_meet(["<a>"], ["  ", "<b>"])
    (True, False)
    """
    if max(map(len, (*some, *others)), default=0) > _LONGEST or len(some) + len(others) > _MOST:
        return True
    for these, those in ((some, others), (others, some)):
        ends = {text[k:] for text in these for k in range(len(text))}
        if any(text[:k] in ends for text in those for k in range(1, len(text) + 1)):
            return True
        if any(special_matcher(frozenset(these)).search(text) for text in those if these):
            return True
    return False
