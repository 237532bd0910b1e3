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

    of_library: list[Any] | str
    ours: list[Any] | str
    kind: str
    """What they are: `ids` or `offsets` of a text, or the text of its ids, or of any ids of the file (`decode`)."""
    is_error: bool = False


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
        for side in sides:
            _compare(side, seed, result)
        result.seeds = first_seed, seed + 1
        progress(result)
    return result


def _compare(side: str, seed: int, result: FilesResult) -> None:
    random = Random(seed)
    document = tokenizer_file(random)
    texts = file_texts(document, random, TEXTS_A_FILE)
    asked = _reader(side, document)
    if asked is None:
        result.n_refused += 1
        return
    result.n_texts += len(texts)
    for text in texts:
        if kind := difference(document, asked(text)):
            document, text = _reduced(side, document, text, kind)
            answers = answers_to(side, document, text)
            assert answers is not None
            result.findings.append(FileFinding(seed, side, text, answers.of_library, answers.ours, document))
            return


def _reader(side: str, document: Document) -> Callable[[str], Answers | None] | None:
    """Return a function that gives the answers to a text; None for a file that one of the two does not read."""
    import tokenizers

    content = json.dumps(document | {"post_processor": None})
    try:
        library = tokenizers.Tokenizer.from_str(content)
    except KeyboardInterrupt:
        raise
    except BaseException:  # a Rust panic is not an Exception
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ours = load_tokenizer(side, load(Path("tokenizer.json"), content=content.encode()))
    except impls.BPEError:
        return None

    every = sorted(library.get_vocab(with_added_tokens=True).values())

    def answers(text: str) -> Answers | None:
        try:
            encoding = library.encode(text, add_special_tokens=False)
            wanted: list[int] = encoding.ids
        except KeyboardInterrupt:
            raise
        except BaseException:
            return None
        try:
            answer = Answers(wanted, ours.encode(text, allowed_special="all"), "ids")
            random = Random(text)
            others = [random.choices(every, k=random.randint(1, _LONGEST)) if every else [] for _ in range(2)]
            if answer.of_library != answer.ours:
                return answer
            with contextlib.suppress(impls.Unsupported):
                _, spans = ours.encode_with_offsets(text, allowed_special="all")
                answer = Answers(list(map(list, encoding.offsets)), spans.tolist(), "offsets")
            for ids in (wanted, *others) if answer.of_library == answer.ours else ():
                decoded = library.decode(ids, skip_special_tokens=False)
                answer = Answers(decoded, ours.decode(ids), "decode")
                if answer.of_library == answer.ours:
                    answer = Answers(decoded, _one_by_one(ours, ids), "decode")
                if answer.of_library != answer.ours:
                    return answer
        except Exception as error:  # what we raise is an answer too
            return Answers(wanted, f"{type(error).__name__}: {error}", "ids", is_error=True)
        return answer

    return answers


def _one_by_one(tokenizer: impls.Tokenizer, ids: list[int]) -> str:
    decoder = tokenizer.decoder()
    return "".join([*(decoder.push([i]) for i in ids), decoder.finish()])


def answers_to(side: str, document: Document, text: str) -> Answers | None:
    """Return the answers to one text; None if the file or the text is not compared."""
    asked = _reader(side, document)
    return None if asked is None else asked(text)


def difference(document: Document, answers: Answers | None) -> str:
    """Return "ids", "offsets", "decode", or the name of our error; "" if the answers agree, as they must."""
    if answers is None or answers.of_library == answers.ours:
        return ""
    if not answers.is_error:
        return answers.kind
    error = str(answers.ours).partition(":")[0]
    return "" if error == "UnknownSymbol" and document["model"]["unk_token"] is None else error


def _reduced(side: str, document: Document, text: str, kind: str) -> tuple[Document, str]:
    """Return the smallest file and text that still differ in the same way."""
    budget = Budget(_TRIALS, _SECONDS)

    def differs(document: Document, text: str) -> bool:
        return difference(document, answers_to(side, document, text)) == kind

    while not budget.exhausted:
        before = document, text
        budgeted = budget.counted(lambda candidate: differs(json.loads(str(candidate)), text))  # noqa: B023 (called at once)
        smaller = next((part for part in _smaller(document) if budgeted(json.dumps(part))), document)
        document, text = smaller, smallest_text(text, lambda candidate: differs(smaller, candidate), budget)  # noqa: B023
        if (document, text) == before:
            break
    return document, text


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
