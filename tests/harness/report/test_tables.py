"""Tables of compression and of agreement, made from records: what they contain, and what they must not."""

from __future__ import annotations

import re

import pytest
from records_by_hand import pair, rows_of, timed, weighed

from harness.outcome import Outcome
from harness.records import AnyRecord, Counterexample, Text, Verdict
from harness.report.table import _declared, table_of
from harness.report.tables import render_check, render_terminal, tables

# --- compression ------------------------------------------------------------------------------------------------


def test_the_model_with_fewest_tokens_leads_and_others_are_compared_with_it() -> None:
    rows = rows_of([weighed("large", 300), weighed("small", 200)], "compression")
    assert [(row["model"], row["over_fewest"]) for row in rows] == [("small", 1.0), ("large", 1.5)]


def test_only_equal_slices_of_a_corpus_are_compared() -> None:
    records = [weighed("a", 250), weighed("b", 300), weighed("a", 9, n_bytes=40)]
    found = {(row["model"], row["n_bytes"]): row["over_fewest"] for row in rows_of(records, "compression")}
    assert found == {("a", 1000): 1.0, ("b", 1000): 1.2, ("a", 40): 1.0}


def test_compression_is_shown_per_token_character_and_word() -> None:
    (row,) = rows_of([weighed("m", 250, corpus="code")], "compression")
    assert (row["bytes_per_token"], row["characters_per_token"], row["tokens_per_word"]) == (4.0, 3.6, 2.5)


def test_a_text_that_could_not_be_weighed_is_shown_with_its_verdict() -> None:
    records = [weighed("m", 250, corpus="code"), weighed("far", 0, corpus="code", status=Outcome.MISSING)]
    (line,) = [line for line in render_terminal(records, names=["compression"]).splitlines() if line.startswith("far")]
    assert line.endswith("missing")


@pytest.mark.parametrize("name", list(_declared()))
def test_what_is_declared_of_a_table_can_be_made(name: str) -> None:
    words = dict.fromkeys(["tokens", *re.findall(r"{(\w+)}", repr(_declared()[name]))], "some")
    columns = None if "columns" in _declared()[_declared()[name].get("like", name)] else ()
    assert "{" not in table_of(name, [], columns, **words).note


def test_an_optional_column_is_left_out_where_it_says_nothing() -> None:
    row = {"model": "m", "verdict": ""}
    assert [c.key for c in table_of("scaling", [row], limits="1").columns if c.key == "verdict"] == []
    assert "verdict" in [c.key for c in table_of("scaling", [row, row | {"verdict": "x"}], limits="1").columns]


# --- agreement, round trips, failures ---------------------------------------------------------------------------


def test_the_matrix_says_equal_differs_with_count_and_not_compared() -> None:
    records = [
        pair("naive", "priority"),
        pair("naive", "greedy", differing=3, kind="expected to differ"),
        pair("priority", "greedy", differing=3, kind="expected to differ"),
        Verdict(
            implementation="far",
            model="m",
            corpus="samples",
            check="load",
            status=Outcome.MISSING,
            reason="not installed",
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
        Verdict(
            implementation="a", model="m", corpus="x", check="round-trip", status=Outcome.RIGHT, n_texts=5, n_bytes=50
        ),
        Verdict(
            implementation="a", model="n", corpus="x", check="round-trip", status=Outcome.RIGHT, n_texts=5, n_bytes=50
        ),
        Verdict(
            implementation="b", model="m", corpus="x", check="round-trip", status=Outcome.PANIC, reason="PanicException"
        ),
    ]
    rows = {row["implementation"]: row for row in rows_of(records, "round-trip")}
    assert (rows["a"]["status"], rows["a"]["n_texts"], rows["a"]["models"]) == ("right", 10, "m, n")
    assert (rows["b"]["status"], rows["b"]["reason"]) == ("panic", "PanicException")
    assert "round_trip" not in rows["a"]


def test_round_trips_say_what_the_models_let_one_expect() -> None:
    records: list[AnyRecord] = [
        Verdict(
            implementation="a",
            model=model,
            corpus="x",
            check="round-trip",
            status=Outcome.RIGHT,
            n_texts=1,
            round_trip=round_trip,
        )
        for model, round_trip in (("m", "exact"), ("n", "exact"), ("s", "normalising"))
    ]
    found = [(row["round_trip"], row["models"]) for row in rows_of(records, "round-trip")]
    assert found == [("exact", "m, n"), ("normalising", "s")]


def test_one_failure_in_many_places_is_listed_once_with_its_places() -> None:
    records = [
        record
        for workload in ("encode/m/c", "decode/m/c")
        for record in timed("far", [[]], workload, "missing", reason="not installed")
    ]
    (row,) = rows_of([*records], "failures")
    assert (row["n_places"], row["where"], row["reason"]) == (2, "encode/m/c, decode/m/c", "not installed")
