"""`bpebench.tiktoken.load` reads and writes ranks as `tiktoken.load` does, under tiktoken's own name too."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from pathlib import Path

import tiktoken.load
from refusals import refused

import bpebench
from impls.drop_in.tiktoken import load

RANKS = {bytes([byte]): byte for byte in range(256)} | {b"ab": 256, b" t": 257}


def test_ranks_are_written_and_read_as_the_library_reads_them(tmp_path: Path) -> None:
    path = tmp_path / "ranks.tiktoken"
    load.dump_tiktoken_bpe(RANKS, str(path))
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    assert load.load_tiktoken_bpe(str(path), digest) == tiktoken.load.load_tiktoken_bpe(str(path), digest) == RANKS
    refused(ValueError, "its SHA-256 is not 00", load.load_tiktoken_bpe, str(path), "00")
    path.write_text("YQ== x\n")
    refused(ValueError, "line 1: the rank 'x' is not a whole number", load.load_tiktoken_bpe, str(path))
    refused(ValueError, "this is an address", load.load_tiktoken_bpe, "https://example.org/x.tiktoken")


def test_the_ranks_of_gpt2s_pair_are_the_librarys(tmp_path: Path) -> None:
    from impls.core.text.byte_alphabet import to_printable

    first = [byte for byte in range(256) if chr(byte).isprintable() and byte != 32]
    tokens = [bytes([byte]) for byte in (*first, *(byte for byte in range(256) if byte not in first))]
    names = [to_printable(token) for token in (*tokens, b" t", b" th")]
    encoder, merges = tmp_path / "encoder.json", tmp_path / "vocab.bpe"
    encoder.write_text(json.dumps({name: rank for rank, name in enumerate([*names, "<|endoftext|>"])}))
    merges.write_text(f"#version: 0.2\n{to_printable(b' ')} t\n{to_printable(b' t')} h\n", encoding="utf-8")
    arguments = str(merges), str(encoder)
    ours = load.data_gym_to_mergeable_bpe_ranks(*arguments)
    assert ours == tiktoken.load.data_gym_to_mergeable_bpe_ranks(*arguments)
    assert len(ours) == 258


def test_a_program_imports_it_by_tiktokens_name(tmp_path: Path) -> None:
    path = tmp_path / "ranks.tiktoken"
    load.dump_tiktoken_bpe(RANKS, str(path))
    program = f"""
import sys, bpebench
sys.modules["tiktoken"] = bpebench.tiktoken
import tiktoken
from tiktoken.core import Encoding
from tiktoken.load import load_tiktoken_bpe
from tiktoken.model import encoding_name_for_model
from tiktoken.registry import get_encoding, list_encoding_names
encoding = tiktoken.Encoding(
    "mine", pat_str=r"\\S+|\\s+", mergeable_ranks=load_tiktoken_bpe({str(path)!r}), special_tokens={{}})
print(encoding.encode("abc"), tiktoken.get_encoding is get_encoding is bpebench.get_encoding)
assert Encoding is bpebench.Encoding and encoding_name_for_model("gpt-4o") == list_encoding_names()[-2] == "o200k_base"
"""
    answer = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert answer.stdout == "[256, 99] True\n"
    assert bpebench.tiktoken.load.load_tiktoken_bpe is load.load_tiktoken_bpe
