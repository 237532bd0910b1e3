"""`bpebench train`: from text, counts or a vocabulary, in two stages; what goes together."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import dying_workers
import pytest
from refusals import refused
from tables import rows_of

import harness.training.text
import impls
from harness.data import load_corpus
from harness.training.counts import load_counts
from harness.training.ends import spec_like, why_short
from impls import Model, TrainingSpec
from impls.compiled.training import count as counting

TEXT = "by the way, by the way, on the way by the way\n\nanother way by the way"


@pytest.fixture
def text(tmp_path: Path) -> str:
    (tmp_path / "text.txt").write_text(TEXT, encoding="utf-8")
    return str(tmp_path / "text.txt")


@pytest.fixture
def begun(tmp_path: Path) -> str:
    spec = TrainingSpec(
        vocab_size=12, pattern="turkish", alphabet="chars", end_of_word="</w>", special_tokens=("<s>",), unknown="?"
    )
    impls.get("priority").train_model(["the way the way"], spec).save(tmp_path / "begun.json")
    return str(tmp_path / "begun.json")


@pytest.fixture
def large(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(counting, "_GROUP_BYTES", 1 << 20)
    monkeypatch.setattr(counting, "_PART_BLOCKS", 1)
    path = tmp_path / "large.txt"
    path.write_text("".join(f"satır {number % 5000}\n" for number in range(400_000)))
    return path


def learned(bpebench: Any, *arguments: str) -> dict[str, Any]:
    ended = bpebench("train", *arguments, "--json")
    assert ended.status == 0, ended.err
    return json.loads(ended.out)  # type: ignore[no-any-return]


# --- counts ----------------------------------------------------------------------------------------------------


def test_counts_of_any_files_add_up_and_train_what_the_text_trains(bpebench: Any, tmp_path: Path) -> None:
    folder, other, a, b = (tmp_path / name for name in ("folder", "other.txt", "a.counts", "b.counts"))
    (folder / "below").mkdir(parents=True)
    (folder / "a.txt.gz").write_bytes(gzip.compress(b"bir iki\n"))
    (folder / "below" / "b.jsonl").write_text('{"content": "bir"}\n')
    (folder / ".hidden").write_bytes(b"\xff")
    other.write_text("evlerimizden gelen\n\nevler evleri 12\n" * 50)
    count = ("--count-only", "--pattern", "turkish")
    document = learned(bpebench, *count, "-c", str(folder), "--field", "content", "--out", str(a))
    assert [Path(source["name"]).name for source in document["sources"]] == ["a.txt.gz", "b.jsonl"]
    assert all(len(source["digest"]) == 64 for source in document["sources"])
    assert dict(load_counts(a).items()) == {"bir": 2, " iki": 1, "\n": 1}
    # Of six pieces as frequent as each other, the first two by their UTF-8.
    shown = bpebench("train", *count, "-c", str(other), "--out", str(b), "--show", "2").out.splitlines()
    assert [line.split() for line in shown if line.startswith("'")] == [["'\\n'", "50"], ["'\\n\\n'", "50"]]
    of_both = ("--counts", str(a), "--counts", str(b))
    assert learned(bpebench, *of_both, "--count-only", "--min-count", "2")["n_distinct_pieces"] == 8
    size = ("--vocab-size", "270")
    of_text = learned(bpebench, "-c", str(other), "--pattern", "turkish", "-e", "priority", *size)["digest"]
    for arguments in (("--counts", str(b)), ("--counts", str(b), "-e", "naive"), ("-c", str(other), *count[1:])):
        assert learned(bpebench, *arguments, *size)["digest"] == of_text
    by_order = ("-c", str(other), "--ties", "first", *size)
    assert learned(bpebench, *by_order)["digest"] == learned(bpebench, *by_order, "-e", "naive")["digest"]
    first = str(tmp_path / "first.json")
    learned(bpebench, *of_both, "--vocab-size", "262", "--out", first)
    extended = learned(bpebench, *of_both, "--extend", first, *size)
    assert (extended["n_kept_merges"], extended["digest"]) == (6, learned(bpebench, *of_both, *size)["digest"])


CLUSTER = """
from distributed import LocalCluster
if __name__ == "__main__":
    with LocalCluster(n_workers=2, threads_per_worker=1, host="127.0.0.1", dashboard_address=None) as cluster:
        print(cluster.scheduler_address, flush=True)
        input()
"""


@pytest.fixture
def scheduler(tmp_path: Path) -> Iterator[str]:
    script, pipe = tmp_path / "cluster.py", subprocess.PIPE
    script.write_text(CLUSTER)
    with (
        (tmp_path / "log").open("w") as log,
        subprocess.Popen([sys.executable, script], stdin=pipe, stdout=pipe, stderr=log, text=True) as process,
    ):
        yield process.stdout.readline().strip()
        process.communicate("\n")


def test_processes_and_a_cluster_count_the_same(
    bpebench: Any, large: Path, tmp_path: Path, scheduler: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    bad = tmp_path / "bad.txt"
    bad.write_bytes(b"\xff")
    contents = set()
    for number, workers in enumerate(([], ["--workers", "2"], ["--scheduler", scheduler])):
        out = tmp_path / f"{number}.counts"
        ended = bpebench("train", "--count-only", "-c", str(large), *workers, "--out", str(out))
        assert ended.status == 0, ended.err
        contents.add(out.read_bytes())
        ended = bpebench("train", "--count-only", "-c", str(bad), *workers)
        assert (ended.status, "not UTF-8 at byte 0" in ended.err) == (2, True)
    assert len(contents) == 1
    monkeypatch.setattr(harness.training.text, "_SECONDS", 0.5)
    ended = bpebench("train", "--count-only", "-c", str(large), "--scheduler", "tcp://127.0.0.1:9")
    assert (ended.status, "tcp://127.0.0.1:9: no scheduler answers" in ended.err) == (2, True)


def test_a_dead_worker_is_replaced(bpebench: Any, large: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(counting, "count_group", dying_workers.dies)
    ended = bpebench("train", "--count-only", "-c", str(large), "--workers", "2")
    assert (ended.status, "workers died 3 times in a row; they may have run out of memory" in ended.err) == (2, True)
    died = tmp_path / "died"
    monkeypatch.setenv("WORKER_DIED", str(died))
    monkeypatch.setattr(counting, "count_group", dying_workers.dies_once)
    whole, again = tmp_path / "whole.counts", tmp_path / "again.counts"
    assert bpebench("train", "--count-only", "-c", str(large), "--workers", "2", "--out", str(again)).status == 0
    assert died.exists()
    monkeypatch.undo()
    assert bpebench("train", "--count-only", "-c", str(large), "--out", str(whole)).status == 0
    assert again.read_bytes() == whole.read_bytes()


# --- from a vocabulary, in stages ----------------------------------------------------------------


def test_what_no_option_says_is_taken_from_the_vocabulary(bpebench: Any, text: str, begun: str, tmp_path: Path) -> None:
    command, out = ("-c", text, "--extend", begun, "--vocab-size", "15"), str(tmp_path / "on.json")
    shown = learned(bpebench, *command, "--out", out, "--show", "2")
    first, model = Model.load(begun), Model.load(out)
    assert model.merges[: len(first.merges)] == first.merges
    for field in ("pattern", "alphabet", "end_of_word", "special_tokens", "unknown", "unknown_id"):
        assert getattr(model, field) == getattr(first, field), field
    assert (shown["n_kept_merges"], shown["n_merges"], shown["vocab_size"]) == (
        len(first.merges), len(first.merges) + 3, 15,
    )  # fmt: skip
    assert [row["id"] for row in shown["first_tokens"]] == [12, 13]
    assert f"{len(model.merges)} merges, {len(first.merges)} of them kept" in bpebench("train", *command).out
    learned(bpebench, *command, "--pattern", "gpt2", "--special", "<pad>", "--unknown", "<unk>", "--out", out)
    model = Model.load(out)
    assert model.pattern == impls.core.text.patterns.NAMED["gpt2"]
    assert (dict(model.special_tokens), model.unknown, model.unknown_id) == ({"<pad>": 13}, "<unk>", 14)


def test_superwords(bpebench: Any, text: str, tmp_path: Path) -> None:
    command = ("-c", text, "--vocab-size", "280", "--pattern", "cl100k", "--superword-from", "266", "--out")
    out = tmp_path / "super.json"
    assert learned(bpebench, *command, str(out))["why_short"] is None
    spec = TrainingSpec(vocab_size=280, pattern="cl100k")
    assert Model.load(out) == impls.registry.learn("naive", load_corpus(text).documents(), spec, superword_from=266)
    learned(bpebench, *command, str(out), "--superword-pattern", "none")
    assert Model.load(out).pattern == ()


@pytest.mark.parametrize(("pattern", "named"), [((), "none"), (("a|[^a]",), "a|[^a]"), (("a|[^a]", "b|[^b]"), None)])
def test_a_pattern_of_several_stages_must_be_given(pattern: tuple[str, ...], named: str | None) -> None:
    model = Model(tokens=tuple(bytes([byte]) for byte in range(256)), pattern=pattern)
    fields = {"vocab_size": 300, "pattern": "gpt2", "alphabet": "bytes", "end_of_word": None}
    assert spec_like(model, fields, {"pattern"}).pattern == "gpt2"
    if named is None:
        refused(impls.InvalidSpec, r"pattern: that of the model has 2 stages; give one", spec_like, model, fields, ())
    else:
        assert spec_like(model, fields, ()).pattern == named


@pytest.mark.parametrize(
    ("bounds", "why"),
    [
        ({}, "ran out of pairs"),
        ({"min_count": 2, "max_token_bytes": 3}, "occurs 2 times or more (min_count) and makes a token of 3 bytes"),
        ({"max_token_bytes": 100}, "ran out of pairs"),
        ({"max_merges": 3}, "max_merges allows only 3 merges"),
    ],
)
def test_a_training_that_ends_before_its_size_says_why(bounds: dict[str, Any], why: str) -> None:
    spec, texts = TrainingSpec(vocab_size=300, **bounds), ["low lower lowest low"]
    assert why in str(why_short(impls.get("priority").train_model(texts, spec), spec, texts))


# --- what does not go together ---------------------------------------------------------------------------------


@pytest.mark.parametrize(("arguments", "message"), rows_of(__file__, "wrong_training.tsv"))
def test_what_does_not_go_together_gets_one_line(
    bpebench: Any, text: str, begun: str, tmp_path: Path, arguments: str, message: str
) -> None:
    places = {name: str(tmp_path / name.lower()) for name in ("KEPT", "NONE", "NORMALISED")}
    Model(tokens=(b"a", b"b"), merges=(), alphabet="chars", normalization="nfc").save(places["NORMALISED"])
    for name, least in (("KEPT", "1"), ("NONE", "9999")):
        if name in arguments:
            counted = ("--count-only", "-c", text, "--min-count", least, "--out", places[name])
            assert bpebench("train", *counted).status == 0
    for name, place in {"TEXT": text, "BEGUN": begun, **places}.items():
        arguments = arguments.replace(name, place)
    before = sorted(tmp_path.iterdir())
    ended = bpebench("train", *arguments.split())
    assert (ended.status, ended.out, message in ended.err) == (2, "", True), ended.err
    assert sorted(tmp_path.iterdir()) == before
