"""The turns of a contestant: it is opened, warmed up and timed on the texts of a round, and its answers are judged."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from pathlib import Path
from random import Random
from typing import Any

from harness.judge import Encoded, Judgement, judge, judge_counts, judge_merges
from harness.measure import placement, worker
from harness.measure.answers import NotIds, unpacked
from harness.measure.counterexamples import of_mismatch
from harness.measure.entries import Attempt, Contestant, Round
from harness.measure.materials import Materials
from harness.measure.texts import strings
from harness.measure.worker import OPEN_SECONDS, Learned, Opened, Timed, Trial
from harness.measure.workloads import GROWING, Profile
from harness.outcome import Outcome
from harness.process.memory import cpu_seconds
from harness.process.session import Failed, FailedError, Session
from harness.records import Pass

NOTHING_TO_DECODE = "no reference gives ids to decode, or no second one confirms them"
LEAST_OPEN_SECONDS = 60.0
"""Limit on importing an implementation and building it on a model, where that of a pass is shorter."""
_LOST_SHARE = 0.02
"""An interrupted pass is lost if it waited for the processor for more than this share of its time."""
_CLOCK_SECONDS, _CLOCK_SHARE = 0.002, 0.1
"""By how much the processor time the system counts may exceed the reported times: a request is read and answered beside
them."""


class Contestants:
    """The processes of one opening. Always `close` them."""

    def __init__(self, materials: Materials, profile: Profile, seed: str, *, first: bool) -> None:
        """Start nothing yet; with `first` each encodes a short text once it is open."""
        self._materials, self._profile, self._seed, self._first = materials, profile, seed, first
        self._sessions: dict[Contestant, Session] = {}
        self._opened: dict[Contestant, Opened] = {}
        self._processes = ExitStack()

    def close(self) -> None:
        """End the processes."""
        self._processes.close()

    def enter(self, attempts: Mapping[Contestant, list[Attempt]]) -> None:
        """Open the processes of contestants: whose loading is timed one after another, the others on all cores."""
        loading = {of.contestant for some in attempts.values() for of in some if of.workload.task == "load"}
        timed = [contestant for contestant in attempts if contestant in loading]
        for contestant in timed:
            self._enter(contestant, attempts[contestant])
        for model in {
            attempt.workload.model for mine in attempts.values() for attempt in mine if attempt.workload.task != "train"
        }:
            with suppress(FailedError):
                self._materials.model_file(model)
        with ThreadPoolExecutor(max(1, len(self._materials.cores))) as threads:
            list(threads.map(lambda contestant: self._enter(contestant, attempts[contestant]), attempts.keys() - timed))

    def _enter(self, contestant: Contestant, attempts: list[Attempt]) -> None:
        """Open the process of a contestant unless it runs, and note what it is in the records of `attempts`."""
        workload = attempts[0].workload
        session = self._sessions.get(contestant)
        if session is None or not session.is_running:
            seed = Random(f"{self._seed}/{contestant.name}/{contestant.copy}").randrange(2**32)
            session = self._materials.session(self._materials.threads(workload), seed)
            self._sessions[contestant] = self._processes.enter_context(session)
            self.open(contestant, attempts)
        elif opened := self._opened.get(contestant):
            self._note(opened, attempts)

    def end(self, contestant: Contestant) -> None:
        """End the process of one contestant at once."""
        self._sessions[contestant].kill()

    def _note(self, opened: Opened, attempts: list[Attempt]) -> None:
        for attempt in attempts:
            attempt.record.exact = opened.exact
            attempt.record.round_trip = self._materials.round_trip(attempt.workload.model)

    def _ask(self, contestant: Contestant, seconds: float, function: Callable[..., Any], *arguments: Any) -> Any:
        """Return the answer of a contestant. Raises `FailedError`."""
        answer = self._sessions[contestant].call(function, *arguments, seconds=seconds)
        if not isinstance(answer, Failed):
            return answer.value
        if answer.error == NotIds.__name__:
            answer = Failed(Outcome.MISMATCH, answer.message)
        raise FailedError(answer)

    def open(self, contestant: Contestant, attempts: list[Attempt]) -> None:
        """Open one contestant; its failure is the outcome of all its workloads."""
        workload = attempts[0].workload
        loads = [attempt for attempt in attempts if attempt.workload.task == "load"]
        key, unopened = (contestant.name, workload.model if workload.task != "train" else ""), self._materials.unopened
        try:
            if key in unopened:
                raise FailedError(unopened[key])
            model = self._materials.model_file(key[1]) if key[1] else ""
            limit = max(LEAST_OPEN_SECONDS, self._profile.time_limit_seconds)
            cores, first = self._materials.cores_for(workload), bool(loads) or self._first
            opening = () if first else self._materials.cores
            opened = self._ask(
                contestant, limit, worker.open_implementation, contestant.name, model, cores, first, opening
            )
        except FailedError as error:
            if error.failed.outcome in (Outcome.REFUSED, Outcome.MISSING, Outcome.TIMEOUT):
                unopened[key] = error.failed
            for attempt in attempts:
                attempt.fail(error.failed)
            return
        self._opened[contestant] = opened
        self._note(opened, attempts)
        for attempt in loads:
            self._loaded(attempt, opened, Path(model).stat().st_size)

    def _loaded(self, attempt: Attempt, opened: Opened, n_bytes: int) -> None:
        """Record the loading of an implementation: from the model's file to the first ids; import is apart."""
        text = worker.FIRST_TEXT
        ids, reference = self._materials.references.ids(attempt.workload.model, [text.encode()], confirm=True)
        rows = None if ids is None else [unpacked(ids[0])]
        model = self._materials.models[attempt.workload.model]
        judgement = judge([Encoded(text, opened.first_ids)], rows, model, exact=attempt.record.exact)
        if judgement.outcome is not Outcome.RIGHT:
            attempt.fail(judgement)
            return
        record = attempt.record
        record.reference, record.peak_memory_bytes = reference, opened.peak_memory_bytes
        wall, cpu = opened.load_seconds
        record.passes, attempt.n_calls = [Pass(0, False, n_bytes, [1], [_short(wall)], [_short(cpu)])], 1

    def _prepare(self, attempt: Attempt, texts: Round) -> None:
        workload = attempt.workload
        if workload.task == "decode" and texts.ids is None:
            raise FailedError(Failed(Outcome.UNVERIFIED, NOTHING_TO_DECODE))
        ids = (texts.ids or []) if workload.task == "decode" else []
        threads = self._materials.threads(workload)
        self._ask(attempt.contestant, OPEN_SECONDS, worker.prepare, workload.task, texts.calls, ids, threads)

    def warm_up(self, attempt: Attempt, texts: Round) -> None:
        """Let a contestant read other text of the corpus; determine its calls a pass; verify, decoding included."""
        self._prepare(attempt, texts)
        profile, workload = self._profile, attempt.workload
        trial: Trial = self._ask(attempt.contestant, profile.time_limit_seconds, worker.warm_up, profile.pass_seconds)
        attempt.n_calls = attempt.n_calls or min(trial.n_calls, workload.n_calls)
        attempt.trial_seconds = trial.seconds_per_call
        done = texts.of_calls(0, trial.n_done)
        attempt.record.warm_up_bytes = sum(map(len, done.texts))
        self._judge(attempt, done, decode=True)

    def time_pass(self, attempt: Attempt, texts: Round, number: int, stops: set[int]) -> None:
        """Time one pass of a contestant, whose clocks are read at `stops`, and judge its answers."""
        workload, record = attempt.workload, attempt.record
        n_calls = attempt.n_calls = attempt.n_calls or workload.n_calls
        stops_here = sorted({stop for stop in stops if stop < n_calls} | {n_calls})
        lead, texts = workload.lead_calls(n_calls), texts.of_pass(workload, n_calls)
        self._prepare(attempt, texts)
        if workload.state == "again":
            self._ask(attempt.contestant, self._profile.time_limit_seconds, worker.run, [n_calls])
            self._prepare(attempt, texts)
        if lead:
            self._ask(attempt.contestant, self._profile.time_limit_seconds, worker.lead, lead)
        cores = self._materials.cores_for(workload)
        session = self._sessions[attempt.contestant]
        stolen, counted = placement.steal_ticks(cores), cpu_seconds(session.pid)
        timed: Timed = self._ask(
            attempt.contestant, self._profile.time_limit_seconds, worker.run, stops_here, workload.times_each_call
        )
        stolen, counted = placement.steal_ticks(cores) - stolen, cpu_seconds(session.pid) - counted
        n_tokens = self._judge(attempt, texts, decode=not record.exact or workload.is_once)
        wall, cpu = timed.wall_seconds[-1], timed.cpu_seconds[-1]
        waited = record.threads == 1 and timed.was_interrupted and wall - cpu > _LOST_SHARE * wall
        lost = bool(stolen) or waited
        n_bytes = sum(map(len, texts.of_calls(lead, lead + n_calls).texts))
        marks = ([_short(s) for s in some] for some in (timed.wall_seconds, timed.cpu_seconds))
        record.passes.append(Pass(number, lost, n_bytes, stops_here, *marks))
        record.n_tokens += n_tokens
        record.reference = texts.reference
        attempt.calls.update(dict(timed.call_times))
        reported = min(cpu, wall * record.threads)
        attempt.gaps.append(counted - _CLOCK_SECONDS - (1 + _CLOCK_SHARE) * reported)
        attempt.left -= not lost
        if workload.state == "cold":
            record.peak_memory_bytes = self._ask(attempt.contestant, OPEN_SECONDS, worker.peak_memory_bytes)

    def _judge(self, attempt: Attempt, texts: Round, *, decode: bool) -> int:
        """Judge the answers to all calls and return the number of ids. Raises `FailedError`."""
        workload, record = attempt.workload, attempt.record
        model, given, reference = self._materials.models[workload.model], texts.texts, texts.rows
        answers: list[bytes] = self._ask(attempt.contestant, OPEN_SECONDS, worker.ids, workload.task)
        if workload.task == "count":
            counts: list[int] = unpacked(answers[0]).tolist()
            judgement, n_tokens = judge_counts(counts, reference, exact=record.exact), sum(counts)
        elif workload.task == "decode":
            assert reference is not None
            encoded = [
                Encoded(text, ids.tolist(), back.decode("utf-8", "surrogatepass"))
                for text, ids, back in zip(strings(given), reference, answers, strict=True)
            ]
            judgement = judge(encoded, reference, model)
            n_tokens = sum(len(ids) for ids in reference)
        else:
            n_tokens = sum(len(ids) for ids in answers) // 4
            if len(answers) != len(given):
                raise FailedError(Failed(Outcome.MISMATCH, f"{len(answers)} answers to {len(given)} texts"))
            if decode and workload.task not in GROWING:
                encoded = self._ask(
                    attempt.contestant, self._profile.time_limit_seconds, worker.decoded, given, answers
                )
            else:
                encoded = [Encoded(text, unpacked(ids)) for text, ids in zip(strings(given), answers, strict=True)]
            judgement = judge(encoded, reference, model, exact=record.exact)
            if judgement.outcome is Outcome.MISMATCH:
                text, got = given[judgement.number], unpacked(answers[judgement.number]).tolist()
                record.counterexample = of_mismatch(
                    self._materials, attempt.contestant.name, workload, text, judgement, got, texts.reference
                )
        if judgement.outcome is not Outcome.RIGHT:
            raise _wrong(judgement, texts.reference)
        return n_tokens

    def train(self, attempt: Attempt) -> None:
        """Time one training from a file."""
        workload, record = attempt.workload, attempt.record
        try:
            path = self._materials.training_file(workload)
        except Exception as error:  # whatever reading a corpus raises
            raise FailedError(self._materials.unavailable(error)) from None
        training = dict(workload.training)
        reference, name = self._materials.references.merges(path, training)
        limit = self._profile.time_limit_seconds
        learned: Learned = self._ask(attempt.contestant, limit, worker.train, str(path), training)
        judgement = judge_merges(learned.model, reference)
        if judgement.outcome is not Outcome.RIGHT:
            raise _wrong(judgement, name)
        wall, cpu = learned.timed.wall_seconds[0], learned.timed.cpu_seconds[0]
        record.passes = [Pass(0, False, path.stat().st_size, [1], [_short(wall)], [_short(cpu)])]
        record.n_tokens, record.reference, attempt.n_calls = len(learned.model.merges), name, 1
        record.peak_memory_bytes = learned.peak_memory_bytes


def _wrong(judgement: Judgement, reference: str) -> FailedError:
    """Return the error for an answer that is not right, with the name of the reference in its reason."""
    reason = judgement.reason.replace("the reference", reference) if reference else judgement.reason
    return FailedError(Failed(judgement.outcome, reason))


def _short(seconds: float) -> float:
    """Return seconds to five digits: more is noise, and fills the records."""
    return float(f"{seconds:.5g}")
