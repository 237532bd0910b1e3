"""Tables of what was counted, compared, trained and grown, made from records: what they contain, and what not."""

from __future__ import annotations

import re
from typing import Any

import pytest
from records_by_hand import cells_of, pair, rows_of, timed, trained, weighed

from harness.outcome import Outcome
from harness.records import AnyRecord, Counterexample, Measurement, Text, Verdict
from harness.report.table import declared, table_of
from harness.report.tables import correctness, render_terminal, tables


def test_compression_is_per_token_and_word_and_over_the_fewest_of_equal_slices() -> None:
    records = [weighed("large", 300, corpus="code"), weighed("small", 250, corpus="code")]
    records += [weighed("large", 9, corpus="code", n_bytes=40)]
    other, first, second = rows_of(records, "compression")
    assert (first["model"], first["bytes_per_token"], first["characters_per_token"]) == ("small", 4.0, 3.6)
    assert (first["tokens_per_word"], first["over_fewest"], second["over_fewest"]) == (2.5, 1.0, 1.2)
    assert (other["n_bytes"], other["over_fewest"]) == (40, 1.0)
    missing = [*records, weighed("far", 0, corpus="code", status=Outcome.MISSING)]
    (line,) = [line for line in render_terminal(missing, names=["compression"]).splitlines() if line.startswith("far")]
    assert line.endswith("missing")


def test_a_model_that_is_not_exact_is_marked_in_every_table_that_names_it() -> None:
    records: list[AnyRecord] = []
    for model, round_trip in (("mine", "normalising"), ("plain", "exact")):
        records.append(weighed(model, 30, "turkish", round_trip=round_trip))
        fields = {"model": model, "round_trip": round_trip, "peak_memory_bytes": 1000}
        records += timed("priority", [[0.1]], f"encode/{model}/c", **fields)
        records.append(verdict("priority", Outcome.RIGHT, model=model, n_texts=1, round_trip=round_trip))
    for name, table in tables(records).items():
        if "model" in table.rows[0]:
            text = render_terminal(records, names=[name])
            assert re.search(r"mine.*\(normalising\)", text), name
            assert "plain (" not in text


@pytest.mark.parametrize("name", list(declared()))
def test_what_is_declared_of_a_table_can_be_made(name: str) -> None:
    words = dict.fromkeys(["tokens", *re.findall(r"{(\w+)}", repr(declared()[name]))], "some")
    columns = None if "columns" in declared()[name] else ()
    assert "{" not in table_of(name, [], columns, **words).note


# --- agreement, round trips, failures ---------------------------------------------------------------------------


def verdict(implementation: str, status: Outcome, model: str = "m", check: Any = "round-trip", **more: Any) -> Verdict:
    return Verdict(implementation=implementation, model=model, corpus="x", check=check, status=status, **more)


def test_the_matrix_says_equal_differs_with_count_and_not_compared() -> None:
    records = [
        pair("naive", "priority"),
        pair("naive", "greedy", differing=3, kind="expected to differ"),
        pair("naive", "greedy", differing=2, kind="expected to differ", corpus="turkish"),
        verdict("far", Outcome.MISSING, check="load", reason="not installed"),
    ]
    rows = {row["implementation"]: row for row in rows_of(records, "agreement")}
    assert (rows["priority"]["vs naive"], rows["greedy"]["vs naive"]) == ("P =", "D ≠5")
    assert rows["naive"]["vs far"] == "n/a"
    assert "n/a: far on m: missing: not installed" in tables(records)["agreement"].note
    assert [(row["n_texts"], row["status"]) for row in correctness.pair_rows(records)] == [
        (10, "equal"),
        (20, "differs"),
    ]


def test_a_counterexample_shows_its_text_escaped_and_both_answers() -> None:
    text = render_terminal([pair("a", "b", 1, counterexample=Counterexample(Text.of("a\x1b\ud800"), [1, 2], [3], "a"))])
    assert r"'a\x1b\ud800'" in text
    assert "1 2" in text
    assert "\x1b" not in text


def test_round_trips_and_failures_are_listed_once_with_their_places() -> None:
    records: list[AnyRecord] = [
        *(verdict("a", Outcome.RIGHT, model, n_texts=5, n_bytes=50, round_trip="exact") for model in "mn"),
        verdict("a", Outcome.RIGHT, "s", n_texts=1, round_trip="normalising"),
        verdict("b", Outcome.PANIC, reason="PanicException"),
        *timed("far", [[]], "encode/m/c", "missing", reason="not installed"),
        *timed("far", [[]], "decode/m/c", "missing", reason="not installed"),
    ]
    listed = rows_of(records, "round-trip")
    assert [(row["implementation"], row["status"], row["n_texts"], row["models"], row["reason"]) for row in listed] == [
        ("a", "right", 10, "m, n", ""), ("a", "right", 1, "s", ""), ("b", "panic", 0, "m", "PanicException"),
    ]  # fmt: skip
    failed = {row["implementation"]: row for row in rows_of(records, "failures")}
    assert (failed["far"]["n_places"], failed["far"]["where"]) == (2, "encode/m/c, decode/m/c")


# --- training, memory, growth -----------------------------------------------------------------------------------


def test_training_memory_and_load_have_tables_of_their_own() -> None:
    records: list[AnyRecord] = [
        trained(ties="first"),
        *timed("priority", [[2.0]], "train/gpt2-2000/turkish", task="train", n_tokens=1744, corpus="turkish"),
    ]
    (row,) = rows_of(records, "training")
    assert (row["seconds"], row["median"]) == (pytest.approx(2.0), pytest.approx(0.5))
    few_bytes = timed("naive", [[0.001]], "train/mine", task="train", n_bytes=69)
    (row,) = rows_of(few_bytes, "training")
    assert (row["unit"], row["median"]) == ("MB/s", pytest.approx(0.069))
    assert rows_of(records, "trained")[0]["ties"] == "first"
    assert "speed" not in tables(records)
    records = [
        *timed("naive", [[0.1]], peak_memory_bytes=5_000_000),
        *timed("naive", [[0.1]], "encode/m/d", peak_memory_bytes=7_000_000),
        *timed("naive", [[0.25]], "load/m", task="load", peak_memory_bytes=3_000_000),
    ]
    (row,) = rows_of(records, "memory")
    assert (row["peak_memory_bytes"], row["workload"], row["load_memory_bytes"]) == (7_000_000, "encode/m/d", 3_000_000)
    assert row["load_ms"] == pytest.approx(250.0)


def grown(name: str, exponent: float, end: str = "right", limit: float | None = None) -> list[Measurement]:
    """From 1 to 8 KB, then `end` at 16 KB."""
    records: list[Measurement] = []
    for size in (1024, 2048, 4096, 8192, 16384):
        status = end if size == 16384 else "right"
        times = [[1e-8 * size**exponent] if status == "right" else []]
        more = {"corpus": f"gen/letters:{size}", "state": "cold", "limit_seconds": limit, "reason": "it gave up"}
        records += timed(name, times, f"scale/m/gen/letters:{size}", status, size, **more)
    return records


def test_growth_has_an_exponent_a_bound_where_time_ran_out_and_the_place_of_a_failure() -> None:
    records: list[AnyRecord] = [*grown("naive", 2, "timeout", 20.0), *grown("priority", 1, limit=20.0)]
    records += [*grown("tiktoken", 1, "panic", 20.0)]
    rows = {row["implementation"]: row for row in rows_of(records, "scaling")}
    exponents = {name: row["exponent"] for name, row in rows.items()}
    assert exponents == {"naive": pytest.approx(2), "priority": pytest.approx(1), "tiktoken": pytest.approx(1)}
    assert "≥" in cells_of(records, "scaling")[-1]["growth"]
    assert (rows["tiktoken"]["verdict"], rows["tiktoken"]["end_bytes"]) == ("panic at 16.4 kB: it gave up", 16384)
    assert "did not finish within 20 s" in tables(records)["scaling"].note
    assert "did not finish within 3 s" in tables([*grown("naive", 2, "timeout")])["scaling"].note
    assert "speed" not in tables(records)
