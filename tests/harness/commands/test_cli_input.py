"""Input of the verbs: standard input, byte order marks, numbers out of range. One line says what is wrong."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import impls
from impls import Model

BOM = b"\xef\xbb\xbf"


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of one model in every format that holds it."""
    from impls.formats import formats, save

    folder = tmp_path_factory.mktemp("models")
    spec = impls.TrainingSpec(vocab_size=260)
    model = impls.train("priority", ["hello hello world"], spec).model
    for format in formats():
        save(model, folder / format, format)
    return folder


def test_standard_input_is_evaluated_and_trained_on(bpebench: Any, tmp_path: Path) -> None:
    ended = bpebench("evaluate", "-m", "gpt2", "-c", "-", "--json", stdin="hello wörld\n\nagain".encode())
    (row,) = json.loads(ended.out)["rows"]
    assert (row["corpus"], row["n_documents"], row["n_bytes"]) == ("standard input", 2, 19)
    trained = bpebench("train", "-c", "-", "--vocab-size", "258", "--json", stdin=b"low lower lowest")
    assert json.loads(trained.out)["n_merges"] == 2


@pytest.mark.parametrize(
    ("content", "said"),
    [(b"", "standard input: holds no text"), (b"ab\xff", "standard input: not UTF-8 at byte 2 (0xFF)")],
)
@pytest.mark.parametrize("verb", [["evaluate", "-m", "gpt2"], ["train"]])
def test_standard_input_that_is_no_text_is_one_clear_line(
    bpebench: Any, verb: list[str], content: bytes, said: str
) -> None:
    ended = bpebench(*verb, "-c", "-", stdin=content)
    assert (ended.status, ended.out) == (2, "")
    assert said in ended.err


@pytest.mark.parametrize("verb", [["evaluate", "-c", "-"], ["encode", "-"], ["decode"]])
def test_a_closed_standard_input_is_one_clear_line(verb: list[str]) -> None:
    command = f"exec {sys.executable} -m harness {' '.join(verb)} -m gpt2 <&-"
    ended = subprocess.run(["sh", "-c", command], capture_output=True, text=True)
    assert ended.returncode == 2
    assert "standard input is closed; name a file, or pipe something in" in ended.stderr


def test_who_cannot_read_standard_input_says_what_to_do(bpebench: Any) -> None:
    ended = bpebench("check", "-m", "gpt2", "-c", "-", "-e", "naive|priority", stdin=b"text")
    assert ended.status == 2
    assert "save it to a file" in ended.err


def test_ids_that_are_not_utf8_name_the_byte(bpebench: Any) -> None:
    ended = bpebench("decode", "-m", "gpt2", stdin=b"31373 \xff")
    assert ended.status == 2
    assert "standard input: not UTF-8 at byte 6 (0xFF)" in ended.err
    assert bpebench("decode", "-m", "gpt2", stdin=BOM + b"31373").out == "hello\n"


@pytest.mark.parametrize("ids", ["1_0", "1,,2", "1, ,2", "+1", "-1", "\u0661", "1.0", "x", "9" * 5000])
def test_what_is_no_token_id_is_named(bpebench: Any, ids: str) -> None:
    for ended in (bpebench("decode", "-m", "gpt2", ids), bpebench("decode", "-m", "gpt2", stdin=ids.encode())):
        assert (ended.status, ended.out) == (2, "")
        assert "token id" in ended.err.splitlines()[-1]
    assert bpebench("decode", "-m", "gpt2", "[31373, 995]").out == "hello world\n"


@pytest.mark.parametrize(
    "arguments",
    [
        ["encode", "a\udcffb", "-m", "gpt2"], ["decode", "65", "\udcff", "-m", "gpt2"], ["trace", "naive", "é\udcff"],
        ["explain", "naive", "priority", "a\udcffb"], ["explain", "naive", "priority", "--escaped", "a\udcffb"],
        ["vocab", "gpt2", "--find", "a\udcff"], ["train", "--special", "<s>", "--special", "a\udcff"],
        ["train", "--special", "a\udcff"], ["play", "a\udcffb"],
    ],
    ids=ascii,
)  # fmt: skip
def test_an_argument_that_is_not_utf8_is_refused_as_a_file_is(bpebench: Any, arguments: list[str]) -> None:
    ended = bpebench(*arguments)
    assert (ended.status, ended.out) == (2, "")
    assert ended.err.count("not UTF-8 at byte") == 1
    assert "(0xFF); convert it to UTF-8 first" in ended.err


def test_a_byte_order_mark_is_no_part_of_a_text_and_is_mentioned(bpebench: Any, tmp_path: Path) -> None:
    file = tmp_path / "text.txt"
    file.write_bytes(BOM + b"hello")
    for ended in (
        bpebench("encode", f"@{file}", "-m", "gpt2"),
        bpebench("encode", "-", "-m", "gpt2", stdin=BOM + b"hello"),
    ):
        assert ended.out == "31373\n"
        assert "begins with a byte order mark, which is left out" in ended.err
    assert len(bpebench("encode", "\ufeffhello", "-m", "gpt2").out.split()) > 1


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no device that is always full")
@pytest.mark.parametrize(
    "arguments",
    [["convert", "gpt2", "/dev/full", "--to", "bpebench"], ["train", "--vocab-size", "258", "--out", "/dev/full"]],
)
def test_a_full_disk_is_one_clear_line(bpebench: Any, arguments: list[str]) -> None:
    corpus = ["-c", "samples/tr"] if arguments[0] == "train" else []
    ended = bpebench(*arguments, *corpus)
    assert ended.status == 2
    assert ended.err.splitlines()[-1].endswith("the disk is full; free some space, or write to another place")


@pytest.mark.filterwarnings("ignore:.*a rank file holds no pattern")
@pytest.mark.parametrize("name", ["bpebench", "tokenizer.json", "tiktoken"])
def test_a_byte_order_mark_before_a_model_changes_nothing(models: Path, tmp_path: Path, name: str) -> None:
    marked = tmp_path / name
    marked.write_bytes(BOM + (models / name).read_bytes())
    assert Model.load(marked) == Model.load(models / name)


@pytest.mark.parametrize(
    "arguments",
    [
        ["train", "--vocab-size", "0"], ["train", "--vocab-size", "-3"], ["train", "--min-count", "-1"],
        ["train", "--max-token-bytes", "0"], ["train", "--show", "-1"],
        ["train", "--max-bytes", "0"], ["evaluate", "-m", "gpt2", "--max-bytes", "-1"],
        ["evaluate", "-m", "gpt2", "-c", "gen/letters:0"],
        ["run", "--scale", "--rounds", "0"], ["run", "--scale", "--doublings", "-1"],
        ["run", "--scale", "--limit", "0"],
        ["run", "--scale", "--limit", "nan"], ["run", "--scale", "--limit", "inf"], ["vocab", "gpt2", "--show", "-1"],
        ["conform", "naive", "--check-seconds", "nan"], ["conform", "naive", "--check-seconds", "inf"],
        ["fuzz", "naive", "priority", "--time", "nan"],
        ["play", "abc", "--limit", "nan"],
        ["sweep", "--price", "1e400"],
    ],
    ids="-".join,
)  # fmt: skip
def test_a_number_out_of_range_is_one_clear_line(bpebench: Any, arguments: list[str]) -> None:
    ended = bpebench(*arguments)
    assert (ended.status, ended.out) == (2, "")
    assert arguments[-1].removeprefix("gen/letters:") in ended.err.splitlines()[-1] or "number" in ended.err


def test_a_size_may_have_a_unit(bpebench: Any) -> None:
    document = json.loads(
        bpebench("train", "-c", "samples", "--vocab-size", "0.3k", "--max-bytes", "10kB", "--json").out
    )
    assert document["vocab_size"] == 300
    assert 5_000 < document["n_bytes"] <= 10_000
