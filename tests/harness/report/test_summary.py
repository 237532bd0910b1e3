"""The first table of a run, its headlines, and the one screen a tour ends on."""

from __future__ import annotations

from records_by_hand import pair, rows_of, steady, timed, trained, weighed

from harness.outcome import Outcome
from harness.records import AnyRecord, NotCompared
from harness.report.headlines import headlines
from harness.report.summary import WIDTH, render_summary
from harness.report.tables import tables

TURKISH, ENGLISH = "encode/o200k_base/turkish", "encode/o200k_base/english"
HELD_OUT = "turkish/held-out"


def both(name: str, seconds: float, **more: object) -> list[AnyRecord]:
    return [*timed(name, steady(seconds), TURKISH, **more), *timed(name, steady(seconds), ENGLISH, **more)]  # type: ignore[arg-type]


def test_every_timed_implementation_has_one_row_with_its_verdict_the_fastest_first() -> None:
    records = [
        *both("naive", 0.4),
        *both("priority", 0.1),
        *timed("tokenizers", steady(0.01), TURKISH),
        *timed("tokenizers", [[]], ENGLISH, "mismatch"),
        *both("greedy", 0.05, exact=False),
        *timed("bpeasy", [[]], TURKISH, "refused", reason="trains only"),
    ]
    rows = rows_of(records, "overview")
    assert [(row["implementation"], row["ids"]) for row in rows] == [
        ("priority", "exact"),
        ("naive", "exact"),
        ("greedy", "other by design"),
        ("tokenizers", "wrong 1/2"),
    ]
    assert (round(rows[0]["turkish"]), rows[3]["english"]) == (10, "wrong")
    assert "Not timed, refused: bpeasy." in tables(records)["overview"].note


def test_a_run_of_other_workloads_has_no_overview() -> None:
    assert "overview" not in tables(timed("naive", steady(0.1)))


def test_headlines_are_sentences_that_hold_their_figure() -> None:
    records = [
        *both("tiktoken", 1.0),
        *both("tiktoken", 1.0, copy=1),
        *both("compiled", 0.04),
        pair("naive", "priority"),
        weighed("large", 300),
        weighed("small", 200),
        *timed("compiled", steady(0.1), "train/x/turkish", task="train"),
        *timed("tokenizers", steady(2.0), "train/x/turkish", task="train"),
    ]
    found = headlines(records)
    assert all(headline.figure in headline.text for headline in found)
    said = [headline.text for headline in found]
    assert said[0].startswith("compiled is 25.0 × as fast as tiktoken on text not met before (95 % ")
    assert said[1].startswith("1 of 1 pairs of implementations that should agree give identical ids")
    assert said[2].startswith("A Turkish paragraph takes 1.50 × as many tokens under large")
    assert said[3].startswith("compiled learns the same merges 20.0 × as fast as tokenizers")


def training(name: str, seconds: float, workload: str) -> list[AnyRecord]:
    return [*timed(name, steady(seconds), f"train/{workload}", task="train")]


def test_training_is_compared_on_every_workload_both_ran() -> None:
    records = [
        *both("tiktoken", 1.0),
        *both("tiktoken", 1.0, copy=1),
        *training("compiled", 0.1, "a"),
        *training("tokenizers", 1.0, "a"),
        *training("compiled", 0.5, "b"),
        *training("tokenizers", 1.0, "b"),
        *training("wordcount", 0.1, "b"),
    ]
    (said,) = [headline.text for headline in headlines(records) if "learn" in headline.text]
    assert said.startswith("compiled learns the same merges 4.47 × as fast as tokenizers (95 % ")
    assert said.endswith("geometric mean over 2 training workloads)")
    slower = [*records, *training("compiled", 40.0, "c"), *training("tokenizers", 1.0, "c")]
    (said,) = [headline.text for headline in headlines(slower) if "learn" in headline.text]
    assert said.startswith("tokenizers learns the same merges 1.26 × as fast as compiled")


def test_worst_cases_are_compared_on_the_same_texts() -> None:
    def hostile(name: str, numbers: range) -> list[AnyRecord]:
        return [r for i in numbers for r in timed(name, steady(0.1), f"encode/m/gen/{i}", corpus=f"gen/{i}")]

    few = [*hostile("compiled", range(1)), *hostile("tiktoken", range(10))]
    assert not any("hostile" in headline.text for headline in headlines(few))
    all_texts = [*hostile("compiled", range(10)), *hostile("tiktoken", range(10))]
    assert any(headline.text.startswith("On 10 hostile texts compiled") for headline in headlines(all_texts))


def test_pairs_are_counted_whose_comparison_is_missing_on_a_corpus() -> None:
    gone = NotCompared(
        a="naive", b="priority", model="m", corpus="turkish", reason="naive: crash", agreement_class="provably equal"
    )
    (said,) = [headline.text for headline in headlines([pair("naive", "priority"), gone])]
    assert said.startswith("1 of 1 pairs")
    assert said.endswith("; not compared on every text: 1")


def test_what_was_not_asked_or_failed_is_no_exactness_and_no_absence() -> None:
    cold = "encode-cold/o200k_base/turkish"
    records = [
        *both("tiktoken", 1.0),
        *timed("tiktoken", steady(1.0), cold, peak_memory_bytes=5_000_000),
        *timed("tiktoken", steady(1.0), "decode/o200k_base/code", task="decode"),
        *timed("compiled", steady(1.0), "decode/o200k_base/code", task="decode"),
        *both("tokie", 1.0),
        *timed("tokie", [[]], cold, "crash"),
    ]
    rows = {row["implementation"]: row for row in rows_of(records, "overview")}
    assert rows["compiled"]["ids"] == "not asked"
    assert rows["tiktoken"]["memory_mb"] == 5
    assert rows["tokie"]["memory_mb"] == "crash"


def test_a_tour_ends_on_one_screen() -> None:
    names = [f"implementation-{i}" for i in range(10)]
    records: list[AnyRecord] = [record for i, name in enumerate(names) for record in both(name, 0.1 * (i + 1))]
    records += [pair(a, b) for a in names for b in names if a < b]
    records += [pair("greedy", name, 3, "expected to differ") for name in names]
    records += [weighed(name, 200, HELD_OUT) for name in ("mine", "o200k_base", "gpt2")]
    records += [
        weighed("hf:far/away", 0, HELD_OUT, status=Outcome.MISSING, reason="no answer " * 30, n_texts=0, n_bytes=0)
    ]
    records += [trained()]
    shown = render_summary(records)
    lines = shown.splitlines()
    assert len(lines) <= 60
    assert max(map(len, lines)) <= WIDTH
    assert "· 45 of 45 pairs of implementations that should agree give identical ids" in shown


def test_the_screen_names_pairs_that_should_agree_and_do_not() -> None:
    assert "these do not: naive and priority" in render_summary([pair("naive", "priority", differing=2)])
