"""The turns of a contestant: it is opened, warmed up and timed on the texts of a round, and its answers are judged."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random
from typing import Any

from harness.judge import Encoded, Judgement, NotIds, judge, judge_counts, judge_merges, unpacked
from harness.measure import placement, worker
from harness.measure.counterexamples import of_mismatch
from harness.measure.entries import Entry, Round
from harness.measure.materials import Materials
from harness.measure.texts import strings
from harness.measure.worker import OPEN_SECONDS, Learned, Opened, Timed, Trial
from harness.measure.workloads import GROWING, Profile, short_corpus, short_name
from harness.outcome import Outcome
from harness.process.memory import cpu_seconds
from harness.process.session import Failed, FailedError
from harness.records import Measurement, Pass

FURTHER_ROUNDS = 0.5
"""Rounds added for passes that lost the processor, at most, as a share of the planned ones."""
NOTHING_TO_DECODE = "no reference gives ids to decode, or no second one confirms them"
LEAST_OPEN_SECONDS = 60.0
"""Limit on importing an implementation and building it on a model, where that of a pass is shorter."""
_MOST_LOADS = 3
"""How often an implementation is loaded in an opening, in a fresh process each, until it reads nothing from a disk."""
_CLOCK_PASSES = 3
"""The number of passes that decide whether reported times are shorter than those the system counts."""
_LOST_SHARE = 0.02
"""An interrupted pass is lost if it waited for the processor for more than this share of its time."""
_CLOCK_SECONDS, _CLOCK_SHARE = 0.002, 0.1
"""By how much the processor time the system counts may exceed the reported times: a request is read and answered beside
them."""


class ContestantProcess:
    """The process of one contestant in one opening."""

    def __init__(self, materials: Materials, profile: Profile, entry: Entry, seed: str, *, first: bool) -> None:
        """Start nothing yet; with `first` it encodes a short text once it is open."""
        self.materials, self.profile, self.contestant, self._first = materials, profile, entry.contestant, first
        hash_seed = Random(f"{seed}/{self.contestant.name}/{self.contestant.copy}").randrange(2**32)
        self.session = materials.session(materials.threads(entry.workload), hash_seed)
        self._opened: Opened | None = None

    def enter(self, attempts: list[Attempt]) -> None:
        """Open the process unless it runs, and note what it is in the records of `attempts`."""
        if not self.session.is_running:
            self.open(attempts)
        elif self._opened is not None:
            self._note(self._opened, attempts)

    def open(self, attempts: list[Attempt]) -> None:
        """Open the implementation; its failure is the outcome of all its workloads."""
        workload = attempts[0].workload
        loads = [attempt for attempt in attempts if attempt.workload.task == "load"]
        key = self.contestant.name, workload.model if workload.task != "train" else ""
        unopened = self.materials.unopened
        try:
            if key in unopened:
                raise FailedError(unopened[key])
            model = self.materials.model_file(key[1]) if key[1] else ""
            limit = max(LEAST_OPEN_SECONDS, self.profile.time_limit_seconds)
            cores, first = self.materials.cores_for(workload), bool(loads) or self._first
            opening_cores = () if first else self.materials.cores
            arguments = self.contestant.name, model, cores, first, opening_cores
            self._opened = self.ask(limit, worker.open_implementation, *arguments)
            for _ in range(_MOST_LOADS - 1):
                if loads and self._opened.read_from_disk:
                    self.session.kill()
                    self._opened = self.ask(limit, worker.open_implementation, *arguments)
        except FailedError as error:
            if error.failed.outcome in (Outcome.REFUSED, Outcome.MISSING, Outcome.TIMEOUT):
                unopened[key] = error.failed
            for attempt in attempts:
                attempt.fail(error.failed)
            return
        self._note(self._opened, attempts)
        for attempt in loads:
            attempt.note_loading(self._opened, Path(model).stat().st_size)

    def _note(self, opened: Opened, attempts: list[Attempt]) -> None:
        for attempt in attempts:
            attempt.record.exact = opened.exact
            attempt.record.round_trip = self.materials.round_trip(attempt.workload.model)

    def ask(self, seconds: float, function: Callable[..., Any], *arguments: Any) -> Any:
        """Return what a function of `worker` returns in the process. Raises `FailedError`."""
        answer = self.session.call(function, *arguments, seconds=seconds)
        if not isinstance(answer, Failed):
            return answer.value
        raise FailedError(Failed(Outcome.MISMATCH, answer.message) if answer.error == NotIds.__name__ else answer)


class Attempt:
    """One contestant on one workload in one opening."""

    def __init__(self, entry: Entry, process: ContestantProcess, opening: int) -> None:
        workload = self.workload = entry.workload
        self.process, self._materials, self._profile = process, process.materials, process.profile
        self.record = Measurement(
            workload=workload.name,
            implementation=self._materials.shown(entry.contestant.name),
            task=workload.task,
            model=short_name(workload.model),
            corpus=short_corpus(workload.corpus),
            outcome=Outcome.RIGHT,
            copy=entry.contestant.copy,
            state=workload.state,
            opening=opening,
            threads=self._materials.threads(workload),
        )
        self.plan(entry.n_rounds)
        self.n_calls = entry.n_calls
        self.trial_seconds = 0.0
        """Seconds of a call of the warm-up."""
        self._calls = Counter[int]()
        self._gaps: list[float] = []
        """Seconds of processor time that the system counted, pass by pass, beyond what the reported times allow."""

    def plan(self, n_rounds: int) -> None:
        """Let it take part in so many rounds."""
        self.n_rounds = self.left = n_rounds

    @property
    def is_due(self) -> bool:
        """Return whether passes are missing, of which some that lost the processor are made again."""
        return self.left > 0 and len(self.record.passes) < self.n_rounds * (1 + FURTHER_ROUNDS)

    @property
    def is_in(self) -> bool:
        """Return whether it is still timed."""
        return self.record.outcome is Outcome.RIGHT

    def fail(self, failed: Failed | Judgement) -> None:
        """Record an outcome other than right; its passes no longer count."""
        self.record.outcome, self.record.reason = failed.outcome, failed.reason

    def finish(self) -> Measurement:
        """Complete the record and return it; what reports shorter times than the system counts has no times."""
        self.record.call_times, self.record.n_calls = sorted(self._calls.items()), self.n_calls
        if len(self._gaps) >= _CLOCK_PASSES and min(self._gaps) > 0 and self.is_in:
            self.fail(Failed(Outcome.PROTOCOL, "it reports shorter times than the system counts"))
        if not self.is_in:
            self.record.passes = []
        return self.record

    # --- what a process does once ----------------------------------------------------------------------------

    def note_loading(self, opened: Opened, n_bytes: int) -> None:
        """Record the loading of an implementation: from the model's file to the first ids; import is apart."""
        text, model = worker.FIRST_TEXT, self.workload.model
        ids, reference = self._materials.references.ids(model, [text.encode()], confirm=True)
        rows = None if ids is None else [unpacked(ids[0])]
        answers = [Encoded(text, opened.first_ids)]
        judgement = judge(answers, rows, self._materials.models[model], exact=self.record.exact)
        if judgement.outcome is not Outcome.RIGHT:
            self.fail(judgement)
            return
        self._note_only_pass(opened.load_seconds, n_bytes, reference, opened.peak_memory_bytes, opened.read_from_disk)

    def train(self) -> None:
        """Time one training from a file. Raises `FailedError`."""
        path = self._materials.training_file(self.workload)
        training = dict(self.workload.training)
        reference, name = self._materials.references.merges(path, training)
        learned: Learned = self.process.ask(self._profile.time_limit_seconds, worker.train, str(path), training)
        _ensure_right(judge_merges(learned.model, reference), name)
        seconds = learned.timed.wall_seconds[0], learned.timed.cpu_seconds[0]
        lost = learned.timed.read_from_disk
        self._note_only_pass(seconds, path.stat().st_size, name, learned.peak_memory_bytes, lost)
        self.record.n_tokens = len(learned.model.merges)

    def _note_only_pass(
        self, seconds: tuple[float, float], n_bytes: int, reference: str, peak: int | None, lost: bool
    ) -> None:
        self.record.reference, self.record.peak_memory_bytes, self.n_calls = reference, peak, 1
        self.record.passes = [_pass(0, lost, n_bytes, [1], seconds[:1], seconds[1:])]

    # --- rounds ----------------------------------------------------------------------------------------------

    def _prepare(self, texts: Round) -> None:
        task = self.workload.task
        if task == "decode" and texts.ids is None:
            raise FailedError(Failed(Outcome.UNVERIFIED, NOTHING_TO_DECODE))
        ids = (texts.ids or []) if task == "decode" else []
        self.process.ask(OPEN_SECONDS, worker.prepare, task, texts.calls, ids, self.record.threads)

    def warm_up(self, texts: Round) -> None:
        """Let it read other text of the corpus; determine its calls a pass; verify, decoding included."""
        self._prepare(texts)
        profile = self._profile
        trial: Trial = self.process.ask(profile.time_limit_seconds, worker.warm_up, profile.pass_seconds)
        self.n_calls = self.n_calls or min(trial.n_calls, self.workload.n_calls)
        self.trial_seconds = trial.seconds_per_call
        done = texts.of_calls(0, trial.n_done)
        self.record.warm_up_bytes = sum(map(len, done.texts))
        self._judge(done, decode=True)

    def time_pass(self, texts: Round, number: int, stops: set[int]) -> None:
        """Time one pass, in which the clocks are read at `stops`, and judge its answers."""
        workload, record, limit = self.workload, self.record, self._profile.time_limit_seconds
        n_calls = self.n_calls = self.n_calls or workload.n_calls
        stops_here = sorted({stop for stop in stops if stop < n_calls} | {n_calls})
        lead = workload.lead_calls
        texts = texts.of_calls(0, lead + n_calls)
        self._prepare(texts)
        if workload.state == "again":
            self.process.ask(limit, worker.run, [n_calls])
            self._prepare(texts)
        if lead:
            self.process.ask(limit, worker.lead, lead)
        cores, session = self._materials.cores_for(workload), self.process.session
        stolen, counted = placement.steal_ticks(cores), cpu_seconds(session.pid)
        timed: Timed = self.process.ask(limit, worker.run, stops_here, workload.times_each_call)
        stolen, counted = placement.steal_ticks(cores) - stolen, cpu_seconds(session.pid) - counted
        record.n_tokens += self._judge(texts, decode=not record.exact or workload.is_once)
        record.reference = texts.reference
        wall, cpu = timed.wall_seconds[-1], timed.cpu_seconds[-1]
        waited = record.threads == 1 and timed.was_interrupted and wall - cpu > _LOST_SHARE * wall
        lost = bool(stolen) or waited or timed.read_from_disk
        n_bytes = sum(map(len, texts.of_calls(lead, lead + n_calls).texts))
        record.passes.append(_pass(number, lost, n_bytes, stops_here, timed.wall_seconds, timed.cpu_seconds))
        self._calls.update(dict(timed.call_times))
        reported = min(cpu, wall * record.threads)
        self._gaps.append(counted - _CLOCK_SECONDS - (1 + _CLOCK_SHARE) * reported)
        self.left -= not lost
        if workload.state == "cold":
            record.peak_memory_bytes = self.process.ask(OPEN_SECONDS, worker.peak_memory_bytes)

    def _judge(self, texts: Round, *, decode: bool) -> int:
        """Judge the answers to all calls and return the number of ids. Raises `FailedError`."""
        task, exact = self.workload.task, self.record.exact
        model, inputs, reference = self._materials.models[self.workload.model], texts.texts, texts.rows
        answers: list[bytes] = self.process.ask(OPEN_SECONDS, worker.ids, task)
        if task == "count":
            counts: list[int] = unpacked(answers[0]).tolist()
            _ensure_right(judge_counts(counts, reference, exact=exact), texts.reference)
            return sum(counts)
        if task == "decode":
            assert reference is not None
            backs = (back.decode("utf-8", "surrogatepass") for back in answers)
            encoded = list(map(Encoded, strings(inputs), (ids.tolist() for ids in reference), backs))
            _ensure_right(judge(encoded, reference, model), texts.reference)
            return sum(map(len, reference))
        if len(answers) != len(inputs):
            raise FailedError(Failed(Outcome.MISMATCH, f"{len(answers)} answers to {len(inputs)} texts"))
        if decode and task not in GROWING:
            encoded = self.process.ask(self._profile.time_limit_seconds, worker.decoded, inputs, answers)
        else:
            encoded = list(map(Encoded, strings(inputs), map(unpacked, answers)))
        judgement = judge(encoded, reference, model, exact=exact)
        if judgement.outcome is Outcome.MISMATCH:
            wrong = encoded[judgement.number]
            names = self.process.contestant.name, self.workload.model
            self.record.counterexample = of_mismatch(self._materials, *names, wrong, judgement, texts.reference)
        _ensure_right(judgement, texts.reference)
        return sum(map(len, answers)) // 4


def _ensure_right(judgement: Judgement, reference: str) -> None:
    """Raise `FailedError` for an answer that is not right, with the name of the reference in its reason."""
    if judgement.outcome is not Outcome.RIGHT:
        reason = judgement.reason.replace("the reference", reference) if reference else judgement.reason
        raise FailedError(Failed(judgement.outcome, reason))


def _pass(number: int, lost: bool, n_bytes: int, calls: list[int], wall: Sequence[float], cpu: Sequence[float]) -> Pass:
    """Return a pass with seconds to five digits: more is noise, and fills the records."""
    walls, cpus = ([float(f"{seconds:.5g}") for seconds in some] for some in (wall, cpu))
    return Pass(number, lost, n_bytes, calls, walls, cpus)
