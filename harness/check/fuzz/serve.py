"""The process of one side: loads an implementation, encodes what it is asked to, and says what goes wrong.

Started as `python -m harness.check.fuzz.serve NAME`; questions and answers are pickles over its standard input and
output. What a library prints goes to standard error. A release installed aside comes first on PYTHONPATH.
"""

from __future__ import annotations

import importlib
import inspect
import os
import signal
import sys
from collections import OrderedDict
from collections.abc import Callable, Sequence
from importlib import metadata
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

import impls
from harness.check.classes import registered
from harness.check.fuzz.questions import Answer, Answers, Failure, Hello, Question, Refused
from harness.data import load_model
from impls.plugin import wrap

T = TypeVar("T")

_KEPT_TOKENIZERS = 4


def _object_of(name: str) -> type[impls.Tokenizer]:
    """The class of tokenizers behind `module:object`."""
    module, _, attribute = name.partition(":")
    sys.path.insert(0, str(Path.cwd()))
    found: Any = importlib.import_module(module)
    for part in attribute.split("."):
        found = getattr(found, part)
    if isinstance(found, type) and issubclass(found, impls.Tokenizer):
        return found
    if not isinstance(found, type) and hasattr(found, "encode"):
        return wrap(name, lambda model: found)
    required = [
        parameter
        for parameter in inspect.signature(found).parameters.values()
        if parameter.default is parameter.empty
        and parameter.kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD)
    ]
    return wrap(name, found if required else lambda model: found())


class _Server:
    def __init__(self, name: str) -> None:
        self._name = name
        self._implementation = registered(name)
        self._kept: OrderedDict[str, impls.Tokenizer] = OrderedDict()

    def hello(self) -> Hello:
        """Releases of what runs here."""
        import regex

        found = {"regex": str(regex.__version__)}
        if self._implementation is None:
            _object_of(self._name)
            found = {}
        elif impls.get(self._implementation).kind not in ("pure", "compiled"):
            try:
                found = {self._implementation: metadata.version(self._implementation)}
            except metadata.PackageNotFoundError:
                found = {}
        return Hello(found)

    def answer(self, question: Question) -> Answers:
        """The ids of every text of a question."""
        tokenizer = _guarded(lambda: self._tokenizer(question.model), self._name)
        if isinstance(tokenizer, Refused):
            return tokenizer
        if question.call == "encode_batch":
            try:
                batch = tokenizer.encode_batch(question.texts, 1, **_specials(question))
                if len(batch) == len(question.texts):
                    return [_packed(ids) for ids in batch]
            except (KeyboardInterrupt, SystemExit):
                raise
            except BaseException:
                pass  # one text spoils the batch: each by itself says which
            return [_one(tokenizer, text, question) for text in question.texts]
        return [_one(tokenizer, text, question) for text in question.texts]

    def _tokenizer(self, model: str | impls.Model) -> impls.Tokenizer:
        key = model if isinstance(model, str) else model.digest
        tokenizer = self._kept.pop(key, None)
        if tokenizer is None:
            kind = _object_of(self._name) if self._implementation is None else impls.get(self._implementation)
            tokenizer = kind(load_model(model) if isinstance(model, str) else model)
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
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:  # a panic of a library is no Exception
        return Refused("failed", f"{name}: {type(error).__name__}: {' '.join(str(error).split())[:300]}")


def _specials(question: Question) -> dict[str, impls.interface.SpecialSet]:
    return {"allowed_special": "all" if question.allow_special else (), "disallowed_special": ()}


def _one(tokenizer: impls.Tokenizer, text: str, question: Question) -> Answer:
    specials = _specials(question)
    try:
        if question.call == "encode_array":
            return _packed(tokenizer.encode_array(text, **specials))
        if question.call == "encode_batch":
            return _packed(tokenizer.encode_batch([text], 1, **specials)[0])
        return _packed(tokenizer.encode(text, **specials))
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:
        return Failure(type(error).__name__, " ".join(str(error).split())[:300])


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
