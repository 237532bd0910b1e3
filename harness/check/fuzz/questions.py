"""Questions and answers between a fuzzing run and the processes of its sides, and the code that answers them.

`answer` is called in a process that serves one side only.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from importlib import metadata

import impls
from harness.check.classes import OWN_KINDS, registered
from harness.conform.values import from_threads
from harness.failures import describe, loading_status, message_of
from harness.judge import NotIds, packed
from harness.process.protocol import ErrorResult
from harness.process.session import Failed
from harness.records.comparisons import Call
from harness.targets.published import load_column
from impls.core.model.model import Model

CALLS: tuple[Call, ...] = ("encode_batch", "encode", "encode_array")
"""The calls that encode on one thread; every implementation must give the same ids by each."""


@dataclass(frozen=True, slots=True)
class Question:
    """Texts to encode with a model: a name or path that `load_model` takes, or the model itself.

    For `decode` each text is a list of ids as written by `text_of_ids`.
    """

    model: str | Model
    texts: list[str]
    call: Call = "encode"
    allow_special: bool = False

    @property
    def specials(self) -> dict[str, impls.interface.SpecialSet]:
        """Return the arguments that say which special tokens are recognised."""
        return {"allowed_special": "all" if self.allow_special else (), "disallowed_special": ()}


Answer = bytes | Failed
"""Ids of one text as little-endian uint32 (for `decode`: the text as UTF-8), or why there are none."""
Answers = list[Answer] | Failed
"""One answer per text of a question, in order, or why the model could not be loaded at all."""


def text_of_ids(ids: Iterable[int]) -> str:
    """Return a list of ids as a text with one character for each, so that it is sent and shrunk as texts are."""
    return "".join(map(chr, ids))


def ids_of(answer: Answer) -> list[int] | None:
    """Return the ids, or None for a failure."""
    if isinstance(answer, Failed):
        return None
    return list(memoryview(answer).cast("I")) if answer else []


def same(a: Answer, b: Answer) -> bool:
    """Return whether two sides agree: the same ids, or both refuse the text, or both die in the same way."""
    if isinstance(a, Failed) and isinstance(b, Failed):
        return a.kind == b.kind or not (a.outcome.ends_process or b.outcome.ends_process)
    return a == b


_KEPT_TOKENIZERS = 4
_THREADS, _TIMES = 4, 3
_kept: dict[str, impls.Tokenizer] = {}


def versions(name: str) -> dict[str, str]:
    """Return the release of the package that runs here: `regex` for our implementations, else the library's own."""
    known = registered(name)
    if known is None:
        return {}
    package = "regex" if impls.get(known).kind in OWN_KINDS else known
    with suppress(metadata.PackageNotFoundError):
        return {package: metadata.version(package)}
    return {}


def answer(name: str, questions: list[Question]) -> list[Answers]:
    """Return the ids of every text of each question."""
    return [_answers(name, question) for question in questions]


def _answers(name: str, question: Question) -> Answers:
    try:
        tokenizer = _tokenizer(name, question.model)
    except BaseException as error:  # a Rust panic is not an Exception
        reason = str(error) if isinstance(error, impls.BPEError) else f"{name}: {describe(error)}"
        return Failed(loading_status(error), reason)
    if question.call == "encode_batch":
        return _batch(tokenizer, question)
    if question.call == "encode_threads":
        return _on_threads(tokenizer, question)
    return [_one(tokenizer, text, question) for text in question.texts]


def _tokenizer(name: str, model: str | impls.Model) -> impls.Tokenizer:
    key = model if isinstance(model, str) else model.digest
    if key not in _kept:
        if len(_kept) == _KEPT_TOKENIZERS:
            _kept.clear()
        _kept[key] = load_column(name, model)
    return _kept[key]


def _batch(tokenizer: impls.Tokenizer, question: Question) -> list[Answer]:
    """Encode the texts in one batch, or if that fails, one by one; if none fails alone, the whole batch failed."""
    try:
        batch = tokenizer.encode_batch(question.texts, 1, **question.specials)
        if len(batch) == len(question.texts):
            return list(map(packed, batch))
        raise NotIds(f"{len(batch)} answers for {len(question.texts)} texts")
    except BaseException as error:
        failure = _failed(error)
    answers = [_one(tokenizer, text, question) for text in question.texts]
    return answers if any(isinstance(answer, Failed) for answer in answers) else [failure] * len(answers)


def _on_threads(tokenizer: impls.Tokenizer, question: Question) -> list[Answer]:
    """Encode every text several times from several threads; prefer an answer that differs from a single call's."""
    texts = question.texts
    answers = from_threads(lambda text: _one(tokenizer, text, question), texts * _TIMES, _THREADS)
    alone = [_one(tokenizer, text, question) for text in texts]
    return [
        next((answer for answer in answers[k :: len(texts)] if not same(answer, alone[k])), alone[k])
        for k in range(len(texts))
    ]


def _one(tokenizer: impls.Tokenizer, text: str, question: Question) -> Answer:
    specials = question.specials
    try:
        if question.call == "decode":
            return tokenizer.decode([ord(i) for i in text]).encode("utf-8", "surrogatepass")
        if question.call == "encode_array":
            return packed(tokenizer.encode_array(text, **specials))
        if question.call == "encode_batch":
            return packed(tokenizer.encode_batch([text], 1, **specials)[0])
        return packed(tokenizer.encode(text, **specials))
    except BaseException as error:
        return _failed(error)


def _failed(error: BaseException) -> Failed:
    return Failed.by(ErrorResult(type(error).__name__, message_of(error)[:300]))
