"""The command line as a user meets it: results on standard output, one clear line for what is wrong, exit status."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from records_by_hand import timed
from tables import rows_of

from harness.cli import VERBS
from harness.records import RecordWriter
from impls import Model


def ended_in_shell(arguments: str, folder: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Run `bpebench` by a shell, for its redirections."""
    command = f"exec {sys.executable} -m harness {arguments}"
    return subprocess.run(["sh", "-c", command], capture_output=True, text=True, cwd=folder)


def test_every_verb_has_its_own_help_with_an_example(bpebench: Any) -> None:
    for name, verb in VERBS.items():
        ended = bpebench(name, "--help")
        assert (ended.status, f"Usage: bpebench {name}" in ended.out) == (0, True), name
        assert f"Example: bpebench {name} {verb['example']}".strip() in " ".join(ended.out.split())


@pytest.mark.parametrize(("arguments", "message"), rows_of(__file__, "wrong_commands.tsv"))
def test_bad_input_gets_one_clear_line_and_status_2(
    bpebench: Any, model_file: Path, own_cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    arguments: str, message: str,
) -> None:  # fmt: skip
    places = {"MODEL": str(model_file), "RUN": str(tmp_path / "run"), "EMPTY": str(tmp_path / "empty.txt")}
    (tmp_path / "empty.txt").touch()
    with RecordWriter(tmp_path / "run") as writer:
        writer.write(*timed("naive", [[0.1]]))
    for name, place in places.items():
        arguments, message = arguments.replace(name, place), message.replace(name, place)
    monkeypatch.chdir(tmp_path)
    before = sorted(tmp_path.iterdir())
    ended = bpebench(*arguments.split())
    assert (ended.status, ended.out, message in ended.err) == (2, "", True), ended.err
    assert sorted(tmp_path.iterdir()) == before
    assert (len(ended.err.splitlines()) <= 5, max(map(len, ended.err.splitlines())) < 500) == (True, True)


@pytest.mark.parametrize(
    ("line", "completed"),
    [("enc", "encode"), ("encode -m o200", "o200k_base"), ("check -c turk", "turkish"), ("check -e prior", "priority")],
)
def test_a_shell_completes_verbs_and_names(line: str, completed: str) -> None:
    words = f"bpebench {line}"
    asked = {"_BPEBENCH_COMPLETE": "bash_complete", "COMP_WORDS": words, "COMP_CWORD": str(len(line.split()))}
    command = [sys.executable, "-m", "harness"]
    done = subprocess.run(command, env=os.environ | asked, capture_output=True, text=True, check=False)
    assert f"plain,{completed}" in done.stdout.splitlines()


@pytest.mark.parametrize(
    "arguments",
    [
        "list", "vocab MODEL", "encode hello -m MODEL", "decode 104 -m MODEL", "evaluate -m MODEL -c samples/tr",
        "sweep -c samples/tr --vocab-sizes 260,262 -m MODEL", "train -c samples/tr --vocab-size 260",
        "convert MODEL OUT/x.tiktoken --to tiktoken", "fetch gpt2", "report RUN",
    ],
)  # fmt: skip
def test_every_document_has_named_fields(bpebench: Any, model_file: Path, tmp_path: Path, arguments: str) -> None:
    with RecordWriter(tmp_path / "run") as writer:
        writer.write(*timed("naive", [[0.1]]), *timed("priority", [[0.2]]))
    for name, place in {"MODEL": model_file, "RUN": tmp_path / "run", "OUT": tmp_path}.items():
        arguments = arguments.replace(name, str(place))
    document = json.loads(bpebench(*arguments.split(), "--json").out)
    assert isinstance(document, dict)
    rows = [row for value in document.values() if isinstance(value, list) for row in value]
    names = [*document, *(name for row in rows if isinstance(row, dict) for name in row)]
    assert all(re.fullmatch("[a-z][a-z0-9_]*", name) for name in names)
    assert not any(isinstance(row, list) for row in rows)


def test_help_is_quick_because_nothing_heavy_is_imported() -> None:
    program = (
        "import sys; sys.argv = ['bpebench', '--help']\n"
        "from harness.cli import main\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        "heavy = {'numpy', 'pandas', 'altair', 'numba', 'regex', 'tiktoken', 'rich', 'msgspec'} & set(sys.modules)\n"
        "assert not heavy, heavy\n"
    )
    finished = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert finished.returncode == 0, finished.stderr


# --- streams and interruptions ---------------------------------------------------------------------------------


def test_closed_streams_are_one_clear_line_or_change_nothing(tmp_path: Path) -> None:
    (tmp_path / "text.txt").write_text("low lower lowest")
    for command in ("evaluate -c - -m gpt2", "encode - -m gpt2", "train -c - -e priority"):
        refused = ended_in_shell(f"{command} <&-", tmp_path)
        assert refused.returncode == 2
        assert "is closed; name a file, or pipe something in" in refused.stderr
    train = "train -c text.txt -e priority --vocab-size 258 --out made.json --json"
    refused = ended_in_shell(f"{train} >&-", tmp_path)
    assert refused.returncode == 2
    assert refused.stderr == "bpebench: standard output is closed; send it to a file, a pipe or /dev/null\n"
    assert not (tmp_path / "made.json").exists()
    made = ended_in_shell(f"{train} 2>&-", tmp_path)
    assert (made.returncode, json.loads(made.stdout)["n_merges"]) == (0, 2)
    assert Model.load(tmp_path / "made.json").n_tokens == 258
    assert ended_in_shell("encode -m gpt2 low >&- 2>&-", tmp_path).returncode == 2
    assert "Traceback" not in ended_in_shell("list workloads | true").stderr


def test_text_that_cannot_be_printed_is_escaped(model_file: Path) -> None:
    command = [sys.executable, "-m", "harness", "decode", "197", "159", "-m", str(model_file)]
    finished = subprocess.run(command, capture_output=True, env=os.environ | {"PYTHONIOENCODING": "latin-1"})
    assert (finished.returncode, finished.stdout) == (0, b"\\u015f\n")


def test_an_interrupted_check_ends_at_once_with_one_line(model_file: Path, tmp_path: Path) -> None:
    long = tmp_path / "long.txt"  # many seconds of work, so that the interrupt never meets an interpreter at its end
    long.write_text("evlerimizden gelen hello world\n" * 300_000, encoding="utf-8")
    command = [sys.executable, "-m", "harness", "check", "-m", str(model_file), "-c", str(long), "-e", "naive|priority"]
    command += ["--max-bytes", "9000000"]
    running = subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        # A test run in the background ignores SIGINT, and what it starts would inherit that.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    first = running.stderr.readline()
    os.killpg(running.pid, signal.SIGINT)
    _, rest = running.communicate(timeout=60)
    assert first.startswith("checking")
    assert ("Traceback" in rest, "interrupted" in rest) == (False, True)
    # Python ends by the signal, which a shell shows as 130 too, if it came while a string was executed (a named tuple).
    assert running.returncode in (130, -signal.SIGINT)


_INTERRUPTED = """
import signal, sys
from importlib.abc import MetaPathFinder

class Interrupts(MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name == "click":
            signal.raise_signal(signal.SIGINT)

signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background job ignores it
sys.meta_path.insert(0, Interrupts())
import runpy
runpy.run_module("harness", run_name="__main__")
"""


def test_an_interruption_while_modules_are_imported_is_one_line() -> None:
    done = subprocess.run([sys.executable, "-c", _INTERRUPTED], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (130, "bpebench: interrupted\n")
