"""The first table of a run, its headlines, and the one screen a tour ends on."""

from __future__ import annotations

from records_by_hand import pair, rows_of, steady, timed, trained, weighed

from harness.outcome import Outcome
from harness.records import AnyRecord, NotCompared
from harness.report.headlines import WIDTH, headlines, render_summary
from harness.report.tables import tables

TURKISH, ENGLISH, COLD = (f"{name}/o200k_base/{text}" for name, text in (
    ("encode", "turkish"), ("encode", "english"), ("encode-cold", "turkish"),
))  # fmt: skip
HELD_OUT = "turkish/held-out"


def both(name: str, seconds: float, **more: object) -> list[AnyRecord]:
    return [*timed(name, steady(seconds), TURKISH, **more), *timed(name, steady(seconds), ENGLISH, **more)]  # type: ignore[arg-type]


def decoding(name: str) -> list[AnyRecord]:
    return [*timed(name, steady(1.0), "decode/o200k_base/code", task="decode")]


def test_every_timed_implementation_has_one_row_with_its_verdict_the_fastest_first() -> None:
    records = [
        *both("naive", 0.4), *both("priority", 0.1), *both("greedy", 0.05, exact=False), *decoding("compiled"),
        *timed("tokenizers", steady(0.01), TURKISH), *timed("tokenizers", [[]], ENGLISH, "mismatch"),
        *timed("priority", steady(1.0), COLD, peak_memory_bytes=5_000_000), *timed("naive", [[]], COLD, "crash"),
        *timed("bpeasy", [[]], TURKISH, "refused", reason="trains only"),
    ]  # fmt: skip
    rows = {row["implementation"]: row for row in rows_of(records, "overview")}
    assert {name: row["ids"] for name, row in rows.items()} == {
        "priority": "exact", "greedy": "differs by design", "naive": "crash 1/3", "tokenizers": "wrong 1/2",
        "compiled": "not asked",
    }  # fmt: skip
    assert next(iter(rows)) == "priority"
    assert (round(rows["priority"]["turkish"]), rows["tokenizers"]["english"]) == (10, "wrong")
    assert (rows["priority"]["memory_mb"], rows["naive"]["memory_mb"]) == (5, "crash")
    assert "Not timed, refused: bpeasy." in tables(records)["overview"].legend
    assert "overview" not in tables(timed("naive", steady(0.1)))


def test_the_headline_on_speed_is_over_what_the_two_it_compares_have_done() -> None:
    workloads = [f"encode/o200k_base/{text}" for text in ("turkish", "english", "code", "parallel")]
    two = [record for workload in workloads for record in (
        *timed("tiktoken", steady(1.0), workload), *timed("tiktoken", steady(1.0), workload, copy=1),
        *timed("compiled", steady(0.04), workload),
    )]  # fmt: skip
    third = [record for workload in workloads[1:] for record in timed("gigatoken", steady(0.1), workload)]
    third += timed("gigatoken", [[]], workloads[0], "mismatch")
    assert headlines([*two, *third])[0] == headlines(two)[0]
    assert "over 4 workloads" in headlines([*two, *third])[0].text


def test_headlines_are_sentences_that_hold_their_figure() -> None:
    records = [
        *both("tiktoken", 1.0), *both("tiktoken", 1.0, copy=1), *both("compiled", 0.04),
        pair("naive", "priority"),
        NotCompared(a="naive", b="priority", model="m", corpus="turkish", reason="crash",
                    agreement_class="provably equal"),
        weighed("large", 300), weighed("small", 200),
    ]  # fmt: skip
    found = headlines(records)
    assert all(headline.figure in headline.text for headline in found)
    speed, agreement, turkish = (headline.text for headline in found)
    assert speed.startswith("compiled is 25.0 × as fast as tiktoken on new text (95 % ")
    assert agreement.startswith("1 of 1 pairs of implementations that should agree give identical ids")
    assert agreement.endswith("; not compared on every text: 1")
    assert turkish.startswith("A Turkish paragraph takes 1.50 × as many tokens under large")


def test_a_tour_ends_on_one_screen_that_names_pairs_that_should_agree_and_do_not() -> None:
    names = [f"implementation-{i}" for i in range(10)]
    records: list[AnyRecord] = [record for i, name in enumerate(names) for record in both(name, 0.1 * (i + 1))]
    records += [pair(a, b) for a in names for b in names if a < b]
    records += [pair("greedy", name, 3, "expected to differ") for name in names]
    records += [weighed(name, 200, HELD_OUT) for name in ("mine", "o200k_base", "gpt2")]
    records += [weighed("far", 0, HELD_OUT, status=Outcome.MISSING, reason="no answer " * 30, n_texts=0, n_bytes=0)]
    shown = render_summary([*records, trained()])
    lines = shown.splitlines()
    assert len(lines) <= 60
    assert max(map(len, lines)) <= WIDTH
    assert "· 45 of 45 pairs of implementations that should agree give identical ids" in shown
    assert "these do not: naive and priority" in render_summary([pair("naive", "priority", differing=2)])
