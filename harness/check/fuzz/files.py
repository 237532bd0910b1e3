"""Random files tokenizer.json, read by Hugging Face's library and by us: differing ones, reduced part by part.

Compared are the ids of texts and their spans (`offsets`, which no post-processor trims), the text of these ids, and
that of any ids. Everything runs in this process: a panic of the library is an exception, and a file or text on which it
panics is left out, as is a file that we refuse. A character that a vocabulary without an unknown token lacks is dropped
by the library and refused by us, which is not a difference.
"""

from __future__ import annotations

import contextlib
import json
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import impls
from harness.generators.tokenizer_files import Document, file_texts, tokenizer_file
from harness.minimize import Budget, smallest_text
from harness.targets import load_tokenizer
from impls.formats import load

TEXTS_A_FILE = 10
_TRIALS, _SECONDS = 400, 10.0
_LONGEST = 8


class Answers(NamedTuple):
    """What the library gives, and what we give, or our error."""

    kind: str
    """What they are: `ids` or `offsets` of a text, the text of its or of any ids (`decode`), or our error's name."""
    of_library: list[Any] | str
    ours: list[Any] | str


@dataclass(frozen=True, slots=True)
class FileFinding:
    """A reduced file and text that a side reads differently from the library."""

    seed: int
    side: str
    text: str
    of_library: list[Any] | str
    answer: list[Any] | str
    document: Document


@dataclass(slots=True)
class FilesResult:
    """The counts and findings of a run."""

    seeds: tuple[int, int] = (0, 0)
    """First seed, and the one after the last."""
    n_texts: int = 0
    n_refused: int = 0
    """Files that a side refuses, or that the library does not load."""
    findings: list[FileFinding] = field(default_factory=list)


def fuzz_files(
    sides: Sequence[str],
    first_seed: int,
    n_files: int,
    seconds: float | None,
    stop_after: int,
    progress: Callable[[FilesResult], None] = lambda result: None,
) -> FilesResult:
    """Compare the sides with the library on the files of successive seeds; one finding a file at most."""
    result = FilesResult((first_seed, first_seed))
    began = time.monotonic()
    for seed in range(first_seed, first_seed + n_files):
        if len(result.findings) >= stop_after or (seconds is not None and time.monotonic() - began > seconds):
            break
        random = Random(seed)
        document = tokenizer_file(random)
        texts = file_texts(document, random, TEXTS_A_FILE)
        for side in sides:
            if (readers := _readers(side, document)) is None:
                result.n_refused += 1
                continue
            result.n_texts += len(texts)
            differing = ((text, answers) for text in texts if (answers := _difference(readers, document, text)))
            for text, answers in islice(differing, 1):
                smaller, text, answers = _reduced(side, document, text, answers)
                result.findings.append(FileFinding(seed, side, text, answers.of_library, answers.ours, smaller))
        result.seeds = first_seed, seed + 1
        progress(result)
    return result


def _readers(side: str, document: Document) -> tuple[Any, impls.Tokenizer] | None:
    """Return the library's tokenizer and ours; None for a file that one of the two does not read."""
    import tokenizers

    content = json.dumps(document | {"post_processor": None})
    try:
        library = tokenizers.Tokenizer.from_str(content)
    except KeyboardInterrupt:
        raise
    except BaseException:  # a Rust panic is not an Exception
        return None
    with contextlib.suppress(impls.BPEError), warnings.catch_warnings(action="ignore"):
        return library, load_tokenizer(side, load(Path("tokenizer.json"), content=content.encode()))
    return None


def _difference(readers: tuple[Any, impls.Tokenizer], document: Document, text: str) -> Answers | None:
    """Return the first answers that differ; None if they agree, as they must, or the text is not compared."""
    library, ours = readers
    try:
        encoding = library.encode(text, add_special_tokens=False)
    except KeyboardInterrupt:
        raise
    except BaseException:
        return None
    try:
        return next((each for each in _answers(library, ours, encoding, text) if each.of_library != each.ours), None)
    except Exception as error:  # what we raise is an answer too
        name = type(error).__name__
        is_dropped = name == "UnknownSymbol" and document["model"]["unk_token"] is None
        return None if is_dropped else Answers(name, encoding.ids, f"{name}: {error}")


def _answers(library: Any, ours: impls.Tokenizer, encoding: Any, text: str) -> Iterator[Answers]:
    yield Answers("ids", encoding.ids, ours.encode(text, allowed_special="all"))
    with contextlib.suppress(impls.Unsupported):
        _, spans = ours.encode_with_offsets(text, allowed_special="all")
        yield Answers("offsets", list(map(list, encoding.offsets)), spans.tolist())
    every, random = sorted(library.get_vocab(with_added_tokens=True).values()), Random(text)
    others = [random.choices(every, k=random.randint(1, _LONGEST)) if every else [] for _ in range(2)]
    for ids in (encoding.ids, *others):
        decoded, decoder = library.decode(ids, skip_special_tokens=False), ours.decoder()
        yield Answers("decode", decoded, ours.decode(ids))
        yield Answers("decode", decoded, "".join([*(decoder.push([i]) for i in ids), decoder.finish()]))


def _reduced(side: str, document: Document, text: str, answers: Answers) -> tuple[Document, str, Answers]:
    """Return the smallest file and text that still differ in the same way, and the answers to them."""
    budget, kind = Budget(_TRIALS, _SECONDS), answers.kind

    def differing(document: Document, text: str) -> Answers | None:
        readers = _readers(side, document)
        answers = None if readers is None else _difference(readers, document, text)
        return answers if answers is not None and answers.kind == kind else None

    while not budget.exhausted:
        before = document, text
        differs = budget.counted(lambda candidate: bool(differing(json.loads(str(candidate)), text)))  # noqa: B023 (called at once)
        smaller = next((part for part in _smaller(document) if differs(json.dumps(part))), document)
        document, text = smaller, smallest_text(text, lambda other: bool(differing(smaller, other)), budget)  # noqa: B023
        if (document, text) == before:
            break
    return document, text, differing(document, text) or answers


def _smaller(value: Any) -> Iterator[Any]:
    """Yield a JSON value with one setting or one element less, those that hold most first.

    Words of the vocabulary stay: they have no other, and merges and added tokens need them.
    """
    items = list(value.items()) if isinstance(value, dict) else list(enumerate(value))
    for key, item in items:
        if isinstance(value, list):
            yield value[:key] + value[key + 1 :]
        elif item not in (None, False):
            yield value | {key: False if item is True else None}
    for key, item in items:
        if isinstance(item, dict | list) and key != "vocab":
            for less in _smaller(item):
                yield value | {key: less} if isinstance(value, dict) else [*value[:key], less, *value[key + 1 :]]
