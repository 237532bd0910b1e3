"""Every format: a saved model is read back, and any error in a file is reported in one line."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

import impls
from impls import InvalidFile, Model, TrainingSpec
from impls.formats import PatternAssumed, formats, load, save

FILES = {
    "bpebench": ["model"],
    "tiktoken": ["model"],
    "tokenizer.json": ["model"],
    "gpt2": ["encoder.json", "vocab.bpe"],
}


@pytest.fixture(scope="module")
def trained() -> Model:
    texts = ["low lower lowest newer wider, İstanbul'da  \n\tnew <s>"] * 2
    spec = TrainingSpec(vocab_size=280, special_tokens=("<s>", "<|end|>"), base_order="gpt2")
    return impls.get("priority").train_model(texts, spec)


def saved(model: Model, folder: Path, format: str) -> Path:
    """The file of the model (the folder, for GPT-2's pair)."""
    path = folder / ("pair" if format == "gpt2" else "model")
    save(model, path, format)
    return path


def read(path: Path, format: str) -> Model:
    return load(path, pattern="gpt2", special_tokens={}) if format == "tiktoken" else load(path)


@pytest.mark.parametrize("format", FILES)
def test_what_is_saved_is_read_again(trained: Model, tmp_path: Path, format: str) -> None:
    again = read(saved(trained, tmp_path, format), format)
    assert (again.tokens, again.pattern) == (trained.tokens, trained.pattern)
    if format == "tiktoken":
        assert again.merge_rule == "concatenation"
    else:
        assert again.merges == trained.merges
        assert again.special_tokens == trained.special_tokens
    if format == "bpebench":
        assert again == trained
        assert again.digest == trained.digest


@pytest.mark.parametrize("format", FILES)
def test_saving_what_was_read_gives_the_same_bytes(trained: Model, tmp_path: Path, format: str) -> None:
    first = saved(trained, tmp_path / "first", format)
    second = saved(read(first, format), tmp_path / "second", format)
    for name in FILES[format]:
        one, other = (path / name if path.is_dir() else path for path in (first, second))
        assert one.read_bytes() == other.read_bytes()


def test_all_formats_are_tested_here_or_with_their_families() -> None:
    assert set(formats()) == {*FILES, "minbpe", "sentencepiece", "subword-nmt"}


@pytest.mark.parametrize("format", FILES)
def test_a_file_cut_short_is_refused_wherever_it_is_cut(trained: Model, tmp_path: Path, format: str) -> None:
    path = saved(trained, tmp_path, format)
    for name in FILES[format]:
        file = path / name if path.is_dir() else path
        content = file.read_bytes()
        cuts = {*range(0, len(content), 1 + len(content) // 150), *range(len(content) - 80, len(content))}
        for cut in sorted(cuts):
            file.write_bytes(content[:cut])
            try:
                model = read(path, format)
            except InvalidFile as error:
                assert str(file) in str(error)  # noqa: PT017
                continue
            # Without its last lines a rank file is the rank file of a smaller vocabulary, and JSON stays JSON.
            whole_lines = format == "tiktoken" and content[:cut].endswith(b"\n") and cut > content.index(b" 255\n")
            assert whole_lines or content[cut:].isspace()
            assert model.tokens == trained.tokens[: len(model.tokens)]
        file.write_bytes(content)


def on_bytes(change: Callable[[bytes], bytes]) -> Callable[[Path], None]:
    def apply(path: Path) -> None:
        path.write_bytes(change(path.read_bytes()))

    return apply


DAMAGE: dict[str, tuple[Callable[[Path], None], str]] = {
    "empty": (on_bytes(lambda _: b""), "the file is empty"),
    "blank": (on_bytes(lambda _: b" \n\n"), "the file is empty"),
    "missing": (lambda path: path.unlink(), "no such file"),
    "folder": (lambda path: (path.unlink(), path.mkdir())[0], "a folder without a model"),
    "zeros": (on_bytes(lambda content: b"\0" * len(content)), ""),
    "utf-16": (on_bytes(lambda content: content.decode().encode("utf-16")), ""),
}


@pytest.mark.parametrize("damage", DAMAGE)
@pytest.mark.parametrize("format", ["bpebench", "tiktoken", "tokenizer.json"])
def test_damage_is_reported_with_the_path(trained: Model, tmp_path: Path, format: str, damage: str) -> None:
    path = saved(trained, tmp_path, format)
    change, problem = DAMAGE[damage]
    change(path)
    with pytest.raises(InvalidFile) as caught:
        read(path, format)
    assert str(caught.value).startswith(f"{path}: ")
    assert problem in str(caught.value)
    assert "\n" not in str(caught.value)


def problem_with(content: bytes, folder: Path) -> str:
    path = folder / "some.file"
    path.write_bytes(content)
    with pytest.raises(InvalidFile) as caught:
        load(path, pattern="gpt2")
    return caught.value.problem


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b'{"model": ' * 100_000, "nested too deeply"),
        (b'{"format": ' * 100_000, "nested too deeply"),
        (b"[" * 100_000, "nested too deeply"),
        (b'{"a": {"b": 1, "b": 2}}', "the key 'b' occurs twice"),
        (b'{"model": 1' + b"0" * 5000 + b"}", "a number is too long"),
        (b'{"a": "\xff"}', "line 1: not UTF-8 at byte 7"),
        (b"[1, 2]", "no format known here"),
        (b'{"config": {}}', "no format known here"),
        (b'{"a": 1,\n "b" 2}', "line 2, column 6: not JSON"),
        (b"\n\x0e\n\x05<unk>\x15\0\0", "the model: a field of 14 bytes where 10 are left"),
        (b"#version: 0.2\na b\n", "half of GPT-2's format"),
        (b'{"a": 0, "b": 1}', "half of GPT-2's format"),
    ],
)
def test_what_is_no_model_is_reported(tmp_path: Path, content: bytes, problem: str) -> None:
    assert problem in problem_with(content, tmp_path)


def test_a_folder_may_hold_a_tokenizer_json(trained: Model, tmp_path: Path) -> None:
    save(trained, tmp_path / "tokenizer.json", "tokenizer.json")
    assert load(tmp_path).merges == trained.merges


def test_pattern_and_special_tokens_that_are_given_take_the_place_of_the_files_own(
    trained: Model, tmp_path: Path
) -> None:
    for format in FILES:
        path = saved(trained, tmp_path / format, format)
        model = load(path, pattern="none", special_tokens={"<x>": 1000})
        assert (model.pattern, dict(model.special_tokens)) == ((), {"<x>": 1000})


def test_an_unknown_rank_file_is_read_with_gpt2s_pattern_and_a_warning(trained: Model, tmp_path: Path) -> None:
    path = saved(trained, tmp_path, "tiktoken")
    with pytest.warns(PatternAssumed, match="holds no pattern"):
        model = load(path)
    assert model.pattern == trained.pattern
    assert not model.special_tokens


def test_an_unknown_format_is_reported_with_those_there_are(trained: Model, tmp_path: Path) -> None:
    with pytest.raises(impls.UnknownName, match="known: bpebench, tiktoken"):
        save(trained, tmp_path / "x", "safetensors")


def test_a_failed_save_leaves_the_old_file_and_nothing_else(trained: Model, tmp_path: Path) -> None:
    path = saved(trained, tmp_path, "tiktoken")
    before = path.read_bytes()
    characters = impls.get("priority").train_model(["abab"], TrainingSpec(vocab_size=3, alphabet="chars"))
    with pytest.raises(impls.Unsupported):
        save(characters, path, "tiktoken")
    assert path.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == ["model"]


def test_saving_makes_the_folders_on_the_way(trained: Model, tmp_path: Path) -> None:
    trained.save(tmp_path / "a" / "b" / "model.json")
    assert Model.load(tmp_path / "a" / "b" / "model.json") == trained
    shutil.rmtree(tmp_path / "a")
