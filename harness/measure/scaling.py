"""How time grows with the size of the input: the plan of `run.curves`, and the exponents of its curves."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from harness.measure.analysis.samples import SCALE_PREFIX
from harness.measure.analysis.stats import Exponent, fit_exponent
from harness.measure.protocol import Failed
from harness.measure.workloads import Workload, short_name
from harness.records import Measurement

FAMILIES = ("repeats", "letters", "spaces", "cjk", "digits")
"""The default families; `harness.data.generated.ADVERSARIAL` has more."""
SIZES = tuple(1024 << step for step in range(11))
"""1 KB to 1 MB: ten doublings, of which a slow implementation does the first few."""
PASS_LIMIT_SECONDS = 3.0
"""The default limit of a pass in seconds, also assumed for records without one."""


class Scale(msgspec.Struct, frozen=True, kw_only=True):
    """What `measure_scaling` measures."""

    implementations: tuple[str, ...]
    model: str
    """Name or path."""
    families: tuple[str, ...] = FAMILIES
    sizes: tuple[int, ...] = SIZES
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
        max_bytes=n_bytes,
    )


def limit_of(record: Measurement) -> float:
    """Return the limit of a pass a record was made with, in seconds."""
    return PASS_LIMIT_SECONDS if record.limit_seconds is None else record.limit_seconds


def family_of(record: Measurement) -> str:
    """Return the generated family of a measurement of growth: `repeats`, `letters`, …"""
    return record.corpus.removeprefix("gen/").partition(":")[0]


def exponents(records: Iterable[Measurement]) -> dict[tuple[str, str], Exponent | Failed]:
    """Map (implementation, family) -> its exponent, or the verdict if fewer than two sizes were ok.

    The time of a size is the minimum over its rounds. A timeout gives a lower bound at its limit.
    """
    records = list(records)
    points: dict[tuple[str, str], dict[int, float]] = {}
    for record in records:
        by_size = points.setdefault((record.implementation, family_of(record)), {})
        if record.status == "ok":
            seconds = min(record.samples_seconds)
            by_size[record.n_bytes] = min(seconds, by_size.get(record.n_bytes, seconds))
    ended = ends(records)
    found: dict[tuple[str, str], Exponent | Failed] = {}
    for key, by_size in points.items():
        end = ended.get(key)
        timeout = None
        if end is not None and end.status == "timeout" and end.n_bytes > max(by_size, default=0) > 0:
            timeout = (end.n_bytes, limit_of(end))
        fit = fit_exponent(list(by_size.items()), timeout)
        if fit is not None:
            found[key] = fit
        elif end is not None:
            found[key] = Failed(status=end.status, reason=end.reason)
    return found


def ends(records: Iterable[Measurement]) -> dict[tuple[str, str], Measurement]:
    """Map (implementation, family) -> the record of the smallest size that was not ok, if there is one."""
    found: dict[tuple[str, str], Measurement] = {}
    for record in records:
        key = (record.implementation, family_of(record))
        if record.status != "ok" and (key not in found or record.n_bytes < found[key].n_bytes):
            found[key] = record
    return found
