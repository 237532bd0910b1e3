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

from harness.cli import VERBS
from harness.records import RecordWriter


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_has_its_own_help(bpebench: Any, verb: str) -> None:
    ended = bpebench(verb, "--help")
    assert ended.status == 0
    assert "Usage: bpebench" in ended.out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["frobnicate"], "there is no verb 'frobnicate'; `bpebench --help` lists them"),
        (["submission", "make", "x"], "the verb 'submission' is gone; send the folder of a run as it is"),
        (["exlain", "naive", "greedy", "x"], "there is no verb 'exlain'; did you mean 'explain'?"),
        (["encode", "a", "-m", "o200k"], "unknown model 'o200k'; did you mean 'o200k_base'? known: "),
        (["encode", "a", "-m", "no-such-model"], "no-such-model"),
        (["encode", "a", "-m", "./no/such/file.json"], "no such"),
        (["encode", "a", "-e", "nobody", "-m", "MODEL"], "unknown implementation 'nobody'; known: naive"),
        (["decode", "12", "x1", "-m", "MODEL"], "'x1' is not a token id"),
        (["decode", "99999", "-m", "MODEL"], "at position 0; the ids of MODEL are 0 to 274"),
        (["decode", "--", "1", "-m", "MODEL"], "'-m' is not a token id"),
        (["check", "-e", "(", "-m", "MODEL", "-c", "samples"], "not a regular expression"),
        (["check", "-e", "^nobody$", "-m", "MODEL", "-c", "samples"], "no implementation is left"),
        (["check", "-m", "MODEL", "-c", "no-such-corpus"], "no-such-corpus"),
        (["check", "--trainers", "-m", "MODEL"], "leave out -m"),
        (["check", "--trainers", "-e", "^nobody$"], "no trainer is left"),
        (["check", "--trainers", "-c", "no-such-corpus"], "no-such-corpus"),
        (["check", "--unicode"], "--unicode was removed: use `bpebench conform`"),
        (["report", "--record", "1"], "--record was removed: each line of records.jsonl"),
        (["evaluate", "--out", "x"], "--out was removed: use --json, --csv or --latex, and > FILE"),
        (["vocab", "--against", "x"], "--against was removed: use `bpebench evaluate -m A -m B`"),
        (["report", "--charts", "x"], "--charts was removed: use --html"),
        (["train", "--vocab-size", "100", "-c", "samples"], "below the base size"),
        (["train", "--vocab-size", "300", "-c", "samples", "--pattern", "(a)"], "capturing group"),
        (["train", "--vocab-size", "300", "-c", "samples", "--pattern", "[a-z]+"], "leaves out"),
        (["train", "-e", "backtracking", "-c", "samples"], "does not train"),
        (["convert", "MODEL", "out", "--to", "zip"], "unknown format 'zip'; known: bpebench, tiktoken"),
        (["compare", "a", "b", "--fail-if", "sluggish"], "'sluggish' is not a condition"),
        (
            ["run", "-w", "^english", "--out", "out"],
            "no workload is left to run; did you mean 'short/o200k_base/english'",
        ),
        (["report", "RUN", "--table", "sped"], "no table 'sped' in this run; did you mean 'speed'? known: "),
        (["report", "no-such-folder"], "holds no records.jsonl"),
        (["check", "-e", "^naive$", "-e", "^priority$"], "-e: given 2 times, of which only the last would count; join"),
        (["run", "--dry-run", "-E", "naive", "--exclude=priority"], "-E: given 2 times"),
        (["report", "-w", "a", "--workload", "b"], "-w: given 2 times"),
        (["encode", "a", "-m", "gpt2", "-m", "MODEL"], "-m: given 2 times, of which only the last would count"),
        (["encode", "a", "-e", "to", "-m", "MODEL"], "'to' matches tiktoken, tokenizers, "),
        (["encode", "a", "-m", "MODEL", "--allow-special", "--special-as-text"], "exclude each other; choose one"),
        (["report", "RUN", "-w", "("], "'(' is not a regular expression"),
        (["report", "RUN", "-e", "("], "'(' is not a regular expression"),
        (["report", "RUN", "--json", "--format", "csv"], "--json and --format csv exclude each other"),
        (["report", "RUN", "RUN"], "only --html takes several runs; name one"),
        (["vocab", "MODEL", "--max-bytes", "3"], "-c, --max-bytes and --fail-on need --lint"),
    ],
)
def test_bad_input_gets_one_clear_line_and_status_2(
    bpebench: Any, model_file: Path, own_cache: Path, tmp_path: Path, arguments: list[str], message: str
) -> None:
    places = {"MODEL": str(model_file), "TEXT": str(tmp_path / "text.txt"), "RUN": str(tmp_path / "run")}
    (tmp_path / "text.txt").write_text("low lower lowest")
    with RecordWriter(tmp_path / "run") as writer:
        writer.write(*timed("naive", [[0.1]]))
    for name, place in places.items():
        arguments, message = [part.replace(name, place) for part in arguments], message.replace(name, place)
    ended = bpebench(*arguments)
    assert (ended.status, ended.out) == (2, "")
    assert message in ended.err


def test_input_that_is_not_utf8_names_the_byte(bpebench: Any, model_file: Path) -> None:
    ended = bpebench("encode", "-", "-m", str(model_file), stdin=b"ab\xff")
    assert ended.status == 2
    assert "not UTF-8 at byte 2 (0xFF)" in ended.err


def test_list_shows_all_names_on_one_screen_and_each_section_in_full(bpebench: Any) -> None:
    shown, sections = bpebench("list").out.splitlines(), json.loads(bpebench("list", "--json").out)
    assert (max(map(len, shown)) <= 100, len(shown) <= 24) == (True, True)
    for section, rows in sections.items():
        assert any(line.startswith(f"{section} ({len(rows)}): ") for line in shown)
        full = bpebench("list", section).out
        assert max(map(len, full.splitlines())) <= 100
        assert all(row["name"] in full and all(word in full for word in row.get("about", "").split()) for row in rows)
    assert "gpt2" in {row["name"] for row in sections["models"]}


def test_an_error_with_many_known_names_is_short(bpebench: Any) -> None:
    for line in ("encode a -m x", "encode a -e x", "check -e ^x$", "evaluate -c x", "run -w ^english", "fetch x"):
        ended = bpebench(*line.split())
        assert ended.status == 2
        assert (len(ended.err.splitlines()) <= 5, max(map(len, ended.err.splitlines())) < 450) == (True, True)


@pytest.mark.parametrize(
    ("line", "completed"),
    [
        (["enc"], "encode"),
        (["encode", "-m", "o200"], "o200k_base"),
        (["check", "-c", "turk"], "turkish"),
        (["check", "-e", "prior"], "priority"),
    ],
)
def test_a_shell_completes_verbs_and_names(line: list[str], completed: str) -> None:
    words = ["bpebench", *line]
    asked = {"_BPEBENCH_COMPLETE": "bash_complete", "COMP_WORDS": " ".join(words), "COMP_CWORD": str(len(line))}
    command = [sys.executable, "-m", "harness"]
    done = subprocess.run(command, env=os.environ | asked, capture_output=True, text=True, check=False)
    assert f"plain,{completed}" in done.stdout.splitlines()


@pytest.mark.parametrize(
    "arguments",
    [
        ["list"],
        ["list", "workloads"],
        ["vocab", "MODEL"],
        ["encode", "hello", "-m", "MODEL"],
        ["decode", "104", "-m", "MODEL"],
        ["evaluate", "-m", "MODEL", "-c", "samples/tr"],
        ["sweep", "-c", "samples/tr", "--vocab-sizes", "260,262", "-m", "MODEL"],
        ["train", "-c", "samples/tr", "--vocab-size", "260"],
        ["convert", "MODEL", "OUT/x.tiktoken", "--to", "tiktoken"],
        ["fetch", "gpt2"],
        ["run", "--scale", "-e", "^naive$", "-m", "MODEL", "--family", "digits", "--doublings", "5", "--rounds", "1"],
        ["report", "RUN", "--table", "ranking"],
        ["report", "RUN"],
        ["compare", "RUN", "RUN"],
    ],
    ids=lambda arguments: "-".join(arguments[:2]),
)
def test_every_document_is_an_object_with_named_fields(
    bpebench: Any, model_file: Path, tmp_path: Path, arguments: list[str]
) -> None:
    with RecordWriter(tmp_path / "run") as writer:
        writer.write(*timed("naive", [[0.1]]), *timed("priority", [[0.2]]))
    (tmp_path / "run" / "machine.json").write_text('{"cpu": "one"}')
    places = {"MODEL": str(model_file), "RUN": str(tmp_path / "run")}
    given = [places.get(argument, argument.replace("OUT", str(tmp_path))) for argument in arguments]
    document = json.loads(bpebench(*given, "--json").out)
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


def test_output_to_a_closed_pipe_is_no_error() -> None:
    command = [sys.executable, "-m", "harness", "list", "patterns"]
    read_end, write_end = os.pipe()
    os.close(read_end)
    finished = subprocess.run(command, stdout=write_end, stderr=subprocess.PIPE, text=True)
    os.close(write_end)
    assert "Traceback" not in finished.stderr


def test_text_that_cannot_be_printed_is_escaped(model_file: Path) -> None:
    command = [sys.executable, "-m", "harness", "decode", "197", "159", "-m", str(model_file)]
    environment = os.environ | {"PYTHONIOENCODING": "latin-1"}
    finished = subprocess.run(command, capture_output=True, env=environment)
    assert finished.returncode == 0
    assert finished.stdout == b"\\u015f\n"


def test_an_interrupted_check_ends_at_once_with_one_line(model_file: Path, tmp_path: Path) -> None:
    long = tmp_path / "long.txt"  # many seconds of work, so that the interrupt never meets an interpreter at its end
    long.write_text("evlerimizden gelen hello world\n" * 300_000, encoding="utf-8")
    command = [sys.executable, "-m", "harness", "check", "-m", str(model_file), "-c", str(long), "-e", "naive|priority"]
    running = subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        # A test run in the background ignores SIGINT, and what it starts would inherit that.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    assert running.stderr is not None
    first = running.stderr.readline()
    os.killpg(running.pid, signal.SIGINT)
    _, rest = running.communicate(timeout=60)
    assert first.startswith("checking")
    assert running.returncode == 130
    assert "Traceback" not in rest
    assert "interrupted" in rest


def test_whoever_encodes_may_be_a_file(bpebench: Any, model_file: Path, tmp_path: Path) -> None:
    (tmp_path / "bytewise.py").write_text(
        "class Bytewise:\n"
        "    def __init__(self, model): self.model = model\n"
        "    def encode(self, text): return [self.model.id_by_token[bytes([byte])] for byte in text.encode()]\n"
        "    def decode(self, ids): return b''.join(self.model.tokens[i] for i in ids).decode()\n"
    )
    assert bpebench("trace", "^pri", "hi", "-m", str(model_file)).out.startswith("priority")
    target = ("-e", str(tmp_path / "bytewise.py"), "-m", str(model_file))
    assert bpebench("encode", "hi", *target).out.split() == ["104", "105"]
    assert bpebench("decode", "104", "105", *target).out == "hi\n"
