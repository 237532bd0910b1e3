"""Effects that show only over time: a stream of new documents, the second call on a long text, calls after a pause.

Each state runs in its own process. Page faults, system time and resident memory are recorded besides times.
"""

from __future__ import annotations

import gc
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import msgspec

from harness.measure.analysis.stats import binned
from harness.measure.jobs import timing
from harness.measure.jobs.answers import Wrong, digest, digest_of_parts, join_answers
from harness.measure.jobs.judge import judge, prove
from harness.measure.jobs.opening import Opening
from harness.measure.jobs.prepared import PreparedJob, bind, prepare, strings
from harness.measure.protocol import Expected, Job, Measure, Measured
from harness.measure.texts import chunks, read_texts, take
from harness.measure.workloads import N_PARTS
from harness.process import memory
from impls import Tokenizer

PAUSE_SECONDS = 0.5
_DECODED_TEXTS = 1_000
"""Number of new documents whose ids are also decoded."""
N_PAUSES = 2
"""Number of pauses of each kind."""
_OTHER_WORK = f"""
from time import perf_counter
end = perf_counter() + {PAUSE_SECONDS}
while perf_counter() < end:
    touched = bytearray(64_000_000)
    touched[::64] = bytes(1_000_000)
"""
"""Program that another process runs during a pause, to fill the processor's caches with other data."""


class CallMonitor(msgspec.Struct):
    """Times, page faults and system time by call; the latter two are empty if the system does not report them."""

    seconds: list[float] = []
    page_faults: list[int] = []
    system_seconds: list[float] = []

    def calls(self, run: Callable[[Any], Any], inputs: Sequence[Any]) -> tuple[list[float], list[Any]]:
        """Record calls, one on each of `inputs`, as one sample; return the seconds and the answer of each."""
        before = _usage()
        timed = [timing.timed(run, some) for some in inputs]
        after = _usage()
        seconds, answers = [taken for taken, _ in timed], [answer for _, answer in timed]
        self.seconds.append(sum(seconds))
        if before is not None and after is not None:
            self.page_faults.append(after[0] - before[0])
            self.system_seconds.append(after[1] - before[1])
        return seconds, answers


def _usage() -> tuple[int, float] | None:
    """Return this process's minor page faults and system seconds so far; None if unknown (Windows)."""
    try:
        import resource
    except ImportError:
        return None
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_minflt, usage.ru_stime


def sustained(opening: Opening, request: Measure) -> Measured:
    """Encode the parts of a text that never repeats, document by document: as many as time allows, but at least one.

    A sample is the total time of the calls of one part. The ids are verified between parts, outside the timing, and
    those of the first documents are decoded at the end.
    Raise `Wrong` for a wrong answer.
    """
    job, tokenizer = request.job, opening.tokenizer
    assert tokenizer is not None
    encode = bind(job, tokenizer)
    monitor, calls, resident = CallMonitor(), Counter[int](), list[int]()
    n_texts = n_bytes = n_tokens = 0
    digests: list[str] = []
    gc.collect()
    gc.freeze()
    begin = time.perf_counter()
    for part in range(N_PARTS):
        texts = read_texts(Path(f"{job.texts}-{part}"))
        seconds, answers = monitor.calls(encode, [(text,) for text in strings(texts)])
        calls += binned(seconds)
        work = PreparedJob(job=job, tokenizer=tokenizer, passes=[texts], run=encode)
        found = _verified(
            work, list(chain.from_iterable(answers)), None if request.expected is None else request.expected.parts[part]
        )
        digests.append(found[0])
        n_texts, n_bytes, n_tokens = n_texts + len(texts), n_bytes + sum(map(len, texts)), n_tokens + found[1]
        del texts, answers, seconds, work
        resident.append(max(0, memory.resident_bytes() - opening.baseline_bytes))
        if time.perf_counter() - begin > request.most_seconds:
            break
    if request.expected is not None and tokenizer.exact:  # only their ids were compared
        texts = read_texts(Path(f"{job.texts}-0"))[:_DECODED_TEXTS]
        work = PreparedJob(job=job, tokenizer=tokenizer, passes=[texts], run=encode)
        prove(work, tokenizer, encode(strings(texts)), None, compared=True)
    done = len(digests)
    return Measured(
        samples_seconds=monitor.seconds,
        loops=1,
        n_texts=n_texts // done,
        n_bytes=n_bytes // done,
        n_tokens=n_tokens // done,
        n_calls=n_texts // done,
        digest=digest_of_parts(digests),
        peak_memory_bytes=None,
        samples_wanted=N_PARTS,
        page_faults=monitor.page_faults,
        system_seconds=monitor.system_seconds,
        resident_bytes=resident,
        call_times=sorted(calls.items()),
    )


def _verified(work: PreparedJob, answers: list[Any], wanted: str | None) -> tuple[str, int]:
    """Return the digest and number of tokens of the answers to a part; raise `Wrong` for a wrong one.

    Ids are compared with the reference's digest `wanted`; without one, or for an inexact implementation, the ids must
    decode to their documents.
    """
    if wanted is None or not (work.tokenizer and work.tokenizer.exact):
        return judge(work, [answers], None)
    found = digest(work.job, answers)
    if found[0] != wanted:
        shortest = sorted(work.texts, key=len)[:1000]
        raise Wrong("other ids than the reference on new documents", candidates=shortest)
    return found


def expected(job: Job, tokenizer: Tokenizer) -> Expected:
    """Return the digests of the ids of every part of a text that never repeats, and the total number of tokens.

    For a job limited to `n_bytes`, only that much of the first part counts.
    """
    encode = bind(job, tokenizer)
    parts = []
    for part in range(1 if job.n_bytes else N_PARTS):
        texts = take(read_texts(Path(f"{job.texts}-{part}")), job.n_bytes)
        parts.append(digest(job, encode(strings(texts))))
    digests = [found for found, _ in parts]
    return Expected(
        digest=digest_of_parts(digests), n_tokens=sum(n for _, n in parts), reference=tokenizer.name, parts=digests
    )


def long_text(opening: Opening, request: Measure) -> Measured:
    """Time the second call on a long text, or calls after pauses, after documents of other text.

    Each answer is freed before the next call, which can then reuse its memory. Raise `Wrong` if the answer to a timed
    call is wrong.
    """
    job = request.job
    work = prepare(job, opening.tokenizer, opening.implementation)
    gc.collect()
    gc.freeze()
    for text in work.other:
        for document in chunks(text, job.document_bytes):
            work.run(work.fresh([document]))
    monitor = CallMonitor()
    parts: dict[str, list[float]] = {}
    digests = set[str]()
    if job.state == "second-call":
        work.run(work.fresh(work.texts))
        _, [answer] = monitor.calls(work.run, [work.fresh(work.texts)])
    else:
        for _ in range(3):
            work.run(work.fresh(work.texts))
        for _ in range(N_PAUSES):
            for kind, wait in (("after an idle pause", _idle), ("after another's work", _others_work)):
                inputs = work.fresh(work.texts)
                answer = None
                wait()
                _, [answer] = monitor.calls(work.run, [inputs])
                parts.setdefault(kind, []).append(monitor.seconds[-1])
                digests.add(digest(job, join_answers(job, [answer]))[0])
    peak = opening.highest_memory()
    found = judge(work, [answer], request.expected)
    if digests - {found[0]}:
        raise Wrong("other ids in an earlier timed call")
    reply = work.reply(found, timing.Samples(monitor.seconds, 1), peak)
    return msgspec.structs.replace(
        reply, parts_seconds=parts, page_faults=monitor.page_faults, system_seconds=monitor.system_seconds
    )


def _idle() -> None:
    time.sleep(PAUSE_SECONDS)


def _others_work() -> None:
    subprocess.run([sys.executable, "-c", _OTHER_WORK], check=True, stdin=subprocess.DEVNULL)
