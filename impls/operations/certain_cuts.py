"""Find certain places in a text: if it is cut there, the ids of both parts are those of the whole, whatever follows.

    "the| cat| sat"     GPT-2's pattern cuts between a letter and a space in every text
    "12|3"              not certain: \\p{N}{1,3} cuts by how many digits there are
    "a <|end"           not after "<|": "of|>" may follow, and make it one special token

A place p of a text is certain if for all texts y that may follow: ids(xy) = ids(x[:p]) + ids(x[p:]y), each part encoded
alone (the second without a space or prefix put before it). It depends only on the two characters beside p, and on
special tokens around it. The proof, with the code it is about:

1. Pattern (`core.pattern.tables`). A stage is a deterministic automaton; it reads from left to right and never
   looks back, so what it does from a cut on depends on nothing before. Let Q be all its states after reading a
   character of class a, in any text. It separates (a, b) if each state of Q ends a piece both when b is next and at
   the end of the text, or in both cases fails and goes back to the same earlier match: then no attempt to match
   reaches beyond the cut (so no look-ahead, no longer match and no `\\s+(?!\\S)` can), in any text, and x[:p] alone
   is split as before. It passes a cut at (a, b) if each state of Q ends a piece at the end of the text and on b
   either cuts or enters the state that b enters from the start, after which every next character finds a match:
   from there both texts are read alike, and the cut is the only new border. Stages split the pieces of the stage
   before. So (a, b) is certain if some stage separates it and all before it pass: later stages get the same pieces.
   Where text between matches is a piece too (deepseek), all states of Q must end a piece, and a begin a match: then
   it is in no gap. `\\p{N}{1,3}` separates no digits: their places count.
2. Merges stay within pieces. Without a pattern, SentencePiece's characters a, b are certain if no token holds them
   side by side: no merge and no user-defined piece spans them. Of two unknown characters that become one token,
   none is cut from the other.
3. Normalisation (`core.text.normal_borders`). Steps that rewrite each character alone keep any cut. Normal forms
   keep it if a and b have combining class 0 and are not the second part of a composition (no marks, no vowels or finals
   of Hangul), and b is not the first part of one, which a following mark could change. Classes are those of the
   written characters. Removed runs of spaces: if a is not a space. SentencePiece's charsmap, white space stripped from
   the ends, replaced expressions and replaced texts of several characters allow no place.
4. Special and added tokens, those that are allowed, refused or always recognised: no token may begin before p and
   end after it, where a token whose beginning is the end of the text counts. The search goes from left to right and
   takes the longest, so it finds the same on both sides. If a token has `lstrip` or `rstrip`: a is not white space.
   If it has one of these or `single_word`, or the segment after a token gets a prefix of its own: none ends at p. With
   `single_word`: none begins at p. Tokens searched in normalised text that may differ: no place.
5. Edits. Let m be the length of the longest such token (1 without any). A certain place depends on m characters on
   each side. So it stays certain while these are not changed, and an edit is encoded again from the last kept place
   m before it to the first m after it.

A pattern that no automaton expresses, or that drops text, has no certain places here, nor have replaced expressions, a
charsmap, or an implementation that splits by rules of its own. Knows models and texts; runs
no merges.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from functools import lru_cache
from typing import Unpack

from impls.core.arguments import Special
from impls.core.model import Model
from impls.core.model.whole_tokens import WholeTokens
from impls.core.pattern.runs import Runs
from impls.core.pattern.syntax import NotExpressible
from impls.core.pattern.tables import PairCuts, stage_tables
from impls.core.text.normal_borders import NormalBorders
from impls.core.text.sentencepiece_rules import SPACE_MARK, write_text
from impls.operations.coder import Coder
from impls.operations.specials import encode_parts, is_ordinary
from impls.operations.token_borders import SURROGATE, TokenBorders

_MOST_PAIRS = 1 << 16


def cuts_around(tokenizer: Coder, texts: frozenset[str] | None = None) -> CertainCuts:
    """Return the certain places of a text in which these special and added tokens are recognised; None: added ones."""
    recognised = frozenset(tokenizer.model.added_tokens) if texts is None else texts
    return tokenizer.model.derived(CertainCuts, tokenizer.by_pieces, recognised)


def encode_further(tokenizer: Coder, text: str, **special: Unpack[Special]) -> list[int]:
    """Encode a text that continues another after a certain place: nothing is put before it."""
    model = tokenizer.model
    pairs = model.derived(CertainPairs, tokenizer.by_pieces)
    if not pairs.changes_beginning:
        return tokenizer.encode(text, **special)

    def normalize(segment: str, begins: bool) -> str:
        return pairs.continued(segment) if begins else model.normalize(segment, first=False)

    is_ordinary(tokenizer, text, **special)
    return encode_parts(tokenizer, text, special, normalize=normalize)


class CertainPairs(dict[str, bool]):
    """Two characters -> whether a text without special tokens may be cut between them; filled on demand."""

    def __init__(self, model: Model, by_pieces: bool) -> None:
        """Prepare a model; `by_pieces` says whether the ids of a text are those of its pieces as the model splits."""
        super().__init__()
        rules, self._writing_rules = model.sentencepiece, model.writing_rules
        self._escapes_spaces = rules is not None and rules.escape_spaces
        self._removes_spaces = rules is not None and rules.remove_extra_spaces
        self._borders = NormalBorders(model.normalization_steps)
        self._user_defined, self._cuts = model.user_defined_texts, model.cuts
        self._pattern = pair_cuts_of(model.pattern) if by_pieces else None
        self.possible = (
            self._pattern is not None
            and (self._cuts is not None or bool(model.pattern))
            and self._borders.possible
            and not model.has_charsmap_only
            and not (self._removes_spaces and self._user_defined)
        )
        """Whether there may be any certain places."""
        has_prefix = rules is not None and rules.dummy_prefix != "never"
        self.changes_beginning = self._borders.changes_beginning or has_prefix or self._removes_spaces
        """Whether a text is rewritten differently at its beginning than after a cut."""

    def __missing__(self, pair: str) -> bool:
        if len(self) >= _MOST_PAIRS:
            self.clear()
        is_certain = self[pair] = self._is_certain(*pair)
        return is_certain

    def continued(self, text: str) -> str:
        """Return a text as rewritten after a certain cut, where it begins neither the whole text nor a segment."""
        text = self._borders.continued(text)
        if self._writing_rules is None or not text:
            return text
        # With a character before the text, spaces at its beginning are kept.
        return write_text("a" + text, replace(self._writing_rules, dummy_prefix="never"), self._user_defined)[1:]

    def _is_certain(self, before: str, after: str) -> bool:
        if not self.possible or SURROGATE.search(before + after):
            return False
        written = self._borders.characters_at_cut(before, after)
        if written is None or self._pattern is None:
            return False
        before, after = written
        if self._removes_spaces and before in (" ", SPACE_MARK):
            return False
        if self._escapes_spaces:
            before, after = before.replace(" ", SPACE_MARK), after.replace(" ", SPACE_MARK)
        separated = self._pattern.separates(before, after)
        if separated is None:
            return self._cuts is not None and self._cuts.separates(before, after)
        return separated


@lru_cache(maxsize=64)
def pair_cuts_of(stages: tuple[str, ...]) -> PairCuts | None:
    """Return where a pattern certainly cuts; None if no automaton expresses it."""
    try:
        return PairCuts([stage_tables(stage) for stage in stages])
    except NotExpressible:
        return None


@lru_cache(maxsize=64)
def runs_of(stages: tuple[str, ...]) -> Runs | None:
    """Return what follows the last piece of a written text by a pattern; None if no automaton expresses it."""
    cuts = pair_cuts_of(stages)
    return None if cuts is None else Runs(cuts.stages)


class CertainCuts:
    """Finds certain places in a text that begins at one, or at the beginning of the whole text."""

    def __init__(self, model: Model, by_pieces: bool, texts: Collection[str]) -> None:
        """Prepare `CertainPairs` of these arguments, and the special and added tokens to search."""
        self._pairs = pairs = model.derived(CertainPairs, by_pieces)
        self._possible = pairs.possible and not (texts and model.derived(WholeTokens).hidden)
        self._tokens = TokenBorders(model, texts, keeps_beginning=not pairs.changes_beginning) if texts else None
        self.margin = max(1, *map(len, texts)) if texts else 1
        """Number of characters before a place, and after it, that decide whether it is certain."""

    def last(self, text: str) -> int:
        """Return the last certain place before the end of `text`, or 0, whatever follows `text`."""
        return self._first_of(range(len(text) - 1, 0, -1), text)

    def first(self, text: str, at: int) -> int:
        """Return the first certain place from `at` (1 or more) on and before the end of `text`, or 0."""
        return self._first_of(range(at, len(text)), text)

    def _first_of(self, places: range, text: str) -> int:
        pairs, tokens = self._pairs, self._tokens
        for place in places if self._possible else ():
            if pairs[text[place - 1 : place + 1]] and (tokens is None or tokens.allow(text, place)):
                return place
        return 0

    def holds_token(self, text: str) -> bool:
        """Return whether a special or added token may occur in a text, or depends on what is around it."""
        return self._tokens is not None and self._tokens.occurs(text)
