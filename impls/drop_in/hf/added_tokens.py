"""Added tokens: texts that are one token wherever they occur, special or not, and the ids the library gives them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property
from typing import Any

from impls.core.arguments import wrong_type
from impls.core.model.whole_tokens import FLAGS, cut
from impls.drop_in.hf.arguments import flag, ignoring_others, text
from impls.formats.files import converted
from impls.formats.tokenizer_json.document import AddedEntry

_FIELDS = ("content", "single_word", "lstrip", "rstrip", "normalized", "special")


class AddedToken:
    """A text that is one token, and where it matches; see `impls.core.model.whole_tokens`.

    `normalized` defaults to True for a token that is not special.
    """

    __slots__ = ("_normalized", "content", "lstrip", "rstrip", "single_word", "special")

    @ignoring_others
    def __init__(
        self,
        content: str = "",
        *,
        single_word: bool = False,
        lstrip: bool = False,
        rstrip: bool = False,
        normalized: bool | None = None,
        special: bool = False,
    ) -> None:
        """Raise TypeError for another type."""
        self.content, self.special = text("content", content), flag("special", special)
        self.single_word, self.lstrip = flag("single_word", single_word), flag("lstrip", lstrip)
        self.rstrip = flag("rstrip", rstrip)
        self._normalized = None if normalized is None else flag("normalized", normalized)

    @property
    def normalized(self) -> bool:
        """Return whether the token is searched in the normalised text."""
        return not self.special if self._normalized is None else self._normalized

    def __getstate__(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in _FIELDS}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(**state)  # type: ignore[misc]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, AddedToken) and self.__getstate__() == other.__getstate__()

    def __hash__(self) -> int:
        return hash(self.content)

    def __str__(self) -> str:
        return self.content

    def __repr__(self) -> str:
        flags = ("rstrip", "lstrip", "single_word", "normalized", "special")
        return f'AddedToken("{self.content}", {", ".join(f"{name}={getattr(self, name)}" for name in flags)})'

    @staticmethod
    def of(given: Any, special: bool) -> AddedToken:
        """Return a token made from a text or a token of the library, or a copy of one of this class; raise TypeError.

        A token given as `special` is made so, as by the library.
        """
        if isinstance(given, str):
            return AddedToken(given, special=special)
        if not all(hasattr(given, name) for name in _FIELDS):
            raise wrong_type("tokens", "a list of str and AddedToken", given)
        if special:
            given.special = True
        return AddedToken(**{name: getattr(given, name) for name in _FIELDS})


def read_entries(document: Any) -> list[AddedToken]:
    """Return tokenizer.json's `added_tokens`; raise `InvalidModel` naming the invalid field."""
    return [AddedToken.of(entry, False) for entry in converted(document or [], list[AddedEntry])]


class AddedTokens:
    """The added tokens of a vocabulary, by text and by id, and their search in a text; immutable."""

    def __init__(self, vocab: Mapping[str, int], normal: Callable[[str], str] = str) -> None:
        self.vocab, self.normal = vocab, normal
        self.ids: dict[str, int] = {}
        self.by_id: dict[int, AddedToken] = {}
        self.names: dict[int, str] = {}
        """The text each id decodes to: like the library, the normal form for a token that was ever normalized."""
        self.specials: set[str] = set()
        """The texts of tokens that were ever added as special."""
        self._next = len(vocab)

    def with_(self, tokens: Iterable[AddedToken]) -> tuple[AddedTokens, int]:
        """Return these and more tokens, and how many are new or changed: known tokens keep their ids, others get the
        next ids."""
        more = AddedTokens(self.vocab, self.normal)
        more.ids, more.by_id, more.names = dict(self.ids), dict(self.by_id), dict(self.names)
        more._next = self._next
        given = [token for token in tokens if token.content]
        more.specials = self.specials | {token.content for token in given if token.special}
        return more, sum(map(more._take, given))

    def _take(self, token: AddedToken) -> bool:
        """Add a token, and return whether it is new or changed."""
        i = self.ids.get(token.content, self.vocab.get(token.content, self._next))
        if self.by_id.get(i) == token:
            return False
        self.ids[token.content], self.by_id[i] = i, token
        self.names[i] = self.normal(token.content) if token.normalized else self.names.get(i, token.content)
        self._next = max(self._next, i + 1)
        return True

    @cached_property
    def _searched(self) -> tuple[dict[str, str], dict[str, str]]:
        """Return the tokens searched in a text, and those searched in its normal form: form -> token."""
        now = {token.content: token.content for token in self.by_id.values() if not token.normalized}
        normal = [(self.names[i], token.content) for i, token in self.by_id.items() if token.normalized]
        return now, {form: content for form, content in reversed(normal) if form}

    @cached_property
    def _flags(self) -> dict[str, tuple[str, ...]]:
        return {t.content: tuple(name for name in FLAGS if getattr(t, name)) for t in self.by_id.values()}

    def cut(self, text: str, *, normalized: bool, as_text: bool) -> Iterator[tuple[str, int | None, int]]:
        """Yield the parts of a text in order, each with the id of its token or None, and its offset.

        Tokens that are not `normalized` are found first. `as_text` leaves special tokens in the text.
        """
        for part, token, start in cut(text, self._searched[normalized], self._flags, self.specials if as_text else ()):
            yield part, None if token is None else self.ids[token], start

    @property
    def document(self) -> list[dict[str, Any]]:
        """Return the content of tokenizer.json's `added_tokens`."""
        return [{"id": i, **self.by_id[i].__getstate__()} for i in sorted(self.by_id)]
