"""`train --count-only`, and `train --counts`: what was counted once is trained on as the text would be."""

from __future__ import annotations

import errno
import gzip
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import dying_workers
import pytest

import harness.training.counting
from impls.compiled.training import count as counting
from impls.compiled.training import parts
from impls.core.counts import PieceCounts
from impls.core.counts_runs import Runs
from impls.formats.counts import load_counts


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    path = tmp_path / "corpus.txt"
    path.write_text("evlerimizden gelen\n\nevler evleri 12\n" * 50)
    return path


def digest(bpebench: Any, *arguments: str) -> str:
    ended = bpebench("train", "--vocab-size", "270", *arguments, "--json")
    assert ended.status == 0, ended.err
    return str(json.loads(ended.out)["digest"])


def test_counts_train_what_the_text_trains(bpebench: Any, corpus: Path, tmp_path: Path) -> None:
    kept = tmp_path / "a.counts"
    ended = bpebench(
        "train", "--count-only", "-c", str(corpus), "--pattern", "turkish", "--out", str(kept), "--show", "2"
    )
    assert ended.status == 0, ended.err
    # Of six pieces as frequent as each other, the first two by their UTF-8.
    assert [line.split() for line in ended.out.splitlines() if line.startswith("'")] == [
        ["'\\n'", "50"],
        ["'\\n\\n'", "50"],
    ]
    assert not kept.with_name("a.counts.parts").exists()
    of_text = digest(bpebench, "-c", str(corpus), "--pattern", "turkish")
    assert digest(bpebench, "--counts", str(kept)) == of_text
    assert digest(bpebench, "--counts", str(kept), "-e", "naive") == of_text
    assert digest(bpebench, "-c", str(corpus), "--pattern", "turkish", "-e", "priority") == of_text


def test_counts_add_up_and_are_weighted(bpebench: Any, corpus: Path, tmp_path: Path) -> None:
    other, a, b, both = (tmp_path / name for name in ("other.txt", "a.counts", "b.counts", "both.counts"))
    other.write_text("başka bir metin\n" * 9)
    assert bpebench("train", "--count-only", "-c", str(corpus), "--out", str(a)).status == 0
    assert bpebench("train", "--count-only", "-c", str(other), "--out", str(b)).status == 0
    weights = ["--weight", f"{a}=2", "--weight", f"{b}=0.5"]
    assert (
        bpebench("train", "--count-only", "--counts", str(a), "--counts", str(b), *weights, "--out", str(both)).status
        == 0
    )
    added = dict(load_counts(both).items())
    for path, weight in ((a, 2), (b, 0.5)):
        for piece, count in load_counts(path).items():
            if piece.strip():
                assert added[piece] == max(1, round(count * weight))
    assert {source.weight for source in load_counts(both).sources} == {2.0, 0.5}
    assert digest(bpebench, "--counts", str(both)) == digest(bpebench, "--counts", str(a), "--counts", str(b), *weights)
    shown = json.loads(
        bpebench("train", "--count-only", "--counts", str(both), "--min-count", "100", "--show", "1", "--json").out
    )
    assert shown["n_distinct_pieces"] < len(added)
    assert shown["most_frequent"][0]["count"] == max(added.values())


def test_any_kind_of_file_is_counted(bpebench: Any, tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    (folder / "below").mkdir(parents=True)
    (folder / "a.txt.gz").write_bytes(gzip.compress(b"bir iki\n"))
    (folder / "below" / "b.jsonl").write_text('{"content": "bir"}\n')
    (folder / ".hidden").write_bytes(b"\xff")
    out = tmp_path / "a.counts"
    ended = bpebench("train", "--count-only", "-c", str(folder), "--field", "content", "--out", str(out), "--json")
    assert ended.status == 0, ended.err
    assert dict(load_counts(out).items()) == {"bir": 2, " iki": 1, "\n": 1}
    sources = json.loads(ended.out)["sources"]
    assert [Path(source["name"]).name for source in sources] == ["a.txt.gz", "b.jsonl"]
    assert all(len(source["digest"]) == 64 for source in sources)
    piped = bpebench("train", "--count-only", "-c", "-", "--show", "1", "--json", stdin=b"bir bir bir")
    assert json.loads(piped.out)["most_frequent"] == [{"piece": " bir", "count": 2}]


@pytest.mark.parametrize("verb", [("train", "--count-only"), ("train",)])
def test_where_nothing_was_counted_there_is_nothing_to_resume(
    bpebench: Any, tmp_path: Path, verb: tuple[str, ...]
) -> None:
    bad, out = tmp_path / "bad.txt", tmp_path / "out"
    bad.write_bytes(b"bir \xff")
    assert "not UTF-8 at byte 4" in bpebench(*verb, "-c", str(bad), "--out", str(out)).err
    assert [path.name for path in tmp_path.iterdir()] == ["bad.txt"]
    bad.write_bytes(b"bir iki")
    assert bpebench(*verb, "-c", str(bad), "--out", str(out)).status == 0


@pytest.mark.parametrize("verb", [("train", "--count-only"), ("train", "--vocab-size", "300")])
def test_what_was_interrupted_is_resumed(
    bpebench: Any, large: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, verb: tuple[str, ...]
) -> None:
    out, whole = tmp_path / "out", tmp_path / "whole"
    begun = (*verb, "-c", str(large), "--out")
    monkeypatch.setattr(parts, "SECONDS_BETWEEN_RUNS", 0)
    monkeypatch.setattr(harness.training.counting, "_digest", interrupted)
    assert bpebench(*begun, str(out)).status == 130
    assert not out.exists()
    monkeypatch.undo()
    assert "--resume continues it, or delete it" in bpebench(*begun, str(out)).err
    assert bpebench(*begun, str(out), "--documents", "lines", "--resume").status == 2
    resumed = bpebench(*begun, str(out), "--resume", "--workers", "2")
    assert resumed.status == 0, resumed.err
    assert not out.with_name("out.parts").exists()
    assert bpebench(*begun, str(whole)).status == 0
    assert out.read_bytes() == whole.read_bytes()


@pytest.mark.parametrize("option", [["--workers", "2"], ["--scheduler", "tcp://127.0.0.1:1"], ["--resume"]])
def test_training_that_holds_its_text_refuses_workers(bpebench: Any, corpus: Path, option: list[str]) -> None:
    ended = bpebench("train", "-c", str(corpus), "-e", "priority", *option)
    assert ended.status == 2
    assert f"{option[0]} is for files that are counted" in ended.err


@pytest.mark.parametrize("address", ["nonsense", "tcp://", "tcp://host", "http://host:80", "host:99999", "host:8_0"])
def test_a_scheduler_that_is_no_address_is_one_line_at_once(bpebench: Any, tmp_path: Path, address: str) -> None:
    (tmp_path / "text.txt").write_text("low lower lowest")
    for verb in (["train"], ["train", "--count-only"]):
        ended = bpebench(*verb, "-c", str(tmp_path / "text.txt"), "--scheduler", address)
        assert (ended.status, ended.out) == (2, "")
        assert ended.err.splitlines()[-1] == (
            f"bpebench: --scheduler {address}: invalid address; write tcp://HOST:PORT"
        )


def interrupted(file: object) -> str:
    raise KeyboardInterrupt


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ([], "name a corpus (-c) or a file of counts"),
        (["-c", "samples", "--ties", "first", "--name", "x"], "--count-only does not go with --name, --ties"),
        (["-c", "samples", "--resume"], "--resume needs --out"),
        (["-c", "samples", "--weight", "other=2"], "'other' is not counted here; there are samples"),
        (["-c", "samples", "--weight", "samples=many"], "'many' is not a number"),
        (["-c", "samples", "--weight", "samples"], "--weight samples: write it as NAME=NUMBER"),
        (["-c", "samples", "--weight", "samples=0"], "must be a positive number"),
        (["-c", "samples", "--memory-limit", "much"], "invalid size 'much'; write it like 8k"),
        (["-c", "absent.txt"], "there is no such file"),
        (["--counts", "README.md"], "not a complete file of counts"),
        (["-c", "samples", "--pattern", "[a-z]+"], "leaves out"),
    ],
)
def test_what_cannot_be_counted_is_one_clear_line(bpebench: Any, arguments: list[str], problem: str) -> None:
    ended = bpebench("train", "--count-only", *arguments)
    assert ended.status == 2
    assert problem in ended.err


CLUSTER = """
from distributed import LocalCluster
if __name__ == "__main__":
    with LocalCluster(n_workers=2, threads_per_worker=1, host="127.0.0.1", dashboard_address=None) as cluster:
        print(cluster.scheduler_address, flush=True)
        input()
"""


@pytest.fixture(scope="module")
def scheduler(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("cluster")
    script = folder / "cluster.py"
    script.write_text(CLUSTER)
    pipe = subprocess.PIPE
    with (
        (folder / "log").open("w") as log,
        subprocess.Popen([sys.executable, script], stdin=pipe, stdout=pipe, stderr=log, text=True) as process,
    ):
        assert process.stdout is not None
        yield process.stdout.readline().strip()
        process.communicate("\n")


@pytest.fixture
def large(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(counting, "_GROUP_BYTES", 1 << 20)
    monkeypatch.setattr(counting, "_PART_BLOCKS", 1)
    path = tmp_path / "large.txt"
    path.write_text("".join(f"satır {number % 5000}\n" for number in range(400_000)))
    return path


def test_processes_and_a_cluster_count_the_same(bpebench: Any, large: Path, tmp_path: Path, scheduler: str) -> None:
    kept = [tmp_path / f"{number}.counts" for number in range(3)]
    for out, workers in zip(kept, ([], ["--workers", "2"], ["--scheduler", scheduler]), strict=True):
        ended = bpebench("train", "--count-only", "-c", str(large), *workers, "--out", str(out))
        assert ended.status == 0, ended.err
    assert len({path.read_bytes() for path in kept}) == 1
    bad = tmp_path / "bad.txt"
    bad.write_bytes(b"\xff")
    for workers in (["--workers", "2"], ["--scheduler", scheduler]):
        ended = bpebench("train", "--count-only", "-c", str(bad), *workers)
        assert (ended.status, "not UTF-8 at byte 0" in ended.err) == (2, True)


def test_what_a_worker_that_died_was_counting_is_counted_again_a_few_times(
    bpebench: Any, large: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(counting, "count_group", dying_workers.dies)
    ended = bpebench("train", "--count-only", "-c", str(large), "--workers", "2")
    assert (ended.status, "workers died 3 times, one after the other; they may lack memory" in ended.err) == (2, True)
    died = tmp_path / "died"
    monkeypatch.setenv("WORKER_DIED", str(died))
    monkeypatch.setattr(counting, "count_group", dying_workers.dies_once)
    whole, again = tmp_path / "whole.counts", tmp_path / "again.counts"
    assert bpebench("train", "--count-only", "-c", str(large), "--workers", "2", "--out", str(again)).status == 0
    assert died.exists()
    monkeypatch.undo()
    assert bpebench("train", "--count-only", "-c", str(large), "--out", str(whole)).status == 0
    assert again.read_bytes() == whole.read_bytes()


def test_a_scheduler_that_does_not_answer_is_one_clear_line(
    bpebench: Any, large: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(harness.training.counting, "_SECONDS", 0.5)
    ended = bpebench("train", "--count-only", "-c", str(large), "--scheduler", "tcp://127.0.0.1:9")
    assert (ended.status, "tcp://127.0.0.1:9: no scheduler answers" in ended.err) == (2, True)


def test_counts_that_cannot_be_trained_on_are_one_clear_line(bpebench: Any, corpus: Path, tmp_path: Path) -> None:
    kept, none = tmp_path / "a.counts", tmp_path / "none.counts"
    for out, least in ((kept, "1"), (none, "9999")):
        counted = bpebench("train", "--count-only", "-c", str(corpus), "--min-count", least, "--out", str(out))
        assert counted.status == 0
    for arguments, said in (
        (["--counts", str(kept), "-e", "tokenizers"], "tokenizers trains on text, not on counts"),
        (["--counts", str(none)], f"{none}: holds no text"),
        (["--counts", str(kept), "--until", "gain<1%"], "needs --held-out"),
        (["--counts", str(kept), "--superword-from", "262"], "counts are split already"),
    ):
        ended = bpebench("train", "--vocab-size", "270", *arguments)
        assert (ended.status, said in ended.err) == (2, True), ended.err


def test_counts_go_on_from_a_model_and_end_where_little_is_gained(bpebench: Any, corpus: Path, tmp_path: Path) -> None:
    kept, first = tmp_path / "a.counts", tmp_path / "first.json"
    assert bpebench("train", "--count-only", "-c", str(corpus), "--out", str(kept)).status == 0
    given = ["train", "--counts", str(kept), "--vocab-size"]
    assert bpebench(*given, "262", "--out", str(first)).status == 0
    assert digest(bpebench, "--counts", str(kept), "--extend", str(first)) == digest(bpebench, "--counts", str(kept))
    rule = ["--extend", str(first), "--until", "gain<99%/1", "--held-out", str(corpus)]
    ended = json.loads(bpebench(*given, "270", *rule, "--json").out)
    assert ended["until"]["by_rule"]
    assert ended["n_merges"] == ended["n_kept_merges"] == 6


@pytest.mark.parametrize("resume", [[], ["--resume"]])
def test_an_unreadable_plan_cannot_be_resumed(bpebench: Any, corpus: Path, tmp_path: Path, resume: list[str]) -> None:
    parts = tmp_path / "a.counts.parts"
    parts.mkdir()
    (parts / "plan").touch()
    ended = bpebench("train", "--count-only", "-c", str(corpus), "--out", str(tmp_path / "a.counts"), *resume)
    assert ended.status == 2
    assert f"{parts}: its plan cannot be read, so --resume cannot go on; delete it" in ended.err


def test_a_plan_that_cannot_be_written_leaves_nothing(
    bpebench: Any, corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    ended = bpebench("train", "--count-only", "-c", str(corpus), "--out", str(tmp_path / "a.counts"))
    assert (ended.status, "a.counts.parts/plan: the disk is full" in ended.err) == (2, True), ended.err
    assert list(tmp_path.iterdir()) == [corpus]


def test_of_two_counts_at_once_one_is_told_of_the_other(bpebench: Any, corpus: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    with harness.training.counting.parts_folder(
        out, ["samples"], ("x",), harness.training.counting.Reading(), resume=False
    ):
        for resume in ([], ["--resume"]):
            ended = bpebench("train", "-c", str(corpus), "--out", str(out), *resume)
            assert (ended.status, "another process is counting there" in ended.err) == (2, True), ended.err


def test_a_run_on_a_full_disk_is_named(tmp_path: Path) -> None:
    (tmp_path / "000000.text").symlink_to("/dev/full")
    with pytest.raises(OSError, match="No space left") as error:
        Runs(tmp_path, ("x",)).write(PieceCounts.of(("x",), {"a" * 100_000: 1}), None)
    assert error.value.filename == str(tmp_path / "000000.text")
