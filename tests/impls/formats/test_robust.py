"""Whatever is wrong with a file, its reader reports it in one line, quickly, and with little memory.

Every file is read in a process of its own with 512 MiB of address space. A reader is to take two seconds of a processor
of its own; the system ends it after three times that, as processors are shared and differ.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import reader_damage

from impls.formats import formats

resource = pytest.importorskip("resource", reason="limits of memory and time are the system's")


_PROGRAM = """
import json, os, resource, sys, warnings
from pathlib import Path
import impls.peers
from impls.core.errors import InvalidFile
from impls.formats import load

warnings.simplefilter("ignore")
for good in sys.argv[1:]:
    load(Path(good))  # what readers import and compile on first use is not done again in every child
print("ready", flush=True)
for line in sys.stdin:
    path = Path(json.loads(line))
    reader, writer = os.pipe()
    child = os.fork()
    if not child:
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
        os.write(writer, json.dumps(reason).encode()[:60_000])
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as answer:
        reason = answer.read()
    status = os.waitpid(child, 0)[1]
    print(reason.decode() if reason else json.dumps(["died", f"status {status}"]), flush=True)
"""


@pytest.fixture(scope="module")
def outcome_of(files: dict[str, Path]) -> Iterator[Callable[[Path], list[str]]]:
    """Return a function from a path to the outcome of reading it: (read, refused, died or an error's name), message."""
    process = subprocess.Popen(
        [sys.executable, "-c", _PROGRAM, *map(str, files.values())],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    stdin, stdout = process.stdin, process.stdout
    assert stdout.readline() == "ready\n"

    def ask(path: Path) -> list[str]:
        stdin.write(json.dumps(str(path)) + "\n")
        stdin.flush()
        reason: list[str] = json.loads(stdout.readline())
        return reason

    yield ask
    stdin.close()
    stdout.close()
    process.wait()


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return reader_damage.good_files(tmp_path_factory.mktemp("good"))


FORMATS = [*formats(), "encoder.json", "tekken"]


@pytest.mark.parametrize("format", FORMATS)
def test_a_damaged_file_gives_one_clear_line(
    format: str, files: dict[str, Path], outcome_of: Callable[[Path], list[str]]
) -> None:
    path = files[format]
    good = path.read_bytes()
    wrong = []
    try:
        for name, damage in reader_damage.DAMAGE.items():
            path.write_bytes(damage(good))
            outcome, reason = outcome_of(path)
            if outcome != "read" and not _is_clear(outcome, reason, path.parent):
                wrong.append((name, outcome, reason[:300]))
    finally:
        path.write_bytes(good)
    assert not wrong


@pytest.mark.parametrize("name", [*reader_damage.RUIN, *reader_damage.ODD])
def test_a_file_that_is_no_vocabulary_is_refused_soon(
    name: str, files: dict[str, Path], outcome_of: Callable[[Path], list[str]], tmp_path: Path
) -> None:
    path = tmp_path / "file"
    content = (reader_damage.RUIN | reader_damage.ODD)[name](files["tiktoken"].read_bytes())
    if content == reader_damage.SPARSE:
        with path.open("wb") as file:
            file.truncate(reader_damage.SPARSE_BYTES)
    else:
        path.write_bytes(content)
    outcome, reason = outcome_of(path)
    assert _is_clear(outcome, reason, tmp_path) or (outcome == "read" and name in reader_damage.ODD), (outcome, reason)


def test_what_is_no_file_is_refused(outcome_of: Callable[[Path], list[str]], tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "dangling").symlink_to(tmp_path / "nowhere")
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    import os

    os.mkfifo(tmp_path / "pipe")
    for path in ("folder", "dangling", "loop", "pipe", "missing", "missing/too", "a" * 5000):
        outcome, reason = outcome_of(tmp_path / path)
        assert _is_clear(outcome, reason, tmp_path), (path, outcome, reason)
    assert outcome_of(Path("/dev/zero"))[0] == "refused"


def _is_clear(outcome: str, reason: str, folder: Path) -> bool:
    return (
        outcome == "refused" and reason.startswith(str(folder)) and len(reason.splitlines()) == 1 and len(reason) < 6000
    )
