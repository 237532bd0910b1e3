"""Decode by tiktoken's rules, and describe the vocabulary."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property

from impls.core.arguments import unsigned
from impls.drop_in.tiktoken import arguments
from impls.interface import Tokenizer


class DecodingEncoding:
    """The part of `Encoding` that decodes and describes itself."""

    name: str
    tokenizer: Tokenizer
    """The implementation that encodes and decodes."""
    _special_tokens: dict[str, int]

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

    def decode_batch(
        self, batch: Iterable[Sequence[int]], *, errors: str = "replace", num_threads: int = 8
    ) -> list[str]:
        """Return the text of each sequence of ids."""
        arguments.threads_of(num_threads)
        return [self.decode(tokens, errors) for tokens in list(batch)]

    def decode_bytes_batch(self, batch: Iterable[Sequence[int]], *, num_threads: int = 8) -> list[bytes]:
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
        return token in self._special_ids

    @cached_property
    def max_token_value(self) -> int:
        """Return the largest id."""
        return max(*self._special_ids, max(self.tokenizer.model.id_by_token.values()), 0)

    @property
    def n_vocab(self) -> int:
        """Return one more than the largest id."""
        return self.max_token_value + 1

    def token_byte_values(self) -> list[bytes]:
        """Return the tokens that are not special, sorted."""
        return list(self._sorted_tokens)

    @cached_property
    def _special_ids(self) -> frozenset[int]:
        return frozenset(self._special_tokens.values())

    @cached_property
    def _sorted_tokens(self) -> list[bytes]:
        return sorted(self.tokenizer.model.id_by_token)

    @cached_property
    def _mergeable_ranks(self) -> dict[bytes, int]:
        return dict(self.tokenizer.model.id_by_token)
