"""`Encoding`: the class of tiktoken 0.14, every public method and property of it, over any implementation of the suite.

The arguments, results and types of exceptions are tiktoken's, except where its behaviour is accidental:

- Of special tokens that begin at one place the longest is found (tiktoken: any). Of several texts with one id, that id
  decodes to the first one listed (tiktoken: any).
- A vocabulary that contradicts itself raises `InvalidEncoding`, a ValueError, when it is made: a byte without a rank, a
  rank given twice, an empty token or special token, a special token whose text has a rank. tiktoken panics, some of it
  only when a text needs it.
- Other inputs on which tiktoken panics are encoded: empty bytes have no ids, a million spaces have their ids.
- Patterns are `regex`'s, in which letters compared without case include the dotted İ and dotless ı: `(?i:[a-z])`.
- A copy of a named encoding is the encoding itself.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from functools import cached_property, partial
from typing import Any

import numpy as np
import regex

from impls import registry
from impls.core.arguments import Special, SpecialSet, check_text, unsigned, wrong_type
from impls.core.errors import BPEError, InvalidModel, InvalidPattern, Unsupported
from impls.core.model import Model
from impls.core.text.patterns import NAMED, WHOLE_TEXT
from impls.core.text.stages import DROPS_REST
from impls.core.text.text import repair_surrogates, special_matcher
from impls.drop_in.tiktoken import arguments, unstable
from impls.formats.files import token_table
from impls.operations.batches import as_array
from impls.operations.pieces import last_piece_start

Ids = list[int]
TokenIds = Sequence[int]
_NONE: frozenset[str] = frozenset()
_GROUP = regex.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*+\]|\((?:\?P?<\w+>|(?!\?))", regex.DOTALL)
"""An escape, a set, or the beginning of a capturing group."""
_KNOWN_TO_COVER = {stages[0] for stages in NAMED.values() if len(stages) == 1}


class InvalidEncoding(BPEError, ValueError):
    """A vocabulary or pattern that no encoding can be made of."""


class UnknownToken(BPEError, KeyError):
    """A text, or bytes, that are not a token."""

    __str__ = Exception.__str__  # a KeyError would print its message in quotes


class Encoding:
    """A vocabulary by tiktoken's rules, run by an implementation of the suite."""

    def __init__(
        self,
        name: str,
        *,
        pat_str: str,
        mergeable_ranks: dict[bytes, int],
        special_tokens: dict[str, int],
        explicit_n_vocab: int | None = None,
        implementation: str = "compiled",
    ) -> None:
        """Make an encoding of tokens with their ranks, which are their ids, a pattern, and special tokens with ids.

        Text that the pattern does not match is dropped. With `explicit_n_vocab`, raise AssertionError unless there are
        as many ids. Raise `InvalidEncoding`, or `Unsupported` if `implementation` cannot run it.
        """
        arguments.check_vocabulary(mergeable_ranks, special_tokens, pat_str, explicit_n_vocab)
        stage = pat_str if pat_str in _KNOWN_TO_COVER else DROPS_REST + _without_captures(pat_str)
        try:
            tokens = token_table(mergeable_ranks.keys(), mergeable_ranks.values())
            held = _held(special_tokens, tokens)
            model = Model(tokens=tokens, pattern=(stage,), special_tokens=held, merge_rule="concatenation")
        except (InvalidModel, InvalidPattern) as error:
            raise InvalidEncoding(f"{name}: {error}") from None
        self._prepare(name, model, special_tokens, implementation)
        self._pat_str, self._mergeable_ranks = pat_str, mergeable_ranks

    @classmethod
    def of_model(cls, name: str, model: Model, special_tokens: dict[str, int], *, implementation: str) -> Encoding:
        """Return an encoding of a model that looks up joined bytes, as read from a rank file, with these special
        tokens.

        Raise `Unsupported` for any other model.
        """
        rules = model.alphabet, model.merge_rule, model.normalization, len(model.added_tokens)
        if rules != ("bytes", "concatenation", None, 0) or len(model.pattern) > 1:
            raise Unsupported("Encoding", f"{name}: tiktoken runs rank files with one pattern, which this is not")
        held = _held(special_tokens, model.tokens)
        if held != model.special_tokens:
            model = model.with_(special_tokens=held)
        encoding = cls.__new__(cls)
        encoding._prepare(name, model, special_tokens, implementation)
        return encoding

    def _prepare(self, name: str, model: Model, special_tokens: dict[str, int], implementation: str) -> None:
        self.name = name
        self._special_tokens = special_tokens
        self._pat_str = (model.pattern or (WHOLE_TEXT,))[0]
        self._restored_by: tuple[Callable[..., Encoding], tuple[str, ...]] | None = None
        """How another process restores this encoding; None: from its arguments."""
        self.tokenizer = registry.load(implementation, model)
        self._has_others = len(model.special_tokens) != len(special_tokens)
        """Whether there are special tokens that the model does not hold."""

    def __repr__(self) -> str:
        return f"<Encoding {self.name!r}>"

    def __reduce__(self) -> tuple[Callable[..., Encoding], tuple[Any, ...]]:
        if self._restored_by is not None:
            return self._restored_by
        parts: dict[str, Any] = {"pat_str": self._pat_str, "mergeable_ranks": self._mergeable_ranks}
        parts |= {"special_tokens": self._special_tokens, "implementation": self.tokenizer.name}
        return partial(type(self), self.name, **parts), ()

    # --- encoding ------------------------------------------------------------------------------------------

    def encode(self, text: str, *, allowed_special: SpecialSet = _NONE, disallowed_special: SpecialSet = "all") -> Ids:
        """Return the ids of `text`. Special tokens in `allowed_special` (a set, or "all") become their id.

        Raise `SpecialToken`, a ValueError, if the text contains one of `disallowed_special`: a collection of any texts,
        or "all" special tokens that are not allowed. All others are ordinary text.
        """
        if allowed_special is _NONE and disallowed_special == "all" and not self._has_others:
            return self.tokenizer.encode(text)
        return self._encode_allowing(text, self._checked(text, allowed_special, disallowed_special))

    def encode_ordinary(self, text: str) -> list[int]:
        """Return the ids of `text`; special tokens are ordinary text."""
        return self.tokenizer.encode_ordinary(text)

    def encode_to_numpy(
        self, text: str, *, allowed_special: SpecialSet = _NONE, disallowed_special: SpecialSet = "all"
    ) -> np.ndarray:
        """Return the ids of `encode` as a uint32 array of shape (n_tokens,); raise UnicodeEncodeError."""
        allowed = self._checked(text, allowed_special, disallowed_special, repaired=False)
        if self._has_others:
            return as_array(self._encode_allowing(text, allowed))
        return self.tokenizer.encode_array(text, allowed_special=allowed, disallowed_special=())

    def encode_batch(
        self,
        text: list[str],
        *,
        num_threads: int = 8,
        allowed_special: SpecialSet = _NONE,
        disallowed_special: SpecialSet = "all",
    ) -> list[list[int]]:
        """Return the ids of each text, encoded on `num_threads` threads; see `encode`."""
        allowed, disallowed = self._special_sets(allowed_special, disallowed_special)
        disallowed = frozenset(disallowed)
        threads = arguments.threads_of(num_threads)
        texts = list(text)
        if not self._has_others and disallowed <= self._special_tokens.keys():
            try:
                arguments.checked_allowed(allowed)
                special: Special = {"allowed_special": allowed, "disallowed_special": disallowed}
                return self.tokenizer.encode_batch(texts, threads, **special)
            except (TypeError, ValueError):
                pass  # the first text with an error raises its own
        return [self.encode(each, allowed_special=allowed, disallowed_special=disallowed) for each in texts]

    def encode_ordinary_batch(self, text: list[str], *, num_threads: int = 8) -> list[list[int]]:
        """Return the ids of each text, encoded on `num_threads` threads; special tokens are ordinary text."""
        threads = arguments.threads_of(num_threads)
        return self.tokenizer.encode_batch(list(text), threads, disallowed_special=())

    def encode_with_unstable(
        self, text: str, *, allowed_special: SpecialSet = _NONE, disallowed_special: SpecialSet = "all"
    ) -> tuple[list[int], list[list[int]]]:
        """Return the ids that stay whatever text follows, and the sequences that the rest may become, in order.

        `impls.drop_in.tiktoken.unstable` defines both. Raise UnicodeEncodeError for a surrogate.
        """
        allowed = self._checked(text, allowed_special, disallowed_special, repaired=False)
        end = max((end for _, end in self._special_spans(text, allowed)), default=0)
        ids = self.tokenizer.encode_ordinary(text[end:])
        start = last_piece_start(self.tokenizer.model, text[end:], ids)
        sequences = unstable.completions(self.tokenizer, self._sorted_tokens, self.tokenizer.decode_bytes(ids[start:]))
        return self._encode_allowing(text[:end], allowed) + ids[:start], list(map(list, sorted(sequences)))

    def encode_single_token(self, text_or_bytes: str | bytes) -> int:
        """Return the id of a token or special token; raise `UnknownToken`, a KeyError, for anything else."""
        data = arguments.as_bytes(text_or_bytes)
        i = self.tokenizer.model.id_by_token.get(data)
        if i is None:
            i = next((i for text, i in self._special_tokens.items() if text.encode() == data), None)
        if i is None:
            raise UnknownToken(f"{data!r} is not a token of {self.name}")
        return i

    def _special_sets(self, allowed: Any, disallowed: Any) -> tuple[Any, Any]:
        """Return both arguments with "all" replaced."""
        allowed = self.special_tokens_set if allowed == "all" else allowed
        return allowed, self.special_tokens_set - allowed if disallowed == "all" else disallowed

    def _checked(self, text: str, allowed: Any, disallowed: Any, *, repaired: bool = True) -> Collection[str]:
        """Return the allowed special tokens; raise if the text contains a disallowed one, or, unless it is to be
        `repaired`, a surrogate."""
        allowed, disallowed = self._special_sets(allowed, disallowed)
        arguments.check_disallowed(text, disallowed)
        if not repaired:
            arguments.check_utf8(text)
        return arguments.checked_allowed(allowed)

    def _encode_allowing(self, text: str, allowed: Collection[str]) -> list[int]:
        if not self._has_others:
            return self.tokenizer.encode(text, allowed_special=allowed, disallowed_special=())
        check_text(text)
        text = repair_surrogates(text)
        ids: list[int] = []
        end = 0
        for start, following in self._special_spans(text, allowed):
            ids += self.encode_ordinary(text[end:start])
            ids.append(self._special_tokens[text[start:following]])
            end = following
        return ids + self.encode_ordinary(text[end:])

    def _special_spans(self, text: str, allowed: Collection[str]) -> list[tuple[int, int]]:
        """Return the start and end of each allowed special token in `text`."""
        wanted = self._special_tokens.keys() & allowed
        return [match.span() for match in special_matcher(frozenset(wanted)).finditer(text)] if wanted else []

    # --- decoding ------------------------------------------------------------------------------------------

    def decode(self, tokens: Sequence[int], errors: str = "replace") -> str:
        """Return the text of the ids; `errors` handles bytes that are not UTF-8, as in `bytes.decode`."""
        return self.decode_bytes(tokens).decode("utf-8", errors=errors)

    def decode_bytes(self, tokens: Sequence[int]) -> bytes:
        """Return the bytes of the ids; raise `UnknownId`, a KeyError, for an id without a token."""
        if type(tokens) is list:
            try:
                return self.tokenizer.decode_bytes(tokens)
            except (TypeError, KeyError):
                pass
        return self.tokenizer.decode_bytes(arguments.token_ids(tokens))

    def decode_single_token_bytes(self, token: int) -> bytes:
        """Return the bytes of a token or special token; raise `UnknownId`, a KeyError."""
        return self.tokenizer.decode_bytes([unsigned("token", token, 32)])

    def decode_tokens_bytes(self, tokens: Iterable[int]) -> list[bytes]:
        """Return the bytes of each id."""
        return [self.decode_single_token_bytes(token) for token in tokens]

    def decode_with_offsets(self, tokens: Iterable[int]) -> tuple[str, list[int]]:
        """Return the text of the ids, and the code point at which, or inside which, each begins; raise
        UnicodeDecodeError for bytes that are not UTF-8."""
        tokens = list(tokens)
        b"".join(self.decode_tokens_bytes(tokens)).decode("utf-8")
        return self.tokenizer.decode_with_offsets(tokens)

    def decode_batch(self, batch: Iterable[TokenIds], *, errors: str = "replace", num_threads: int = 8) -> list[str]:
        """Return the text of each sequence of ids."""
        arguments.threads_of(num_threads)
        return [self.decode(tokens, errors) for tokens in list(batch)]

    def decode_bytes_batch(self, batch: Iterable[TokenIds], *, num_threads: int = 8) -> list[bytes]:
        """Return the bytes of each sequence of ids."""
        arguments.threads_of(num_threads)
        return list(map(self.decode_bytes, list(batch)))

    # --- the vocabulary ------------------------------------------------------------------------------------

    @property
    def eot_token(self) -> int:
        """Return the id of `<|endoftext|>`; raise KeyError if there is none."""
        return self._special_tokens["<|endoftext|>"]

    @cached_property
    def special_tokens_set(self) -> set[str]:
        """Return the texts of the special tokens."""
        return set(self._special_tokens)

    def is_special_token(self, token: int) -> bool:
        """Return whether an id is that of a special token; raise AssertionError for anything but an int."""
        if not isinstance(token, int):
            raise AssertionError(f"token must be an int, not {token!r}")
        return token in self._special_tokens.values()

    @cached_property
    def max_token_value(self) -> int:
        """Return the largest id."""
        return max(*self._special_tokens.values(), max(self.tokenizer.model.id_by_token.values()), 0)

    @property
    def n_vocab(self) -> int:
        """Return one more than the largest id."""
        return self.max_token_value + 1

    def token_byte_values(self) -> list[bytes]:
        """Return the tokens that are not special, sorted."""
        return list(self._sorted_tokens)

    @cached_property
    def _sorted_tokens(self) -> list[bytes]:
        return sorted(self.tokenizer.model.id_by_token)

    @cached_property
    def _mergeable_ranks(self) -> dict[bytes, int]:
        return dict(self.tokenizer.model.id_by_token)

    # --- private methods that programs use -------------------------------------------------------------------

    def _encode_bytes(self, text: bytes) -> list[int]:
        if not isinstance(text, bytes):
            raise wrong_type("text", "bytes", text)
        return self.tokenizer.encode_bytes(text)

    def _encode_single_piece(self, text_or_bytes: str | bytes) -> list[int]:
        data = arguments.as_bytes(text_or_bytes)
        model = self.tokenizer.model
        if data in model.id_by_token:
            return [model.id_by_token[data]]
        try:
            return self.tokenizer.encode_byte_piece(data) if data else []
        except Unsupported:
            return unstable.merged_bytes(model, data)

    def _encode_only_native_bpe(self, text: str) -> list[int]:
        check_text(text)
        return [i for piece in self.tokenizer.model.splitter.split(text) for i in self._encode_single_piece(piece)]


def _held(special_tokens: dict[str, int], tokens: Sequence[bytes | None]) -> dict[str, int]:
    """Return the special tokens that a model can hold: those whose id is not a token's, or an earlier one's."""
    first = {i: text for text, i in reversed(special_tokens.items())}
    own = ((text, i) for text, i in special_tokens.items() if first[i] == text)
    return {text: i for text, i in own if i >= len(tokens) or tokens[i] in (None, text.encode())}


def _without_captures(expression: str) -> str:
    """Return `expression` with non-capturing groups: its pieces are its matches, whatever its groups capture."""
    return str(_GROUP.sub(lambda part: "(?:" if part[0].startswith("(") else part[0], expression))
