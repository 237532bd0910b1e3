"""What a side made of a text: its ids, the bytes of each token, what the merges saw, the special tokens, the cuts."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import accumulate

from harness.explain.readable import quoted
from harness.explain.sides import Side
from harness.explanations import PiecesFrom
from impls.core.text.text import repair_surrogates


@dataclass(slots=True)
class Special:
    """A special or added token that was recognised."""

    index: int
    """Which of the tokens it is."""
    id: int
    text: str
    offset: int
    """Character of the text."""


@dataclass
class View:
    """One side and one text."""

    side: Side
    text: str
    """With surrogates mended."""
    ids: list[int] = field(default_factory=list)
    error: str | None = None
    again: list[int] | None = None
    """The ids of a second call, where they are others."""
    tokens: list[bytes | None] = field(default_factory=list)
    specials: list[Special] = field(default_factory=list)
    declared: str | None = None
    """What the merges should see by what the side tells (its normaliser, its pieces), special tokens included."""
    cuts: list[int] | None = None
    """UTF-8 bytes of `seen` at which a piece begins or ends, 0 and the end included; None where they are not known."""
    pieces_from: PiecesFrom = "unknown"

    @property
    def seen(self) -> bytes | None:
        """The bytes of all tokens, one after the other; None where one is not known."""
        known = [token for token in self.tokens if token is not None]
        return b"".join(known) if len(known) == len(self.tokens) else None

    @property
    def borders(self) -> list[int]:
        """The byte at which each token begins, and the end; empty where a token is not known."""
        lengths = [len(token) for token in self.tokens if token is not None]
        return [0, *accumulate(lengths)] if len(lengths) == len(self.tokens) else []

    def piece_at(self, byte: int) -> tuple[int, int] | None:
        """(start, end) of the piece that holds this byte."""
        if self.cuts is None or byte >= self.cuts[-1]:
            return None
        k = bisect_right(self.cuts, byte)
        return self.cuts[k - 1], self.cuts[k]

    def ids_between(self, start: int, end: int) -> list[int] | None:
        """The ids of the tokens between two bytes; None where a token crosses one of them."""
        borders = self.borders
        places = {byte: index for index, byte in reversed(list(enumerate(borders)))}
        if start not in places or end not in places:
            return None
        return self.ids[places[start] : places[end]]

    def crossed(self, byte: int) -> bytes | None:
        """The token that holds the bytes on both sides of this one, or None where a token begins here."""
        borders = self.borders
        k = bisect_right(borders, byte) - 1
        return None if k >= len(self.tokens) or borders[k] == byte else self.tokens[k]


def ask(side: Side, text: str) -> tuple[list[int] | None, str | None]:
    """(ids, None), or (None, what was raised): all is caught but an interrupt, as a Rust panic is no Exception."""
    try:
        return list(side.encode(text)), None
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        return None, f"{type(error).__name__}: {' '.join(str(error).split())[:200]}"


def observe(side: Side, text: str) -> View:
    """Ask `side` twice for the ids of `text`, and look at them; `resolve` does what needs the other side as well."""
    view = View(side, repair_surrogates(text))
    ids, view.error = ask(side, text)
    if ids is None:
        return view
    view.ids = ids
    again, error = ask(side, text)
    if again != ids:
        view.again = again
        view.error = f"the second call raised {error}" if error else None
    known: dict[int, bytes | None] = {}
    for i in ids:
        if i not in known:
            known[i] = _token(side, i)
    view.tokens = [known[i] for i in ids]
    return view


def decoded(view: View) -> str:
    """What the side makes of its own ids; what it raises, where it does."""
    try:
        return view.side.decode(view.ids)
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        return f"{type(error).__name__}: {error}"


def _token(side: Side, i: int) -> bytes | None:
    try:
        return side.token(i)
    except KeyboardInterrupt:
        raise
    except BaseException:
        return None


def resolve(view: View, whole_tokens: Iterable[tuple[str, int]]) -> None:
    """Find the special tokens (of those in `whole_tokens`), what the side says it sees, and where it says it cuts."""
    text_of = {i: text for text, i in whole_tokens}
    view.specials = list(_specials(view, text_of))
    _cut(view)


def _specials(view: View, text_of: dict[int, str]) -> Iterable[Special]:
    at = 0
    for index, i in enumerate(view.ids):
        if i in text_of and (found := view.text.find(text_of[i], at)) >= 0:
            yield Special(index, i, text_of[i], found)
            at = found + len(text_of[i])


def _cut(view: View) -> None:
    side = view.side
    if side.split is None and side.normalize is None:
        return
    pieces: list[str] = []
    at = 0
    try:
        for special in [*view.specials, None]:
            end = len(view.text) if special is None else special.offset
            segment = view.text[at:end]
            normalised = side.normalize(segment) if side.normalize is not None else segment
            pieces += side.split(normalised) if side.split is not None else [normalised]
            if special is not None:
                pieces.append(special.text)
                at = end + len(special.text)
    except Exception:  # a pattern that does not cover the text, an engine that gives up: then the pieces are not known
        return
    declared = "".join(pieces)
    as_seen = declared.encode() == view.seen
    view.declared = declared if as_seen or not side.is_guess else None
    if side.split is None or not as_seen:
        return
    view.cuts = [0, *accumulate(len(piece.encode()) for piece in pieces if piece)]
    view.pieces_from = side.split_by
    if not set(view.cuts) <= set(view.borders):
        # Tokens cross a cut: the side cuts otherwise there, whatever it says.
        view.cuts = sorted(set(view.cuts) & set(view.borders))
        view.pieces_from = "inferred"


def tell_specials(view: View) -> list[str]:
    """The special tokens recognised, in words."""
    return [f"{quoted(special.text)} (id {special.id}) at character {special.offset}" for special in view.specials]
