"""What counts as verified text: never more than was compared, of the newest version, until one text shows otherwise."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from records_by_hand import pair, steady, timed

from harness.records import AnyRecord, Counterexample, Disagreement, RecordWriter, Text
from harness.report.charts.chart import svg
from harness.report.charts.speed import release_charts
from harness.report.run import Run
from harness.report.site.evidence import Evidence, evidence, summary
from harness.report.site.versions import by_machine, history_rows, machine_name, package_of, release_rows


def made(folder: Path, *records: AnyRecord, **facts: Any) -> Run:
    """A run of these records."""
    with RecordWriter(folder) as writer:
        writer.write(*records)
    machine = {"date": "2026-01-02", "cpu": "A", "packages": {"kitoken": "1.0", "tiktoken": "0.1"}} | facts
    (folder / "machine.json").write_text(json.dumps(machine))
    return Run(folder.name, folder)


def verified(implementation: str, corpus: str = "turkish", **more: Any) -> list[Any]:
    fields = {"corpus": corpus, "reference": "tiktoken", "digest": "d", "n_texts": 1}
    return timed(implementation, steady(0.1), f"encode/m/{corpus}", **(fields | more))


def only(found: list[Evidence], implementation: str) -> Evidence:
    (one,) = (one for one in found if one.implementation == implementation)
    return one


def test_of_a_corpus_the_longest_text_counts_once_and_of_a_selection_nothing_more(tmp_path: Path) -> None:
    run = made(
        tmp_path / "run",
        *verified("kitoken", n_bytes=500),
        *verified("kitoken", "turkish/held-out", n_bytes=900, n_texts=7),
        *verified("kitoken", "english", n_bytes=300),
        *verified("kitoken", "mixed", n_bytes=1100),
        *verified("kitoken", "gen/tabs:50", n_bytes=50),
    )
    found = only(evidence([run]), "kitoken")
    assert (found.n_bytes, found.n_strings) == (900 + 300 + 50, 7 + 1 + 1)
    assert found.said == "verified on 1.25 kB, 9 strings, 2026-01-02"
    reference = only(evidence([run]), "tiktoken")
    assert reference.n_bytes == found.n_bytes
    assert set(reference.compared_with) == {"kitoken"}


def test_an_answer_compared_with_itself_or_with_nothing_is_no_evidence(tmp_path: Path) -> None:
    run = made(
        tmp_path / "run", *verified("tiktoken"), *verified("kitoken", reference=""), *verified("greedy", exact=False),
        *verified("kitoken", "c", task="decode"),
    )  # fmt: skip
    assert [(one.implementation, one.verdict) for one in evidence([run])] == [("greedy", "other ids by design")]


def test_only_the_newest_recorded_version_counts(tmp_path: Path) -> None:
    old = made(tmp_path / "old", *verified("kitoken", "english", n_bytes=5_000), packages={"kitoken": "0.9"})
    new = made(tmp_path / "new", *verified("kitoken", n_bytes=400), date="2026-02-02")
    found = only(evidence([new, old]), "kitoken")
    assert (found.version, found.n_bytes, found.date) == ("1.0", 400, "2026-02-02")
    later = made(tmp_path / "later", *verified("kitoken", n_bytes=900), packages={"kitoken": "0.10"}, date="2026-03-03")
    assert only(evidence([later, new, old]), "kitoken").n_bytes == 400
    assert only(evidence([later, old]), "kitoken").version == "0.10"
    differing = made(tmp_path / "differing", pair("tiktoken", "kitoken", 3), packages={"kitoken": "0.9"})
    assert only(evidence([new, differing]), "kitoken").verdict == "exact"


def a_disagreement(**more: Any) -> Disagreement:
    fields: dict[str, Any] = {
        "a": "tiktoken", "b": "kitoken", "model": "m", "difference": "fault", "versions": {"kitoken": "1.0"},
        "agreement_class": "equal under conditions", "counterexample": Counterexample(Text.of("\n x"), [1], [2]),
    }  # fmt: skip
    return Disagreement(**(fields | more))


def test_one_text_with_other_ids_makes_an_implementation_wrong_and_not_its_reference(tmp_path: Path) -> None:
    run = made(tmp_path / "run", *verified("kitoken"))
    for found in (
        evidence([run], [a_disagreement()]),
        evidence([made(tmp_path / "check", *verified("kitoken"), pair("tiktoken", "kitoken", 3))]),
        evidence([made(tmp_path / "mismatch", *verified("kitoken"), *timed("kitoken", [[]], status="mismatch"))]),
    ):
        assert only(found, "kitoken").verdict == "wrong ids"
        assert only(found, "tiktoken").verdict == "exact"
        assert [row["verdict"] for row in summary(found)] == ["exact", "wrong ids"]
    assert only(evidence([run], [a_disagreement()]), "kitoken").said == r"wrong on '\n x'"


@pytest.mark.parametrize(
    "more",
    [{"holds": "agrees"}, {"versions": {"kitoken": "0.9"}}, {"difference": "expected to differ"}, {"b": "regex@1"}],
    ids=str,
)
def test_a_difference_of_another_version_or_no_fault_changes_nothing(tmp_path: Path, more: dict[str, Any]) -> None:
    run = made(tmp_path / "run", *verified("kitoken"))
    assert only(evidence([run], [a_disagreement(**more)]), "kitoken").verdict == "exact"


def test_history_is_of_one_machine_with_the_versions_of_both_runs(tmp_path: Path) -> None:
    old = made(tmp_path / "old", *verified("kitoken"), packages={"kitoken": "0.9"})
    faster = timed("kitoken", steady(0.05), "encode/m/turkish")
    new = made(tmp_path / "new", *faster, *timed("naive", steady(1.0)), date="2026-02-02")
    other = made(tmp_path / "other", *verified("kitoken"), cpu="B")
    assert [[run.folder.name for run in group] for group in by_machine([new, other, old])] == [
        ["new", "old"],
        ["other"],
    ]
    (row,) = history_rows([new, other, old])
    assert (row["old"], row["old_version"], row["new"], row["new_version"]) == ("old", "0.9", "new", "1.0")
    assert row["gain"] == pytest.approx(2, rel=0.01)
    assert row["shown_gain"].startswith("≈")  # neither run measured its noise


def test_processors_of_one_name_and_another_generation_are_two_machines(tmp_path: Path) -> None:
    facts = {"cpu": "AMD EPYC", "caches_bytes": {"L2": 1 << 20}}
    old, new, unknown = (
        made(tmp_path / name, *verified("kitoken"), packages={"kitoken": version}, **facts, **more)
        for name, version, more in (
            ("old", "0.9", {"cpu_generation": "family 25 model 1 AVX2"}),
            ("new", "1.0", {"cpu_generation": "family 26 model 2 AVX-512"}),
            ("unknown", "1.1", {}),
        )
    )
    assert [len(group) for group in by_machine([old, new, unknown])] == [1, 1, 1]
    assert list(history_rows([old, new, unknown])) == []
    assert list(release_rows([old, new, unknown])) == []
    assert machine_name(new) == "AMD EPYC, family 26 model 2 AVX-512"


def test_three_releases_on_one_machine_are_one_series_in_their_order(tmp_path: Path) -> None:
    runs = [
        made(tmp_path / f"run-{k}", *timed("kitoken", steady(seconds), "encode/m/turkish"), *more, date=f"2026-02-0{k}",
             packages={"kitoken": version, "tiktoken": "0.1", "bpebench": version})
        for k, (version, seconds, more) in enumerate(
            [("0.10", 0.05, []), ("0.9", 0.1, timed("tiktoken", steady(0.1), "encode/m/turkish")),
             ("0.9.1", 0.2, []), ("0.9", 0.08, timed("compiled", steady(0.01), "encode/m/turkish"))], 1,
        )
    ]  # fmt: skip
    rows = list(release_rows(runs))
    assert [(row["implementation"], row["version"], row["run"]) for row in rows] == [
        ("kitoken", "0.9", "run-4"), ("kitoken", "0.9.1", "run-3"), ("kitoken", "0.10", "run-1"),
    ]  # fmt: skip
    assert [round(row["gain"], 2) for row in rows] == [1, 0.4, 1.6]
    (chart,) = release_charts(rows)
    assert "kitoken 0.9 " in chart.alternative
    assert [layer["encoding"]["text"] for layer in chart.spec["layer"] if "text" in layer["encoding"]]
    assert svg(chart, "light").count(">0.9.1<") == 1
    assert list(release_rows(runs[1:])) == []


def test_packages_are_known_by_the_name_of_the_implementation() -> None:
    assert package_of("quicktok") == "quicktok-v1"
    assert package_of("tiktoken") == "tiktoken"
    assert package_of("compiled") == "bpebench"
    assert package_of("../../etc/passwd") == "../../etc/passwd"
