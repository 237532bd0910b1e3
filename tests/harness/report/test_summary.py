"""The first table of a run, its headlines, and the one screen a tour ends on."""

from __future__ import annotations

from records_by_hand import pair, rows_of, steady, timed, trained, weighed

from harness.records import AnyRecord
from harness.report.headlines import headlines
from harness.report.summary import WIDTH, render_summary
from harness.report.tables import tables

TURKISH, ENGLISH = "encode/cl100k_base/turkish", "encode/cl100k_base/english"
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
        *timed("bpeasy", [[]], TURKISH, "unsupported", reason="trains only"),
    ]
    rows = rows_of(records, "overview")
    assert [(row["implementation"], row["ids"]) for row in rows] == [
        ("priority", "exact"),
        ("naive", "exact"),
        ("greedy", "other by design"),
        ("tokenizers", "wrong 1/2"),
    ]
    assert (round(rows[0]["turkish"]), rows[3]["english"]) == (10, "wrong")
    assert "Not timed, unsupported: bpeasy." in tables(records)["overview"].note


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
    assert said[0].startswith("compiled is 25.0 × as fast as tiktoken (95 % ")
    assert said[1].startswith("1 of 1 pairs of implementations that should agree give identical ids")
    assert said[2].startswith("A Turkish paragraph takes 1.50 × as many tokens under large")
    assert said[3].startswith("compiled learns the same merges 20.0 × as fast as tokenizers")


def test_a_tour_ends_on_one_screen() -> None:
    names = [f"implementation-{i}" for i in range(10)]
    records: list[AnyRecord] = [record for i, name in enumerate(names) for record in both(name, 0.1 * (i + 1))]
    records += [pair(a, b) for a in names for b in names if a < b]
    records += [pair("greedy", name, 3, "expected to differ") for name in names]
    records += [weighed(name, 200, HELD_OUT) for name in ("mine", "o200k_base", "gpt2")]
    records += [weighed("hf:far/away", 0, HELD_OUT, status="missing", reason="no answer " * 30, n_texts=0, n_bytes=0)]
    records += [trained()]
    shown = render_summary(records)
    lines = shown.splitlines()
    assert len(lines) <= 60
    assert max(map(len, lines)) <= WIDTH
    assert "m: 45 of 45 pairs give the same ids on up to 10 texts; greedy differs, as it should" in shown
    assert "no answer" not in shown


def test_the_screen_names_pairs_that_should_agree_and_do_not() -> None:
    assert "these do not: naive and priority" in render_summary([pair("naive", "priority", differing=2)])
