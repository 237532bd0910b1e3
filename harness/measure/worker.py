"""An implementation in its own process: opened, given texts, timed on one pass after another.

Every function here runs in the process of a contestant, called through a `harness.process.session`. The parent sends
the texts of a pass, then lets it run, then fetches the answers; it compares the reported times with the processor time
of this process and judges every answer. Clocks are bound before the implementation is imported. Nothing here asks who
wrote it: a list, an array, a batch and a growing text are each asked for by one public call, behind which every adapter
puts its fastest.
"""

from __future__ import annotations

import gc
import pickle
import random
import resource
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from functools import partial
from itertools import accumulate, pairwise
from pathlib import Path
from time import perf_counter, process_time
from typing import Any, NamedTuple

from harness.judge import Encoded, packed, packed_answers, unpacked
from harness.measure import placement
from harness.measure.stats import binned
from harness.measure.texts import strings
from harness.measure.workloads import GROWING, Task
from harness.process import memory
from impls import Model, Tokenizer, TrainingSpec, Unsupported, get
from impls.core.text.files import TextFile, TextFiles

OPEN_SECONDS = 120.0
"""Limit on what is not timed: taking inputs, packing answers."""
FIRST_TEXT = "hello world"
"""The text whose ids end the loading of an implementation."""
_WARM_UP_SECONDS = 0.1
"""Length of a warm-up, since first calls are slower."""
APPENDED_CHARACTERS, N_APPENDS = 20, 20
TURN_CHARACTERS, N_TURNS = (200, 2_000), 8


class Opened(NamedTuple):
    """The report on an opened implementation."""

    exact: bool
    load_seconds: tuple[float, float]
    """Wall and processor seconds from the model's file to the first ids, without deriving merges from ranks."""
    first_ids: list[int]
    peak_memory_bytes: int | None
    read_from_disk: bool
    """Whether a file was not in memory: a system may drop what it has cached of files."""


class Timed(NamedTuple):
    """One pass: seconds since its beginning at each stop, and whether it had to wait for the processor or a disk."""

    wall_seconds: list[float]
    cpu_seconds: list[float]
    was_interrupted: bool
    read_from_disk: bool
    call_times: list[tuple[int, int]]
    """(b, n): n calls took 1.02^b to 1.02^(b+1) nanoseconds; empty unless each call was timed."""


class _Held:
    """What this process holds."""

    implementation: type[Tokenizer]
    tokenizer: Tokenizer | None = None
    model: Model | None = None
    baseline_bytes = 0
    inputs: Sequence[Any] = ()
    answers: list[Any] = []  # noqa: RUF012 (one holder per process)
    run: Callable[[Any], Any]


_held = _Held()


def open_implementation(
    name: str, model_file: str, cores: Collection[int], first: bool = False, opening_cores: Collection[int] = ()
) -> Opened:
    """Import an implementation and build it on the model in a file of our own format (empty: only import it).

    With `first` also encode `FIRST_TEXT`. Pin the process to `cores` (until it is open to `opening_cores`, if there are
    any); if there are none, leave the affinity. Exceptions of the implementation pass.
    """
    from harness.targets import is_target, load_tokenizer

    placement.pin_to(opening_cores or cores)
    factory: Callable[[Model], Tokenizer] = partial(load_tokenizer, name) if is_target(name) else get(name)
    read_before, start, cpu = _blocks_read(), perf_counter(), process_time()
    model = Model.load(Path(model_file)) if model_file else None
    read_seconds = perf_counter() - start, process_time() - cpu
    if model_file:
        model = pickle.loads(derived_file(Path(model_file)).read_bytes())
    _held.model = model
    gc.collect()
    _held.baseline_bytes = memory.resident_bytes()
    memory.reset_peak()
    ids: list[int] = []
    start, cpu = perf_counter(), process_time()
    if model is None:
        _held.implementation = factory  # type: ignore[assignment]
    else:
        _held.tokenizer = factory(model)
        if first:
            ids = _held.tokenizer.encode(FIRST_TEXT)
    build_seconds = perf_counter() - start, process_time() - cpu
    gc.freeze()
    placement.pin_to(cores)
    return Opened(
        exact=getattr(_held.tokenizer or factory, "exact", True),
        load_seconds=(read_seconds[0] + build_seconds[0], read_seconds[1] + build_seconds[1]),
        first_ids=list(map(int, ids)),
        peak_memory_bytes=peak_memory_bytes(),
        read_from_disk=_blocks_read() > read_before,
    )


def derived_file(model_file: Path) -> Path:
    """Return the file beside a model's that holds it pickled with what is costly to derive from it."""
    return model_file.with_suffix(".pickle")


def held() -> Tokenizer:
    """Return the implementation that this process holds, built on its model."""
    assert _held.tokenizer is not None, "nothing is open yet"
    return _held.tokenizer


def peak_memory_bytes() -> int | None:
    """Return the highest resident memory since the implementation was built, beyond what the process held before."""
    peak = memory.peak_bytes()
    return None if peak is None else max(0, peak - _held.baseline_bytes)


# --- a pass --------------------------------------------------------------------------------------------------


def prepare(task: Task, calls: list[list[bytes]], ids: list[bytes], threads: int) -> None:
    """Take the inputs of a pass: the texts of each call; for `decode`, the ids of each as uint32."""
    tokenizer = held()
    _held.answers = []
    if task == "decode":
        _held.inputs = [unpacked(row).tolist() for row in ids]
        _held.run = tokenizer.decode
    elif task in GROWING:
        _held.inputs = [_growing(task, strings(texts)[0]) for texts in calls]
        _held.run = _append if tokenizer.follows_text else _encode_again
    elif task == "encode-batch":
        _held.inputs = [strings(texts) for texts in calls]
        _held.run = lambda texts: tokenizer.encode_batch(texts, threads, disallowed_special=())
    else:
        _held.inputs = [strings(texts)[0] for texts in calls]
        encode: Callable[..., Any] = tokenizer.encode_array if task == "encode-array" else tokenizer.encode
        _held.run = tokenizer.count if task == "count" else lambda text: encode(text, disallowed_special=())


class _Steps(NamedTuple):
    """A text that grows: the text with its ids, or nothing, and what is appended or the text after each step."""

    followed: Any
    steps: list[str]


def _growing(task: Task, text: str) -> _Steps:
    if task == "append":
        lengths = [APPENDED_CHARACTERS] * max(1, min(N_APPENDS, len(text) // (2 * APPENDED_CHARACTERS)))
    else:
        chance = random.Random(0)
        lengths = [chance.randint(*TURN_CHARACTERS) for _ in range(N_TURNS)]
    first = max(0, len(text) - sum(lengths))
    ends = [min(len(text), end) for end in accumulate(lengths, initial=first)]
    if held().follows_text:
        return _Steps(held().incremental(text[:first], disallowed_special=()), [text[a:b] for a, b in pairwise(ends)])
    return _Steps(None, [text[:end] for end in ends[1:]])


def _append(growing: _Steps) -> Any:
    for text in growing.steps:
        growing.followed.append(text)
    return growing.followed


def _encode_again(growing: _Steps) -> Any:
    encode = held().encode
    return [encode(text, disallowed_special=()) for text in growing.steps][-1]


def lead(n_calls: int) -> None:
    """Run the first calls of what was prepared."""
    _held.answers += [_held.run(item) for item in _held.inputs[:n_calls]]


def run(stops: Sequence[int], each: bool = False) -> Timed:
    """Run the next calls of what was prepared, up to the last of `stops`, and read the clocks at each of them.

    With `each` the clock is read after every call too.
    """
    wall, cpu, marks = [], [], []
    call, answers = _held.run, _held.answers
    inputs = _held.inputs[len(answers) :]
    switches_before, read_before = _switches(), _blocks_read()
    cpu_start, start = process_time(), perf_counter()
    marks.append(start)
    for a, b in pairwise((0, *stops)):
        if each:
            for item in inputs[a:b]:
                answers.append(call(item))
                marks.append(perf_counter())
        else:
            answers += [call(item) for item in inputs[a:b]]
        wall.append(perf_counter() - start)
        cpu.append(process_time() - cpu_start)
    was_interrupted, read_from_disk = _switches() > switches_before, _blocks_read() > read_before
    calls = sorted(Counter(binned(b - a for a, b in pairwise(marks))).items()) if each else []
    return Timed(wall, cpu, was_interrupted, read_from_disk, calls)


def _switches() -> int:
    """Return how often the system has taken the processor away from this process."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_nivcsw


def _blocks_read() -> int:
    """Return how much this process has read from disks, in the system's blocks."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_inblock


class Trial(NamedTuple):
    """What a warm-up shows of the calls of a pass."""

    n_calls: int
    """Calls that fit into a pass, a power of two."""
    n_done: int
    seconds_per_call: float


def warm_up(most_seconds: float) -> Trial:
    """Run calls of what was prepared, 1, 1, 2, 4 …, for `_WARM_UP_SECONDS`; a pass takes `most_seconds`."""
    inputs, answers, call = _held.inputs, _held.answers, _held.run

    def timed(some: Sequence[Any]) -> float:
        cpu_start, start = process_time(), perf_counter()
        answers.extend([call(item) for item in some])
        wall, cpu = perf_counter() - start, process_time() - cpu_start
        # On a busy machine the wall clock runs on, on several threads the processor's runs faster; under a limit on
        # processor time (`ulimit -t`) that one stands still between ticks.
        return max(min(wall, cpu or wall), 1e-9) / len(some)

    per_call = timed(inputs[:1])  # of some libraries this call prepares what the others use
    done, fitting, spent = 1, 1, 0.0
    while done < len(inputs) and spent < _WARM_UP_SECONDS:
        per_call = timed(inputs[done : 2 * done])
        spent += per_call * done
        done *= 2
        fitting = int(min(most_seconds / per_call, len(inputs)))
    return Trial(1 << max(0, fitting.bit_length() - 1), done, per_call)


# --- its answers ---------------------------------------------------------------------------------------------


def ids(task: Task) -> list[bytes]:
    """Return the answers of the last pass, packed; see `judge.packed_answers`."""
    answers = _held.answers
    if task in GROWING and held().follows_text:
        answers = [followed.ids for followed in answers]
    return packed_answers(task, answers)


def decoded(texts: list[bytes], rows: list[bytes]) -> list[Encoded]:
    """Return what this implementation decodes `rows`, its ids of `texts`, to, as they are and in another order."""
    return [Encoded.by(held(), text, unpacked(row).tolist()) for text, row in zip(strings(texts), rows, strict=True)]


def encode_all(texts: list[bytes]) -> list[bytes]:
    """Return the ids of each text as little-endian uint32: the answer of a reference."""
    tokenizer = held()
    return [packed(tokenizer.encode(text, disallowed_special=())) for text in strings(texts)]


class Learned(NamedTuple):
    """A trained model, and what its training took."""

    model: Model
    timed: Timed
    peak_memory_bytes: int | None


def train(path: str, training: dict[str, Any]) -> Learned:
    """Train from a text file, each line a document. Raises `Unsupported` for a target that is not registered."""
    if isinstance(_held.implementation, partial):  # a file or a program: it only encodes and decodes
        raise Unsupported(_held.implementation.args[0], "only registered implementations are asked to train")
    files, spec = TextFiles([TextFile(Path(path), "lines")]), TrainingSpec(**training)
    memory.reset_peak()
    _held.answers, _held.inputs = [], [files]
    _held.run = lambda files: _held.implementation.train_model(files, spec)
    timed = run([1])
    return Learned(_held.answers[0], timed, peak_memory_bytes())
