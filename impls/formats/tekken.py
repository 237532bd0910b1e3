"""Mistral's tekken.json: a rank file in JSON, with its pattern, its size and its special tokens.

    {"config": {"pattern": ..., "default_vocab_size": 131072, "default_num_special_tokens": 1000, ...},
     "vocab": [{"rank": 0, "token_bytes": "AA==", "token_str": "\\u0000"}, ...]}

Special tokens have the first ids, tokens the following: the id of a token is its rank plus the number of special
tokens. The list is longer than the vocabulary; entries beyond the declared size are not used. Files without a list of
special tokens (up to version 3) have the first twenty of Mistral's; unnamed ones are `<SPECIAL_n>`.
"""

from __future__ import annotations

import binascii
from typing import Any

from impls.core.errors import InvalidFile
from impls.core.model import Model
from impls.core.text.patterns import resolve
from impls.formats.files import MAX_TABLE_ID, parse_json

FORMAT = "tekken"
_DEFAULT_SPECIAL_TOKENS = (
    "<unk>", "<s>", "</s>", "[INST]", "[/INST]", "[AVAILABLE_TOOLS]", "[/AVAILABLE_TOOLS]", "[TOOL_RESULTS]",
    "[/TOOL_RESULTS]", "[TOOL_CALLS]", "[IMG]", "<pad>", "[IMG_BREAK]", "[IMG_END]", "[PREFIX]", "[MIDDLE]", "[SUFFIX]",
    "[SYSTEM_PROMPT]", "[/SYSTEM_PROMPT]", "[TOOL_CONTENT]",
)  # fmt: skip
_FILLER = "<SPECIAL_{}>"


def is_document(document: Any) -> bool:
    """Return whether a parsed file is in this format."""
    return isinstance(document, dict) and isinstance(document.get("vocab"), list) and "config" in document


def read(content: bytes, path: str) -> Model:
    """Read the model; raise `InvalidFile` naming the field that is wrong."""
    return read_document(parse_json(content, path), path)


def read_document(document: Any, path: str) -> Model:
    """Read the model of a parsed file."""
    if not is_document(document):
        raise InvalidFile(path, "an object with 'config' and the list 'vocab' is expected")
    config = document["config"]
    if not isinstance(config, dict):
        raise InvalidFile(path, "config: an object is expected")
    pattern = config.get("pattern")
    if not isinstance(pattern, str):
        raise InvalidFile(path, "config.pattern: a text is expected")
    size = _whole(config, "default_vocab_size", path)
    n_special = _whole(config, "default_num_special_tokens", path)
    if not n_special <= size <= MAX_TABLE_ID + 1:
        raise InvalidFile(
            path,
            f"config.default_vocab_size: {size} is not between the {n_special} special tokens and {MAX_TABLE_ID + 1}",
        )
    entries = document["vocab"]
    wanted = size - n_special
    if len(entries) < wanted:
        raise InvalidFile(path, f"vocab: {len(entries)} tokens, but config asks for {wanted}; the file is cut short")
    return Model(
        tokens=(*[None] * n_special, *_tokens(entries, wanted, path)),
        pattern=resolve((pattern,)),
        special_tokens=_special_tokens(document.get("special_tokens"), n_special, path),
        merge_rule="concatenation",
        id_offset=n_special,
    )


def _whole(config: dict[str, Any], name: str, path: str) -> int:
    value = config.get(name)
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise InvalidFile(path, f"config.{name}: a whole number is expected, not {value!r:.40}")
    return value


def _tokens(entries: list[Any], wanted: int, path: str) -> list[bytes | None]:
    """Return the tokens of ranks 0 to `wanted` - 1; entries may be in any order."""
    tokens: list[bytes | None] = [None] * wanted
    for index, entry in enumerate(entries):
        rank, written = (entry.get("rank"), entry.get("token_bytes")) if isinstance(entry, dict) else (None, None)
        if not isinstance(rank, int) or isinstance(rank, bool) or not isinstance(written, str):
            raise InvalidFile(
                path, f"vocab[{index}]: a whole number as 'rank' and a text as 'token_bytes' are expected"
            )
        if not 0 <= rank < len(entries):
            raise InvalidFile(path, f"vocab[{index}].rank: {rank} is not between 0 and {len(entries) - 1}")
        try:
            token = binascii.a2b_base64(written, strict_mode=True)
        except ValueError as error:
            raise InvalidFile(path, f"vocab[{index}].token_bytes: {written!a:.40} is not base64 ({error})") from None
        if not token:
            raise InvalidFile(path, f"vocab[{index}].token_bytes: the token of rank {rank} is empty")
        if rank >= wanted:
            continue
        if tokens[rank] is not None:
            raise InvalidFile(path, f"vocab[{index}].rank: {rank} was given already")
        tokens[rank] = token
    for rank, found in enumerate(tokens):
        if found is None:
            raise InvalidFile(path, f"vocab: no token has the rank {rank}")
    return tokens


def _special_tokens(entries: Any, n_special: int, path: str) -> dict[str, int]:
    named = dict(enumerate(_DEFAULT_SPECIAL_TOKENS[:n_special]))
    if entries is not None:
        if not isinstance(entries, list):
            raise InvalidFile(path, "special_tokens: a list is expected")
        named = {}
        for index, entry in enumerate(entries):
            rank, text = (entry.get("rank"), entry.get("token_str")) if isinstance(entry, dict) else (None, None)
            if not isinstance(rank, int) or isinstance(rank, bool) or not isinstance(text, str) or not text:
                raise InvalidFile(
                    path, f"special_tokens[{index}]: a whole number as 'rank' and a text as 'token_str' are expected"
                )
            if not 0 <= rank < n_special or rank in named:
                problem = "was given already" if rank in named else f"is not below {n_special}"
                raise InvalidFile(path, f"special_tokens[{index}].rank: {rank} {problem}")
            named[rank] = text
    texts = [named.get(rank, _FILLER.format(rank)) for rank in range(n_special)]
    special = {text: rank for rank, text in enumerate(texts)}
    if len(special) != n_special:
        twice = next(text for rank, text in enumerate(texts) if special[text] != rank)
        raise InvalidFile(path, f"special_tokens: {twice!a} occurs twice")
    return special
