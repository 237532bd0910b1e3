"""`bpebench train` goes on from a vocabulary, learns superwords, and trains with parity between languages."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import impls
from harness.data import load_corpus
from harness.training.ends import spec_like
from impls import Model, TrainingSpec

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


@pytest.mark.parametrize("implementation", ["naive", "compiled"])
def test_what_no_option_says_is_taken_from_the_vocabulary(
    bpebench: Any, text: str, begun: str, tmp_path: Path, implementation: str
) -> None:
    command = ["train", "-c", text, "--extend", begun, "--vocab-size", "15", "-e", implementation]
    shown = json.loads(bpebench(*command, "--out", str(tmp_path / "on.json"), "--json", "--show", "2").out)
    first, model = Model.load(begun), Model.load(tmp_path / "on.json")
    assert model.merges[: len(first.merges)] == first.merges
    for field in ("pattern", "alphabet", "end_of_word", "special_tokens", "unknown", "unknown_id"):
        assert getattr(model, field) == getattr(first, field), field
    assert (shown["extended"], shown["n_kept_merges"], shown["superword_from"]) == (begun, len(first.merges), None)
    assert (shown["n_merges"], shown["vocab_size"]) == (len(first.merges) + 3, first.vocab_size + 3) == (
        len(model.merges), 15,
    )  # fmt: skip
    assert [row["id"] for row in shown["first_tokens"]] == [12, 13]
    assert shown["plateau_merge"] is None
    said = bpebench(*command).out
    assert f"{len(model.merges)} merges, {len(first.merges)} of them kept, 15 ids" in said


def test_a_vocabulary_that_cannot_be_extended_is_refused_before_anything_is_counted(
    bpebench: Any, text: str, tmp_path: Path
) -> None:
    model = Model(tokens=(b"a", b"b"), merges=(), alphabet="chars", normalization="nfc")
    model.save(tmp_path / "other.json")
    command = ["train", "-c", text, "--extend", str(tmp_path / "other.json"), "--vocab-size", "20"]
    ended = bpebench(*command, "--out", str(tmp_path / "on.json"))
    assert (ended.status, "cannot go on from this model" in ended.err) == (2, True), ended.err
    assert {path.name for path in tmp_path.iterdir()} == {"text.txt", "other.json"}


def test_options_that_are_given_hold(bpebench: Any, text: str, begun: str, tmp_path: Path) -> None:
    out = tmp_path / "on.json"
    command = ["train", "-c", text, "--extend", begun, "--vocab-size", "15", "--pattern", "gpt2", "--special", "<pad>"]
    assert bpebench(*command, "--unknown", "<unk>", "--out", str(out)).status == 0
    model = Model.load(out)
    assert model.pattern == impls.core.text.patterns.NAMED["gpt2"]
    assert (dict(model.special_tokens), model.unknown, model.unknown_id) == ({"<pad>": 13}, "<unk>", 14)


def test_superwords(bpebench: Any, text: str, tmp_path: Path) -> None:
    command = ["train", "-c", text, "--vocab-size", "280", "--pattern", "cl100k", "--superword-from", "266"]
    shown = json.loads(bpebench(*command, "--out", str(tmp_path / "super.json"), "--json").out)
    model = Model.load(tmp_path / "super.json")
    assert shown["superword_from"] == 266
    assert shown["why_short"] is None
    assert model.pattern == impls.core.text.patterns.NAMED["superword"]
    spec = TrainingSpec(vocab_size=280, pattern="cl100k")
    assert model == impls.registry.learn("naive", load_corpus(text).documents(), spec, superword_from=266)
    ended = bpebench(*command, "--superword-pattern", "none", "--out", str(tmp_path / "none.json"))
    assert ended.status == 0
    assert Model.load(tmp_path / "none.json").pattern == ()


def test_parity_between_languages(bpebench: Any, text: str, tmp_path: Path) -> None:
    for name, content in (("tr", "ev evler evlerim\n\nevde"), ("dev-tr", "evler\n\nevde"), ("dev-en", "way\n\nby")):
        (tmp_path / f"{name}.txt").write_text(content, encoding="utf-8")
    command = ["train", "--parity", f"en={text}", "--parity", f"tr={tmp_path}/tr.txt", "--vocab-size", "266"]
    dev = ["--parity-dev", f"tr={tmp_path}/dev-tr.txt", "--parity-dev", f"en={tmp_path}/dev-en.txt"]
    texts = {"en": [*load_corpus(text).documents()], "tr": [*load_corpus(tmp_path / "tr.txt").documents()]}
    held_out = {name: [*load_corpus(tmp_path / f"dev-{name}.txt").documents()] for name in ("en", "tr")}
    spec = TrainingSpec(vocab_size=266)
    for options, parallel in (([], None), (dev, held_out)):
        out = tmp_path / "out.json"
        shown = json.loads(bpebench(*command, *options, "--out", str(out), "--json").out)
        assert Model.load(out) == impls.train_parity_aware(texts, spec, dev=parallel)
        assert (shown["implementation"], shown["parity"]) == ("priority", command[2:5:2])
        assert shown["corpora"] == [text, f"{tmp_path}/tr.txt"]
        assert shown["n_bytes"] == sum(len(one) for its_texts in texts.values() for one in its_texts)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--parity", "tr"], "--parity: 'tr' is not NAME=CORPUS"),
        (["--parity", "tr=TEXT", "--parity", "tr=TEXT"], "--parity: 'tr' has two corpora"),
        (["--parity", "tr=TEXT", "-c", "TEXT"], "--corpus does not go with --parity, which `priority` trains"),
        (["--parity", "tr=TEXT", "-e", "naive"], "--implementation does not go with --parity"),
        (["--parity", "tr=TEXT", "--superword-from", "260"], "--superword-from does not go with --parity"),
        (["--parity-dev", "tr=TEXT"], "--parity-dev goes with --parity"),
        (["--parity", "tr=TEXT", "--parity-dev", "en=TEXT"], "dev texts of en do not go with texts of tr"),
    ],
)
def test_languages_that_do_not_go_together_get_one_line(
    bpebench: Any, text: str, arguments: list[str], message: str
) -> None:
    ended = bpebench("train", *(argument.replace("TEXT", text) for argument in arguments))
    assert (ended.status, ended.out) == (2, "")
    assert message in ended.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--superword-pattern", "none"], "--superword-pattern goes with --superword-from"),
        (["--superword-from", "300", "--vocab-size", "299"], "299 is below the 300 ids that superwords follow"),
        (["--superword-from", "0"], "0 is not in the range"),
        (["--superword-from", "258", "-e", "tokenizers"], "tokenizers: does not go on from a model"),
        (
            ["--extend", "BEGUN", "-e", "greedy", "--vocab-size", "40"],
            "greedy: does not go on from a given model; naive, priority, wordcount and compiled do",
        ),
        (["--extend", "BEGUN", "--vocab-size", "11"], "11 is below the 12 ids that there are already"),
        (["--extend", "BEGUN", "--alphabet", "bytes"], "end_of_word"),
        (["--extend", "no-such-model"], "no-such-model"),
    ],
)
def test_what_does_not_go_together_gets_one_line(
    bpebench: Any, text: str, begun: str, arguments: list[str], message: str
) -> None:
    ended = bpebench("train", "-c", text, *(begun if argument == "BEGUN" else argument for argument in arguments))
    assert ended.status == 2
    assert message in ended.err
    assert ended.out == ""


@pytest.mark.parametrize(("pattern", "named"), [((), "none"), (("a|[^a]",), "a|[^a]"), (("a|[^a]", "b|[^b]"), None)])
def test_a_pattern_of_several_stages_must_be_given(pattern: tuple[str, ...], named: str | None) -> None:
    model = Model(tokens=tuple(bytes([byte]) for byte in range(256)), pattern=pattern)
    fields = {"vocab_size": 300, "pattern": "gpt2", "alphabet": "bytes", "end_of_word": None}
    assert spec_like(model, fields, {"pattern"}).pattern == "gpt2"
    if named is None:
        with pytest.raises(impls.InvalidSpec, match=r"pattern: that of the model has 2 stages; give one"):
            spec_like(model, fields, ())
    else:
        assert spec_like(model, fields, ()).pattern == named
