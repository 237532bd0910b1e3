"""Tables made from records: what stands in them, and what must not."""

from __future__ import annotations

import csv
import io
import json
from typing import Any

import pytest

from harness.records import (
    Agreement,
    AgreementClass,
    AnyRecord,
    Compression,
    Counterexample,
    Measurement,
    Status,
    Text,
    Trained,
    Verdict,
)
from harness.report import layout, speed
from harness.report.table import Table, plain_rows
from harness.report.tables import render_check, render_terminal, tables


def weighed(
    model: str, n_tokens: int, corpus: str = "turkish-paragraph", n_bytes: int = 1000, **more: Any
) -> Compression:
    fields = {"n_texts": 1, "n_characters": 900, "n_words": 100, "vocab_size": 10_000, "implementation": "priority"}
    return Compression(model=model, corpus=corpus, n_tokens=n_tokens, n_bytes=n_bytes, **(fields | more))


def timed(
    implementation: str, seconds: list[list[float]], workload: str = "encode/m/c", status: Status = "ok", **more: Any
) -> list[Measurement]:
    fields: dict[str, Any] = {"task": "encode", "model": "m", "corpus": "c", "n_bytes": 1_000_000, "n_tokens": 250_000}
    return [
        Measurement(
            workload=workload, implementation=implementation, status=status, round=number, samples_seconds=samples,
            **(fields | more),
        )
        for number, samples in enumerate(seconds)
    ]  # fmt: skip


def steady(median: float, rounds: int = 3) -> list[list[float]]:
    return [[median * (1 + 0.001 * (i + number)) for i in range(5)] for number in range(rounds)]


def pair(a: str, b: str, differing: int = 0, kind: AgreementClass = "provably equal", **more: Any) -> Agreement:
    return Agreement(
        a=a, b=b, model="m", corpus=more.pop("corpus", "samples"), agreement_class=kind, n_texts=10,
        n_differing_texts=differing, **more,
    )  # fmt: skip


def rows_of(records: list[AnyRecord], name: str, **more: Any) -> list[dict[str, Any]]:
    return plain_rows(tables(records, **more)[name].frame)


# --- Turkish comparison and compression -------------------------------------------------------------------------


def test_the_turkish_comparison_comes_first() -> None:
    records = [*timed("naive", steady(0.1)), weighed("m", 250), weighed("m", 9, corpus="english")]
    assert next(iter(tables(records))) == "turkish"


def test_cost_is_tokens_times_the_price_the_user_sets() -> None:
    (row,) = rows_of([weighed("m", 250)], "turkish", price_per_million=8.0)
    assert row["cost"] == pytest.approx(250 * 8.0 / 1e6)
    assert row["cost_per_1000"] == pytest.approx(250 * 8.0 / 1e3)
    assert row["bytes_per_token"] == 4.0


def test_the_model_with_fewest_tokens_leads_and_others_are_told_against_it() -> None:
    rows = rows_of([weighed("large", 300), weighed("small", 200)], "turkish")
    assert [(row["model"], row["tokens_over_fewest"]) for row in rows] == [("small", 1.0), ("large", 1.5)]


def test_a_model_that_cannot_be_had_is_listed_with_the_reason() -> None:
    records = [
        weighed("m", 250),
        weighed("far", 0, status="missing", reason="unavailable offline", n_texts=0, n_bytes=0),
    ]
    text = render_terminal(records)
    assert "missing: unavailable offline" in text
    assert rows_of(records, "turkish")[-1]["cost"] is None


def test_only_equal_slices_of_a_corpus_are_compared() -> None:
    held_out = "turkish/held-out"
    records = [
        weighed("a", 250, held_out), weighed("b", 300, held_out), weighed("a", 9, held_out, n_bytes=40),
    ]  # fmt: skip
    assert [(row["model"], row["n_bytes"]) for row in rows_of(records, "turkish")] == [("a", 1000), ("b", 1000)]


def test_compression_is_told_per_token_character_and_word() -> None:
    (row,) = rows_of([weighed("m", 250, corpus="code")], "compression")
    assert (row["bytes_per_token"], row["characters_per_token"], row["tokens_per_word"]) == (4.0, 3.6, 2.5)


# --- agreement, round trips, failures ---------------------------------------------------------------------------


def test_the_matrix_says_equal_differs_with_count_and_not_compared() -> None:
    records = [
        pair("naive", "priority"),
        pair("naive", "greedy", differing=3, kind="expected to differ"),
        pair("priority", "greedy", differing=3, kind="expected to differ"),
        Verdict(
            implementation="far", model="m", corpus="samples", check="load", status="missing", reason="not installed"
        ),
    ]
    rows = {row["implementation"]: row for row in rows_of(records, "agreement")}
    assert rows["priority"]["vs naive"] == "P ="
    assert rows["greedy"]["vs naive"] == "D ≠3"
    assert rows["naive"]["vs far"] == "n/a"
    assert "n/a: far on m: missing: not installed" in tables(records)["agreement"].note


def test_differences_add_up_over_corpora() -> None:
    records = [pair("a", "b", 2, corpus="turkish"), pair("a", "b", 3, corpus="english")]
    (row,) = rows_of(records, "agreement-pairs")
    assert (row["n_texts"], row["n_differing_texts"], row["status"]) == (20, 5, "differs")


def test_a_counterexample_shows_its_text_escaped_and_both_answers() -> None:
    example = Counterexample(Text.of("a\x1b\ud800"), [1, 2], [3], reference="a")
    text = render_check([pair("a", "b", 1, counterexample=example)])
    assert r"'a\x1b\ud800'" in text
    assert "1 2" in text
    assert "\x1b" not in text


def test_round_trips_show_every_verdict_and_its_reason() -> None:
    records: list[AnyRecord] = [
        Verdict(implementation="a", model="m", corpus="x", check="round-trip", status="ok", n_texts=5, n_bytes=50),
        Verdict(implementation="a", model="n", corpus="x", check="round-trip", status="ok", n_texts=5, n_bytes=50),
        Verdict(implementation="b", model="m", corpus="x", check="round-trip", status="panic", reason="PanicException"),
    ]
    rows = {row["implementation"]: row for row in rows_of(records, "round-trip")}
    assert (rows["a"]["status"], rows["a"]["n_texts"], rows["a"]["models"]) == ("ok", 10, "m, n")
    assert (rows["b"]["status"], rows["b"]["reason"]) == ("panic", "PanicException")


def test_one_failure_in_many_places_is_told_once_with_its_places() -> None:
    records = [
        record
        for workload in ("encode/m/c", "decode/m/c")
        for record in timed("far", [[]], workload, "missing", reason="not installed")
    ]
    (row,) = rows_of([*records], "failures")
    assert (row["n_places"], row["where"], row["reason"]) == (2, "encode/m/c, decode/m/c", "not installed")


# --- speed ------------------------------------------------------------------------------------------------------


def test_megabytes_per_second_are_bytes_over_seconds_of_one_pass() -> None:
    (row,) = rows_of([*timed("naive", [[0.5, 0.5, 0.5]] * 2, loops=10)], "speed")
    assert row["median"] == pytest.approx(1_000_000 / 0.05 / 1e6)
    assert row["unit"] == "MB/s"


def test_short_calls_are_told_in_microseconds_and_loads_in_milliseconds() -> None:
    records = [
        *timed("naive", [[0.02]], "encode-short/m/c", task="encode-short", n_calls=10_000),
        *timed("naive", [[0.25]], "load/m", task="load"),
    ]
    rows = {row["task"]: row for row in rows_of([*records], "speed")}
    assert rows["encode-short"]["median"] == pytest.approx(2.0)
    assert rows["load"]["median"] == pytest.approx(250.0)


def test_the_fastest_comes_first_and_failures_stay_visible_with_their_reason() -> None:
    records = [
        *timed("naive", steady(0.4)),
        *timed("priority", steady(0.1)),
        *timed("tiktoken", [[]], status="panic", reason="PanicException: overflow"),
    ]
    rows = rows_of([*records], "speed")
    assert [row["implementation"] for row in rows] == ["priority", "naive", "tiktoken"]
    assert rows[2]["median"] is None
    assert rows[2]["times_best"] is None
    assert "panic: PanicException: overflow" in render_terminal(records)


def test_one_bad_round_takes_the_rank() -> None:
    records = [*timed("naive", steady(0.1)), *timed("priority", steady(0.05))]
    records[-1] = timed("priority", [[], [], []], status="mismatch", reason="ids differ")[2]
    rows = rows_of([*records], "speed")
    assert [(row["implementation"], row["status"]) for row in rows] == [("naive", "ok"), ("priority", "mismatch")]


def test_an_inexact_implementation_is_shown_and_never_ranked() -> None:
    records = [
        *timed("greedy", steady(0.01), exact=False),
        *timed("naive", steady(0.1)),
        *timed("priority", steady(0.2)),
    ]
    rows = rows_of([*records], "speed")
    assert [(row["implementation"], row["ratio"]) for row in rows][2] == ("greedy", "—")
    assert "greedy" not in [row["implementation"] for row in rows_of([*records], "ranking")]


def with_copy(*records: Measurement) -> list[AnyRecord]:
    return [
        *records,
        *timed("tiktoken", steady(0.2), "encode/m/d"),
        *timed("tiktoken", steady(0.201), "encode/m/d", copy=1),
    ]


def test_a_clear_difference_is_claimed_and_a_small_one_is_marked() -> None:
    records = with_copy(
        *timed("naive", steady(0.1)), *timed("priority", steady(0.1002)), *timed("wordcount", steady(0.3))
    )
    rows = {row["implementation"]: row for row in rows_of(records, "speed") if row["workload"] == "encode/m/c"}
    assert rows["priority"]["ratio"].startswith("≈")
    assert rows["priority"]["alike"] == "≈"
    assert rows["wordcount"]["ratio"] == "3.00"
    assert rows["wordcount"]["alike"] == ""


def test_without_a_noise_floor_or_with_one_round_nothing_is_claimed() -> None:
    one_round = [*timed("naive", steady(0.1, rounds=1)), *timed("priority", steady(0.9, rounds=1))]
    no_copy = [*timed("naive", steady(0.1)), *timed("priority", steady(0.9))]
    for records in (one_round, no_copy):
        assert rows_of([*records], "speed")[1]["ratio"].startswith("≈")
    assert "no difference is claimed" in tables(no_copy)["speed"].note


def test_the_second_copy_measures_noise_and_is_no_row() -> None:
    records = with_copy(*timed("naive", steady(0.1)))
    assert [row["implementation"] for row in rows_of(records, "speed")] == ["naive", "tiktoken"]
    assert speed.noise_floor(records) == pytest.approx(0.005, rel=0.01)


def test_a_slice_says_of_how_much_it_is_one() -> None:
    (row,) = rows_of([*timed("naive", [[0.1]], n_bytes=20_000, full_bytes=1_000_000)], "speed")
    assert row["text"] == "20.0 kB of 1.00 MB"


def test_a_round_recorded_twice_counts_once() -> None:
    records = [*timed("naive", [[0.1], [0.1]]), *timed("naive", [[0.2], [0.2]])]
    (row,) = rows_of([*records], "speed")
    assert row["n_samples"] == 2
    assert row["median"] == pytest.approx(5.0)


def test_the_ranking_is_over_the_workloads_all_share() -> None:
    workloads = [f"encode/m/{corpus}" for corpus in "abcd"]
    records = [
        record
        for workload in workloads
        for record in (*timed("naive", steady(0.4), workload), *timed("priority", steady(0.1), workload))
    ]
    for workload in workloads[1:]:
        records += timed("wordcount", steady(0.01), workload)
    table = tables([*records])["ranking"]
    assert [row["implementation"] for row in plain_rows(table.frame)] == ["wordcount", "priority", "naive"]
    assert "over 3 workloads" in table.title


def test_who_was_timed_on_too_few_workloads_is_not_ranked() -> None:
    records = [
        *timed("naive", steady(0.4)), *timed("naive", steady(0.4), "encode/m/d"),
        *timed("priority", steady(0.1)), *timed("priority", steady(0.1), "encode/m/d"),
        *timed("wordcount", steady(0.01)), *timed("wordcount", [[]], "encode/m/d", "timeout", reason="3 s"),
    ]  # fmt: skip
    table = tables([*records])["ranking"]
    assert [row["implementation"] for row in plain_rows(table.frame)] == ["priority", "naive"]
    assert "over 2 workloads" in table.title


# --- training, memory, growth -----------------------------------------------------------------------------------


def test_training_tells_time_text_and_merges() -> None:
    records = timed("priority", [[2.0]], "train/gpt2-2000/turkish", task="train", n_tokens=1744, corpus="turkish")
    (row,) = rows_of([*records], "training")
    assert (row["seconds"], row["n_tokens"], row["text"]) == (pytest.approx(2.0), 1744, "1.00 MB")
    assert "speed" not in tables([*records]) or not rows_of([*records], "speed")


def trained(**more: Any) -> Trained:
    fields: dict[str, Any] = {
        "model": "tr", "implementation": "priority", "corpus": "turkish", "vocab_size": 300, "n_merges": 5,
        "n_bytes": 1000, "seconds": 1.5, "digest": "d", "merge_counts": [100, 30, 4, 3, 2],
        "first_tokens": [Text.of("ar"), Text.of(" k\n")],
    }  # fmt: skip
    return Trained(**(fields | more))


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


# --- how tables are written -------------------------------------------------------------------------------------

LONG = "a reason that goes on and on, " * 8


def a_run() -> list[AnyRecord]:
    names = [
        "naive",
        "wordcount",
        "priority",
        "bytelevel",
        "backtracking",
        "greedy",
        "tiktoken",
        "tokenizers",
        "sentencepiece",
    ]
    return [
        weighed("hf:Somebody/A-Model-With-A-Name", 0, status="missing", reason=LONG, n_texts=0),
        weighed("turkish-10k", 250_123),
        *(pair(a, b, i * 7) for i, a in enumerate(names) for b in names[:i]),
        *(record for name in names for record in timed(name, steady(0.1), peak_memory_bytes=10**8)),
        *timed("fastokens", [[]], status="crash", reason=LONG),
        Verdict(implementation="naive", model="m", corpus="samples", check="round-trip", status="crash", reason=LONG),
        trained(),
    ]


def test_every_table_fits_a_terminal_of_100_columns() -> None:
    lines = render_terminal(a_run(), width=100).splitlines()
    assert max(map(len, lines)) <= 100


def test_nothing_is_cut_or_wrapped_where_there_is_no_terminal() -> None:
    text = render_terminal(a_run())
    assert LONG.strip() in text
    assert "…" not in text


def test_only_chosen_tables_are_shown() -> None:
    assert render_terminal(a_run(), names=["turkish"]).startswith("Turkish")
    assert "Speed" not in render_terminal(a_run(), names=["turkish"])


def hostile() -> Table:
    records = [weighed("m|x_*`<b>\x1b[0m\n", 5, corpus="code"), weighed("50% & #1 {a}", 4, corpus="code")]
    return tables(records)["compression"]


def test_markdown_keeps_cells_in_their_row_and_shows_them_literally() -> None:
    text = layout.render(hostile(), "markdown")
    assert r"m\|x\_\*\`\<b\>" in text
    assert "\x1b" not in text
    body = [line for line in text.splitlines() if line.startswith("|")]
    assert len(body) == 4


def test_csv_and_json_hold_raw_values() -> None:
    records = [*timed("naive", steady(0.1))]
    table = tables(records)["speed"]
    (row,) = csv.DictReader(io.StringIO(layout.render(table, "csv")))
    loaded = json.loads(layout.render(table, "json"))
    assert float(row["median"]) == loaded["rows"][0]["median"] == pytest.approx(9.96, rel=0.01)
    assert loaded["rows"][0]["reason"] == ""


def test_csv_and_json_take_lone_surrogates() -> None:
    table = tables([trained(first_tokens=[Text.of("\ud800")])])["learned"]
    for format in ("csv", "json"):
        assert "ud800" in layout.render(table, format).encode().decode()


def test_latex_escapes_what_latex_would_read() -> None:
    text = layout.render(hostile(), "latex")
    assert r"50\% \& \#1 \{a\}" in text
    assert r"\toprule" in text


def test_no_records_make_no_tables() -> None:
    assert tables([]) == {}
    assert render_terminal([]) == ""


def test_a_matrix_of_twenty_implementations_fits_a_terminal_too() -> None:
    names = [f"implementation{i}" for i in range(20)]
    records = [pair(a, b, 1234 if b == names[5] else 0) for i, a in enumerate(names) for b in names[:i]]
    text = render_check(records, width=100)
    assert max(map(len, text.splitlines())) <= 100
    assert "P≠" in text
