"""The expected answers of a run, by references in processes of their own.

No reference is trusted alone, or it would verify itself: a second one must give the same answer to the beginning of a
text, or neither is used.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from harness.data.documents import boundary
from harness.measure import worker
from harness.process.session import Answer, Session, functions
from impls import Model

ENCODERS = ("tiktoken", "priority", "naive")
"""References for the ids, in order of preference: the first that can run the model on the text."""
CONFIRMING = ("priority", "backtracking", "compiled")
"""References that confirm ids, in order of preference."""
TRAINERS = ("compiled", "priority", "wordcount", "naive")
"""References for the merges, in order of preference."""
CONFIRMING_TRAINERS = ("gigabpe", "tokenizers", "rustbpe", "sentencepiece", "priority", "wordcount", "naive")
"""References that confirm merges; the first that can confirms all of them."""
REFERENCE_SECONDS = 180.0
CONFIRMED_BYTES = 4_000
"""How much of each text a second reference answers."""


def opens(session: Session, name: str, model_file: str) -> bool:
    """Open an implementation, or end the process and return False if it does not open."""
    answer = session.call(worker.open_implementation, name, model_file, (), seconds=REFERENCE_SECONDS)
    if not isinstance(answer, Answer):
        session.close()
    return isinstance(answer, Answer)


class References:
    """The references of a run: one process per model and reference. Always `close` it."""

    def __init__(self, model_file: Callable[[str], str], encoders: Sequence[str], confirming: Sequence[str]) -> None:
        """`model_file` returns the file of a model in our own format."""
        self._model_file, self._encoders, self._confirming = model_file, encoders, confirming
        self._sessions: dict[tuple[str, str], Session | None] = {}
        self._models: dict[str, tuple[Model | None, str]] = {}

    def close(self) -> None:
        """End the processes."""
        for session in filter(None, self._sessions.values()):
            session.close()

    def ids(self, model: str, texts: list[bytes], *, confirm: bool) -> tuple[list[bytes] | None, str]:
        """Return the ids of each text as uint32, and the name of the reference; None if there is no confirmed answer.

        With `confirm` a second reference must agree on the beginning of the first text.
        """
        for name in self._encoders:
            ids = self._answer(name, model, texts)
            if ids is not None:
                agreed = not confirm or self._is_confirmed(name, model, texts[0])
                return (ids, name) if agreed else (None, "")
        return None, ""

    def name_for(self, model: str) -> str:
        """Return the name of the reference for a model, or an empty string."""
        return next((name for name in self._encoders if self._session(name, model) is not None), "")

    def _is_confirmed(self, name: str, model: str, text: bytes) -> bool:
        beginning = [text[: boundary(text, CONFIRMED_BYTES)] or text]
        others = (self._answer(other, model, beginning) for other in self._confirming if other != name)
        second = next((answer for answer in others if answer is not None), None)
        return second is not None and self._answer(name, model, beginning) == second

    def _answer(self, name: str, model: str, texts: list[bytes]) -> list[bytes] | None:
        session = self._session(name, model)
        if session is None:
            return None
        answer = session.call(worker.encode_all, texts, seconds=REFERENCE_SECONDS)
        if not isinstance(answer, Answer) and answer.outcome.ends_process:
            session.close()
            del self._sessions[name, model]
        return answer.value if isinstance(answer, Answer) else None

    def _session(self, name: str, model: str) -> Session | None:
        if (name, model) not in self._sessions:
            session = functions()
            self._sessions[name, model] = session if opens(session, name, self._model_file(model)) else None
        return self._sessions[name, model]

    def merges(self, path: Path, training: Mapping[str, Any]) -> tuple[Model | None, str]:
        """Return what is to be learned from a file, and by whom; None if no two trainers learn the same."""
        key = f"{path} {sorted(training.items())}"
        if key not in self._models:
            first = next(self._learned(TRAINERS, path, training), None)
            model, name = first or (None, "")
            if first is not None:
                others = [other for other in CONFIRMING_TRAINERS if other != name]
                second = next(self._learned(others, path, training), None)
                if second is None or (second[0].merges, second[0].tokens) != (first[0].merges, first[0].tokens):
                    model, name = None, ""
            self._models[key] = model, name
        return self._models[key]

    def _learned(self, names: Sequence[str], path: Path, training: Mapping[str, Any]) -> Iterator[tuple[Model, str]]:
        """Yield what each of `names` that can learns, and its name."""
        for name in names:
            with functions() as session:
                if opens(session, name, ""):
                    learned = session.call(worker.train, str(path), dict(training), seconds=REFERENCE_SECONDS)
                    if isinstance(learned, Answer):
                        yield learned.value.model, name
