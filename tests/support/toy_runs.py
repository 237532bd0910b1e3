"""Runs with toy implementations, whose processes find them through the entry point a third party uses."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

from harness.measure.materials import Materials
from harness.measure.references import References
from harness.measure.run import run
from harness.measure.texts import Corpora
from harness.measure.workloads import Plan, Profile, Workload
from harness.records import AnyRecord, Measurement, of_kind
from impls import Model

TOYS = Path(__file__).parents[1] / "harness" / "measure" / "measure_toys"
DOCUMENTS = [f"document {n}: the quick brown fox jumps over the lazy dog and abroad {n * n}. " * 12 for n in range(200)]

PROFILE = Profile(name="test", openings=2, rounds=3, slow_openings=2, slow_rounds=3, copies=False, time_limit_seconds=5)


class Documents:
    digest = "none"

    def documents(self) -> Iterable[str]:
        return DOCUMENTS


def byte_model() -> Model:
    tokens = [bytes([byte]) for byte in range(256)]
    return Model(tokens=(*tokens, b"ab"), merges=())


def workload(name: str = "encode", **changes: Any) -> Workload:
    fields = {"task": "encode", "model": "toy", "corpus": "some", "call_bytes": 2_000, "n_calls": 2}
    return Workload(name=name, analysis="", profiles=(), **fields | changes)  # type: ignore[arg-type]


def carry_out(
    plan: Plan,
    done: Iterable[AnyRecord] = (),
    stop_after: int | None = None,
    references: tuple[str, ...] = ("toy-bytes", "naive"),
    model: Callable[[], Model] = byte_model,
) -> list[Measurement]:
    """The measurements of a run, broken off when it has finished so many openings."""
    records: list[AnyRecord] = []
    n_written = 0

    def write(*some: AnyRecord) -> None:
        nonlocal n_written
        if n_written == stop_after:
            raise KeyboardInterrupt
        n_written += 1
        records.extend(some)

    with Materials() as materials:
        materials.limits = replace(materials.limits, memory_bytes=600_000_000)
        materials.load_model = lambda _: model()
        materials.corpora = Corpora(lambda *_: Documents())
        materials.references = References(materials.model_file, references, references)
        try:
            run(plan, materials, write, done=done)
        except KeyboardInterrupt:
            assert stop_after is not None
    return list(of_kind(records, Measurement))
