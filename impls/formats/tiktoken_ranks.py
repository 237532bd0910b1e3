"""tiktoken rank files: a line per token, its bytes in base64, a space, its rank.

    IQ== 0
    IGFuZA== 290

A rank file has nothing else: the pattern and the special tokens are in the program that uses it. The ranks are the ids,
and any two neighbours whose joined bytes are in the file merge (merge rule `concatenation`).
"""

from __future__ import annotations

import binascii
import hashlib
import warnings
from collections.abc import Mapping, Sequence

from impls.core.errors import InvalidModel, Unsupported
from impls.core.model import Model
from impls.core.model.derivations import concatenation_differs, ids_out_of_order
from impls.core.text.patterns import name_of, resolve
from impls.formats.files import check_lines, token_table
from impls.formats.known import KNOWN, Known
from impls.formats.parse_cache import cached_model
from impls.formats.vocabulary import lost_fields

FORMAT = "tiktoken"
_NO_BYTES = b"="
"""Marks an unused rank, without bytes: whisper's rank 50256, which no text encodes to."""


class PatternAssumed(UserWarning):
    """An unknown rank file was read without a pattern: `gpt2` is used, and the ids may differ from the original's."""


def digest_of(ranks: Mapping[bytes, int]) -> str:
    """Return the SHA-256 (hex) of the rank file, by which `impls.formats.known` identifies vocabularies."""
    return hashlib.sha256(write_tiktoken_ranks(ranks)).hexdigest()


def read_model(
    content: bytes, path: str, pattern: str | Sequence[str] | None, special_tokens: Mapping[str, int] | None
) -> Model:
    """Read the model of a rank file; see `impls.formats.load` for the defaults of `pattern` and `special_tokens`."""
    digest = hashlib.sha256(content).hexdigest()
    known = KNOWN.get(digest)

    def parse() -> Model:
        ranks = read_tiktoken_ranks(content)
        published = known or KNOWN.get(digest_of(ranks)) or Known("")
        if pattern is None and published.pattern is None:
            warnings.warn(
                f"{path}: a rank file has no pattern; 'gpt2' is used. For another: load(path, pattern=NAME), "
                "or `bpebench convert FILE MODEL.json --to bpebench --pattern NAME` once",
                PatternAssumed,
                stacklevel=5,
            )
        return Model(
            tokens=token_table(ranks.keys(), ranks.values()),
            pattern=resolve(published.pattern or "gpt2" if pattern is None else pattern),
            special_tokens=published.special_tokens if special_tokens is None else special_tokens,
            merge_rule="concatenation",
        )

    if known is None and pattern is None:
        return parse()  # a cached model would raise no warning
    return cached_model(parse, FORMAT, content, digest, pattern, special_tokens)


def read_tiktoken_ranks(content: bytes) -> dict[bytes, int]:
    """Return token -> rank, in the order of the file.

    Raise `InvalidModel` naming the line: not base64, not a whole number, a duplicate token or rank, or no line break at
    the end (a truncated file may end anywhere).
    """
    check_lines(content)
    ranks: dict[bytes, int] = {}
    line_of: dict[int, int] = {}
    for number, line in enumerate(content.split(b"\n"), 1):
        fields = line.split()
        if not fields:
            continue
        if len(fields) != 2:
            expected = "expected a token in base64, a space and a rank"
            raise InvalidModel(f"{_place(number, ranks)}: {expected}, not {_short(line)}")
        if fields[0] == _NO_BYTES:
            continue
        try:
            token = binascii.a2b_base64(fields[0], strict_mode=True)
        except binascii.Error as error:
            raise InvalidModel(f"{_place(number, ranks)}: {_short(fields[0])} is not base64 ({error})") from None
        if not token:
            raise InvalidModel(f"line {number}: the token is empty; remove the line")
        if not fields[1].isdigit() or len(fields[1]) > 10:
            raise InvalidModel(f"line {number}: the rank {_short(fields[1])} is not a whole number up to 2147483647")
        rank = int(fields[1])
        if token in ranks:
            raise InvalidModel(f"line {number}: the token {token!r} is already in line {line_of[ranks[token]]}")
        if rank in line_of:
            raise InvalidModel(f"line {number}: the rank {rank} is already in line {line_of[rank]}")
        ranks[token] = rank
        line_of[rank] = number
    return ranks


def _place(number: int, ranks: Mapping[bytes, int]) -> str:
    """Return the place of an error; a file of no other format is read as ranks, and fails at its first line."""
    return f"line {number}" if ranks else f"not a vocabulary of a known format; as a rank file: line {number}"


def write_tiktoken_ranks(ranks: Mapping[bytes, int]) -> bytes:
    """Return the rank file, in order of rank."""
    lines = [
        b"%b %d\n" % (binascii.b2a_base64(token, newline=False), rank)
        for token, rank in sorted(ranks.items(), key=lambda item: item[1])
    ]
    return b"".join(lines)


def ranks_of(model: Model) -> dict[bytes, int]:
    """Return token -> id, as ranks of the rule `concatenation`.

    Raise `Unsupported` if ids cannot be ranks: an alphabet of characters, or merges whose results are not in the order
    of their ids.
    """
    if model.alphabet != "bytes":
        raise Unsupported(
            FORMAT, "ranks are of byte strings that start from single bytes; this model's alphabet is 'chars'"
        )
    if model.end_of_word is not None:
        raise Unsupported(FORMAT, f"it has no symbols that end in {model.end_of_word!r}")
    if why := ids_out_of_order(model):
        raise Unsupported(FORMAT, f"ids are ranks there, but {why}")
    return dict(model.id_by_token)


def losses(model: Model) -> list[str]:
    """Return what a rank file would lose of `model`; raise `Unsupported` if it cannot hold the model."""
    ranks_of(model)
    holds_none = "a rank file has none" if model.pattern else "a rank file cannot say that texts are not split"
    lost = [f"pattern: {holds_none}; give {name_of(model.pattern) or model.pattern!r} again when it is loaded"]
    lost += lost_fields(model, "special_tokens", "added_tokens", "normalization", "unknown", "merge_counts")
    if model.merge_rule == "pairs" and (why := concatenation_differs(model)):
        lost.append(f"merges: some texts get different ids, as {why}")
    return lost + lost_fields(model, "whole_token_flags")


def write(model: Model) -> bytes:
    """Return the rank file of `model`; raise `Unsupported` if its ids cannot be ranks."""
    return write_tiktoken_ranks(ranks_of(model))


def _short(data: bytes) -> str:
    return repr(data[:40].decode("ascii", "backslashreplace")) + ("…" if len(data) > 40 else "")
