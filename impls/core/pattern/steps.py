"""Flags of a transition, shared by the tables and the scanning kernel. Must import nothing."""

from __future__ import annotations

MATCH_BEFORE, CUT, RESUME = 1, 2, 4
"""Flags of a transition: a match ends before this character and may grow; a piece ends before this character, which
begins the next one; there is no transition, so resume at the last match."""
FLAG_BITS = 3
