"""The training specification: what to learn, in terms every trainer understands, with every field checked."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args, get_origin, get_type_hints

from impls.core.arguments import wrong_type
from impls.core.errors import InvalidSpec

Ties = Literal["smallest", "first", "largest", "shortest"]


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingSpec:
    """What to train; only `vocab_size` is required. Raises `InvalidSpec` naming the field that is wrong.

    vocab_size: base symbols + merges + special tokens + the unknown token.
    pattern: a name of `impls.core.text.patterns` or a regular expression; `none` makes each text one piece.
    alphabet: `bytes` (256 base symbols) or `chars` (the characters of the corpus, in code-point order).
    ties: which of the equally frequent pairs is merged: `smallest` (left id, right id); `first`: the pair whose
        leftmost current occurrence in the corpus is earliest; `largest`: (left, right) as byte strings; `shortest`:
        fewest characters (bytes, for the alphabet `bytes`), then the smallest UTF-8 of the merged string. Remaining
        ties go to the smallest pair of ids.
    base_order: order of the 256 base ids: `raw` byte values, or `gpt2`, Hugging Face's order of the printable map.
    min_count: least count of a pair.
    max_merges: most merges, or None.
    max_token_bytes: inclusive limit; a pair whose merged token would be longer is skipped.
    special_tokens: texts with ids of their own, which no merge makes.
    special_ids: `last`: special tokens come after the merges; `first`: before the base symbols.
    end_of_word: joined to the last character of each piece, as subword-nmt does; decoding turns it into a space.
    unknown: text of the token for characters outside the alphabet; without it they raise `UnknownSymbol`.
    """

    vocab_size: int
    pattern: str = "gpt2"
    alphabet: Literal["bytes", "chars"] = "bytes"
    ties: Ties = "smallest"
    base_order: Literal["raw", "gpt2"] = "raw"
    min_count: int = 1
    max_merges: int | None = None
    max_token_bytes: int | None = None
    special_tokens: tuple[str, ...] = ()
    special_ids: Literal["last", "first"] = "last"
    end_of_word: str | None = None
    unknown: str | None = None

    def __post_init__(self) -> None:
        for name, least in {"vocab_size": 1, "min_count": 1, "max_merges": 0, "max_token_bytes": 1}.items():
            value, or_none = getattr(self, name), ", or None" if name.startswith("max_") else ""
            is_number = isinstance(value, int) and not isinstance(value, bool)
            if not (value >= least if is_number else or_none and value is None):
                raise InvalidSpec(name, f"must be a whole number of at least {least}{or_none}, not {value!r}")
        for name, hint in get_type_hints(TrainingSpec).items():
            choices = get_args(hint) if get_origin(hint) is Literal else ()
            if choices and getattr(self, name) not in choices:
                raise InvalidSpec(name, f"must be one of {', '.join(choices)}, not {getattr(self, name)!r}")
        stages = (self.pattern,) if isinstance(self.pattern, str) else self.pattern
        if not isinstance(stages, tuple | list) or not all(isinstance(stage, str) for stage in stages):
            raise InvalidSpec("pattern", f"must be a name or a regular expression, not {self.pattern!r}")
        if isinstance(self.special_tokens, str | bytes) or not isinstance(self.special_tokens, Iterable):
            raise InvalidSpec("special_tokens", f"must be a sequence of texts, not {self.special_tokens!r}")
        object.__setattr__(self, "special_tokens", tuple(self.special_tokens))
        if any(not isinstance(text, str) or not text for text in self.reserved):
            raise InvalidSpec("special_tokens", "special and unknown tokens must be texts that are not empty")
        if len(set(self.reserved)) != len(self.reserved):
            raise InvalidSpec("special_tokens", "two special tokens have the same text")
        is_text = isinstance(self.end_of_word, str) and self.end_of_word
        if self.end_of_word is not None and (self.alphabet == "bytes" or not is_text):
            raise InvalidSpec("end_of_word", "needs the alphabet 'chars' and a text that is not empty")
        if self.alphabet == "chars" and self.base_order == "gpt2":
            raise InvalidSpec("base_order", "'gpt2' orders bytes; the alphabet 'chars' has code-point order")

    def tie_key(self, tokens: Sequence[bytes]) -> Callable[[tuple[int, int]], Any]:
        """Return the rule for ties, as a function of a pair of ids: of equally frequent pairs the least key wins, and
        of equal keys the pair that occurs first. `tokens` are the tokens by id, and may grow.
        """

        def descending(token: bytes) -> str:
            return "".join([chr(255 - byte) for byte in token]) + "\u0100"  # the end sorts ab before its prefix a

        if self.ties == "smallest":
            return lambda pair: pair
        if self.ties == "first":
            return lambda pair: ()
        if self.ties == "largest":
            return lambda pair: (descending(tokens[pair[0]]), descending(tokens[pair[1]]))
        length = len if self.alphabet == "bytes" else lambda token: len(token.decode())
        return lambda pair: (length(token := tokens[pair[0]] + tokens[pair[1]]), token, pair)

    @property
    def reserved(self) -> tuple[str, ...]:
        """Return the texts of the special tokens and the unknown token, in order of their ids."""
        return self.special_tokens if self.unknown is None else (*self.special_tokens, self.unknown)


def check_spec(spec: object) -> None:
    """Raise TypeError unless `spec` is a `TrainingSpec`."""
    if not isinstance(spec, TrainingSpec):
        raise wrong_type("spec", "a TrainingSpec", spec)
