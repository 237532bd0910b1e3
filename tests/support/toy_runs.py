"""Runs with toy implementations, whose workers find them through the entry point a third party uses."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

from harness.measure.run.materials import Materials
from harness.measure.run.session import run
from harness.measure.run.setup import References
from harness.measure.schedule import Plan, Profile
from harness.measure.workloads import Workload
from harness.records import AnyRecord, Measurement, of_kind
from impls import Model

TOYS = Path(__file__).parents[1] / "harness" / "measure" / "measure_toys"
TEXT = "the quick brown fox jumps over the lazy dog, again and abroad. " * 400

PROFILE = Profile(
    name="test",
    rounds=2,
    n_samples=2,
    sample_seconds=0.001,
    pass_seconds=0.05,
    time_limit_seconds=5,
    copies=False,
)


class OneText:
    digest = "none"

    def documents(self) -> Iterable[str]:
        return [TEXT]


def byte_model() -> Model:
    tokens = [bytes([byte]) for byte in range(256)]
    return Model(tokens=(*tokens, b"ab"), merges=())


def workload(name: str = "encode", **changes: object) -> Workload:
    fields = {"task": "encode", "state": "warm-same", "model": "toy", "corpus": "one", "max_bytes": 20_000}
    return Workload(name=name, **fields | changes)  # type: ignore[arg-type]


def carry_out(
    plan: Plan,
    done: Iterable[AnyRecord] = (),
    stop_after: int | None = None,
    references: tuple[str, ...] = ("toy-bytes", "naive"),
    model: Callable[[], Model] = byte_model,
) -> list[Measurement]:
    """The measurements of a run, broken off when it has written so many records."""
    return list(of_kind(everything(plan, done, stop_after, references, model), Measurement))


def everything(
    plan: Plan,
    done: Iterable[AnyRecord] = (),
    stop_after: int | None = None,
    references: tuple[str, ...] = ("toy-bytes", "naive"),
    model: Callable[[], Model] = byte_model,
) -> list[AnyRecord]:
    records: list[AnyRecord] = []

    def write(record: AnyRecord) -> None:
        if stop_after is not None and len(records) == stop_after:
            raise KeyboardInterrupt
        records.append(record)

    with (
        Materials(lambda _: model(), lambda *_: OneText()) as materials,
        References(materials, encoders=references, confirming=references) as asked,
    ):
        try:
            run(plan, materials, asked, write, done=done, memory_limit_bytes=600_000_000)
        except KeyboardInterrupt:
            assert stop_after is not None
    return records
