"""The process of one side: loads an implementation, encodes what it is asked to, and says what goes wrong.

Started as `python -m harness.check.fuzz.serve NAME`; questions and answers are pickles over its standard input and
output. What a library prints goes to standard error. A separately installed release comes first on PYTHONPATH.
"""

from __future__ import annotations

import os
import signal
import sys
from collections import OrderedDict
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib import metadata
from multiprocessing.connection import Connection
from typing import TypeVar

import numpy as np

import impls
from harness.check.classes import registered
from harness.check.fuzz.questions import Answer, Answers, Failure, Hello, Question, Refused, same
from harness.data import load_model
from harness.failures import told
from harness.targets import load_tokenizer

T = TypeVar("T")

_KEPT_TOKENIZERS = 4
_THREADS, _TIMES = 4, 3
_SWITCH_SECONDS = 1e-5
"""How often threads take turns: often, so that a race shows."""


class _Server:
    def __init__(self, name: str) -> None:
        self._name = name
        self._implementation = registered(name)
        self._kept: OrderedDict[str, impls.Tokenizer] = OrderedDict()

    def hello(self) -> Hello:
        """Releases of what runs here: of `regex` for what is ours, of its own package for what is not."""
        known = self._implementation
        if known is None:
            return Hello({})
        package = "regex" if impls.get(known).kind in ("pure", "compiled") else known
        try:
            return Hello({package: metadata.version(package)})
        except metadata.PackageNotFoundError:
            return Hello({})

    def answer(self, question: Question) -> Answers:
        """The ids of every text of a question."""
        tokenizer = _guarded(lambda: self._tokenizer(question.model), self._name)
        if isinstance(tokenizer, Refused):
            return tokenizer
        if question.call == "encode_batch":
            return _batch(tokenizer, question)
        if question.call == "encode_threads":
            return _on_threads(tokenizer, question)
        return [_one(tokenizer, text, question) for text in question.texts]

    def _tokenizer(self, model: str | impls.Model) -> impls.Tokenizer:
        key = model if isinstance(model, str) else model.digest
        tokenizer = self._kept.pop(key, None)
        if tokenizer is None:
            loaded = load_model(model) if isinstance(model, str) else model
            tokenizer = load_tokenizer(self._implementation or self._name, loaded)
        self._kept[key] = tokenizer
        while len(self._kept) > _KEPT_TOKENIZERS:
            self._kept.popitem(last=False)
        return tokenizer


def _guarded(load: Callable[[], T], name: str) -> T | Refused:
    """What `load` gives, or why it gives nothing."""
    try:
        return load()
    except impls.Unsupported as error:
        return Refused("unsupported", str(error))
    except impls.Missing as error:
        return Refused("missing", str(error))
    except impls.BPEError as error:
        return Refused("failed", str(error))
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # a panic of a library is no Exception
        return Refused("failed", f"{name}: {type(error).__name__}: {told(error)[:300]}")


def _specials(question: Question) -> dict[str, impls.interface.SpecialSet]:
    return {"allowed_special": "all" if question.allow_special else (), "disallowed_special": ()}


def _batch(tokenizer: impls.Tokenizer, question: Question) -> list[Answer]:
    """The texts encoded at once. Of a batch that fails each text by itself says which; else all of it is a failure."""
    try:
        batch = tokenizer.encode_batch(question.texts, 1, **_specials(question))
        if len(batch) == len(question.texts):
            return [_packed(ids) for ids in batch]
        failure = Failure("batch", f"{len(batch)} answers for {len(question.texts)} texts")
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        failure = _failure(error)
    answers = [_one(tokenizer, text, question) for text in question.texts]
    return answers if any(isinstance(answer, Failure) for answer in answers) else [failure] * len(answers)


def _on_threads(tokenizer: impls.Tokenizer, question: Question) -> list[Answer]:
    """Every text several times from several threads; of answers that differ, one that is not the single call's."""
    texts = question.texts
    before = sys.getswitchinterval()
    sys.setswitchinterval(_SWITCH_SECONDS)
    try:
        with ThreadPoolExecutor(_THREADS) as pool:
            answers = list(pool.map(lambda text: _one(tokenizer, text, question), texts * _TIMES))
    finally:
        sys.setswitchinterval(before)
    alone = [_one(tokenizer, text, question) for text in texts]
    return [
        next((answer for answer in answers[k :: len(texts)] if not same(answer, alone[k])), alone[k])
        for k in range(len(texts))
    ]


def _failure(error: BaseException) -> Failure:
    return Failure(type(error).__name__, told(error)[:300])


def _one(tokenizer: impls.Tokenizer, text: str, question: Question) -> Answer:
    specials = _specials(question)
    try:
        if question.call == "decode":
            return tokenizer.decode([ord(i) for i in text]).encode("utf-8", "surrogatepass")
        if question.call == "encode_array":
            return _packed(tokenizer.encode_array(text, **specials))
        if question.call == "encode_batch":
            return _packed(tokenizer.encode_batch([text], 1, **specials)[0])
        return _packed(tokenizer.encode(text, **specials))
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        return _failure(error)


def _packed(ids: Sequence[int] | np.ndarray) -> bytes:
    array = np.asarray(ids, dtype=np.int64 if len(ids) else np.uint32)
    if array.ndim != 1 or (len(array) and (array.min() < 0 or array.max() > 0xFFFFFFFF)):
        raise ValueError("what was answered is no list of ids")
    return array.astype("<u4").tobytes()


def main() -> None:
    """Answer until the other end closes."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's to hear
    answers = Connection(os.dup(1), readable=False)
    os.dup2(2, 1)
    questions = Connection(os.dup(0), writable=False)
    server = _Server(sys.argv[1])
    try:
        answers.send(_guarded(server.hello, sys.argv[1]))
        while True:
            asked: list[Question] = questions.recv()
            answers.send([server.answer(question) for question in asked])
    except (EOFError, BrokenPipeError):
        return


if __name__ == "__main__":
    main()
