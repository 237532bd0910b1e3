"""`bpebench vocab -c`: what a vocabulary is on its training text and on held-out text."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

TRAINED = "aba aba aba\n\nab да\n\n"
HELD_OUT = "aba ab\n\n12 x\n\n"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("report")
    (made / "trained.txt").write_text(TRAINED, encoding="utf-8")
    (made / "held.txt").write_text(HELD_OUT, encoding="utf-8")
    return made


@pytest.fixture
def report(bpebench: Any, folder: Path) -> Any:
    """Calls the verb on a vocabulary of two merges."""
    model = str(folder / "toy.json")
    spec = ("--vocab-size", "258", "--pattern", "none", "-e", "priority")
    assert bpebench("train", "-c", str(folder / "trained.txt"), *spec, "--out", model).status == 0

    def call(*more: str) -> Any:
        texts = ("-c", str(folder / "trained.txt"), "--held-out", str(folder / "held.txt"))
        return bpebench("vocab", model, *texts, *more)

    return call


def test_every_figure_by_hand(report: Any, folder: Path) -> None:
    """Merges a+b (4 times) and ab+a (3 times); held out, `aba_ab__` is aba _ ab _ _, and `12_x__` has no merge."""
    ended = report("--json")
    assert ended.status == 0
    found = json.loads(ended.out)["report"]
    assert found["held_out"] == str(folder / "held.txt")
    assert [(row["token"], row["count"]) for row in found["merges"]] == [("ab", 4), ("aba", 3)]
    curve = [(row["n_merges"], row["vocab_size"], row["n_tokens"]) for row in found["curve"]]
    assert curve == [(0, 256, 14), (1, 257, 12), (2, 258, 11)]
    assert [row["bytes_per_token"] for row in found["curve"]] == pytest.approx([14 / 14, 14 / 12, 14 / 11])
    assert all(row["low"] <= row["bytes_per_token"] <= row["high"] for row in found["curve"])
    corpora = [(row["part"], row["n_documents"], row["n_bytes"], row["n_tokens"]) for row in found["corpora"]]
    assert corpora == [("trained on", 2, 22, 15), ("held out", 2, 14, 11)]
    scripts = {row["class"]: (row["n_tokens"], row["n_used"], row["use_share"]) for row in found["scripts"]}
    assert scripts["Latin"] == (54, 3, pytest.approx(3 / 11))
    assert scripts["digits"] == (10, 2, pytest.approx(2 / 11))
    assert scripts["white space"][1:] == (2, pytest.approx(6 / 11))
    assert scripts["part of a character"] == (128, 0, 0)
    assert sum(row["n_tokens"] for row in found["scripts"]) == 258
    lengths = {row["class"]: (row["n_tokens"], row["n_used"]) for row in found["lengths"]}
    assert lengths == {"1": (256, 5), "2": (1, 1), "3": (1, 1)}
    learned, base = found["unused"]
    assert (learned["n_tokens"], learned["n_unused"], learned["n_never"]) == (2, 0, 0)
    assert (base["n_tokens"], base["n_unused"]) == (256, 251)
    assert base["n_unused"] - base["n_never"] == 3  # the bytes of д and а, which only the training text has


def test_the_tables_and_charts_say_the_same(report: Any, tmp_path: Path) -> None:
    shown = report("--out", str(tmp_path / "charts"))
    assert shown.status == 0
    for heading in ("Merges:", "Size:", "Corpora:", "Tokens by script", "Tokens by length", "Tokens that held-out"):
        assert heading in shown.out
    assert "1.27" in shown.out
    files = sorted(path.name for path in (tmp_path / "charts").iterdir())
    assert files == ["sizes-toy-dark.svg", "sizes-toy-light.svg"], "two merges are too few for a chart of them"
    assert all("<svg" in (tmp_path / "charts" / name).read_text() for name in files)


def test_a_model_that_cannot_be_cut_has_all_but_the_curve(bpebench: Any, folder: Path, hand_made: Any) -> None:
    path, text = folder / "ranks.json", str(folder / "held.txt")
    hand_made("a+b", "", alphabet="bytes", merge_rule="concatenation").save(path)
    ended = bpebench("vocab", str(path), "-c", text, "--held-out", text, "--json")
    assert "cannot be cut: it lists no merges" in ended.err
    found = json.loads(ended.out)["report"]
    assert "curve" not in found
    assert "merges" not in found
    assert found["unused"][0]["n_tokens"] == 1


def test_what_goes_with_a_corpus_is_refused_without_one(bpebench: Any, folder: Path) -> None:
    for arguments in (["--out", str(folder)], ["--held-out", str(folder / "held.txt")], ["--max-bytes", "9"]):
        ended = bpebench("vocab", "gpt2", *arguments)
        assert (ended.status, ended.out) == (2, "")
        assert "--held-out, --out and --max-bytes go with -c" in ended.err
