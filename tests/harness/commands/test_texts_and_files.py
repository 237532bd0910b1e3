"""What the command line reads and writes: bytes that are not UTF-8 are named, and nothing that is read is lost."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from child import run
from module_folders import found_in
from tables import rows_of

import impls
from harness.outcome import Outcome
from harness.records import RecordWriter, Verdict
from impls.formats import save
from impls.formats.files import write_atomically

BOM = b"\xef\xbb\xbf"
_TEXT = "bir iki üç\n\nbir iki\n\n\n  dört \n" * 20
_PLUGINS = Path(__file__).resolve().parents[1] / "check" / "check_plugins"

# --- what is read ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "stdin", "message"),
    [
        ("evaluate -m gpt2 -c -", b"", "standard input: contains no text"),
        ("train -c -", b"ab\xff", "standard input: not UTF-8 at byte 2 (0xFF)"),
        ("encode - -m gpt2", b"ab\xff", "standard input: not UTF-8 at byte 2 (0xFF)"),
        ("decode -m gpt2", "\u0661".encode(), "is not a token id"),
        ("encode a\udcffb -m gpt2", b"", "not UTF-8 at byte 1 (0xFF); convert it to UTF-8 first"),
        ("decode 65 \udcff -m gpt2", b"", "not UTF-8 at byte 3 (0xFF)"),
        ("train --special <s> --special a\udcff", b"", "not UTF-8 at byte 1 (0xFF)"),
        ("encode @no-such-file -m gpt2", b"", "there is no file 'no-such-file'"),
    ],
    ids=ascii,
)
def test_text_that_cannot_be_read_is_one_clear_line(bpebench: Any, arguments: str, stdin: bytes, message: str) -> None:
    ended = bpebench(*arguments.split(), stdin=stdin)
    assert (ended.status, ended.out, ended.err.count(message)) == (2, "", 1), ended.err


def test_a_byte_order_mark_is_not_part_of_a_text_and_is_mentioned(bpebench: Any, tmp_path: Path) -> None:
    file = tmp_path / "text.txt"
    file.write_bytes(BOM + b"hello")
    for ended in (bpebench("encode", f"@{file}", "-m", "gpt2"), bpebench("encode", "-m", "gpt2", stdin=BOM + b"hello")):
        assert ended.out == "31373\n"
        assert "begins with a byte order mark, which is left out" in ended.err
    assert bpebench("decode", "-m", "gpt2", stdin=BOM + b"[31373, 995]").out == "hello world\n"
    assert len(bpebench("encode", "\ufeffhello", "-m", "gpt2").out.split()) > 1


@pytest.mark.filterwarnings("ignore:.*a rank file has no pattern")
def test_a_byte_order_mark_before_a_model_changes_nothing(tmp_path: Path) -> None:
    model = impls.train("priority", ["hello hello world"], impls.TrainingSpec(vocab_size=260)).model
    for format in ("bpebench", "tokenizer.json", "tiktoken"):
        plain, marked = tmp_path / format, tmp_path / f"marked-{format}"
        save(model, plain, format)
        marked.write_bytes(BOM + plain.read_bytes())
        assert impls.Model.load(marked) == impls.Model.load(plain)


# --- what is written -------------------------------------------------------------------------------------------


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, own_cache: Path) -> Path:
    """Return the working folder: a text, a model in it and in the cache as `mine`, and a run."""
    monkeypatch.chdir(tmp_path)
    for name in ("ok.txt", "texts/a.txt"):
        Path(name).parent.mkdir(exist_ok=True)
        Path(name).write_text(_TEXT, "utf-8")
    model = impls.train("priority", [_TEXT], impls.TrainingSpec(vocab_size=262)).model
    for path in (Path("m.json"), own_cache / "models" / "mine.json"):
        model.save(path)
    with RecordWriter(Path("run")) as writer:
        writer.write(
            Verdict(implementation="a", model="m", corpus="c", check="round-trip", status=Outcome.RIGHT, n_texts=1)
        )
    Path("t.py").write_text("T = None\n")
    Path("run/machine.json").write_text("{}")
    Path("run/plan.json").write_text("{}")
    return tmp_path


@pytest.mark.parametrize(("command", "problem"), rows_of(__file__, "wrong_places.tsv"))
def test_nothing_is_written_where_it_must_not_be(bpebench: Any, here: Path, command: str, problem: str) -> None:
    before = {path: path.read_bytes() for path in here.rglob("*") if path.is_file()}
    ended = bpebench(*("" if word == "''" else word for word in command.split()))
    assert (ended.status, problem in ended.err, ended.err.count("\n") <= 4) == (2, True, True), ended.err
    assert not re.search(r"\.tmp|/\.", ended.err)
    assert {path: path.read_bytes() for path in here.rglob("*") if path.is_file()} == before


@pytest.mark.parametrize("command", ["report run --html page.html", "compare run run"])
def test_a_damaged_description_of_the_machine_is_refused(bpebench: Any, here: Path, command: str) -> None:
    Path("run/machine.json").write_text("[1")
    ended = bpebench(*command.split())
    assert (ended.status, "run/machine.json: is damaged" in ended.err) == (2, True), ended.err


def test_a_file_is_written_through_links_pipes_and_streams_and_keeps_its_permissions(tmp_path: Path) -> None:
    file, link, pipe = tmp_path / "file", tmp_path / "link", tmp_path / "pipe"
    file.write_bytes(b"old")
    file.chmod(0o640)
    link.symlink_to(file)
    write_atomically(link, b"new")
    assert (link.is_symlink(), file.read_bytes(), stat.S_IMODE(file.stat().st_mode)) == (True, b"new", 0o640)
    (tmp_path / "dangling").symlink_to(tmp_path / "made")
    write_atomically(tmp_path / "dangling", b"there")
    assert (tmp_path / "made").read_bytes() == b"there"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    write_atomically(pipe, b"content")
    assert os.read(reader, 100) == b"content"
    os.close(reader)
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    code = "import pathlib, impls.formats.files as files; files.write_atomically(pathlib.Path('/dev/stdout'), b'x')"
    done = run(code)
    assert (done.returncode, done.stdout, Path("/dev/stdout").is_symlink()) == (0, "x", True), done.stderr


# --- plug-ins --------------------------------------------------------------------------------------------------


@pytest.fixture
def planted() -> Iterator[None]:
    with found_in(_PLUGINS):
        yield


def test_findings_of_fuzz_are_reported_where_they_cannot_be_saved(bpebench: Any, here: Path, planted: None) -> None:
    command = "fuzz priority planted-lossy -m m.json -c ok.txt --texts 2000 --stop-after 1 --save ok.txt/kept.jsonl"
    ended = bpebench(*command.split())
    assert (ended.status, "1 kind of difference" in ended.out, "saved in" in ended.err) == (2, True, False)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("leaving", "planted-leaving: raised SystemExit: 0"),
        ("nothing", "planted-nothing: raised TypeError"),
        ("misnamed", "no module 'planted_no_such_module'"),
        ("no-ids", "planted-no-ids: gave 'a' at position 0, which is not a token id"),
    ],
)
def test_a_faulty_plugin_is_one_line(bpebench: Any, here: Path, planted: None, name: str, message: str) -> None:
    ended = bpebench("encode", "bir", "-m", "m.json", "-e", f"planted-{name}")
    assert (ended.status, ended.out, ended.err.count("\n")) == (2, "", 1)
    assert message in ended.err
    assert bpebench("trace", f"planted-{name}", "bir", "-m", "m.json").status != 0
