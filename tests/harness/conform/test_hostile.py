"""Targets that hang, flood, fork, eat and lie: each ends in its verdict, and none leaves a process behind."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
import uuid
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
from conform_target import Target
from refusals import refused

from harness.process.limits import Limits
from harness.process.protocol import MalformedAnswer, read_answer
from harness.process.session import Failed, FailedError
from harness.targets import NotLoadable, TargetSpec
from harness.targets.operations import SHAPES

TARGETS = Path(__file__).parent / "conform_targets"
pytestmark = pytest.mark.usefixtures("targets")
LIMITS = Limits(call_seconds=1, start_seconds=20, memory_bytes=150_000_000, output_bytes=1 << 20)
PATIENT = Limits(call_seconds=20, memory_bytes=400_000_000, output_bytes=1 << 20)
MARK = "BPEBENCH_TEST_MARK"


def marked(mark: str) -> list[psutil.Process]:
    """Every process on this machine that was started, however indirectly, with this mark in its environment."""
    found = []
    for process in psutil.process_iter():
        try:
            if process.status() != psutil.STATUS_ZOMBIE and process.environ().get(MARK) == mark:
                found.append(process)
        except psutil.Error:
            continue
    return found


@pytest.fixture
def mark() -> Iterator[dict[str, str]]:
    """Environment that marks processes; none of them may be left when the test has ended."""
    name = uuid.uuid4().hex
    yield {MARK: name}
    left = marked(name)
    for process in left:
        process.kill()
    assert not left


def raw(how: str) -> TargetSpec:
    """The hand-written target, misbehaving in the way `how`."""
    return TargetSpec.parse("cmd:" + shlex.join([sys.executable, "-I", "-S", str(TARGETS / "raw.py"), how]))


def hostile(name: str) -> TargetSpec:
    return TargetSpec.parse(f"hostile:{name}")


def failure(spec: TargetSpec, env: dict[str, str], limits: Limits = PATIENT) -> Failed:
    """Return how `encode` ends; afterwards a fresh process decodes as if nothing had happened."""
    with Target(spec, limits, env) as target:
        with pytest.raises(FailedError) as caught:
            target.encode("ab")
        target.restart(PATIENT)
        assert target.decode([104, 105]) == "hi"
    return caught.value.failed


LIES = {
    b'[NaN]': "malformed", b'[1e999]': "got `float`|out of range", b'[1.5]': "Expected `int`, got `float`",
    b'[-1]': ">= 0", b'[4294967296]': "<= 4294967295", b'["a"]': "Expected `int`, got `str`", b"null": "got `null`",
    b'"\xff"': "not an answer.*'$", b"[" * 100_000: "not an answer", b'[1], "id": 3': "answered request 3 instead of 2",
    b'[1], "x": ' + b"[" * 100_000 + b"]" * 100_000: "nested too deeply.*'…$",
}  # fmt: skip


@pytest.mark.parametrize("result", LIES)
def test_a_line_that_is_no_answer_is_malformed(result: bytes) -> None:
    with pytest.raises(MalformedAnswer) as caught:
        read_answer(b'{"id": 2, "result": ' + result + b"}\n", 2, "encode", SHAPES["encode"])
    assert re.search(LIES[result], str(caught.value))
    assert len(str(caught.value).splitlines()) == 1
    assert len(str(caught.value)) < 700


@pytest.mark.parametrize(("line", "reason"), [(b'{"id": 2, "x": 1}', "without result"), (b"[1, 2]", "got `array`")])
def test_what_is_not_an_object_with_a_result_is_malformed(line: bytes, reason: str) -> None:
    refused(MalformedAnswer, reason, read_answer, line, 2, "encode", SHAPES["encode"])


FATES = {
    "raw flood": ("protocol", "1,048,576 bytes without an end of line"),
    "raw flood-lines": ("protocol", "more than one line"),
    "raw cut": ("protocol", "exit status 0 in the middle of a line"),
    "raw closes-stdout": ("protocol", "closed its standard output"),
    "Hungry": ("out-of-memory", "limit of 0.4 GB|MemoryError"),
    "DaemonisingAndDying": ("crash", "exit status 5"),
    "Segfault": ("crash", "killed by SIGSEGV; .*Fatal Python error: Segmentation fault"),
    "ParentKiller": ("crash", "killed by SIGKILL"),
}
LATE = {"Hanging": "", "Hopping": "", "raw late": "", "raw no-line-end": "end of line"}


@pytest.mark.parametrize("name", [*FATES, *LATE])
def test_what_lies_dies_grows_or_is_late_ends_in_its_verdict(name: str, mark: dict[str, str]) -> None:
    outcome, reason = FATES.get(name) or ("timeout", "longer than 1 s.*" + LATE[name])
    spec = raw(name.removeprefix("raw ")) if name.startswith("raw ") else hostile(name)
    found = failure(spec, mark, LIMITS if name in LATE else PATIENT)
    assert found.outcome == outcome, found
    assert re.search(reason, found.reason), found.reason


def test_a_request_that_is_never_read_is_no_reason_to_wait_for_ever(mark: dict[str, str]) -> None:
    with Target(raw("does-not-read"), LIMITS, mark) as target, pytest.raises(FailedError, match="timeout"):
        target.encode("a" * 1_000_000)


@pytest.mark.parametrize("how", ["twice", "answers-and-exits"])
def test_what_spoils_the_next_question_is_found_there_at_the_latest(how: str, mark: dict[str, str]) -> None:
    with Target(raw(how), PATIENT, mark) as target:
        with pytest.raises(FailedError) as caught:  # noqa: PT012 (which of the two it is, is its affair)
            target.encode("ab")
            target.encode("ab")
        assert caught.value.failed.outcome == ("crash" if how == "answers-and-exits" else "protocol")


def test_a_target_that_never_starts_times_out_and_one_that_cannot_is_not_loadable(mark: dict[str, str]) -> None:
    limits = Limits(start_seconds=0.4)
    for spec in (raw("never-starts"), TargetSpec.parse("never_imported:anything")):
        refused(NotLoadable, r"it does not start: timeout: took longer than 0\.4 s", Target, spec, limits, mark)
    with pytest.raises(NotLoadable, match="exit status 1; its last line of output: there is nothing to load"):
        Target(raw("exits-at-once"), PATIENT, mark)


def test_an_ordinary_error_is_an_answer_and_the_process_lives_on(mark: dict[str, str]) -> None:
    with Target(hostile("Raising"), PATIENT, mark) as target:
        with pytest.raises(FailedError) as caught:
            target.encode("a")
        failed = caught.value.failed
        assert (failed.outcome, failed.error, failed.message) == ("refused", "ValueError", "cannot open file.bin")
        assert target.digests(["a", "b"]) == {"encode": [None, None]}
        assert target.decode([104]) == "h"


@pytest.mark.parametrize("name", ["Chatty", "DaemonisingQuietly", "BothReturn"])
def test_what_it_prints_and_forks_beside_a_right_answer_does_not_spoil_it(name: str, mark: dict[str, str]) -> None:
    with Target(hostile(name), PATIENT, mark) as target:
        assert [target.encode("ab") for _ in range(2)] == [[97, 98]] * 2


def test_a_python_object_that_answers_no_ids_is_reported(mark: dict[str, str]) -> None:
    with Target(hostile("WrongTypes"), PATIENT, mark) as target:
        for text in ("none", "float", "text"):
            answer = target.ask("encode", text=text)
            assert (isinstance(answer, Failed), answer.outcome) == (True, "protocol")
        refused(FailedError, "Expected `str`, got `object`", target.call, "decode", ids=[1])


def test_other_children_of_ours_are_left_alone(mark: dict[str, str]) -> None:
    other = subprocess.Popen([sys.executable, "-I", "-S", "-c", "import sys; sys.stdin.read(); sys.exit(7)"], stdin=-1)
    failure(hostile("DaemonisingAndDying"), mark)
    assert other.poll() is None
    other.communicate()
    assert other.returncode == 7
