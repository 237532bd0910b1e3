"""The verb evaluate: its documents, tables, prices, marks and files."""

from __future__ import annotations

import csv
import io
import json
import re
from pathlib import Path
from typing import Any

import pytest

import impls

_KEYS = (
    *("model", "corpus", "language", "n_documents", "n_bytes", "n_characters", "n_words", "n_tokens"),
    *("bytes_per_token", "characters_per_token", "tokens_per_document_p95", "fertility", "continued_word_share"),
    *("round_trip", "cost"),
)


@pytest.fixture
def text_file(tmp_path: Path) -> Path:
    file = tmp_path / "text_1 & 50%.txt"
    file.write_text("Hello, world\n\nagain hello\n\nand on\n")
    return file


@pytest.fixture
def lossy(tmp_path: Path) -> str:
    """A vocabulary of one token for every character, which would win the comparison."""
    model = impls.Model(tokens=(b"[UNK]",), unknown="[UNK]", unknown_id=0, alphabet="chars")
    model.save(tmp_path / "lossy.json")
    return str(tmp_path / "lossy.json")


def test_a_row_has_every_key_and_each_figure_lies_in_its_interval(bpebench: Any, text_file: Path) -> None:
    ended = bpebench("evaluate", "-m", "gpt2", "-c", str(text_file), "-c", "samples/tr", "--json")
    rows = json.loads(ended.out)["rows"]
    assert len(rows) == 2
    for row in rows:
        assert set(_KEYS) <= set(row)
        assert len(row["intervals"]) > 5
        for name, (low, high) in row["intervals"].items():
            assert low is None or low <= row[name]
            assert high is None or row[name] <= high
    assert [row["language"] for row in rows] == [None, "tr"]


def test_lossy_vocabularies_are_marked_not_ranked(bpebench: Any, hand_made: Any, lossy: str, tmp_path: Path) -> None:
    hand_made("", alphabet="bytes").save(tmp_path / "letters.json")
    (tmp_path / "text.txt").write_text("日本語を話す\n\nはい\n")
    letters = str(tmp_path / "letters.json")
    command = ["evaluate", "-m", lossy, "-m", letters, "-m", "gpt2", "-c", str(tmp_path / "text.txt")]
    rows = json.loads(bpebench(*command, "--json").out)["rows"]
    assert min(rows, key=lambda row: row["n_tokens"])["model"] == lossy
    assert [(row["model"], row["round_trip"], row["rank"]) for row in rows] == [
        (lossy, "lossy", None), (letters, "exact", 2), ("gpt2", "exact", 1),
    ]  # fmt: skip
    shown = bpebench(*command).out
    starts = (lossy, letters, "gpt2")
    listed = [line.split()[0] for line in shown.splitlines() if line.startswith(starts) and " take" not in line]
    assert listed == ["gpt2", letters, lossy]
    assert f"{lossy} (lossy)" in shown
    assert "not ranked" in shown
    assert "(lossy)" in bpebench(*command, "--latex").out
    assert [line["rank"] for line in csv.DictReader(io.StringIO(bpebench(*command, "--csv").out))] == ["", "2", "1"]


@pytest.mark.parametrize(
    ("command", "n_tables"),
    [
        ("evaluate -m gpt2 -m o200k_base -c TEXT --price gpt2=2", 1),
        ("evaluate -m LOSSY -m gpt2 --morphology tr", 2),
        ("evaluate -m gpt2 -m LOSSY --parallel --language tr --language en", 2),
        ("sweep -c parallel/tr --vocab-sizes 260..300 --fractions 50%,100% -m gpt2", None),
    ],
)
def test_csv_says_what_json_says_and_latex_parses(
    bpebench: Any, text_file: Path, lossy: str, command: str, n_tables: int | None
) -> None:
    given = [{"TEXT": str(text_file), "LOSSY": lossy}.get(part, part) for part in command.split()]
    rows = json.loads(bpebench(*given, "--json").out)["rows"]
    table = list(csv.DictReader(io.StringIO(bpebench(*given, "--csv").out)))
    for row, line in zip(rows, table, strict=True):
        bounds = row["intervals"].items()
        values = row | {f"{name}_{end}": pair[i] for name, pair in bounds for i, end in enumerate(("low", "high"))}
        shown = {name: values.get(name) for name in line}
        assert line == {name: "" if value is None else str(value) for name, value in shown.items()}
        assert {*row} - {*line} <= {"intervals"}
    if n_tables:
        latex = bpebench(*given, "--latex").out
        tables = re.findall(r"\\begin\{tabular\}\{(\w+)\}(.*?)\\end\{tabular\}", latex, re.DOTALL)
        assert len(tables) == latex.count("tabular") / 2 == n_tables
        for columns, body in tables:
            lines = [line for line in body.splitlines() if line.endswith(r"\\")]
            assert len(lines) > 1
            assert {len(re.findall(r"(?<!\\)&", line)) for line in lines} == {len(columns) - 1}


def test_tokens_are_compared_with_the_fewest_by_document(bpebench: Any, text_file: Path, tmp_path: Path) -> None:
    command = ["evaluate", "-m", "gpt2", "-m", "o200k_base", "-c", "samples/tr"]
    gpt2, o200k = json.loads(bpebench(*command, "--json").out)["rows"]
    assert o200k["tokens_over_fewest"] == 1
    assert gpt2["tokens_over_fewest"] == gpt2["n_tokens"] / o200k["n_tokens"]
    low, high = gpt2["intervals"]["tokens_over_fewest"]
    assert 1 < low < gpt2["tokens_over_fewest"] < high
    shown = bpebench(*command).out.strip().splitlines()
    fewer = 100 * (1 - o200k["n_tokens"] / gpt2["n_tokens"])
    assert shown[-1].startswith(f"o200k_base takes {fewer:.1f} % fewer tokens than gpt2 (95 % ")
    (tmp_path / "alike.txt").write_text("ab\n\nthe the\n\n1 2 3\n")
    shown = bpebench("evaluate", "-m", "gpt2", "-m", "r50k_base", "-c", str(tmp_path / "alike.txt")).out
    assert "gpt2 and r50k_base take about as many tokens" in shown


def test_prices_and_a_single_document_without_intervals(bpebench: Any, text_file: Path, tmp_path: Path) -> None:
    command = ["evaluate", "-m", "gpt2", "-m", "o200k_base", "-c", str(text_file), "--price"]
    rows = json.loads(bpebench(*command, "gpt2=2", "--json").out)["rows"]
    assert [row["rank"] for row in rows] == [1, 1]
    assert [row["cost"] for row in rows] == [rows[0]["n_tokens"] * 2 / 1e6, None]
    assert "Cost: of this text, in the currency of the price" in bpebench(*command, "gpt2=2").out
    assert r"o200k\_base" in bpebench(*command, "gpt2=2", "--latex").out
    (tmp_path / "one.txt").write_text("one document")
    ended = bpebench("evaluate", "-m", "gpt2", "-c", str(tmp_path / "one.txt"), "--json")
    assert json.loads(ended.out)["rows"][0]["intervals"] == {}
    assert "± ?" in bpebench("evaluate", "-m", "gpt2", "-c", str(tmp_path / "one.txt")).out
