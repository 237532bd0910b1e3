"""Cut a text that SentencePiece's rules have rewritten at places that no merge crosses."""

from __future__ import annotations

from collections.abc import Callable

from impls.core.model.data import ModelData
from impls.core.text.text import special_matcher


class Cuts:
    """Cuts a rewritten text at user-defined pieces, and between two characters that are adjacent in no token.

    No merge crosses such a cut, so the ids of the text are those of its parts, whatever the algorithm. Two unknown
    characters that become one token are not separated.
    """

    def __init__(self, model: ModelData) -> None:
        rules = model.sentencepiece
        assert rules is not None, "a model with SentencePiece's rules"
        self.user_defined = {token_text(model.tokens[i]): i for i in rules.user_defined_ids}
        """Text -> id of the user-defined pieces."""
        self._matcher = special_matcher(frozenset(self.user_defined)) if self.user_defined else None
        self._by_border = not model.ignore_merges  # otherwise a part could be a whole piece
        # If some bytes have no id, an unknown token comes after the bytes that follow it.
        self._fused = (rules.fuse_unknown or rules.byte_ids) and not rules.spells_all and model.unknown_id is not None
        self._known = single_characters(model)
        texts = map(token_text, model.tokens)
        self._spanned = {text[k : k + 2] for text in texts for k in range(len(text) - 1)}

    def cut(self, piece: str) -> list[str]:
        """Return the parts of `piece` in order."""
        if self._matcher is None:
            return self._between(piece)
        parts: list[str] = []
        start = 0
        for match in self._matcher.finditer(piece):
            parts += self._between(piece[start : match.start()])
            parts.append(match[0])
            start = match.end()
        return parts + self._between(piece[start:])

    def separates(self, before: str, after: str) -> bool:
        """Return whether a text is cut between two characters whatever surrounds them, even user-defined pieces."""
        return len(self._between(before + after)) == 2

    def around_user_defined(self, encode_piece: Callable[[str], list[int]]) -> Callable[[str], list[int]]:
        """Return `encode_piece` applied to the parts, except that a user-defined piece gets its id."""
        known = self.user_defined
        return lambda part: [known[part]] if part in known else encode_piece(part)

    def _between(self, piece: str) -> list[str]:
        if not piece or not self._by_border:
            return [piece] if piece else []
        spanned, known = self._spanned, self._known
        ends = [k for k in range(1, len(piece)) if piece[k - 1 : k + 1] not in spanned]
        if self._fused:
            ends = [k for k in ends if piece[k - 1] in known or piece[k] in known]
        return [piece[start:end] for start, end in zip([0, *ends], [*ends, len(piece)], strict=True)]


def token_text(token: bytes | None) -> str:
    """Return the characters of a token, "" for a gap."""
    return "" if token is None else token.decode("utf-8", "replace")


def single_characters(model: ModelData) -> set[str]:
    """Return the tokens that are one character."""
    return {text for text in map(token_text, model.tokens) if len(text) == 1}
