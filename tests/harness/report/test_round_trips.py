"""Every table that names a model says what becomes of a text under it."""

from __future__ import annotations

import pytest

from harness.outcome import Outcome
from harness.records import Compression, Measurement, Pass, Verdict
from harness.report.round_trips import named, note
from harness.report.tables import render_terminal, tables


def weighed(model: str, round_trip: str = "") -> Compression:
    return Compression(
        model=model, corpus="turkish/held-out", implementation="tiktoken", n_texts=1, n_bytes=100, n_characters=90,
        n_words=10, n_tokens=30, vocab_size=300, round_trip=round_trip,
    )  # fmt: skip


def timed(model: str, round_trip: str = "") -> Measurement:
    return Measurement(
        workload=f"encode/{model}/turkish", implementation="priority", task="encode", model=model, corpus="turkish",
        outcome=Outcome.RIGHT, round_trip=round_trip, passes=[Pass(0, False, 100, [1], [0.1], [0.1])],
        peak_memory_bytes=1000,
    )  # fmt: skip


def judged(model: str, round_trip: str = "") -> Verdict:
    return Verdict(
        implementation="priority", model=model, corpus="turkish", check="round-trip", status=Outcome.RIGHT,
        n_texts=1, n_bytes=9, round_trip=round_trip,
    )  # fmt: skip


@pytest.mark.parametrize("make", [weighed, timed, judged])
def test_a_model_that_is_not_exact_is_marked_in_every_table_that_names_it(make: type) -> None:
    records = [make("mine", "normalising"), make("theirs", "lossy"), make("plain", "exact")]
    found = tables(records)
    assert found
    for name, table in found.items():
        if "model" in table.rows[0]:
            text = render_terminal(records, names=[name])
            assert "mine (normalising)" in text or "normalising" in text.split("mine")[1].split("\n")[0]
            assert "plain (" not in text
            assert {row["model"]: row["round_trip"] for row in table.rows} == {
                "mine": "normalising",
                "theirs": "lossy",
                "plain": "exact",
            }


def test_what_a_run_did_not_record_is_taken_from_the_catalogue_or_left_open() -> None:
    table = tables([weighed("mistral-v1"), weighed("gpt2"), weighed("turkish-10k")])["compression"]
    assert {row["model"]: row["round_trip"] for row in table.rows} == {
        "mistral-v1": "normalising",
        "gpt2": "exact",
        "turkish-10k": "",
    }
    assert "not recorded of turkish-10k" in table.note


def test_exactness_in_words() -> None:
    assert named("mistral-v1", "normalising") == "mistral-v1 (normalising)"
    assert named("gpt2", "exact") == named("gpt2", "") == "gpt2"
    assert note({}) == note({"mine": ""}) == ""
    said = note({"gpt2": "exact", "a": "lossy"})
    assert said.startswith("Round trip, derived from the models' rules: exact, but where a name says otherwise (lossy")
