"""The object file of the kernels in the user's cache: compiled once, by one process, loaded once, never damaged."""

from __future__ import annotations

import ctypes
import os
import platform
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from child import run

from harness.measure.materials import kernels_compiled
from impls.compiled.codegen import build, loading
from impls.compiled.codegen.build import kernel_address, source_digest
from impls.compiled.codegen.entry_points import OBJECT_FILES, PREFIX, exported
from impls.compiled.storage import cache_folder, read_checked, write_checked

USE = """
import os, sys
import impls
model = impls.Model(tokens=tuple(bytes([b]) for b in range(256)) + (b"ab",), merges=((97, 98),), pattern="gpt2")
assert impls.load("compiled", model).encode("abc") == [256, 99]
assert "numba" not in sys.modules
assert "llvmlite" not in sys.modules or not sys.platform == "linux" or os.uname().machine != "x86_64"
print("done")
"""


def test_kernels_are_loaded_from_the_cache_without_numba_or_llvm_and_without_a_word() -> None:
    assert run(USE).stdout == "done\n"
    again = run(USE)
    assert (again.stdout, again.stderr) == ("done\n", "")


STAND_IN = """
import sys
from pathlib import Path
from impls.compiled.codegen import build

def compile_(_):
    with open(sys.argv[2], "a") as log:
        log.write("compiled\\n")
    print("compiling", flush=True)
    if sys.argv[3] == "wait":
        sys.stdin.readline()
    return Path(sys.argv[1]).read_bytes()

build.compile_object_file = compile_
build.LONGEST_WAIT_SECONDS = 0.0 if sys.argv[3] == "hurry" else 60.0
"""


def kept_file(object_file: str) -> Path:
    return cache_folder() / "kernels" / f"{source_digest()[:32]}-{object_file}.o"


def image_of(object_file: str) -> bytes:
    kernel_address(next(iter(exported(object_file))))  # compiles it where need be
    kept = read_checked(kept_file(object_file))
    assert kept is not None
    return kept.tobytes()


@pytest.fixture
def start(tmp_path: Path) -> Callable[..., subprocess.Popen[str]]:
    """Start a process that uses the kernels with an empty cache, with their object file in place of the compiler.

    `how`: "go" compiles at once, "wait" when it gets a line, "hurry" waits for no other process.
    """
    (tmp_path / "image").write_bytes(image_of("encoding"))

    def process(how: str, cache: Path) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, "-c", STAND_IN + USE, str(tmp_path / "image"), str(tmp_path / "log"), how],
            env=os.environ | {"BPEBENCH_CACHE": str(cache)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    return process


def times_compiled(folder: Path) -> int:
    return len((folder / "log").read_text().splitlines())


def test_of_two_processes_that_start_at_once_one_compiles(
    start: Callable[..., subprocess.Popen[str]], tmp_path: Path
) -> None:
    with start("wait", tmp_path / "cache") as first:
        assert first.stdout is not None
        assert first.stdout.readline() == "compiling\n"
        with start("go", tmp_path / "cache") as second:
            assert second.stderr is not None
            assert f"waiting for kernels that process {first.pid} compiles" in second.stderr.readline()
            with start("hurry", tmp_path / "cache") as hurried:
                assert hurried.communicate(timeout=60)[0] == "compiling\ndone\n"
            # The one that hurried has written its result by now; the waiting one finds it once the lock is free.
            assert first.communicate("go on\n", timeout=60)[0] == "done\n"
            assert second.communicate(timeout=60)[0] == "done\n"
    assert times_compiled(tmp_path) == 2


def test_a_lock_is_free_again_when_its_holder_was_killed(
    start: Callable[..., subprocess.Popen[str]], tmp_path: Path
) -> None:
    with start("wait", tmp_path / "cache") as first:
        assert first.stdout is not None
        first.stdout.readline()
        first.kill()
    with start("go", tmp_path / "cache") as second:
        assert second.communicate(timeout=60) == ("compiling\ndone\n", "")


@pytest.mark.parametrize("damage", ["cut short", "one bit", "a folder"])
def test_a_damaged_object_file_is_compiled_again(
    start: Callable[..., subprocess.Popen[str]], tmp_path: Path, damage: str
) -> None:
    path = tmp_path / "cache" / "compiled" / "kernels" / kept_file("encoding").name
    assert write_checked(path, (tmp_path / "image").read_bytes())
    with start("go", tmp_path / "cache") as sound:
        assert sound.communicate(timeout=60)[0] == "done\n"
    whole = path.read_bytes()
    if damage == "a folder":
        path.unlink()
        path.mkdir()
    else:
        path.write_bytes(whole[: len(whole) // 2] if damage == "cut short" else whole[:-1] + bytes([whole[-1] ^ 1]))
    with start("go", tmp_path / "cache") as again:
        assert again.communicate(timeout=60)[0] == "compiling\ndone\n"
    assert path.is_dir() or path.read_bytes() == whole


def test_kernels_and_tables_are_made_anew_where_the_cache_cannot_be_written(
    start: Callable[..., subprocess.Popen[str]], tmp_path: Path
) -> None:
    (tmp_path / "file").touch()
    for _ in range(2):
        with start("go", tmp_path / "file" / "cache") as process:
            assert process.communicate(timeout=60) == ("compiling\ndone\n", "")
    assert times_compiled(tmp_path) == 2


COMMAND = """
import subprocess, sys
from impls.compiled.codegen import build

def run(command, *, env, **_):
    imports = "import impls.compiled.codegen.build as b; print(b.__file__)"
    done = real([command[0], *command[1 : command.index("-m")], "-c", imports], env=env, capture_output=True, text=True)
    print(done.stdout.strip() == build.__file__ or done)
    return subprocess.CompletedProcess(command, 1, "", "stopped here")

real, subprocess.run = subprocess.run, run
try:
    build.compile_object_file("encoding")
except build.Unsupported as refused:
    print(refused.reason)
"""


def test_the_compiler_finds_these_kernels_in_whatever_folder_it_runs(tmp_path: Path) -> None:
    (tmp_path / "impls").mkdir()
    (tmp_path / "impls" / "__init__.py").write_text("raise ImportError('another package')")
    folders = os.pathsep.join(entry or str(Path.cwd()) for entry in sys.path)
    done = subprocess.run(
        [sys.executable, "-P", "-c", COMMAND],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": folders},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout == "True\nits kernels do not compile here: stopped here\n", done.stderr


AT_ONCE = """
import threading
from impls.compiled.codegen.build import kernel_address

start = threading.Barrier(8)
loaded = []

def load():
    start.wait()
    loaded.append(kernel_address("encode"))

threads = [threading.Thread(target=load) for _ in range(8)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(len(loaded), len(set(loaded)))
"""


def test_threads_that_need_the_kernels_at_the_same_time_load_them_once() -> None:
    assert run(AT_ONCE).stdout == "8 1\n"


BY_NEED = """
import sys
from pathlib import Path
from impls.compiled.codegen import build

def compile_(object_file):
    print(object_file)
    return Path(sys.argv[1], object_file).read_bytes()

build.compile_object_file = compile_
import impls
model = impls.Model(tokens=tuple(bytes([b]) for b in range(256)) + (b"ab",), merges=((97, 98),), pattern="gpt2")
tokenizer = impls.load("compiled", model)
print(tokenizer.encode("abc"))
print(tokenizer.encode_array("ab"), tokenizer.count("ab"))
print(tokenizer.decode([256, 99]), tokenizer.decode_bytes([256]))
print(tokenizer.encode_batch(["abc", "ab"]), tokenizer.encode_bytes(b"ab\\xff"))
print(impls.load("compiled", impls.Model(tokens=model.tokens, merges=model.merges, pattern="deepseek")).encode("abc"))
"""


def test_kernels_that_the_first_ids_do_not_need_are_compiled_when_they_are(tmp_path: Path) -> None:
    for object_file in OBJECT_FILES:
        (tmp_path / object_file).write_bytes(image_of(object_file))
    found = run(BY_NEED, str(tmp_path), BPEBENCH_CACHE=str(tmp_path / "cache"))
    assert found.stdout == (
        "encoding\n[256, 99]\narrays\n[256] 1\ndecoding\nabc b'ab'\nlater\n[[256, 99], [256]] [256, 255]\n"
        "stages\n[256, 99]\n"
    )


def test_a_run_prepares_the_kernels_once(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    compiled: list[str] = []

    def compile_(object_file: str) -> bytes:
        compiled.append(object_file)
        return object_file.encode()

    monkeypatch.setenv("BPEBENCH_CACHE", str(tmp_path))
    monkeypatch.setattr(build, "compile_object_file", compile_)
    for _ in range(2):
        kernels_compiled()
        assert sorted(compiled) == sorted(OBJECT_FILES)


def test_importing_the_suite_imports_neither_numba_nor_llvmlite() -> None:
    done = run("import sys, impls; impls.names(); print('numba' in sys.modules, 'llvmlite' in sys.modules)")
    assert done.stdout == "False False\n"


def test_kernels_loaded_by_llvm_and_without_it_are_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    image = image_of("encoding")
    blob, starts = np.frombuffer(b"abbcaab" + bytes(64), np.uint8), np.array([0, 1, 2, 4, 7], np.int64)
    tokens = np.arange(4, dtype=np.int32)
    name, found = PREFIX + "index_tokens", []
    for without_llvm in (True, False):
        if not without_llvm:
            monkeypatch.setattr(loading, "_place", lambda image, known: None)
        place = loading.load(image, [name], {})[name]
        table = np.full(16, -1, np.int32)
        ctypes.CFUNCTYPE(ctypes.c_int64, *[ctypes.c_int64] * 6)(place)(
            blob.ctypes.data, starts.ctypes.data, tokens.ctypes.data, 4, table.ctypes.data, 60
        )
        found.append((place, table.tolist()))
    assert found[0][0] != found[1][0]
    assert found[0][1] == found[1][1]
    assert sorted(found[0][1])[-4:] == [0, 1, 2, 3]


@pytest.mark.skipif(sys.platform != "linux" or platform.machine() != "x86_64", reason="LLVM loads them elsewhere")
def test_a_reference_of_another_kind_is_left_to_llvm() -> None:
    image = image_of("encoding")
    assert loading._place(image, {}) is not None
    start = int.from_bytes(image[40:48], "little")
    sections = np.frombuffer(image, loading._SECTION, int.from_bytes(image[60:62], "little"), start)
    relocations = sections[sections["kind"] == loading._RELOCATIONS][0]
    damaged = bytearray(image)
    damaged[int(relocations["offset"]) + 8] = 2
    assert loading._place(bytes(damaged), {}) is None
