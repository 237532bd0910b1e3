"""Every format: a saved model is read back, and any error in a file is reported in one line."""

from __future__ import annotations

from pathlib import Path

import pytest
from refusals import refused
from wrong_files import problem

import impls
from impls import InvalidFile, Model, TrainingSpec
from impls.formats import PatternAssumed, load, save

FORMATS = ("bpebench", "tiktoken", "tokenizer.json")


@pytest.fixture(scope="module")
def trained() -> Model:
    texts = ["low lower lowest newer wider, İstanbul'da  \n\tnew <s>"] * 2
    spec = TrainingSpec(vocab_size=280, special_tokens=("<s>", "<|end|>"), base_order="gpt2")
    return impls.get("priority").train_model(texts, spec)


def read(path: Path, format: str) -> Model:
    return load(path, pattern="gpt2", special_tokens={}) if format == "tiktoken" else load(path)


@pytest.mark.parametrize("format", FORMATS)
def test_what_is_saved_is_read_again_and_saved_as_the_same_bytes(trained: Model, tmp_path: Path, format: str) -> None:
    path = tmp_path / "new" / "folders" / "model"
    save(trained, path, format)
    model = read(path, format)
    assert (model.tokens, model.pattern) == (trained.tokens, trained.pattern)
    ranks = Model(tokens=trained.tokens, pattern=trained.pattern, merge_rule="concatenation")
    expected = {"bpebench": trained, "tiktoken": ranks, "tokenizer.json": trained.with_(merge_counts=None)}
    assert model == expected[format]
    save(model, tmp_path / "again", format)
    assert (tmp_path / "again").read_bytes() == path.read_bytes()
    given = load(path, pattern="none", special_tokens={"<x>": 1000})
    assert (given.pattern, dict(given.special_tokens)) == ((), {"<x>": 1000})


@pytest.mark.parametrize("format", FORMATS)
def test_a_file_cut_short_is_refused_wherever_it_is_cut(trained: Model, tmp_path: Path, format: str) -> None:
    path = tmp_path / "model"
    save(trained, path, format)
    content = path.read_bytes()
    for cut in sorted({*range(0, len(content), 1 + len(content) // 100), *range(len(content) - 40, len(content))}):
        path.write_bytes(content[:cut])
        try:
            model = read(path, format)
        except InvalidFile as error:
            assert str(path) in str(error)  # noqa: PT017
            continue
        # Without its last lines a rank file is the rank file of a smaller vocabulary, and JSON stays JSON.
        whole_lines = format == "tiktoken" and content[:cut].endswith(b"\n") and cut > content.index(b" 255\n")
        assert whole_lines or content[cut:].isspace()
        assert model.tokens == trained.tokens[: len(model.tokens)]


@pytest.mark.parametrize(
    ("content", "wrong"),
    [
        (b"", "the file is empty"),
        (b" \n\n", "the file is empty"),
        (b'{"model": ' * 100_000, "nested too deeply"),
        (b'{"format": ' * 100_000, "nested too deeply"),
        (b'{"a": {"b": 1, "b": 2}}', "the key 'b' occurs twice"),
        (b'{"model": 1' + b"0" * 5000 + b"}", "a number is too long"),
        (b'{"a": "\xff"}', "line 1: not UTF-8 at byte 7"),
        (b"Merhaba\n", "not a vocabulary of a known format; as a rank file: line 1: expected a token in base64"),
        (b"[1, 2]", "not of a known format"),
        (b'{"config": {}}', "not of a known format"),
        (b'{"a": 1,\n "b" 2}', "line 2, column 6: not JSON"),
        (b"\n\x0e\n\x05<unk>\x15\0\0", "the model: a field of 14 bytes where 10 are left"),
        (b"#version: 0.2\na b\n", "codes of subword-nmt alone are not supported"),
        (b'{"a": 0, "b": 1}', "half of GPT-2's format"),
    ],
)
def test_what_is_no_model_is_reported(tmp_path: Path, content: bytes, wrong: str) -> None:
    assert wrong in problem(tmp_path / "some.file", content, pattern="gpt2")


def test_a_folder_may_hold_a_tokenizer_json(trained: Model, tmp_path: Path) -> None:
    assert "a folder without a model" in problem(tmp_path)
    save(trained, tmp_path / "tokenizer.json", "tokenizer.json")
    assert load(tmp_path).merges == trained.merges


def test_an_unknown_rank_file_is_read_with_gpt2s_pattern_and_a_warning(trained: Model, tmp_path: Path) -> None:
    save(trained, tmp_path / "ranks", "tiktoken")
    with pytest.warns(PatternAssumed, match="has no pattern"):
        model = load(tmp_path / "ranks")
    assert (model.pattern, dict(model.special_tokens)) == (trained.pattern, {})


def test_a_failed_save_leaves_the_old_file_and_nothing_else(trained: Model, tmp_path: Path) -> None:
    path = tmp_path / "model"
    save(trained, path, "tiktoken")
    before = path.read_bytes()
    characters = impls.get("priority").train_model(["abab"], TrainingSpec(vocab_size=3, alphabet="chars"))
    refused(impls.Unsupported, None, save, characters, path, "tiktoken")
    refused(impls.UnknownName, "known: bpebench, tiktoken", save, trained, path, "minbpe")
    assert path.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == ["model"]
