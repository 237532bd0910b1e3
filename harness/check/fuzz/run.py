"""Fuzz: send batches to every side, compare answers with the first side's, minimise and record differences.

Batch k holds the same texts however long the run lasts, and is generated while the sides work on batch k - 1.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import count
from math import inf

from harness.check.classes import Relation, relation
from harness.check.fuzz.examine import examine, stage_of
from harness.check.fuzz.findings import DifferingText, classify, key_of, record_of
from harness.check.fuzz.questions import Answers, Question, same
from harness.check.fuzz.side_process import SideProcess
from harness.check.fuzz.source import TextSource, model_batch
from harness.data import DataError, is_fetched, load_corpus, load_model
from harness.data.catalogue import real_corpora, vocabulary_named
from harness.outcome import Outcome
from harness.process.session import Failed
from harness.records import Disagreement
from impls.core.model.model import Model

SECONDS_TO_SHRINK = 15.0
_BYTES_OF_A_CORPUS = 300_000
_EXAMINED_A_BATCH = 2
_OWN_MODEL_TOKENS = 4096
"""A model in a user's file is minimised and stored in the record if it has up to this many ids."""


@dataclass(frozen=True, slots=True)
class FuzzPlan:
    """What to run: the first side is the reference that every other side is compared with."""

    sides: Sequence[str]
    models: Sequence[str]
    """Names or paths; empty for random models."""
    seed: int = 0
    seconds: float | None = 60.0
    """How long to search; None for no time limit, so that nothing depends on the clock."""
    n_texts: int | None = None
    stop_after: int = 10
    """Distinct differences after which the search ends."""
    corpora: Sequence[str] | None = None
    """Corpora whose text is mutated; None for the samples and all fetched corpora."""


@dataclass(slots=True)
class FuzzResult:
    """The counts and findings of a run, with the field names of its JSON document."""

    corpora: tuple[str, ...] = ()
    versions: dict[str, dict[str, str]] = field(default_factory=dict)
    n_texts: int = 0
    n_bytes: int = 0
    """UTF-8 bytes of the texts (surrogatepass), each text counted once."""
    longest_bytes: int = 0
    n_by_call: Counter[str] = field(default_factory=Counter)
    """Texts by call; for `decode` lists of ids."""
    n_models: int = 0
    n_compared_texts: Counter[str] = field(default_factory=Counter)
    """Side -> texts that both it and the first side answered."""
    n_failed_texts: Counter[str] = field(default_factory=Counter)
    """Side -> texts that neither it nor the first side answered."""
    n_differing_texts: Counter[str] = field(default_factory=Counter)
    """Side -> texts it encodes differently from the first side, where the two should agree."""
    n_expected_texts: Counter[str] = field(default_factory=Counter)
    """Side -> texts of random models on which it differs, as it may."""
    n_refused_models: Counter[str] = field(default_factory=Counter)
    """Side -> random models that it refuses to load."""
    seconds: float = 0.0
    interrupted: bool = False
    findings: list[Disagreement] = field(default_factory=list)
    """One of each kind, in the order they were found."""


@dataclass
class FuzzRun:
    """A run in progress; `result` is valid at any moment."""

    plan: FuzzPlan
    report: Callable[[Disagreement], None] = lambda record: None
    """Called with each new kind of difference."""
    progress: Callable[[FuzzResult], None] = lambda result: None
    """Called after each batch."""
    result: FuzzResult = field(default_factory=FuzzResult)
    _keys: set[tuple[object, ...]] = field(default_factory=set)
    _sides: list[SideProcess] = field(default_factory=list)
    _models: dict[str, Model] = field(default_factory=dict)

    def run(self) -> FuzzResult:
        """Search until a limit of the plan is reached, or Ctrl-C. Raises `DataError`, `BPEError`."""
        try:
            batches = self._batches()
            for spec in self.plan.sides:
                self._sides.append(SideProcess(spec))
            self.result.versions = {side.name: side.versions for side in self._sides}
            self._search(batches)
        except KeyboardInterrupt:
            self.result.interrupted = True
        finally:
            for side in self._sides:
                side.close()
        return self.result

    # --- questions -----------------------------------------------------------------------------------------

    def _batches(self) -> Iterator[list[Question]]:
        """Yield batches without end, the same for every side."""
        plan = self.plan
        if not plan.models:
            return map(partial(model_batch, plan.seed), count())
        documents = self._documents()
        self._models = {name: load_model(name) for name in plan.models}
        sources = [TextSource(name, model, documents, plan.seed) for name, model in self._models.items()]
        return ([source.batch(index)] for index in count() for source in sources)

    def _documents(self) -> list[str]:
        names = self.plan.corpora
        if names is None:
            names = ["samples", *(name for name, corpus in real_corpora().items() if corpus.parts and is_fetched(name))]
        self.result.corpora = tuple(names)
        documents = [text for name in names for text in load_corpus(name, max_bytes=_BYTES_OF_A_CORPUS).documents()]
        return [text for text in documents if text]

    # --- the search ----------------------------------------------------------------------------------------

    def _search(self, batches: Iterator[list[Question]]) -> None:
        began: float | None = None
        coming = next(batches)
        while not self._over():
            questions = self._cut(coming)
            for side in self._sides:
                side.submit(questions)
            coming = next(batches)
            answers = [side.result() for side in self._sides]
            if began is None:
                self._refuse(answers)
                began = time.monotonic()  # loading the models does not count
            for question, *of_sides in zip(questions, *answers, strict=True):
                self._compare(question, of_sides)
                if self._found_enough:
                    break
            self.result.seconds = time.monotonic() - began
            self.progress(self.result)

    @property
    def _found_enough(self) -> bool:
        return len(self.result.findings) >= self.plan.stop_after

    def _over(self) -> bool:
        limits = (self.result.n_texts, self.plan.n_texts), (self.result.seconds, self.plan.seconds)
        return self._found_enough or any(most is not None and used >= most for used, most in limits)

    def _cut(self, questions: list[Question]) -> list[Question]:
        """Return the questions with no more texts than the plan still allows."""
        if self.plan.n_texts is None:
            return questions
        left = self.plan.n_texts - self.result.n_texts
        allowed: list[Question] = []
        for question in questions:
            if left > 0:
                allowed.append(replace(question, texts=question.texts[:left]))
                left -= len(question.texts)
        return allowed

    def _refuse(self, answers: Sequence[Sequence[Answers]]) -> None:
        """Raise `DataError` if a side fails to load every model of a batch, unless their kind is unsupported."""
        for side, of_side in zip(self._sides, answers, strict=True):
            failed = [
                answer for answer in of_side if isinstance(answer, Failed) and answer.outcome is not Outcome.REFUSED
            ]
            if failed and len(failed) == len(of_side) and not self.plan.models:
                raise DataError(f"{side.name}: {failed[0].reason}")

    def _compare(self, question: Question, answers: Sequence[Answers]) -> None:
        """Count one question's answers and examine differences. Raises `DataError` where a side cannot run a model."""
        result, texts, first_text = self.result, question.texts, self.result.n_texts
        result.n_texts += len(texts)
        result.n_by_call[question.call] += len(texts)
        if question.call != "decode":
            sizes = [len(text.encode("utf-8", "surrogatepass")) for text in texts]
            result.n_bytes += sum(sizes)
            result.longest_bytes = max(result.longest_bytes, *sizes)
        result.n_models += isinstance(question.model, Model)
        for side, answer in zip(self._sides, answers, strict=True):
            if isinstance(answer, Failed) and isinstance(question.model, str):
                raise DataError(f"{question.model}: {answer.reason}")
            result.n_refused_models[side.name] += isinstance(answer, Failed)
        reference, *others = answers
        for side, answer in zip(self._sides[1:], others, strict=True):
            if isinstance(reference, Failed) or isinstance(answer, Failed):
                continue
            pairs = list(zip(reference, answer, strict=True))
            n_failed = [sum(isinstance(answer, Failed) for answer in pair) for pair in pairs]
            result.n_compared_texts[side.name] += n_failed.count(0)
            result.n_failed_texts[side.name] += n_failed.count(2)
            differing = [i for i, pair in enumerate(pairs) if not same(*pair)]
            must_agree = isinstance(question.model, str) or self._relation(side).must_agree
            (result.n_differing_texts if must_agree else result.n_expected_texts)[side.name] += len(differing)
            if not must_agree:  # one expects differences on random models
                continue
            for i in sorted(differing, key=lambda i: (len(texts[i]), i))[:_EXAMINED_A_BATCH]:
                if self._found_enough:
                    return
                names, origin = (self._sides[0].name, side.name), f"seed {self.plan.seed}, text {first_text + i}"
                self._examine(side, DifferingText(names, question, texts[i], pairs[i], origin))

    def _loaded(self, model: str | Model) -> Model:
        return self._models[model] if isinstance(model, str) else model

    def _relation(self, side: SideProcess) -> Relation:
        return relation(self._sides[0].name, side.name)

    def _examine(self, side: SideProcess, case: DifferingText) -> None:
        seconds = inf if self.plan.seconds is None else SECONDS_TO_SHRINK
        own = self._own(case.question.model)
        try:
            self._keep(side, examine(self._sides[0], side, case, own, seconds), asking=True)
        except KeyboardInterrupt:
            self._keep(side, case.with_model(own), asking=False)
            raise

    def _keep(self, side: SideProcess, case: DifferingText, *, asking: bool) -> None:
        """Record a difference, unless one of its kind is known. The sides are queried only with `asking`."""
        reference, question, loaded = self._sides[0], case.question, self._loaded(case.question.model)
        kind = self._relation(side)

        def agree(text: str) -> bool:
            return asking and same(reference.ask_one(question, text), side.ask_one(question, text))

        record = record_of(case, classify(case, kind, agree), kind, reference.versions | side.versions)
        if key_of(record) in self._keys:
            return
        if asking and case.repeatable and not case.failed:
            is_decoding = question.call == "decode"
            record.stage = "decode" if is_decoding else stage_of(reference, side, question, loaded, case.text) or ""
        self._keys.add(key_of(record))
        self.result.findings.append(record)
        self.report(record)

    def _own(self, model: str | Model) -> Model | None:
        """Return a model to store: any but a published one, or one too large from a file; else None."""
        if isinstance(model, str) and vocabulary_named(model) is not None:
            return None
        loaded = self._loaded(model)
        return loaded if model is loaded or len(loaded.tokens) <= _OWN_MODEL_TOKENS else None
