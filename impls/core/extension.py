"""Continue training from a model: which models allow it, what is kept of them, and where new merges are added.

The merges of the given model are kept, with the ids of its tokens. Every piece of the corpus is encoded with them, and
learning continues from there; a new merge gets the next rank, and its token the next id. If the given model is that of
the first N ids by the same specification and corpus, the result is the same as training in one go.

    given: a+b        piece abab  ->  ab ab  ->  learned: ab+ab

Special tokens: a specification without special and unknown tokens keeps those of the model, at their ids, and new ids
follow the largest one. A specification that has any replaces the model's by its own, at the place it specifies: after
the last token, or before the first one, where the ids must be free. Added tokens are always kept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any

from impls.core.errors import InvalidSpec, Unsupported, plural
from impls.core.model import Model
from impls.core.model.derivations import unreachable
from impls.core.specification import TrainingSpec
from impls.core.text.patterns import resolve
from impls.core.training import Corpus, Pair, base_symbols, first_base_id, piece_weights, reserved_tokens, with_merged


def why_not_extensible(model: Model) -> str | None:
    """Return why training cannot continue from `model`, or None if it can.

    It must be regular, and merging the symbols of every token must give the token: then a span of text that is merged
    to two symbols is not a token yet, so a new merge never makes a token that exists.
    """
    if model.sentencepiece is not None:
        return "its merges follow SentencePiece's rules"
    if model.normalization is not None:
        return f"it normalises texts ({model.normalization}), which training does not"
    if model.irregularities:
        return model.irregularities[0]
    # A token of the rule `concatenation` that has a derivation is what its own symbols merge to.
    if model.merge_rule == "pairs" and (lost := unreachable(model)):
        first = f"the first is id {lost[0]} ({model.tokens[lost[0]]!r})"
        return f"{plural(len(lost), 'token')} that no text is encoded to, {first}"
    return None


def trained(implementation: Any, texts: Iterable[str], spec: TrainingSpec) -> Model:
    """Return the model that `learn` of an implementation, a class, gives; raise `Unsupported` if it has none."""
    if not _overrides(implementation.learn):
        raise Unsupported(implementation.name, "does not train")
    corpus = Corpus(texts, spec)
    return corpus.model(*implementation.learn(corpus))


def extended(implementation: Any, model: Model, texts: Iterable[str], spec: TrainingSpec) -> Model:
    """Return `model` with the merges that `learn` adds; raise `Unsupported` if there is none, or for this model."""
    if not _overrides(implementation.learn):
        why = "does not continue from a given model; naive, priority, wordcount and compiled do"
        raise Unsupported(implementation.name, why)
    start = Extension(implementation.name, model, spec)
    corpus = ExtendedCorpus(start, texts, implementation(start.model).encode_piece)
    return start.result(*implementation.learn(corpus))


def extends(implementation: Any) -> bool:
    """Return whether an implementation can continue from a model."""
    return _overrides(implementation.learn) or _overrides(implementation.extend_model)


def _overrides(method: Callable[..., Any]) -> bool:
    return not method.__qualname__.startswith("Tokenizer.")


class ExtendedCorpus(Corpus):
    """The corpus as the model of `start` encodes it, to learn more merges from."""

    def __init__(self, start: Extension, texts: Iterable[str], encode_piece: Callable[[str], list[int]]) -> None:
        self.spec, self.budget = start.spec, start.budget
        pieces, begun = piece_weights(texts, start.spec), start.model.tokens
        start.check(pieces)
        self.tokens = [token or b"" for token in begun] + [b""] * (start.first_new_id - len(begun))
        self.fill(pieces, encode_piece, start.model.unknown_id)


class Extension:
    """The start of training by `spec` from a given model. `implementation` is named in errors.

    Raise `Unsupported` for a model that training cannot continue from, and `InvalidSpec` if the specification
    contradicts it.
    """

    def __init__(self, implementation: str, given: Model, spec: TrainingSpec) -> None:
        if (why := why_not_extensible(given)) is not None:
            raise Unsupported(implementation, f"cannot continue from this model: {why}")
        for field in ("alphabet", "end_of_word"):
            if getattr(spec, field) != getattr(given, field):
                raise InvalidSpec(field, f"must be {getattr(given, field)!r}, as in the model to extend")
        ids = [i for i, token in enumerate(given.tokens) if token is not None]
        used, n_reserved = {*ids, *given.added_tokens.values()}, len(spec.reserved)
        self._reserved = spec if n_reserved else None
        self.first_new_id = 1 + max(used) if n_reserved else given.vocab_size
        if n_reserved and spec.special_ids == "first" and min(used) < n_reserved:
            raise InvalidSpec("special_ids", "'first' needs ids that the model to extend uses; choose 'last'")
        listed = given.merges if given.merge_rule == "pairs" else given.recovered_merges[0]
        self.model = given.with_(
            tokens=given.tokens[: 1 + ids[-1]],
            merges=listed,
            merge_counts=given.merge_counts if given.merge_rule == "pairs" else None,
            merge_rule="pairs",
            ignore_merges=False,
            pattern=resolve(spec.pattern),
            **self._specials(self.first_new_id),
        )
        """The given model as the beginning of the result; learning starts from the ids of its `encode_piece`."""
        reserved = (text for text in self.model.whole_token_ids if text != self.model.unknown)
        self.spec = replace(spec, special_tokens=tuple(reserved), unknown=self.model.unknown)
        """The specification with all texts that no merge may make."""
        least = self.first_new_id + (n_reserved - first_base_id(spec))
        if spec.vocab_size < least:
            raise InvalidSpec("vocab_size", f"{spec.vocab_size} is below the {least} ids that already exist")
        room = spec.vocab_size - least
        self.budget = room if spec.max_merges is None else min(room, max(0, spec.max_merges - len(listed)))
        """The maximum number of new merges."""

    def _specials(self, end: int) -> dict[str, Any]:
        """Return `reserved_tokens` if they differ from those of the given model."""
        return {} if self._reserved is None else reserved_tokens(self._reserved, end)

    def check(self, pieces: Iterable[str]) -> None:
        """Raise `InvalidSpec` if a piece contains the text of `end_of_word`, or a character outside the alphabet of a
        model without an unknown token."""
        for symbol in base_symbols(pieces, self.spec):
            if symbol not in self.model.id_by_token and self.model.unknown is None:
                problem = f"the model to extend has no token for {symbol.decode()!a}, and no unknown token"
                raise InvalidSpec("alphabet", problem)

    def result(self, merges: Sequence[Pair], counts: Sequence[int]) -> Model:
        """Return the given model with the new merges (pairs of ids) and their counts."""
        begun = self.model
        tokens = with_merged([*begun.tokens, *([None] * (self.first_new_id - len(begun.tokens)))], merges)
        known = begun.merge_counts
        return begun.with_(
            tokens=tokens if merges else begun.tokens,
            merges=(*begun.merges, *merges),
            merge_counts=None if known is None else (*known, *counts),
            **self._specials(len(tokens)),
        )
