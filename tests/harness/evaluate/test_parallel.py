"""Parallel text: premiums, Gini coefficients, and files that are not parallel."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from harness.data import DataError
from harness.evaluate.parallel import gini, language_of, parallel_texts
from harness.evaluate.parallel_files import lines


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    """Three languages, of 1, 2 and 3 bytes where the first has one."""
    texts = {"aa.txt": "ab\ncdef\n", "text.bb": "aabb\nccddeeff", "cc.txt": "\ufeffaaabbb\r\ncccdddeeefff\r\n"}
    for name, text in texts.items():
        (tmp_path / name).write_bytes(text.encode())
    return [str(tmp_path / name) for name in texts]


@pytest.fixture
def letters(tmp_path: Path, hand_made: Any) -> str:
    """A vocabulary of single bytes."""
    hand_made("", alphabet="bytes").save(tmp_path / "letters.json")
    return str(tmp_path / "letters.json")


def arguments(names: list[str]) -> list[str]:
    return [argument for name in names for argument in ("-c", name)]


def test_premiums_and_gini_counted_by_hand(bpebench: Any, files: list[str], letters: str) -> None:
    ended = bpebench("evaluate", "-m", letters, *arguments(files), "--parallel", "--json")
    assert ended.status == 0, ended.err
    rows = json.loads(ended.out)["rows"]
    assert [(row["language"], row["n_tokens"], row["premium"]) for row in rows] == [
        ("aa", 6, 1), ("bb", 12, 2), ("cc", 18, 3),
    ]  # fmt: skip
    # Pairs of 6, 12 and 18 differ by 6, 12 and 6, each twice: 48 / (2 * 9 * 12).
    assert [row["gini"] for row in rows] == pytest.approx([48 / 216] * 3)
    assert {(row["pivot"], row["worst_language"], row["best_language"]) for row in rows} == {("aa", "cc", "aa")}
    assert rows[1]["intervals"]["premium"] == pytest.approx([2, 2])  # every document is twice as long
    shown = bpebench("evaluate", "-m", letters, *arguments(files), "--parallel").out
    assert "worst cc, best aa; premiums against aa" in shown
    latex = bpebench("evaluate", "-m", letters, "-m", "gpt2", *arguments(files), "--parallel", "--latex").out
    lines_of_cells = [line for line in latex.splitlines() if line.endswith(r"\\")]
    assert len(lines_of_cells) == 8
    assert {line.count("&") for line in lines_of_cells} == {5}
    assert "gpt2: Gini" in latex


def test_a_tsv_file_says_the_same_as_a_file_for_each_language(
    bpebench: Any, files: list[str], letters: str, tmp_path: Path
) -> None:
    tsv = tmp_path / "all.tsv"
    tsv.write_text("aa\tbb\tcc\nab\taabb\taaabbb\ncdef\tccddeeff\tcccdddeeefff\n")
    found = []
    for names in ([str(tsv)], files):
        ended = bpebench("evaluate", "-m", letters, *arguments(names), "--parallel", "--json")
        found.append([row | {"corpus": "", "megabytes_per_second": 0} for row in json.loads(ended.out)["rows"]])
    assert found[0] == found[1]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"one\n", "aa.txt has 2 lines and"),
        (b"one\n\ntwo\n", "line 2 is empty"),
        (b"one\n \n", "line 2 is empty"),
        (b"one\n\xff\n", "line 2 is not UTF-8"),
        ("one\ntwo\n".encode("utf-16"), "line 1 is not UTF-8"),
        (b"", "text.bb has 0;"),
    ],
)
def test_files_that_are_not_parallel_are_one_clear_line(
    bpebench: Any, files: list[str], letters: str, content: bytes, said: str
) -> None:
    Path(files[1]).write_bytes(content)
    ended = bpebench("evaluate", "-m", letters, *arguments(files), "--parallel")
    assert (ended.status, ended.out) == (2, "")
    assert said in ended.err.splitlines()[-1]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("aa\tbb\nx\n", "line 2 has 1 cells; the first line names 2"),
        ("aa\tbb\nx\t\n", "line 2: the cell of 'bb' is empty"),
        ("aa\nx\n", "must name two languages or more"),
        ("aa\taa\nx\ty\n", "'aa' is there twice"),
        ("aa\tbb\n", "holds no text"),
        ("", "must name two languages or more"),
    ],
)
def test_a_tsv_file_that_is_not_parallel_is_one_clear_line(
    bpebench: Any, letters: str, tmp_path: Path, content: str, said: str
) -> None:
    (tmp_path / "all.tsv").write_text(content)
    ended = bpebench("evaluate", "-m", letters, "-c", str(tmp_path / "all.tsv"), "--parallel")
    assert (ended.status, ended.out) == (2, "")
    assert said in ended.err.splitlines()[-1]


def test_what_is_no_parallel_text_is_refused(bpebench: Any, files: list[str], letters: str) -> None:
    for corpora, more, said in (
        (["samples/tr", "samples/en"], [], "not parallel text"),
        (["turkish"], [], "not parallel text"),
        (files[:1], [], "is one language"),
        (files, ["--split", "train"], "are not split"),
        (files, ["--max-bytes", "9"], "--max-bytes would part parallel text"),
        ([files[0], files[0]], [], "is one language"),
    ):
        ended = bpebench("evaluate", "-m", letters, *arguments(corpora), "--parallel", *more)
        assert (ended.status, ended.out) == (2, "")
        assert said in ended.err.splitlines()[-1]


def test_the_parts_of_the_parallel_corpus_are_its_languages() -> None:
    texts = parallel_texts(["parallel"], "held-out")
    assert len(texts) == 18
    assert {text.language for text in texts} >= {"en", "tr", "he", "ru"}
    assert {len(list(text.documents())) for text in texts[:3]} == {len(list(texts[0].documents()))}
    assert [text.language for text in parallel_texts(["parallel/tr", "parallel/en"])] == ["tr", "en"]
    with pytest.raises(DataError, match="twice"):
        parallel_texts(["parallel", "parallel/en"])


def test_language_is_that_of_a_corpus_of_the_suite() -> None:
    names = ("turkish", "parallel/he", "samples/tr", "samples/emoji", "code", "samples", "./turkish", "gen/tabs")
    assert [language_of(name) for name in names] == ["tr", "he", "tr", None, None, None, None, None]


@pytest.mark.parametrize(("totals", "found"), [([5, 5, 5], 0), ([0, 1], 0.5), ([1, 2, 3, 4], 0.25), ([0, 0, 1], 2 / 3)])
def test_gini_of_small_numbers(totals: list[int], found: float) -> None:
    assert gini(np.array([totals])).tolist() == [pytest.approx(found)]


def test_lines_end_in_line_feeds_only(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes("a\u2028b\x0bc\r\nd\re".encode())
    assert list(lines(tmp_path / "x")) == ["a\u2028b\x0bc", "d\re"]
