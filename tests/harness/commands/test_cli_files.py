"""What the command line writes and reads: nothing is lost, and a plug-in's faults are one line."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path
from typing import Any

import pytest
from child import run

import impls
from impls.formats.files import write_atomically

_PLUGINS = Path(__file__).resolve().parents[1] / "check" / "check_plugins"
_TEXT = "bir iki üç\n\nbir iki\n\n\n  dört \n"


@pytest.fixture
def text_file(tmp_path: Path) -> Path:
    file = tmp_path / "text.txt"
    file.write_bytes(_TEXT.encode())
    return file


@pytest.fixture
def model_file(tmp_path: Path) -> Path:
    path = tmp_path / "model.json"
    impls.train("priority", [_TEXT], impls.TrainingSpec(vocab_size=262)).model.save(path)
    return path


@pytest.fixture
def planted(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(_PLUGINS))
    monkeypatch.setenv("PYTHONPATH", str(_PLUGINS))
    impls.registry._plugins.cache_clear()
    yield
    impls.registry._plugins.cache_clear()


# --- files -----------------------------------------------------------------------------------------------------


def test_a_link_is_followed_and_a_file_keeps_its_permissions(tmp_path: Path) -> None:
    file, link = tmp_path / "file", tmp_path / "link"
    file.write_bytes(b"old")
    file.chmod(0o640)
    link.symlink_to(file)
    write_atomically(link, b"new")
    assert link.is_symlink()
    assert file.read_bytes() == b"new"
    assert stat.S_IMODE(file.stat().st_mode) == 0o640
    (tmp_path / "dangling").symlink_to(tmp_path / "made")
    write_atomically(tmp_path / "dangling", b"there")
    assert (tmp_path / "made").read_bytes() == b"there"


def test_a_pipe_is_written_to_and_not_replaced(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        write_atomically(pipe, b"content")
        assert os.read(reader, 100) == b"content"
    finally:
        os.close(reader)
    assert stat.S_ISFIFO(pipe.stat().st_mode)


def test_a_full_disk_is_said_with_the_name_of_the_file(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="No space left") as error:
        write_atomically(Path("/dev/full"), b"content")
    assert error.value.filename == "/dev/full"


def test_standard_output_is_a_file_to_write_to() -> None:
    done = run(
        "from pathlib import Path; from impls.formats.files import write_atomically as w; w(Path('/dev/stdout'), b'x')"
    )
    assert (done.returncode, done.stdout) == (0, "x"), done.stderr
    assert Path("/dev/stdout").is_symlink()


def test_findings_of_fuzz_are_reported_where_they_cannot_be_saved(
    bpebench: Any, text_file: Path, model_file: Path, planted: None
) -> None:
    ended = bpebench(
        "fuzz", "priority", "planted-lossy", "-m", str(model_file), "-c", str(text_file), "--texts", "2000",
        "--stop-after", "1", "--save", str(text_file / "kept.jsonl"),
    )  # fmt: skip
    assert ended.status == 2
    assert "1 kind of difference" in ended.out
    assert "kept in" not in ended.err


def test_findings_of_fuzz_are_reported_where_the_disk_is_full(
    bpebench: Any, text_file: Path, model_file: Path, planted: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("harness.records.store.os.fsync", full)
    kept = text_file.parent / "kept.jsonl"
    ended = bpebench(
        "fuzz", "priority", "planted-lossy", "-m", str(model_file), "-c", str(text_file), "--texts", "2000",
        "--stop-after", "1", "--save", str(kept),
    )  # fmt: skip
    assert (ended.status, "1 kind of difference" in ended.out) == (2, True), ended.err
    assert f"{kept}: cannot write: No space left on device" in ended.err
    assert "--resume" not in ended.err


# --- texts -----------------------------------------------------------------------------------------------------


def test_a_check_of_nothing_is_no_success(bpebench: Any, tmp_path: Path, model_file: Path, planted: None) -> None:
    (tmp_path / "empty.txt").touch()
    ended = bpebench("check", "-e", "^priority$", "-m", str(model_file), "-c", str(tmp_path / "empty.txt"))
    assert ended.status == 2
    assert "holds no text" in ended.err
    (tmp_path / "text.txt").write_text("a b")
    ended = bpebench("check", "-e", "^planted-absent$", "-m", str(model_file), "-c", str(tmp_path / "text.txt"))
    assert ended.status == 1
    assert "nothing was checked" in ended.out


# --- plug-ins --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("leaving", "planted-leaving: raised SystemExit: 0"),
        ("nothing", "planted-nothing: raised TypeError"),
        ("unloadable", "planted-unloadable: raised RuntimeError: no such device"),
        ("misnamed", "no module 'planted_no_such_module'"),
        ("no-ids", "planted-no-ids: gave 'a' at position 0, which is not a token id"),
    ],
)
def test_a_faulty_plugin_is_one_line(bpebench: Any, model_file: Path, planted: None, name: str, message: str) -> None:
    ended = bpebench("encode", "bir", "-m", str(model_file), "-e", f"planted-{name}")
    assert (ended.status, ended.out) == (2, "")
    assert message in ended.err
    assert ended.err.count("\n") == 1
    assert bpebench("trace", f"planted-{name}", "bir", "-m", str(model_file)).status != 0


def test_a_special_token_is_reported_with_the_options(bpebench: Any, tmp_path: Path) -> None:
    spec = impls.TrainingSpec(vocab_size=260, special_tokens=("<s>",))
    impls.train("priority", [_TEXT], spec).model.save(tmp_path / "special.json")
    ended = bpebench("encode", "a <s>", "-m", str(tmp_path / "special.json"))
    assert ended.status == 2
    assert "--allow-special" in ended.err
    assert "--special-as-text" in ended.err


def test_decode_writes_bytes_or_a_document(bpebench: Any, model_file: Path) -> None:
    assert bpebench("decode", "65", "-m", str(model_file), "--raw", "--json").status == 2
