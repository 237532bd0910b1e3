"""Tables of what grows: training, memory, time with length, and where that ends."""

from __future__ import annotations

import pytest
from records_by_hand import rows_of, timed, trained

from harness.records import AnyRecord, Status
from harness.report import layout
from harness.report.table import plain_rows
from harness.report.tables import tables


def test_training_tells_time_text_and_merges() -> None:
    records = timed("priority", [[2.0]], "train/gpt2-2000/turkish", task="train", n_tokens=1744, corpus="turkish")
    (row,) = rows_of([*records], "training")
    assert (row["seconds"], row["n_tokens"], row["text"]) == (pytest.approx(2.0), 1744, "1.00 MB")
    assert "speed" not in tables([*records]) or not rows_of([*records], "speed")


def test_learned_tokens_come_with_their_counts_and_the_plateau() -> None:
    table = tables([trained()])["learned"]
    assert [(row["token"], row["count"]) for row in plain_rows(table.frame)] == [("ar", 100), (" k\n", 30)]
    text = layout.render(table, "text")
    assert r"' k\n'" in text
    assert "plateau after merge 2 (≤ 4 times)" in text


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
        status: Status = "ok" if size < 20_000 else "timeout"
        records += timed(
            "naive", [[1e-8 * size**2]] if status == "ok" else [[]], f"scale/m/gen/letters:{size}", status, **more
        )
        records += timed("priority", [[1e-6 * size]], f"scale/m/gen/letters:{size}", **more)
    rows = {row["implementation"]: row for row in rows_of(records, "scaling")}
    assert rows["naive"]["exponent"] == pytest.approx(2.0)
    assert rows["naive"]["bound"] is not None
    assert rows["priority"]["exponent"] == pytest.approx(1.0)
    assert "≥" in rows["naive"]["growth"]
    assert "speed" not in tables(records)


def test_trained_vocabularies_say_by_which_rule_for_ties() -> None:
    (row,) = rows_of([trained(ties="first")], "trained")
    assert row["ties"] == "first"
