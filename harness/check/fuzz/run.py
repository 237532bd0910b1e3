"""The run: batches go to every side, answers are compared with the first side's, differences shrunk and recorded.

Batch k holds the same texts however long the run lasts, and is generated while the sides work on batch k - 1.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import count
from math import inf

from harness.check.classes import Relation, relation
from harness.check.fuzz.examine import DifferingText, examine, unshrunk
from harness.check.fuzz.findings import Found, classify, key_of, record_of
from harness.check.fuzz.model_source import ModelSource
from harness.check.fuzz.questions import Answers, Failure, LoadFailure, Question, same
from harness.check.fuzz.side_process import SideProcess
from harness.check.fuzz.sides import SideSpec
from harness.check.fuzz.source import TextSource
from harness.check.fuzz.staging import stage_of
from harness.data import DataError, is_fetched, load_corpus, load_model
from harness.data.catalogue import real_corpora, vocabulary_named
from harness.explanations import Stage
from harness.records import Disagreement
from impls.core.model.model import Model

SECONDS_TO_SHRINK = 15.0
_BYTES_OF_A_CORPUS = 300_000
_EXAMINED_A_BATCH = 2
_OWN_MODEL_TOKENS = 4096
"""A user's model of up to this size is shrunk and stored in the record."""


@dataclass(frozen=True, slots=True)
class FuzzPlan:
    """What to run: the first side is the reference every other is compared with."""

    sides: Sequence[SideSpec]
    models: Sequence[str]
    """Names or paths; empty for random models."""
    seed: int = 0
    seconds: float | None = 60.0
    """How long to search; None: no time limit, so that nothing depends on the clock."""
    n_texts: int | None = None
    stop_after: int = 10
    """Distinct differences after which the search ends."""
    corpora: Sequence[str] | None = None
    """Corpora whose text is mutated; None for the samples and all fetched corpora."""
    expected: bool = False
    """Whether differences on random models on which the sides need not agree are findings too."""


@dataclass(slots=True)
class FuzzResult:
    """The counts and findings of a run."""

    findings: list[Disagreement] = field(default_factory=list)
    """One of each kind, in the order they were found."""
    n_texts: int = 0
    n_bytes: int = 0
    """UTF-8 bytes of the texts (surrogatepass), each text counted once."""
    longest_bytes: int = 0
    n_by_call: Counter[str] = field(default_factory=Counter)
    """Texts by call; for `decode` lists of ids."""
    n_models: int = 0
    n_compared: Counter[str] = field(default_factory=Counter)
    """Side -> texts that both it and the first side answered."""
    n_differing: Counter[str] = field(default_factory=Counter)
    """Side -> texts it encodes differently from the first side, where the two should agree."""
    n_expected: Counter[str] = field(default_factory=Counter)
    """Side -> texts of random models that it may, and does, encode differently."""
    n_refused: Counter[str] = field(default_factory=Counter)
    """Side -> random models it does not load."""
    seconds: float = 0.0
    interrupted: bool = False
    corpora: tuple[str, ...] = ()
    versions: dict[str, dict[str, str]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Turn:
    """One batch: the questions, the same for every side, and the name of the model of each."""

    index: int
    questions: list[Question]
    names: list[str]


class FuzzRun:
    """A run in progress; `result` is valid at any moment."""

    def __init__(
        self,
        plan: FuzzPlan,
        found: Callable[[Disagreement], None] = lambda record: None,
        progress: Callable[[FuzzResult], None] = lambda result: None,
    ) -> None:
        """Call `found` with each new kind of difference and `progress` after each batch."""
        self.plan = plan
        self.result = FuzzResult()
        self._found, self._progress = found, progress
        self._keys: set[tuple[object, ...]] = set()
        self._sides: list[SideProcess] = []
        self._relations: dict[tuple[str, str], Relation] = {}
        self._models: dict[str, Model] = {}

    def run(self) -> FuzzResult:
        """Search until a limit of the plan is reached, or Ctrl-C. Raises `DataError`, `BPEError`."""
        try:
            turns = self._turns()
            for spec in self.plan.sides:
                self._sides.append(SideProcess(spec))
            self.result.versions = {side.name: side.hello.versions for side in self._sides}
            self._search(turns)
        except KeyboardInterrupt:
            self.result.interrupted = True
        finally:
            for side in self._sides:
                side.close()
        return self.result

    # --- what is asked -------------------------------------------------------------------------------------

    def _turns(self) -> Iterator[_Turn]:
        plan = self.plan
        if not plan.models:
            return self._turns_of_random_models()
        documents = self._documents()
        self._models = {name: load_model(name) for name in plan.models}
        sources = [TextSource(self._models[name], documents, plan.seed) for name in plan.models]
        return self._turns_of_texts(sources)

    def _turns_of_texts(self, sources: Sequence[TextSource]) -> Iterator[_Turn]:
        for index in count():
            which = index % len(sources)
            batch = sources[which].batch(index // len(sources))
            name = self.plan.models[which]
            yield _Turn(index, [Question(name, batch.texts, batch.call, batch.allow_special)], [name])

    def _turns_of_random_models(self) -> Iterator[_Turn]:
        source = ModelSource(self.plan.seed)
        for index in count():
            batch = source.batch(index)
            questions = [Question(model, texts, batch.call) for model, texts in batch.models]
            yield _Turn(index, questions, [""] * len(questions))

    def _documents(self) -> list[str]:
        names = self.plan.corpora
        if names is None:
            names = ["samples", *(name for name, corpus in real_corpora().items() if corpus.parts and is_fetched(name))]
        self.result.corpora = tuple(names)
        found = [text for name in names for text in load_corpus(name, max_bytes=_BYTES_OF_A_CORPUS).documents()]
        return [text for text in found if text]

    # --- the search ----------------------------------------------------------------------------------------

    def _search(self, turns: Iterator[_Turn]) -> None:
        began: float | None = None
        coming = next(turns)
        while True:
            turn = self._cut(coming)
            for side in self._sides:
                side.submit(turn.questions)
            coming = next(turns)
            answers = [side.result() for side in self._sides]
            if began is None:
                self._refuse(turn, answers)
                began = time.monotonic()  # loading the models does not count
            for row, (question, name) in enumerate(zip(turn.questions, turn.names, strict=True)):
                self._compare(turn, row, question, name, [column[row] for column in answers])
                if len(self.result.findings) >= self.plan.stop_after:
                    break
            self.result.seconds = time.monotonic() - began
            self._progress(self.result)
            if self._over():
                return

    def _over(self) -> bool:
        plan, result = self.plan, self.result
        return (
            len(result.findings) >= plan.stop_after
            or (plan.n_texts is not None and result.n_texts >= plan.n_texts)
            or (plan.seconds is not None and result.seconds >= plan.seconds)
        )

    def _cut(self, turn: _Turn) -> _Turn:
        """Return `turn` with no more texts than the plan still allows."""
        if self.plan.n_texts is None:
            return turn
        left = self.plan.n_texts - self.result.n_texts
        questions: list[Question] = []
        for question in turn.questions:
            if left > 0:
                questions.append(Question(question.model, question.texts[:left], question.call, question.allow_special))
                left -= len(question.texts)
        return _Turn(turn.index, questions, turn.names[: len(questions)])

    def _refuse(self, turn: _Turn, answers: Sequence[Sequence[Answers]]) -> None:
        """Raise `DataError` where a side cannot run a model of the plan, or none at all."""
        if not self.plan.models:
            for side, column in zip(self._sides, answers, strict=True):
                failed = [
                    answer for answer in column if isinstance(answer, LoadFailure) and answer.status != "unsupported"
                ]
                if failed and len(failed) == len(column):
                    raise DataError(f"{side.name}: {failed[0].reason}")
            return
        for column in answers:
            for answer in column:
                if isinstance(answer, LoadFailure):
                    raise DataError(f"{turn.names[0]}: {answer.reason}")

    def _compare(self, turn: _Turn, row: int, question: Question, name: str, answers: Sequence[Answers]) -> None:
        result = self.result
        if name and any(isinstance(answer, LoadFailure) for answer in answers):
            self._refuse(turn, [[answer] for answer in answers])
        first_text = result.n_texts
        result.n_texts += len(question.texts)
        result.n_by_call[question.call] += len(question.texts)
        if question.call != "decode":
            sizes = [len(text.encode("utf-8", "surrogatepass")) for text in question.texts]
            result.n_bytes += sum(sizes)
            result.longest_bytes = max(result.longest_bytes, *sizes)
        result.n_models += not name
        for side, answer in zip(self._sides, answers, strict=True):
            result.n_refused[side.name] += isinstance(answer, LoadFailure)
        reference = answers[0]
        if isinstance(reference, LoadFailure):
            return
        for side, answer in zip(self._sides[1:], answers[1:], strict=True):
            if isinstance(answer, LoadFailure):
                continue
            result.n_compared[side.name] += sum(
                not isinstance(a, Failure) and not isinstance(b, Failure)
                for a, b in zip(reference, answer, strict=True)
            )
            differing = [i for i, pair in enumerate(zip(reference, answer, strict=True)) if not same(*pair)]
            if not differing:
                continue
            kind = self._relation(side, question.model)
            if not name and not kind.must_agree:
                result.n_expected[side.name] += len(differing)
                if not self.plan.expected:
                    continue
            else:
                result.n_differing[side.name] += len(differing)
            shortest = sorted(differing, key=lambda i: (len(question.texts[i]), i))
            for i in shortest[:_EXAMINED_A_BATCH]:
                if len(result.findings) >= self.plan.stop_after:
                    return
                failed = isinstance(reference[i], Failure) or isinstance(answer[i], Failure)
                origin = f"seed {self.plan.seed}, text {first_text + i}"
                self._examine(
                    side, DifferingText(question, name, question.texts[i], (reference[i], answer[i]), failed, origin)
                )

    def _relation(self, side: SideProcess, model: str | Model) -> Relation:
        a, b = self._sides[0].name, side.name
        if isinstance(model, Model):
            return relation(a, b, model.irregularities)
        if (b, model) not in self._relations:
            self._relations[b, model] = relation(a, b, self._models[model].irregularities)
        return self._relations[b, model]

    def _examine(self, side: SideProcess, case: DifferingText) -> None:
        reference = self._sides[0]
        seconds = inf if self.plan.seconds is None else SECONDS_TO_SHRINK
        own = self._own(case)
        try:
            found = examine(reference, side, case, own, lambda model: self._relation(side, model), seconds)
            self._keep(side, case, found, asking=True)
        except KeyboardInterrupt:
            self._keep(side, case, unshrunk(reference, side, case, own), asking=False)
            raise

    def _keep(self, side: SideProcess, case: DifferingText, found: Found, *, asking: bool) -> None:
        """Record a difference, unless one of its kind is known. Without `asking` the sides are not queried."""
        reference = self._sides[0]
        kind = self._relation(side, case.question.model if found.model is None else found.model)

        def agree(text: str) -> bool:
            question = Question(found.model or case.question.model, [text], found.call, found.allow_special)
            return asking and same(reference.ask_one(question, text), side.ask_one(question, text))

        versions = reference.hello.versions | side.hello.versions
        record = record_of(found, classify(found, kind, agree), kind, versions)
        if key_of(record) not in self._keys:
            if asking and found.repeatable and not found.failed:
                record.stage = "decode" if found.call == "decode" else self._stage(side, case, found) or ""
            self._keys.add(key_of(record))
            self.result.findings.append(record)
            self._found(record)

    def _stage(self, side: SideProcess, case: DifferingText, found: Found) -> Stage | None:
        model = found.model or case.question.model
        question = Question(model, [], found.call, found.allow_special)
        loaded = model if isinstance(model, Model) else self._models[model]
        return stage_of(self._sides[0], side, question, loaded, found.text)

    def _own(self, case: DifferingText) -> Model | None:
        """Return the model of a case where it is our own and small enough to store; else None."""
        if isinstance(case.question.model, Model):
            return case.question.model
        if vocabulary_named(case.name) is not None or len(self._models[case.name].tokens) > _OWN_MODEL_TOKENS:
            return None
        return self._models[case.name]
