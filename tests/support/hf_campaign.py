"""Random files, given to `bpebench.hf.Tokenizer` and to the library; `bpebench fuzz --files` gives them to `impls`.

Each seed is one file, ten texts, and ten lists of any ids. What is refused is counted by its reason, except after an
abort; a difference is printed with its seed.
"""

from __future__ import annotations

import json
import re
import resource
import signal
import subprocess
import sys
import warnings
from collections import Counter
from collections.abc import Iterator
from functools import partial
from random import Random
from typing import Any

import tokenizers
from hf_calls import outcome, shown

from harness.generators.tokenizer_files import file_texts, tokenizer_file
from impls.core.errors import InvalidFile, UnknownSymbol, Unsupported
from impls.drop_in import hf

N_TEXTS = 10
SECONDS = 60
"""Limit on one file."""
MEMORY_BYTES = 6 << 30


def differences(seed: int, refused: Counter[str]) -> Iterator[str]:
    """Yield what differs between the tokenizers of the file of `seed`; count what is refused by its reason."""
    random = Random(f"hf campaign {seed}")
    document = tokenizer_file(random)
    written = json.dumps(document)
    theirs = outcome(lambda _: tokenizers.Tokenizer.from_str(written), None)
    if isinstance(theirs, BaseException):
        refused["the library"] += 1
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ours = outcome(lambda _: hf.Tokenizer.from_str(written, implementation="priority"), None)
    if isinstance(ours, InvalidFile | Unsupported):
        refused[_reason(ours)] += 1
        return
    if isinstance(ours, BaseException):
        yield f"seed {seed}: {ours!r}"
        return
    if _share_a_form(ours):
        refused["two added tokens with one normal form, of which the library finds any"] += 1
        return
    for text in file_texts(document, random, N_TEXTS):
        expected = outcome(partial(_shown, text=text), theirs)
        if isinstance(expected, BaseException):  # a panic, after which the library's state is undefined
            theirs = tokenizers.Tokenizer.from_str(written)
            refused["a panic of the library"] += 1
            continue
        yield from _compared(seed, text, outcome(partial(_shown, text=text), ours), expected)
    vocab = theirs.get_vocab(with_added_tokens=True)
    every, spelled = list(vocab.values()), [i for name, i in vocab.items() if name.startswith("<0x")]
    for _ in range(N_TEXTS):
        listed = [random.choice(random.choice((every, spelled or every))) for _ in range(random.choice((0, 1, 3, 9)))]
        decoded = [tokenizer.decode(listed, skip_special_tokens=False) for tokenizer in (ours, theirs)]
        yield from _compared(seed, listed, *decoded)


def _shown(tokenizer: Any, text: str) -> dict[str, Any]:
    return shown(tokenizer.encode(text))


def _compared(seed: int, text: Any, found: Any, expected: Any) -> Iterator[str]:
    if isinstance(found, UnknownSymbol | Unsupported):  # the library drops such a character
        return
    if isinstance(found, BaseException):
        yield f"seed {seed}: {text!a}: raises {found!r}"
    elif found != expected:
        if isinstance(found, dict):
            rows = [row for row in found if found[row] != expected[row]]
            found, expected = ({row: shown[row] for row in rows} for shown in (found, expected))
        yield f"seed {seed}: {text!a}: {found!a}, the library {expected!a}"


def _share_a_form(tokenizer: hf.Tokenizer) -> bool:
    added = tokenizer.pipeline.added
    forms = [added.names[i] for i, token in added.by_id.items() if token.normalized]
    return len(set(forms)) < len(forms) or "" in forms


def _reason(error: BaseException) -> str:
    """Return the message of an error without the place and what it quotes."""
    place, _, rest = str(error).partition(": ")[2].partition(": ")
    named = re.search("'[A-Z][A-Za-z]+'", rest) if ".type" in place else None
    return " ".join([*([named[0]] if named else []), re.sub(r"'[^']*'|\"[^\"]*\"", "…", rest or place)[:60]])


def library_only(first: int, last: int) -> None:
    """Give the files and texts of seeds to the library alone."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    for seed in range(first, last):
        signal.alarm(SECONDS)
        random = Random(f"hf campaign {seed}")
        document = tokenizer_file(random)
        theirs = outcome(tokenizers.Tokenizer.from_str, json.dumps(document))
        for text in file_texts(document, random, N_TEXTS):
            outcome(partial(_shown, text=text), theirs)


def chunk(first: int, last: int) -> None:
    """Print each seed, its first difference, and at last what was refused, one JSON value a line."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    refused: Counter[str] = Counter()
    for seed in range(first, last):
        print(seed, flush=True)
        signal.alarm(SECONDS)  # the library never comes back from some texts
        if (difference := next(differences(seed, refused), None)) is not None:
            print(json.dumps(difference), flush=True)
    print(json.dumps(refused))


def run(first: int, last: int) -> tuple[list[str], Counter[str]]:
    """Return the first difference of each seed that has one, and what was refused."""
    found: list[str] = []
    refused: Counter[str] = Counter()
    at = first
    while at < last:  # in other processes: the library aborts its own on some texts
        command = [sys.executable, __file__, str(at), str(min(at + 500, last)), "chunk"]
        lines = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout.splitlines()
        for line in map(json.loads, lines):
            if isinstance(line, int):
                at = line + 1
            elif isinstance(line, dict):
                refused.update(line)
            else:
                found.append(line)
        if not lines or not lines[-1].startswith(b"{"):
            at += not lines
            alone = [sys.executable, __file__, str(at - 1), str(at), "library"]
            if subprocess.run(alone, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode:
                refused["an abort of the library, or no answer"] += 1
            else:
                found.append(f"seed {at - 1}: the process died, and not of the library alone")
    return found, refused


if __name__ == "__main__":
    {"chunk": chunk, "library": library_only}[sys.argv[3]](int(sys.argv[1]), int(sys.argv[2]))
