"""Random files, given to `bpebench.hf.Tokenizer` and to the library; `bpebench fuzz --files` gives them to `impls`.

Each seed is one file, ten texts, and ten lists of any ids.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterable
from functools import partial
from random import Random
from typing import Any

import tokenizers
from hf_calls import differs, outcome, shown

from harness.generators.tokenizer_files import file_texts, tokenizer_file
from harness.process.limits import Limits
from harness.process.session import Answer, functions
from impls.core.errors import InvalidFile, UnknownSymbol, Unsupported
from impls.drop_in import hf

N_TEXTS = 10
LIMITS = Limits(call_seconds=60, memory_bytes=6 << 30)
ALIKE, REFUSED = "alike", "refused"


def verdict(seed: int) -> str:
    """Return how the two tokenizers of the file of `seed` differ first, or `ALIKE`, or `REFUSED` by either of them."""
    random = Random(f"hf campaign {seed}")
    document = tokenizer_file(random)
    written = json.dumps(document)
    theirs: Any = outcome(tokenizers.Tokenizer.from_str, written)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ours: Any = outcome(partial(hf.Tokenizer.from_str, implementation="priority"), written)
    if isinstance(theirs, BaseException) or isinstance(ours, InvalidFile | Unsupported):
        return REFUSED
    if isinstance(ours, BaseException):
        return repr(ours)
    if _share_a_form(ours):  # the library finds any of them
        return REFUSED
    for text in file_texts(document, random, N_TEXTS):
        expected, got = (outcome(partial(_shown, text=text), tokenizer) for tokenizer in (theirs, ours))
        if isinstance(expected, BaseException):  # a panic, after which the library's state is undefined
            theirs = tokenizers.Tokenizer.from_str(written)
        elif differs(got, expected) and not isinstance(got, UnknownSymbol | Unsupported):  # the library drops it
            return f"{text!a}: {got!a}, the library {expected!a}"
    vocab = theirs.get_vocab(with_added_tokens=True)
    every, spelled = list(vocab.values()), [i for name, i in vocab.items() if name.startswith("<0x")]
    for _ in range(N_TEXTS):
        ids = [random.choice(random.choice((every, spelled or every))) for _ in range(random.choice((0, 1, 3, 9)))]
        got, expected = (tokenizer.decode(ids, skip_special_tokens=False) for tokenizer in (ours, theirs))
        if got != expected:
            return f"{ids}: {got!a}, the library {expected!a}"
    return ALIKE


def _shown(tokenizer: Any, text: str) -> dict[str, Any]:
    return shown(tokenizer.encode(text))


def _share_a_form(tokenizer: hf.Tokenizer) -> bool:
    added = tokenizer.pipeline.added
    forms = [added.names[i] for i, token in added.by_id.items() if token.normalized]
    return len(set(forms)) < len(forms) or "" in forms


def library_only(seed: int) -> None:
    """Give the file and texts of `seed` to the library alone."""
    random = Random(f"hf campaign {seed}")
    document = tokenizer_file(random)
    theirs = outcome(tokenizers.Tokenizer.from_str, json.dumps(document))
    for text in file_texts(document, random, N_TEXTS):
        outcome(partial(_shown, text=text), theirs)


def verdicts(seeds: Iterable[int]) -> dict[int, str]:
    """Return the verdict on each seed, found in another process: the library aborts its own on some texts."""
    verdict_of_seed: dict[int, str] = {}
    with functions(LIMITS) as session:
        for seed in seeds:
            answer = session.call(verdict, seed)
            if isinstance(answer, Answer):
                verdict_of_seed[seed] = answer.value
            else:
                alone = isinstance(session.call(library_only, seed), Answer)
                verdict_of_seed[seed] = f"{answer}, and not of the library alone" if alone else REFUSED
    return verdict_of_seed
