"""Tables of what grows: training, memory, time with length, and where that ends."""

from __future__ import annotations

from typing import Any

import pytest
from records_by_hand import rows_of, timed, trained

from harness.records import AnyRecord, Measurement
from harness.report.tables import tables


def test_training_tells_time_and_speed() -> None:
    records = timed("priority", [[2.0]], "train/gpt2-2000/turkish", task="train", n_tokens=1744, corpus="turkish")
    (row,) = rows_of([*records], "training")
    assert (row["seconds"], row["median"]) == (pytest.approx(2.0), pytest.approx(0.5))
    assert "speed" not in tables([*records]) or not rows_of([*records], "speed")


def test_memory_is_the_highest_of_any_workload_and_load_stands_beside_it() -> None:
    records = [
        *timed("naive", [[0.1]], peak_memory_bytes=5_000_000),
        *timed("naive", [[0.1]], "encode/m/d", peak_memory_bytes=7_000_000),
        *timed("naive", [[0.25]], "load/m", task="load", peak_memory_bytes=3_000_000),
    ]
    (row,) = rows_of([*records], "memory")
    assert (row["peak_memory_bytes"], row["workload"], row["load_memory_bytes"]) == (7_000_000, "encode/m/d", 3_000_000)
    assert row["load_ms"] == pytest.approx(250.0)


def test_growth_gives_an_exponent_and_a_bound_where_time_ran_out() -> None:
    records: list[AnyRecord] = []
    for size in (1024 << step for step in range(6)):
        more = {"corpus": f"gen/letters:{size}", "n_bytes": size, "state": "cold"}
        status = "right" if size < 20_000 else "timeout"
        records += timed(
            "naive", [[1e-8 * size**2]] if status == "right" else [[]], f"scale/m/gen/letters:{size}", status, **more
        )
        records += timed("priority", [[1e-6 * size]], f"scale/m/gen/letters:{size}", **more)
    rows = {row["implementation"]: row for row in rows_of(records, "scaling")}
    assert rows["naive"]["exponent"] == pytest.approx(2.0)
    assert rows["naive"]["bound"] is not None
    assert rows["priority"]["exponent"] == pytest.approx(1.0)
    assert "≥" in rows["naive"]["growth"]
    assert "speed" not in tables(records)


def grown(
    implementation: str, family: str, status: str = "right", limit: float | None = None, **more: Any
) -> list[Measurement]:
    """Linear from 1 to 8 KB, then `status` at 16 KB."""
    records: list[Measurement] = []
    for size in (1024, 2048, 4096, 8192, 16384):
        ended = size == 16384 and status != "right"
        fields = {"corpus": f"gen/{family}:{size}", "n_bytes": size, "state": "cold", "round_trip": "exact"}
        fields |= {"limit_seconds": limit} | more
        records += timed(
            implementation, [[] if ended else [1e-6 * size]], f"scale/m/gen/{family}:{size}",
            status if ended else "right", reason="it gave up" if ended else "", **fields,
        )  # fmt: skip
    return records


def test_a_curve_that_ends_in_a_panic_keeps_its_exponent_and_says_where_it_ended() -> None:
    (row,) = rows_of([*grown("tiktoken", "spaces", "panic")], "scaling")
    assert row["exponent"] == pytest.approx(1.0)
    assert row["verdict"] == "panic at 16.4 kB: it gave up"
    assert (row["end"], row["end_bytes"]) == ("panic", 16384)


@pytest.mark.parametrize(("limit", "seconds"), [(20.0, 20.0), (None, 3.0)])
def test_the_limit_the_curve_was_measured_with_is_named(limit: float | None, seconds: float) -> None:
    assert f"did not end within {seconds:g} s" in tables([*grown("naive", "spaces", "timeout", limit)])["scaling"].note


def test_trained_vocabularies_say_by_which_rule_for_ties() -> None:
    (row,) = rows_of([trained(ties="first")], "trained")
    assert row["ties"] == "first"
