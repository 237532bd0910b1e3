"""Whatever a file holds, reading it ends in a model or one clear line, quickly, and with little memory.

Every file is read in a process of its own with 512 MiB of address space. A reader is to take two seconds of a processor
of its own; the system ends it after three times that, as processors are shared and differ.
"""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

_PROGRAM = """
import json, os, resource, sys, warnings
from pathlib import Path
import impls.peers
from impls.core.errors import InvalidFile
from impls.formats import load

warnings.simplefilter("ignore")
load(Path(sys.argv[1]))  # what readers import and compile on first use is not done again in every child
for line in sys.stdin:
    path = Path(json.loads(line))
    if not os.fork():
        resource.setrlimit(resource.RLIMIT_AS, (512 << 20, 512 << 20))
        seconds = int(sum(os.times()[:2])) + 6
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
        try:
            load(path)
            reason = ["read", ""]
        except InvalidFile as error:
            reason = ["refused", str(error)]
        except BaseException as error:
            reason = [type(error).__name__, str(error)]
        print(json.dumps(reason)[:60_000], flush=True)
        os._exit(0)
    if status := os.wait()[1]:
        print(json.dumps(["died", f"status {status}"]), flush=True)
"""


@pytest.fixture(scope="module")
def outcome_of(
    good: dict[str, bytes], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Callable[[Path], list[str]]]:
    """Return a function from a path to the outcome of reading it: (read, refused, died or an error's name), message."""
    path = tmp_path_factory.mktemp("good") / "tokenizer.json"
    path.write_bytes(good["tokenizer.json"])
    command = [sys.executable, "-c", _PROGRAM, str(path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        stdin, stdout = process.stdin, process.stdout

        def ask(path: Path) -> list[str]:
            stdin.write(json.dumps(str(path)) + "\n")
            stdin.flush()
            return json.loads(stdout.readline())

        yield ask


def _is_clear(outcome: str, reason: str, folder: Path) -> bool:
    one_line = len(reason.splitlines()) == 1 and len(reason) < 6000
    return outcome == "refused" and reason.startswith(str(folder)) and one_line


MIB = 1 << 20
MODEL = b'{"model": {"type": "BPE", "vocab": {"a": 0}, "merges": []}, '
SPLIT = MODEL + b'"pre_tokenizer": {"type": "Split", "behavior": "Isolated", "pattern": {"Regex": "%b"}}}'
REPLACE = MODEL + b'"normalizer": {"type": "Replace", "content": "", "pattern": {"Regex": "%b"}}}'
COUNTS_HIGH = b"(?:(?:(?:a{1,1000}){1,1000}){1,1000}){1,1000}!"
RUIN: dict[str, Callable[[], bytes]] = {
    "random bytes": lambda: bytes(range(256)) * 40,
    "a gzip bomb": lambda: gzip.compress(bytes(256 * MIB), 1),
    "lists a million deep": lambda: b"[" * MIB,
    "ten million lists": lambda: b"[" + b"[]," * (10 * MIB) + b"[]]",
    "six million keys": lambda: b"{" + b'"":0,' * (6 * MIB) + b'"":0}',
    "a line of 40 megabytes": lambda: b"YQ== 0\n" + b"A" * (40 * MIB),
    "40 million lines": lambda: b"\n" * (40 * MIB) + b"x",
    "a number of 40 megabytes": lambda: b'{"model": ' + b"1" * (40 * MIB) + b"}",
    "a pattern of a hundred thousand groups": lambda: SPLIT % (b"(?:" * 100_000 + b")" * 100_000),
    "a replaced pattern of a megabyte": lambda: REPLACE % (b"a|" * (MIB // 2) + b"b"),
}
"""Of these no reader makes a vocabulary."""
ODD: dict[str, Callable[[], bytes]] = {
    "a pattern that never ends": lambda: SPLIT % rb"(?:(?:a|aa|\\S+)+)+!",
    "a pattern that counts high": lambda: SPLIT % COUNTS_HIGH,
    "a replaced pattern that counts high": lambda: REPLACE % COUNTS_HIGH,
    "a thousand added tokens in each other": lambda: json.dumps(
        json.loads(MODEL + b'"x": 0}') | {"added_tokens": [{"id": k, "content": "<" * k} for k in range(1, 1000)]}
    ).encode(),
}
"""Of these a reader makes a vocabulary, or says what is wrong."""


@pytest.mark.parametrize("name", [*RUIN, *ODD])
def test_what_is_no_vocabulary_is_refused(name: str, outcome_of: Callable[[Path], list[str]], tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes((RUIN | ODD)[name]())
    outcome, reason = outcome_of(tmp_path / "file")
    assert _is_clear(outcome, reason, tmp_path) or (outcome == "read" and name in ODD), (outcome, reason)


def test_what_is_no_file_is_refused(outcome_of: Callable[[Path], list[str]], tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    os.mkfifo(tmp_path / "pipe")
    with (tmp_path / "sparse").open("wb") as file:
        file.truncate(10 << 30)
    for path in ("folder", "loop", "pipe", "sparse", "missing", "missing/too", "a" * 5000):
        outcome, reason = outcome_of(tmp_path / path)
        assert _is_clear(outcome, reason, tmp_path), (path, outcome, reason)
    assert outcome_of(Path("/dev/zero"))[0] == "refused"
