r"""How a split stage is written around the pattern that it is made of.

A stage is an expression whose matches are the pieces. A pattern that leaves text out, or matches only between two
characters, is therefore completed to one that matches everything:

    P = \p{N}+       P|(?:(?!P)[\s\S])+           ab12c  ->  ab 12 c     the matches, and the text between them
    P = (?=[A-Z])    [\s\S](?:(?!P)[\s\S])*       aBCd   ->  a B Cd      cut where P matches
"""

from __future__ import annotations

from collections.abc import Sequence

DROPS_REST = "(?#drop the rest)"
"""Prefix of a stage whose pieces are its matches and that drops the text between them (tiktoken; Hugging Face's
`Removed` with `invert`). Such a model is lossy. For the regex engine it is a comment."""
DROPS_MATCHES = "(?#drop the matches)"
"""Prefix of a stage whose pieces are the text between its matches (Hugging Face's `Removed`)."""
DROPS_ALL = DROPS_REST + "(?!)"
"""A stage without pieces: what `Removed` with `invert` makes of a pattern that matches no character."""

_GAPS = "{0}|(?:(?!{0})[\\s\\S])+"
_CUTS = "[\\s\\S](?:(?!{0})[\\s\\S])*"


def drops_text(stages: Sequence[str]) -> bool:
    """Return whether a stage is marked as dropping text."""
    return any(stage.startswith((DROPS_REST, DROPS_MATCHES)) for stage in stages)


def with_gaps(pattern: str) -> str:
    """Return the stage whose pieces are the matches of `pattern` and the text between them."""
    return _GAPS.format(pattern)


def without_gaps(stage: str) -> str:
    """Return the pattern from which `with_gaps` made `stage`, or `stage` itself."""
    return _unwrapped(stage, _GAPS, 2)


def cut_at(pattern: str) -> str:
    """Return the stage that cuts a text at the empty matches of `pattern`."""
    return _CUTS.format(pattern)


def without_cuts(stage: str) -> str:
    """Return the pattern from which `cut_at` made `stage`, or `stage` itself."""
    return _unwrapped(stage, _CUTS, 1)


def pattern_of(stage: str) -> str:
    """Return the pattern that a stage was made of, for messages."""
    return without_cuts(without_gaps(stage.removeprefix(DROPS_REST).removeprefix(DROPS_MATCHES)))


def _unwrapped(stage: str, form: str, n_times: int) -> str:
    start = form.index("{0}")
    pattern = stage[start : start + (len(stage) - len(form.format(""))) // n_times]
    return pattern if pattern and form.format(pattern) == stage else stage
