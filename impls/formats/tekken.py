"""Mistral's tekken.json: a rank file in JSON, with its pattern, its size and its special tokens.

    {"config": {"pattern": ..., "default_vocab_size": 131072, "default_num_special_tokens": 1000, ...},
     "vocab": [{"rank": 0, "token_bytes": "AA==", "token_str": "\\u0000"}, ...]}

Special tokens have the first ids, tokens the following: the id of a token is its rank plus the number of special
tokens. The list is longer than the vocabulary; entries beyond the declared size are not used. Files without a list of
special tokens (up to version 3) have the first twenty of Mistral's; unnamed ones are `<SPECIAL_n>`.
"""

from __future__ import annotations

from typing import Annotated, Any

import msgspec

from impls.core.errors import InvalidModel
from impls.core.model import Model
from impls.core.text.patterns import resolve
from impls.formats.files import MAX_TABLE_ID, converted, token_table

FORMAT = "tekken"
_DEFAULT_SPECIAL_TOKENS = (
    "<unk>", "<s>", "</s>", "[INST]", "[/INST]", "[AVAILABLE_TOOLS]", "[/AVAILABLE_TOOLS]", "[TOOL_RESULTS]",
    "[/TOOL_RESULTS]", "[TOOL_CALLS]", "[IMG]", "<pad>", "[IMG_BREAK]", "[IMG_END]", "[PREFIX]", "[MIDDLE]", "[SUFFIX]",
    "[SYSTEM_PROMPT]", "[/SYSTEM_PROMPT]", "[TOOL_CONTENT]",
)  # fmt: skip
_FILLER = "<SPECIAL_{}>"


Count = Annotated[int, msgspec.Meta(ge=0)]


class _Config(msgspec.Struct):
    pattern: str
    default_vocab_size: Count
    default_num_special_tokens: Count


class _Entry(msgspec.Struct):
    rank: Count
    token_bytes: Annotated[bytes, msgspec.Meta(min_length=1)]


class _Special(msgspec.Struct):
    rank: int
    token_str: Annotated[str, msgspec.Meta(min_length=1)]


class _Document(msgspec.Struct):
    config: _Config
    vocab: list[_Entry]
    special_tokens: list[_Special] | None = None


def is_document(document: Any) -> bool:
    """Return whether a parsed file is in this format."""
    return isinstance(document, dict) and isinstance(document.get("vocab"), list) and "config" in document


def read(document: Any) -> Model:
    """Read the model of a parsed file; raise `InvalidModel` naming the invalid field."""
    file = converted(document, _Document)
    size, n_special = file.config.default_vocab_size, file.config.default_num_special_tokens
    if not n_special <= size <= MAX_TABLE_ID + 1:
        raise InvalidModel(
            f"config.default_vocab_size: {size} is not between the {n_special} special tokens and {MAX_TABLE_ID + 1}"
        )
    wanted = size - n_special
    if len(file.vocab) < wanted:
        raise InvalidModel(f"vocab: {len(file.vocab)} tokens, but config asks for {wanted}; the file is cut short")
    return Model(
        tokens=(*[None] * n_special, *_tokens(file.vocab, wanted)),
        pattern=resolve((file.config.pattern,)),
        special_tokens=_special_tokens(file.special_tokens, n_special),
        merge_rule="concatenation",
    )


def _tokens(entries: list[_Entry], wanted: int) -> tuple[bytes | None, ...]:
    """Return the tokens of ranks 0 to `wanted` - 1; entries may be in any order."""
    used = [entry for entry in entries if entry.rank < wanted]
    tokens = token_table([entry.token_bytes for entry in used], [entry.rank for entry in used])
    if len(tokens) < wanted or None in tokens:
        raise InvalidModel(f"vocab: no token has the rank {(*tokens, None).index(None)}")
    return tokens


def _special_tokens(entries: list[_Special] | None, n_special: int) -> dict[str, int]:
    named = dict(enumerate(_DEFAULT_SPECIAL_TOKENS[:n_special] if entries is None else ()))
    for index, entry in enumerate(entries or ()):
        if not 0 <= entry.rank < n_special or entry.rank in named:
            problem = "occurs twice" if entry.rank in named else f"is not below {n_special}"
            raise InvalidModel(f"special_tokens[{index}].rank: {entry.rank} {problem}")
        named[entry.rank] = entry.token_str
    texts = [named.get(rank, _FILLER.format(rank)) for rank in range(n_special)]
    special = {text: rank for rank, text in enumerate(texts)}
    if len(special) != n_special:
        twice = next(text for rank, text in enumerate(texts) if special[text] != rank)
        raise InvalidModel(f"special_tokens: {twice!a} occurs twice")
    return special
