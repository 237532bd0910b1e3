"""What each verb is for: text to ids and back, models made, shown and converted, checks and growth recorded."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import impls
from impls.core.text.patterns import NAMED


def test_encode_then_decode_gives_back_the_text(bpebench: Any, model_file: Path, tmp_path: Path) -> None:
    model = ("-m", str(model_file))
    ids = bpebench("encode", "hello world", *model).out
    assert bpebench("decode", *ids.split(), *model).out == "hello world\n"
    assert bpebench("decode", *model, stdin=ids.encode()).out == "hello world\n"
    document = json.loads(bpebench("encode", "hello", *model, "--json").out)
    assert "".join(document["tokens"]) == "hello"
    assert r"b'\xc3'" in bpebench("encode", "hello é", *model, "--pieces").out
    assert len(bpebench("encode", "a<s>b", *model, "--allow-special").out.split()) == 3
    assert len(bpebench("encode", "a<s>b", *model, "--special-as-text").out.split()) > 3
    (tmp_path / "bytewise.py").write_text(
        "class Bytewise:\n"
        "    def __init__(self, model): self.model = model\n"
        "    def encode(self, text): return [self.model.id_by_token[bytes([byte])] for byte in text.encode()]\n"
        "    def decode(self, ids): return b''.join(self.model.tokens[i] for i in ids).decode()\n"
    )
    target = ("-e", str(tmp_path / "bytewise.py"), *model)
    assert bpebench("encode", "hi", *target).out.split() == ["104", "105"]
    assert bpebench("decode", "104", "105", *target).out == "hi\n"
    assert bpebench("trace", "^pri", "hi", *model).out.startswith("priority")


def test_train_shows_the_first_tokens_and_keeps_the_model(bpebench: Any, own_cache: Path) -> None:
    ended = bpebench("train", "-c", "samples/tr", "--vocab-size", "300", "--name", "mine", "--show", "5")
    assert (ended.status, "44 merges" in ended.out) == (0, True)
    assert "mine" in bpebench("list", "models").out
    about = json.loads(bpebench("vocab", "mine", "--json", "--show", "2", "--find", "de").out)
    assert (about["ids"], len(about["tokens"]) > 2) == (300, True)
    given = ("train", "-c", "samples", "--vocab-size", "0.3k", "--max-bytes", "10kB", "--show", "3", "--json")
    shown = json.loads(bpebench(*given).out)
    assert (shown["vocab_size"], 5_000 < shown["n_bytes"] <= 10_000) == (300, True)
    counts = [token["count"] for token in shown["first_tokens"]]
    assert counts == sorted(counts, reverse=True)
    piped = bpebench("train", "-c", "-", "--vocab-size", "258", "--json", stdin=b"low lower lowest")
    assert json.loads(piped.out)["n_merges"] == 2


def test_convert_says_what_is_lost_and_takes_a_pattern(bpebench: Any, model_file: Path, tmp_path: Path) -> None:
    ranks, made = tmp_path / "ranks.tiktoken", tmp_path / "made.json"
    ended = bpebench("convert", str(model_file), str(ranks), "--to", "tiktoken")
    assert (ended.status, "lost:" in ended.err) == (0, True)
    assert bpebench("convert", str(model_file), str(made), "--to", "tiktoken", "--strict").status == 1
    assert not made.exists()
    ended = bpebench("convert", str(ranks), str(made), "--to", "bpebench", "--pattern", "qwen")
    assert (ended.status, ended.err) == (0, "")
    assert impls.Model.load(made).pattern == NAMED["qwen"]


def test_list_shows_all_names_on_one_screen_and_each_section_in_full(bpebench: Any) -> None:
    shown, sections = bpebench("list").out.splitlines(), json.loads(bpebench("list", "--json").out)
    assert (max(map(len, shown)) <= 100, len(shown) <= 24) == (True, True)
    for section, rows in sections.items():
        assert any(line.startswith(f"{section} ({len(rows)}): ") for line in shown)
        full = bpebench("list", section).out
        assert max(map(len, full.splitlines())) <= 100
        assert all(row["name"] in full and all(word in full for word in row.get("about", "").split()) for row in rows)
    assert "gpt2" in {row["name"] for row in sections["models"]}


def described(folder: Path) -> dict[str, Any]:
    """Return the facts beside the records of a folder, which name no path of this machine."""
    content = (folder / "machine.json").read_text("utf-8")
    assert str(folder.resolve().parent) not in content
    facts: dict[str, Any] = json.loads(content)
    assert {"command", "date", "cpu", "packages", "unicode", "suite", "load_before", "load_after"} <= set(facts)
    return facts


def test_scaling_is_recorded_with_what_it_was_made_on(
    bpebench: Any, model_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("harness.progress._SECONDS_BETWEEN_LINES", 0.0)
    folder = tmp_path / "run"
    command = ["run", "--scale", "-m", str(model_file), "-e", "^wordcount$", "--family", "digits", "--doublings", "5"]
    command += ["--rounds", "1", "--out", str(folder)]
    measured = bpebench(*command, "--json")
    (curve,) = json.loads(measured.out)["curves"]
    assert (curve["implementation"], "scaling 100 %" in measured.err) == ("wordcount", True)
    machine = described(folder)
    assert (machine["resumed"], "gen/digits:1024" in machine["digests"]["corpora"]) == (0, True)
    assert machine["unicode"]["wordcount"]
    assert "Scaling" in bpebench("report", str(folder)).out
    assert bpebench(*command).status == 2
    assert bpebench(*command, "--resume").status == 0
    again = described(folder)
    assert (again["resumed"], again["load_before"]) == (1, machine["load_before"])


def test_a_check_records_names_and_no_paths(bpebench: Any, model_file: Path, tmp_path: Path) -> None:
    private, folder = tmp_path / "alice smith", tmp_path / "run"
    private.mkdir()
    (private / "mine.json").write_bytes(model_file.read_bytes())
    (private / "tr.txt").write_text("evler ve kitaplar\n", encoding="utf-8")
    command = ["check", "-m", f"{private}/mine.json", "-c", f"{private}/tr.txt", "-e", "priority|wordcount"]
    ended = bpebench(*command, "--out", str(folder))
    assert (ended.status, "all pairs that must agree do" in ended.out) == (0, True)
    assert "already holds records" in bpebench(*command, "--out", str(folder)).err
    assert "alice" not in "".join(file.read_text("utf-8") for file in folder.iterdir())
    digests = described(folder)["digests"]
    assert (set(digests["models"]), set(digests["corpora"])) == ({"mine"}, {"tr.txt"})
    assert "priority" in bpebench("report", str(folder)).out
    nothing = bpebench("check", "-e", "^sentencepiece$", "-m", str(model_file), "-c", f"{private}/tr.txt")
    assert (nothing.status, "nothing was" in nothing.out) == (1, True)
