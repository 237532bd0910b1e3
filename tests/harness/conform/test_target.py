"""Targets that behave: whatever is named, in Python or another language, answers the same questions the same way."""

from __future__ import annotations

import base64
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from conform_target import Target

import impls
from harness.process.limits import Limits
from harness.process.session import FailedError
from harness.targets import NotLoadable, TargetSpec
from harness.targets.operations import SHAPES

TARGETS = Path(__file__).parent / "conform_targets"
PROTOCOL = Path(__file__).parents[3] / "harness" / "conform" / "PROTOCOL.md"
TEXTS = (
    "", "the cat sat on the mat, it's 2024!", "naïve İıi \U0001f469\u200d\U0001f4bb",
    "a\x00\x01\n\r\n\t\"\\/ \u2028\x7f", "  spaces   at the end  ", "日本語と 中文", "a" * 300,
)  # fmt: skip


@pytest.fixture(autouse=True)
def targets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(TARGETS), os.environ.get("PYTHONPATH", "")]))


@pytest.fixture(scope="module")
def model() -> impls.Model:
    corpus = ["the cat sat on the mat, it's the end of 2024, naïve cats' mats; " * 3]
    return impls.train("priority", corpus, impls.TrainingSpec(vocab_size=320, special_tokens=("<|end|>",))).model


@pytest.fixture(scope="module")
def model_file(model: impls.Model, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("model") / "model.json"
    model.save(path)
    return path


# --- what a target is named --------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["Right", "factory", "instance", "Right.factory"])
def test_an_instance_a_class_and_a_factory_are_targets(name: str) -> None:
    with Target(TargetSpec.parse(f"well_behaved:{name}")) as target:
        assert target.encode("é") == [195, 169]
        assert target.decode([195, 169]) == "é"


def test_what_needs_the_model_is_given_it(model_file: Path) -> None:
    with Target(TargetSpec.parse("well_behaved:OfModel", model=str(model_file))) as target:
        assert target.encode("é") == [195, 169]
        assert target.description.n_vocab == impls.Model.load(model_file).vocab_size


def test_a_module_is_found_in_the_current_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "mine.py").write_text("def encode(text): return [len(text)]\ndef decode(ids): return 'x' * ids[0]\n")
    (tmp_path / "outer.py").write_text("import mine\n")
    monkeypatch.chdir(tmp_path)
    with Target(TargetSpec.parse("outer:mine")) as target:
        assert target.decode(target.encode("abc")) == "xxx"


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("hostile:Nothing", "hostile has no Nothing"),
        ("hostile:NotATokenizer", "NotATokenizer has no method encode"),
        ("hostile:NeedsArguments", "missing 1 required positional argument: 'other'; name an instance, or a class or"),
        ("hostile:Unloadable", "making it raised RuntimeError: no such device"),
        ("no_such_module:x", "there is no module no_such_module here or on PYTHONPATH"),
        ("cmd:./no-such-program", "./no-such-program cannot be run: there is no such program, or it is not executable"),
        ("cmd:'", "is not a valid command"),
        ("priorty", "did you mean priority?"),
        ("no/such/file.json", "is not a target"),
    ],
)
def test_what_cannot_be_loaded_is_reported_in_one_line(name: str, reason: str) -> None:
    with pytest.raises(NotLoadable) as caught:
        Target(TargetSpec.parse(name))
    assert reason in caught.value.reason
    assert "\n" not in caught.value.reason


def test_a_file_needs_a_library_that_can_run_it(model_file: Path, tmp_path: Path) -> None:
    with pytest.raises(NotLoadable, match="there is no such model file"):
        TargetSpec.parse(str(tmp_path / "none.json"), "priority")
    with pytest.raises(NotLoadable, match="is not an implementation that could run"):
        TargetSpec.parse(str(model_file), "no-such-library")
    other = tmp_path / "program"
    other.write_text("#!/bin/sh\n")
    with pytest.raises(NotLoadable, match=f"write cmd:{other}"):
        TargetSpec.parse(str(other))
    with pytest.raises(NotLoadable, match="raised InvalidFile while it was loaded"):
        Target(TargetSpec.parse(str(other), "priority"))


@pytest.mark.parametrize("kind", ["file", "entry-point"])
def test_an_implementation_runs_a_model_with_all_it_has(
    kind: str, model: impls.Model, model_file: Path, tmp_path: Path
) -> None:
    if kind == "file":
        spec = TargetSpec.parse(str(model_file), "bytelevel")
    else:
        spec = TargetSpec.parse("bytelevel", model=str(model_file))
    assert spec.kind == kind
    ours = impls.load("priority", model)
    text = "the cat<|end|>naïve"
    plain = ours.encode(text, disallowed_special=())
    with Target(spec) as target:
        assert target.description.special_tokens == {"<|end|>": model.special_tokens["<|end|>"]}
        assert target.description.n_vocab == model.vocab_size
        assert {"allowed_special", "disallowed_special", "save", "load"} < target.description.operations
        assert target.encode(text, disallowed_special=set()) == plain
        assert target.encode(text, allowed_special="all") == ours.encode(text, allowed_special="all")
        with pytest.raises(FailedError, match="SpecialToken"):
            target.encode(text)
        assert target.call("encode_each", texts=[text, "a"], disallowed_special=()) == [plain, ours.encode("a")]
        assert target.call("decode_bytes", ids=plain) == text.encode()
        assert target.call("encode_array", text="cat") == ours.encode("cat")
        assert target.call("encode_batch", texts=["cat", ""]) == [ours.encode("cat"), []]
        assert target.call("decode_with_offsets", ids=plain) == ours.decode_with_offsets(plain)
        target.call("save", path=str(tmp_path / "saved"))
        target.call("load", path=str(tmp_path / "saved"))
        assert target.encode("the cat") == ours.encode("the cat")


# --- what it is asked --------------------------------------------------------------------------------------


def test_texts_arrive_as_they_were_sent() -> None:
    with Target(TargetSpec.parse("well_behaved:CodePoints")) as target:
        for text in (*TEXTS, "a\ud83d", "\udc4d\ud83d"):
            assert target.encode(text) == [ord(character) for character in text]
            assert target.decode([ord(character) for character in text]) == text
        assert list(target.ids_of_all(list(TEXTS))) == [list(map(ord, text)) for text in TEXTS]
        long = "naïve " * 200_000
        assert target.decode(target.encode(long)) == long


def test_what_an_object_has_is_found_and_asked() -> None:
    with Target(TargetSpec.parse("well_behaved:Everything")) as target:
        described = target.description
        assert described.special_tokens == {"<s>": 1}
        assert described.n_vocab == 256
        assert {"pieces", "token_bytes", "decode_bytes", "n_vocab"} < described.operations
        assert not {"encode_batch", "save", "load", "disallowed_special"} & described.operations
        assert target.call("pieces", text="a b") == ["a", " b"]
        assert target.call("token_bytes", token=65) == b"A"
        assert target.call("decode_bytes", ids=[255]) == b"\xff"
        assert target.encode("ab", allowed_special={"<s>"}) == [97, 98]  # uint32 of NumPy
        with pytest.raises(FailedError, match="no operation encode_batch"):
            target.call("encode_batch", texts=[])


def test_threads_start_together() -> None:
    with Target(TargetSpec.parse("well_behaved:Meeting")) as target:
        assert target.call("encode_threads", texts=["a", "b", "c", "d", "e"], threads=2) == [[2]] * 5
        assert target.call("timed_encode", text="a", loops=3) >= 0


def test_the_environment_reaches_the_target() -> None:
    spec = TargetSpec.parse("well_behaved:HashSeed")
    answers = []
    for seed in ("1", "2"):
        with Target(spec, env={"PYTHONHASHSEED": seed}) as target:
            answers.append(target.encode("abc"))
    assert answers[0] != answers[1]


def test_a_slow_batch_is_asked_for_in_parts() -> None:
    with Target(TargetSpec.parse("well_behaved:Slow"), Limits(call_seconds=1)) as target:
        assert list(target.ids_of_all(["a"] * 8)) == [[0], [1], [2], [3], [4], [5], [6], [7]]


# --- other languages ---------------------------------------------------------------------------------------


def program(language: str, tmp_path: Path, model: impls.Model) -> str:
    """The command of our tokenizer in another language over `model`; skips where the language is not here."""
    ranks = tmp_path / "ranks"
    tokens = [token for token in model.tokens if token is not None]
    if language == "JavaScript":
        if (node := shutil.which("node")) is None:
            pytest.skip("no node here to run the JavaScript target")
        lines = [f"{base64.b64encode(token).decode()} {rank}\n" for rank, token in enumerate(tokens)]
        command = [node, str(TARGETS / "bpe.js"), str(ranks)]
    else:
        if (compiler := shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")) is None:
            pytest.skip("no C compiler here to build the C target")
        built = tmp_path / "bpe"
        subprocess.run([compiler, "-O1", "-o", str(built), str(TARGETS / "bpe.c")], check=True)
        lines = [f"{token.hex()} {rank}\n" for rank, token in enumerate(tokens)]
        command = [str(built), str(ranks)]
    ranks.write_text("".join(lines))
    return "cmd:" + shlex.join(command)


@pytest.mark.parametrize("language", ["JavaScript", "C"])
def test_a_tokenizer_in_another_language_gives_our_ids(language: str, tmp_path: Path, model: impls.Model) -> None:
    pattern = "gpt2" if language == "JavaScript" else "none"
    spec = impls.TrainingSpec(vocab_size=320, pattern=pattern)
    ours = impls.train("priority", ["the cat sat on the mat, naïve cats' mats; " * 3], spec)
    with Target(TargetSpec.parse(program(language, tmp_path, ours.model))) as target:
        assert target.description.operations == {"encode", "decode"}
        for text in (*TEXTS, "a\ud83d"):
            ids = ours.encode(text)
            assert target.encode(text) == ids
            assert target.decode(ids) == ours.decode(ids)
        assert list(target.ids_of_all(["cat", "mat"])) == [ours.encode("cat"), ours.encode("mat")]
        for bad in ([0xC3], [0xF0, 0x9F, 0x41], [0xED, 0xA0, 0x80], [0xFF, 0xC0, 0x80]):
            ids = [ours.model.id_by_token[bytes([byte])] for byte in bad]
            assert target.decode(ids) == ours.decode(ids)
        with pytest.raises(FailedError, match="99999"):
            target.call("decode", ids=[99999])


_BYTES = """
exports.encode = text => [...Buffer.from(text, 'utf8')].map(byte => byte SKEW)
exports.decode = ids => {
  const unknown = ids.find(id => !(id < 256))
  if (unknown !== undefined) throw new RangeError('no id ' + unknown)
  return Buffer.from(ids).toString('utf8')
}
exports.getEncoding = name => ({ encode: text => [name.length], decode: () => name })
"""


def javascript(folder: Path, skew: str = "", *arguments: str) -> list[str]:
    """The command of the example adapter over a module in which every byte is a token."""
    if (node := shutil.which("node")) is None:
        pytest.skip("no node here to run the JavaScript adapter")
    (folder / "bytes.cjs").write_text(_BYTES.replace("SKEW", skew))
    return [node, str(PROTOCOL.parent / "examples" / "adapter.cjs"), str(folder / "bytes.cjs"), *arguments]


def test_the_example_adapter_serves_a_javascript_module(tmp_path: Path) -> None:
    with Target(TargetSpec.parse("cmd:" + shlex.join(javascript(tmp_path)))) as target:
        assert target.description.operations == {"encode", "decode", "describe"}
        assert target.encode("h\u00e9!") == [104, 195, 169, 33]
        assert target.decode([104, 195, 169, 33]) == "h\u00e9!"
        with pytest.raises(FailedError, match="no id 256"):
            target.call("decode", ids=[256])
    with Target(TargetSpec.parse("cmd:" + shlex.join(javascript(tmp_path, "", "gpt2")))) as target:
        assert target.encode("x") == [4]
        assert target.decode([4]) == "gpt2"


@pytest.mark.parametrize(("skew", "status"), [("", 0), ("^ (byte === 122)", 1)])
def test_conform_judges_a_javascript_module_by_the_example_adapter(
    bpebench: Any, tmp_path: Path, skew: str, status: int
) -> None:
    impls.Model(tokens=tuple(bytes([byte]) for byte in range(256)), merges=()).save(tmp_path / "bytes.json")
    command = shlex.join(javascript(tmp_path, skew))
    ended = bpebench(
        "conform", f"cmd:{command}", "-m", str(tmp_path / "bytes.json"), "--check", "ids", "--reference", "priority"
    )
    assert ended.status == status, ended.out + ended.err
    assert ("'z'" in ended.out) == bool(status)


BLOCKS = re.findall(r"```(\w+)\n(.*?)```", PROTOCOL.read_text(), re.DOTALL)


@pytest.mark.parametrize(("language", "source"), BLOCKS)
def test_the_examples_of_the_protocol_work(language: str, source: str, tmp_path: Path) -> None:
    assert len(source.splitlines()) <= 20
    runner = shutil.which("node") if language == "js" else sys.executable
    if runner is None:
        pytest.skip("no node here to run the JavaScript example")
    path = tmp_path / f"bytes.{language}"
    path.write_text(source)
    with Target(TargetSpec.parse("cmd:" + shlex.join([runner, str(path)]))) as target:
        assert target.encode("h\u00e9!") == [104, 195, 169, 33]
        assert target.decode([104, 195, 169, 33]) == "h\u00e9!"
        with pytest.raises(FailedError):
            target.call("decode", ids=[256])


def test_the_operations_of_the_protocol_are_all_documented() -> None:
    rows = re.findall(r"^\| ([a-z_, ]+) \| [^|]*\| [^|]*\|$", PROTOCOL.read_text(), re.MULTILINE)
    assert {name for row in rows for name in row.split(", ")} - {"op"} == set(SHAPES)


def test_a_lone_surrogate_in_an_answer_is_read() -> None:
    command = shlex.join([sys.executable, str(TARGETS / "raw.py"), "surrogate"])
    with Target(TargetSpec.parse(f"cmd:{command}")) as target:
        assert target.decode([1]) == "a\ud83d"
