"""tiktoken.load: files of ranks as dictionaries, token -> rank. A file is a path on this machine, not an address."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path

from impls.core.errors import InvalidFile, InvalidModel
from impls.formats import gpt2_pair
from impls.formats.tiktoken_ranks import read_tiktoken_ranks, write_tiktoken_ranks


class InvalidRanks(InvalidFile, ValueError):
    """A file of ranks that cannot be read; tiktoken raises `ValueError`."""


def load_tiktoken_bpe(tiktoken_bpe_file: str, expected_hash: str | None = None) -> dict[bytes, int]:
    """Return the ranks of a rank file; raise `InvalidRanks` naming the line, or for another SHA-256 than expected."""
    try:
        return read_tiktoken_ranks(read_file_cached(tiktoken_bpe_file, expected_hash))
    except InvalidModel as error:
        raise InvalidRanks(tiktoken_bpe_file, str(error)) from None


def dump_tiktoken_bpe(bpe_ranks: Mapping[bytes, int], tiktoken_bpe_file: str) -> None:
    """Write a rank file, in order of rank."""
    Path(tiktoken_bpe_file).write_bytes(write_tiktoken_ranks(bpe_ranks))


def data_gym_to_mergeable_bpe_ranks(
    vocab_bpe_file: str,
    encoder_json_file: str,
    vocab_bpe_hash: str | None = None,
    encoder_json_hash: str | None = None,
    clobber_one_byte_tokens: bool = False,
) -> dict[bytes, int]:
    """Return the ranks of GPT-2's pair of files: the ids of the encoder, those of single bytes too in any case.

    Raise `InvalidFile` naming the file and the entry.
    """
    read_file_cached(vocab_bpe_file, vocab_bpe_hash)
    read_file_cached(encoder_json_file, encoder_json_hash)
    model = gpt2_pair.read(Path(encoder_json_file), Path(vocab_bpe_file))
    return {token: rank for rank, token in enumerate(model.tokens) if token is not None}


def read_file_cached(blobpath: str, expected_hash: str | None = None) -> bytes:
    """Return the content of a file, read again each time; raise `InvalidRanks` if its SHA-256 differs."""
    content = read_file(blobpath)
    if expected_hash and not check_hash(content, expected_hash):
        raise InvalidRanks(blobpath, f"its SHA-256 is not {expected_hash}; fetch it again")
    return content


def read_file(blobpath: str) -> bytes:
    """Return the content of a file; raise `InvalidRanks` for an address."""
    if "://" in blobpath:
        known = "published models load by name (`bpebench list models`)"
        raise InvalidRanks(blobpath, f"this is an address, and nothing is fetched here; {known}, others from a file")
    return Path(blobpath).read_bytes()


def check_hash(data: bytes, expected_hash: str) -> bool:
    """Return whether this is the SHA-256 of the content."""
    return hashlib.sha256(data).hexdigest() == expected_hash
