"""Targets that behave: whatever is named, in Python or another language, answers the same questions the same way."""

from __future__ import annotations

import re
import shlex
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from conform_target import Target
from refusals import refused

import impls
from harness.conform.digests import of_ids
from harness.conform.verdicts import Incomplete
from harness.process.limits import Limits
from harness.process.session import FailedError
from harness.targets import NotLoadable, TargetSpec
from harness.targets.operations import SHAPES

pytestmark = pytest.mark.usefixtures("targets")
PROTOCOL = Path(__file__).parents[3] / "harness" / "conform" / "PROTOCOL.md"
TEXTS = (
    "", "the cat sat on the mat, it's 2024!", "naïve İıi \U0001f469\u200d\U0001f4bb",
    "a\x00\x01\n\r\n\t\"\\/ \u2028\x7f", "  spaces   at the end  ", "日本語と 中文", "a" * 300,
)  # fmt: skip


@pytest.fixture(scope="module")
def model_file(saved: Any) -> Path:
    text = "the cat sat on the mat, it's the end of 2024, naïve cats' mats; " * 3
    return saved(text, vocab_size=320, special_tokens=("<|end|>",))


def target_of(name: str, **more: Any) -> Target:
    return Target(TargetSpec.parse(name, **more))


# --- what a target is named --------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["Right", "factory", "instance", "Right.factory", "OfModel"])
def test_an_instance_a_class_and_a_factory_are_targets(name: str, model_file: Path) -> None:
    with target_of(f"well_behaved:{name}", model=str(model_file)) as target:
        assert target.encode("é") == [195, 169]
        assert target.decode([195, 169]) == "é"
        if name == "OfModel":
            assert target.description.n_vocab == impls.Model.load(model_file).vocab_size


def test_what_cannot_be_loaded_is_reported_in_one_line(model_file: Path, tmp_path: Path) -> None:
    program = tmp_path / "program"
    program.write_text("#!/bin/sh\n")
    for name, library, reason in (
        ("hostile:Nothing", None, "hostile has no Nothing"),
        ("hostile:NotATokenizer", None, "NotATokenizer has no method encode"),
        ("hostile:NeedsArguments", None, "missing 1 required positional argument: 'other'; name an instance, or a cla"),
        ("hostile:Unloadable", None, "calling it raised RuntimeError: no such device"),
        ("no_such_module:x", None, "there is no module no_such_module here or on PYTHONPATH"),
        ("cmd:./no-such", None, "./no-such cannot be run: there is no such program, or it is not executable"),
        ("cmd:'", None, "is not a valid command"),
        ("priorty", None, "did you mean 'priority'?"),
        ("no/such/file.json", None, "is not a target"),
        (str(tmp_path / "none.json"), "priority", "no such model file"),
        (str(model_file), "no-such-library", "is not an implementation that runs"),
        (str(program), None, f"write cmd:{program}"),
        (str(program), "priority", "raised InvalidFile while it was loaded"),
    ):
        with pytest.raises(NotLoadable) as caught:
            target_of(name, library=library)
        assert reason in caught.value.reason
        assert "\n" not in caught.value.reason


def test_an_implementation_runs_a_model_with_all_it_has(model_file: Path) -> None:
    model = impls.Model.load(model_file)
    ours = impls.load("priority", model)
    text = "the cat<|end|>naïve"
    plain = ours.encode(text, disallowed_special=())
    with target_of("bytelevel", model=str(model_file)) as target:
        assert target.description.special_tokens == {"<|end|>": model.special_tokens["<|end|>"]}
        assert target.description.n_vocab == model.vocab_size
        assert {"allowed_special", "disallowed_special"} < target.description.operations
        assert target.encode(text, disallowed_special=set()) == plain
        assert target.encode(text, allowed_special="all") == ours.encode(text, allowed_special="all")
        refused(FailedError, "SpecialToken", target.encode, text)
        for operation, given, right in (
            ("decode_bytes", {"ids": plain}, text.encode()),
            ("encode_array", {"text": "cat"}, ours.encode("cat")),
            ("encode_batch", {"texts": ["cat", ""]}, [ours.encode("cat"), []]),
            ("decode_with_offsets", {"ids": plain}, ours.decode_with_offsets(plain)),
        ):
            assert target.call(operation, **given) == right
        target.digests(["cat"], ["encode_batch"])
        assert target.history[-2:] == ["cat", ("cat",)]


# --- what it is asked --------------------------------------------------------------------------------------


def test_texts_arrive_as_they_were_sent() -> None:
    with target_of("well_behaved:CodePoints") as target:
        for text in (*TEXTS, "a\ud83d", "\udc4d\ud83d", "naïve " * 200_000):
            assert target.encode(text) == [ord(character) for character in text]
            assert target.decode([ord(character) for character in text]) == text
        assert target.digests(TEXTS) == {"encode": [of_ids(map(ord, text)) for text in TEXTS]}


def test_what_an_object_has_is_found_and_asked() -> None:
    with target_of("well_behaved:Everything") as target:
        described = target.description
        assert (described.special_tokens, described.n_vocab) == ({"<s>": 1}, 256)
        assert {"pieces", "token_bytes", "decode_bytes", "digests"} < described.operations
        assert not {"encode_batch", "disallowed_special"} & described.operations
        assert target.call("pieces", text="a b") == ["a", " b"]
        assert target.call("token_bytes", token=65) == b"A"
        assert target.call("decode_bytes", ids=[255]) == b"\xff"
        assert target.encode("ab", allowed_special={"<s>"}) == [97, 98]  # uint32 of NumPy
        assert target.call("timed_encode", text="a") >= 0
        once = target.digests(["a", "b", "c"], ["decode"])
        question = {"texts": ["a", "b", "c"], "calls": ["decode"], "seconds_left": 60}
        assert target.call("digests", **question, where="child") == once
        on_threads = target.call("digests", **question, where="threads")
        assert on_threads == {call: numbers * 8 for call, numbers in once.items()}
        refused(FailedError, "no operation encode_batch", target.call, "encode_batch", texts=[])


def test_the_environment_reaches_the_target() -> None:
    answers = []
    for seed in ("1", "2"):
        with Target(TargetSpec.parse("well_behaved:HashSeed"), env={"PYTHONHASHSEED": seed}) as target:
            answers.append(target.encode("abc"))
    assert answers[0] != answers[1]


def test_a_slow_batch_is_asked_for_in_parts() -> None:
    with Target(TargetSpec.parse("well_behaved:Slow"), Limits(call_seconds=1)) as target:
        assert target.digests(["a"] * 8) == {"encode": [of_ids([number]) for number in range(8)]}


def test_what_the_clock_cuts_is_incomplete_and_no_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("harness.conform.client._GRACE_SECONDS", 0.5)
    with target_of("well_behaved:Slow") as target:
        target.begin_check(0.5)
        began = time.monotonic()
        with pytest.raises(Incomplete):
            target.ask("digests", texts=["a"] * 3_000, calls=[])  # ten minutes
        refused(Incomplete, None, target.ask, "decode", ids=[1])
        assert time.monotonic() - began < 100
        assert target.n_failures == 0


# --- other languages ---------------------------------------------------------------------------------------


_BYTES = """
exports.encode = text => [...Buffer.from(text, 'utf8')].map(byte => byte SKEW)
exports.decode = ids => {
  const unknown = ids.find(id => !(id < 256))
  if (unknown !== undefined) throw new RangeError('no id ' + unknown)
  return Buffer.from(ids).toString('utf8')
}
exports.getEncoding = name => ({ encode: text => [name.length], decode: () => name })
"""


@pytest.mark.needs("node")
@pytest.mark.parametrize(("skew", "status"), [("", 0), ("^ (byte === 122)", 1)])
def test_conform_judges_a_javascript_module_by_adapter(bpebench: Any, tmp_path: Path, skew: str, status: int) -> None:
    (tmp_path / "bytes.cjs").write_text(_BYTES.replace("SKEW", skew))
    impls.Model(tokens=tuple(bytes([byte]) for byte in range(256)), merges=()).save(tmp_path / "bytes.json")
    command = shlex.join(["node", str(PROTOCOL.parent / "examples" / "adapter.cjs"), str(tmp_path / "bytes.cjs")])
    with target_of(f"cmd:{command}") as target, pytest.raises(FailedError, match="no id 256"):
        target.call("decode", ids=[256])
    with target_of(f"cmd:{command} gpt2") as target:
        assert (target.encode("x"), target.decode([4])) == ([4], "gpt2")
    options = ("-m", str(tmp_path / "bytes.json"), "--check", "ids", "--reference", "priority")
    ended = bpebench("conform", f"cmd:{command}", *options)
    assert (ended.status, "'z'" in ended.out) == (status, bool(status)), ended.out + ended.err


BLOCKS = [
    pytest.param(language, source, marks=[pytest.mark.needs("node")] * (language == "js"))
    for language, source in re.findall(r"```(\w+)\n(.*?)```", PROTOCOL.read_text(), re.DOTALL)
]


@pytest.mark.parametrize(("language", "source"), BLOCKS)
def test_the_examples_of_the_protocol_work(language: str, source: str, tmp_path: Path) -> None:
    assert len(source.splitlines()) <= 20
    path = tmp_path / f"bytes.{language}"
    path.write_text(source)
    runner = "node" if language == "js" else sys.executable
    with Target(TargetSpec.parse("cmd:" + shlex.join([runner, str(path)]))) as target:
        assert target.encode("h\u00e9!") == [104, 195, 169, 33]
        assert target.decode([104, 195, 169, 33]) == "h\u00e9!"
        refused(FailedError, None, target.call, "decode", ids=[256])


def test_the_operations_of_the_protocol_are_all_documented() -> None:
    rows = re.findall(r"^\| ([a-z_, ]+) \| [^|]*\| [^|]*\|$", PROTOCOL.read_text(), re.MULTILINE)
    assert {name for row in rows for name in row.split(", ")} - {"op"} == set(SHAPES)
