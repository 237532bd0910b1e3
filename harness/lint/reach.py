"""Find which tokens some text encodes to, and for the others a proof that none does, or what was tried.

A token that its own text encodes to is reached. Any other is put between characters of different classes; if the ids of
such a text contain it, it is reached. A remaining token is unreachable if `proofs` has a proof; otherwise it is
reported as not found, with the number of texts tried, which is not a proof. `Health` adds parts of characters and
duplicates.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from itertools import islice, pairwise, product
from typing import Any, NamedTuple

import numpy as np

from harness.grouping import grouped
from harness.lint import FINDINGS
from harness.lint.proofs import Proofs, Rule
from harness.lint.utf8 import texts_around
from harness.measure.token_use import encode_each, ordinary_tokens
from harness.printable import quoted, readable, text_of
from impls import BPEError, Tokenizer
from impls.core.model.cuts import single_characters
from impls.core.text.normal_forms import Form, normal_form

_AROUND = ("\U0010fffd", "a", " ", "\n", "1", ".", "A", "'", "é", "ж", "中", "\t", "\u0301", "\u3000", "🙂")
"""Characters of different classes to put around a token."""
_MOST_AROUND = 30
_MOST_TEXTS = 100_000
"""Texts tried for all tokens together, in each round."""
_AFTER = ("s", "t", "d", "m", "ll", "re", "ve", "S", "LL")
"""Endings of English contractions, which some patterns keep together."""
_FEW, _MANY = 32, 2048
"""Texts tried around a part of a character: few at first, then many, and finally few for each pair of neighbours."""

Context = tuple[str, str]
"""What to put before and after a token."""


@dataclass(frozen=True, slots=True)
class Unreached:
    """A token that no text is known to encode to."""

    id: int
    token: bytes
    ids: tuple[int, ...] | None
    """The ids of its own text; None for a part of a character, and if that text is refused."""
    proven: bool
    """True if no text can give it, False if none of those tried did."""
    rule: Rule
    why: str

    @property
    def is_unused_byte(self) -> bool:
        """Return whether it is one of the 13 bytes that UTF-8 never has, which a vocabulary over bytes still needs."""
        return self.rule == "utf-8" and len(self.token) == 1


class Elsewhere(NamedTuple):
    """How a token is reached that its own text does not encode to."""

    ids: tuple[int, ...] | None
    """The ids of its own text; None for a part of a character, and if that text is refused."""
    text: str
    """A text whose ids contain it."""


@dataclass(frozen=True, slots=True)
class Reach:
    """The tokens of a vocabulary, by whether they are reached."""

    tokens: dict[int, bytes]
    """All examined tokens; special, added and unknown tokens are not."""
    elsewhere: dict[int, Elsewhere]
    """Tokens that are reached, but not from their own text."""
    unreached: list[Unreached]


def reach(tokenizer: Tokenizer) -> Reach:
    """Return which ordinary tokens of a tokenizer's model are reached; special tokens are read as ordinary text."""
    search = _Search(tokenizer)
    tokens = ordinary_tokens(tokenizer.model)
    texts = {i: text for i, token in tokens.items() if (text := text_of(token)) is not None}
    own = dict(zip(texts, search.encoded(list(texts.values())), strict=True))
    open_ones = [i for i in tokens if i not in own or own[i] != (i,)]
    search.search({i: tokens[i] for i in open_ones}, islice(search.contexts(), 2), _FEW)
    proofs, left = Proofs(tokenizer.model), [i for i in open_ones if i not in search.reached]
    proven = {i: proof for i in left if (proof := proofs.of(i, tokens[i])) is not None}
    unproven = {i: tokens[i] for i in left if i not in proven}
    search.search(unproven, [("", "")], _MANY)
    search.search(unproven, search.contexts(), _FEW)
    unreached = []
    for i in left:
        if i not in search.reached:
            rule, why = proven.get(i) or ("context", search.failure(i, texts.get(i)))
            unreached.append(Unreached(i, tokens[i], own.get(i), i in proven, rule, why))
    return Reach(tokens, {i: Elsewhere(own.get(i), text) for i, text in sorted(search.reached.items())}, unreached)


class _Search:
    """Encodes many texts, and looks for an id in each."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer
        self.reached: dict[int, str] = {}
        """Id -> a text whose ids contain it."""
        self.n_tried: Counter[int] = Counter()
        """Id -> the number of texts tried."""
        model = tokenizer.model
        known = None if model.alphabet == "bytes" or model.unknown_id is not None else single_characters(model)
        around = _AROUND if known is None else dict.fromkeys((*filter(known.__contains__, _AROUND), *sorted(known)))
        self._around = list(around)[:_MOST_AROUND]
        self._after = [*self._around, *(end for end in _AFTER if known is None or known.issuperset(end))]

    def encoded(self, texts: list[str]) -> list[tuple[int, ...] | None]:
        """Return the ids of each text, or None if it is refused."""
        ids, offsets = encode_each(self._tokenizer, texts)
        listed = ids.tolist()
        return [tuple(listed[start:end]) or None for start, end in pairwise(offsets.tolist())]

    def contexts(self) -> Iterator[Context]:
        """Yield what to put around a token: nothing, the same on both sides (first a rare character), on one side, then
        all pairs."""
        around, after = self._around, self._after
        yield ("", "")
        yield from ((before, before) for before in around)
        yield from ((before, "") for before in around)
        yield from product([""], after)
        yield from (context for context in product(around, after) if context[0] != context[1])

    def search(self, tokens: Mapping[int, bytes], contexts: Iterable[Context], most: int) -> None:
        """Look for tokens in their text, or in up to `most` around a part of a character, in all of these contexts."""
        texts = {i: texts_around(token, most) for i, token in tokens.items()}
        n_asked = 0
        for before, after in contexts:
            asked = [(i, f"{before}{text}{after}") for i in tokens if i not in self.reached for text in texts[i]]
            self._look(asked)
            if (n_asked := n_asked + len(asked)) > _MOST_TEXTS:
                break

    def failure(self, i: int, text: str | None) -> str:
        """Describe an id that was not found: how its own text is encoded, and how many others were tried."""
        tried = f"in none of the {self.n_tried[i]:,} texts tried"
        pieces: list[str] = []
        with suppress(BPEError):
            pieces = [] if text is None else self._tokenizer.pieces(text)
        cut = " ".join(map(quoted, pieces))
        return f"its text is cut into {cut}; {tried}" if len(pieces) > 1 else tried

    def _look(self, asked: list[tuple[int, str]]) -> None:
        """For each pair of an id and a text, look for the id in the ids of the text."""
        if not asked:
            return
        wanted, texts = zip(*asked, strict=True)
        ids, offsets = encode_each(self._tokenizer, texts)
        hits = np.flatnonzero(ids == np.repeat(np.array(wanted, ids.dtype), np.diff(offsets)))
        for k in np.unique(np.searchsorted(offsets, hits, "right") - 1).tolist():
            self.reached.setdefault(wanted[k], texts[k])
        self.n_tried.update(wanted)


@dataclass(frozen=True, slots=True)
class Health:
    """The findings on a vocabulary."""

    name: str
    tokenizer: Tokenizer
    reach: Reach
    duplicates: dict[str, list[tuple[int, ...]]]
    """Groups of duplicate tokens, by normal form."""

    def ids(self, finding: str) -> list[int]:
        """Return the tokens of a kind of finding; of a group of duplicates all but the first."""
        if finding == "unused-byte":
            return [token.id for token in self.reach.unreached if token.is_unused_byte]
        if finding in ("unreachable", "unreached"):
            unreached = [token for token in self.reach.unreached if not token.is_unused_byte]
            return [token.id for token in unreached if token.proven == (finding == "unreachable")]
        if finding == "partial":
            return [i for i, token in self.reach.tokens.items() if len(token) > 1 and text_of(token) is None]
        return [i for group in self.duplicates[finding.removeprefix("duplicate-")] for i in group[1:]]

    def document(self, fail_on: Sequence[str]) -> dict[str, Any]:
        """Return everything as a JSON-serialisable document; `failed` are the kinds of `fail_on` that were found."""
        tokens = self.reach.tokens
        return {
            "model": self.name,
            "implementation": self.tokenizer.name,
            "n_tokens": len(tokens),
            "findings": {finding: len(self.ids(finding)) for finding in FINDINGS},
            "failed": self.failed(fail_on),
            "unreached": [
                asdict(unreached) | {"token": readable(unreached.token)} for unreached in self.reach.unreached
            ],
            "only_in_context": [
                {"id": i, "token": readable(tokens[i]), "ids": elsewhere.ids, "text": elsewhere.text}
                for i, elsewhere in self.reach.elsewhere.items()
                if elsewhere.ids is not None
            ],
            "partial": self.ids("partial"),
            "duplicates": self.duplicates,
        }

    def failed(self, fail_on: Sequence[str]) -> list[str]:
        """Return the kinds of `fail_on` that were found."""
        return [finding for finding in dict.fromkeys(fail_on) if self.ids(finding)]


def health_of(name: str, tokenizer: Tokenizer) -> Health:
    """Return the health of a tokenizer's vocabulary."""
    reached = reach(tokenizer)
    same = {"nfc": duplicates(reached.tokens, "NFC"), "nfkc": duplicates(reached.tokens, "NFKC")}
    return Health(name, tokenizer, reached, same)


def duplicates(tokens: Mapping[int, bytes], form: Form) -> list[tuple[int, ...]]:
    """Return the groups of tokens whose text is the same in a normal form; case and white space are significant.

    >>> duplicates({1: "é".encode(), 2: "e\\u0301".encode(), 3: b"e"}, "NFC")
    [(1, 2)]
    """
    texts = {i: text for i, token in tokens.items() if (text := text_of(token)) is not None}
    groups = grouped(texts, lambda i: normal_form(form, texts[i]))
    return sorted(tuple(sorted(ids)) for ids in groups.values() if len(ids) > 1)
