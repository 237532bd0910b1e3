"""Growth of time with the size of the input: one pass over each of a series of generated texts, and its exponent.

Each implementation and family has its own process per round. Every size is read once, so that no cache helps; the
series ends at the first size that fails or exceeds the limit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import product
from typing import NamedTuple

import msgspec

from harness.grouping import grouped
from harness.measure.entries import Contestant, Entry
from harness.measure.materials import Materials
from harness.measure.opening import OpeningRun
from harness.measure.stats import Exponent, fit_exponent
from harness.measure.summary import SCALE_PREFIX
from harness.measure.workloads import Profile, Workload, short_name
from harness.outcome import Outcome
from harness.records import AnyRecord, Measurement, of_kind

FAMILIES = ("repeats", "letters", "spaces", "cjk", "digits")
"""The default families; `harness.data.generated.ADVERSARIAL` has more."""
PASS_LIMIT_SECONDS = 3.0
"""The default limit of a pass in seconds, also assumed for records without one."""
VERIFY_SECONDS = 2.0
"""Time beyond the limit, so that a timeout took at least that long."""


class Scale(msgspec.Struct, frozen=True, kw_only=True):
    """What `measure_scaling` measures."""

    implementations: tuple[str, ...]
    model: str
    """Name or path."""
    families: tuple[str, ...] = FAMILIES
    sizes: tuple[int, ...] = tuple(1024 << step for step in range(11))
    """1 KB to 1 MB: ten doublings, of which a slow implementation does the first few."""
    rounds: int = 3
    limit_seconds: float = PASS_LIMIT_SECONDS


def workload_of(scale: Scale, family: str, n_bytes: int) -> Workload:
    """Return the workload of one family and size."""
    corpus = f"gen/{family}:{n_bytes}"
    return Workload(
        name=f"{SCALE_PREFIX}{short_name(scale.model)}/{corpus}",
        task="encode",
        state="cold",
        model=scale.model,
        corpus=corpus,
        call_bytes=n_bytes,
        analysis="",
        profiles=(),
    )


def measure_scaling(
    scale: Scale, materials: Materials, write: Callable[[Measurement], None], *, done: Iterable[AnyRecord] = ()
) -> list[Measurement]:
    """Write one `Measurement` per implementation, family, size and round, up to the first too slow or not right.

    Return all of them; those in `done` are neither measured again nor written again.
    """
    names = {workload_of(scale, family, size).name for family in scale.families for size in scale.sizes}
    records = [record for record in of_kind(done, Measurement) if record.workload in names]
    known = {(record.workload, record.implementation, record.opening): record for record in records}
    limit = scale.limit_seconds + VERIFY_SECONDS
    profile = Profile(name="scale", openings=1, rounds=1, copies=False, time_limit_seconds=limit)

    def measure(name: str, family: str, number: int) -> None:
        """Measure one implementation on one family in one process, smallest size first."""
        with OpeningRun(materials, profile, 0, number, first=True) as opening:
            for size in scale.sizes:
                workload = workload_of(scale, family, size)
                record = known.get((workload.name, materials.shown(name), number))
                if record is None:
                    (record,) = opening.records([Entry(Contestant(name, 0), workload, 1, 1)])
                    record.limit_seconds = scale.limit_seconds
                    write(record)
                    records.append(record)
                if record.outcome is not Outcome.RIGHT or record.passes[0].wall_seconds[-1] > scale.limit_seconds:
                    return

    for number, family, name in product(range(scale.rounds), scale.families, scale.implementations):
        measure(name, family, number)
    return records


def size_of(record: Measurement) -> int:
    """Return the size of the text of a measurement of growth, in bytes."""
    return int(record.corpus.partition(":")[2])


class Curve(NamedTuple):
    """The growth of one implementation on one family."""

    seconds: dict[int, float]
    """Bytes -> the least seconds over its rounds, of the sizes that were right."""
    end: Measurement | None
    """The record of the smallest size that was not right, if there is one."""
    exponent: Exponent | None
    """None if fewer than two sizes were right. A timeout gives a lower bound at its limit."""


def curves(records: Iterable[Measurement]) -> dict[tuple[str, str], Curve]:
    """Map (implementation, family) -> its curve."""
    by_key = grouped(records, lambda of: (of.implementation, of.corpus.removeprefix("gen/").partition(":")[0]))
    return {key: _curve_of(some) for key, some in by_key.items()}


def _curve_of(records: Sequence[Measurement]) -> Curve:
    seconds: dict[int, float] = {}
    for record in sorted(records, key=size_of):
        if record.outcome is Outcome.RIGHT:
            n_bytes, fastest = size_of(record), record.passes[0].wall_seconds[-1]
            seconds[n_bytes] = min(fastest, seconds.get(n_bytes, fastest))
    end = min((record for record in records if record.outcome is not Outcome.RIGHT), key=size_of, default=None)
    timeout = None
    if end is not None and end.outcome is Outcome.TIMEOUT and size_of(end) > max(seconds, default=0) > 0:
        timeout = (size_of(end), PASS_LIMIT_SECONDS if end.limit_seconds is None else end.limit_seconds)
    return Curve(seconds, end, fit_exponent(list(seconds.items()), timeout))
