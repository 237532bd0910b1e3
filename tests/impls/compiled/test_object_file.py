"""The object files of the kernels: compiled once, by one process, loaded once, never damaged; Numba is not changed."""

from __future__ import annotations

import ctypes
import os
import platform
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numba
import numpy as np
import pytest
from child import run
from numba.core import types
from numba.core.registry import cpu_target
from refusals import refused

import impls
from impls.compiled.codegen import build, loading
from impls.compiled.codegen.__main__ import image_of
from impls.compiled.codegen.build import kernel_address, source_digest
from impls.compiled.codegen.entry_points import OBJECT_FILES, PREFIX, exported
from impls.compiled.codegen.pipeline import collected
from impls.compiled.language.memory import inlined, kernel, shift_left
from impls.compiled.pages import cache_folder, read_checked, write_checked

MODEL = """
import os, sys
import impls
model = impls.Model(tokens=tuple(bytes([b]) for b in range(256)) + (b"ab",), merges=((97, 98),), pattern="gpt2")
tokenizer = impls.load("compiled", model)
"""
USE = (
    MODEL
    + """
assert tokenizer.encode("abc") == [256, 99]
assert "numba" not in sys.modules
assert "llvmlite" not in sys.modules or not sys.platform == "linux" or os.uname().machine != "x86_64"
print("done")
"""
)
STAND_IN = """
import sys
from pathlib import Path
from impls.compiled.codegen import build

def compile_(object_file):
    print("compiling", object_file, flush=True)
    if sys.argv[2] == "wait":
        sys.stdin.readline()
    return Path(sys.argv[1], object_file).read_bytes()

build.compile_object_file = compile_
"""
COMPILED = "compiling encoding\n"


def test_kernels_are_loaded_from_the_cache_without_numba_or_llvm_and_without_a_word() -> None:
    assert run(USE).stdout == "done\n"
    again = run(USE)
    assert (again.stdout, again.stderr) == ("done\n", "")


def kept_file(object_file: str) -> Path:
    return cache_folder() / "kernels" / f"{source_digest()[:32]}-{object_file}.o"


def kept_image(object_file: str) -> bytes:
    kernel_address(next(iter(exported(object_file))))  # compiles it where need be
    kept = read_checked(kept_file(object_file))
    return kept.tobytes()


@pytest.fixture
def start(tmp_path: Path) -> Callable[..., subprocess.Popen[str]]:
    """Start a process that uses the kernels with an empty cache, with their object file in place of the compiler.

    `how`: "go" compiles at once, "wait" when it gets a line.
    """
    for object_file in OBJECT_FILES:
        (tmp_path / object_file).write_bytes(kept_image(object_file))

    def process(how: str, cache: Path, code: str = USE) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, "-c", STAND_IN + code, str(tmp_path), how],
            env=os.environ | {"BPEBENCH_CACHE": str(cache)}, text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip

    return process


def test_of_two_processes_at_once_one_compiles(start: Callable[..., subprocess.Popen[str]], tmp_path: Path) -> None:
    with start("wait", tmp_path / "cache") as killed:
        assert killed.stdout.readline() == COMPILED
        killed.kill()  # the system frees its lock
    with start("wait", tmp_path / "cache") as first:
        assert first.stdout.readline() == COMPILED
        with start("go", tmp_path / "cache") as second:
            refused(subprocess.TimeoutExpired, None, second.communicate, timeout=1)
            assert first.communicate("go on\n", timeout=60)[0] == "done\n"
            assert second.communicate(timeout=60)[0] == "done\n"


def test_a_damaged_object_file_is_compiled_again(start: Callable[..., subprocess.Popen[str]], tmp_path: Path) -> None:
    path = tmp_path / "cache" / "compiled" / "kernels" / kept_file("encoding").name
    assert write_checked(path, kept_image("encoding"))
    sound = path.read_bytes()
    flipped = sound[:-1] + bytes([sound[-1] ^ 1])
    for content, printed in ((sound, ""), (sound[: len(sound) // 2], COMPILED), (flipped, COMPILED)):
        path.write_bytes(content)
        with start("go", tmp_path / "cache") as process:
            assert process.communicate(timeout=60)[0] == f"{printed}done\n"
        assert path.read_bytes() == sound
    path.unlink()
    path.mkdir()
    (tmp_path / "file").touch()
    for cache in (tmp_path / "cache", tmp_path / "file" / "cache"):  # where none can be written
        with start("go", cache) as process:
            assert process.communicate(timeout=60)[0] == f"{COMPILED}done\n"


def test_the_compiler_finds_these_kernels_in_whatever_folder_it_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    commands: list[tuple[list[str], list[str]]] = []

    def stopped(command: list[str], *, env: dict[str, str], **_: object) -> subprocess.CompletedProcess[str]:
        commands.append((command[1:4], env["PYTHONPATH"].split(os.pathsep)))
        return subprocess.CompletedProcess(command, 1, "", "stopped here")

    monkeypatch.setattr(subprocess, "run", stopped)
    refused(impls.Unsupported, "its kernels do not compile here: stopped here", build.compile_object_file, "encoding")
    folders = [entry or str(Path.cwd()) for entry in sys.path]
    assert commands == [(["-P", "-m", "impls.compiled.codegen"], folders)]


BY_NEED = (
    MODEL
    + """
print(tokenizer.encode("abc"))
print(tokenizer.encode_array("ab"), tokenizer.count("ab"))
print(tokenizer.decode([256, 99]), tokenizer.decode_bytes([256]))
print(tokenizer.encode_batch(["abc", "ab"]), tokenizer.encode_bytes(b"ab\\xff"))
"""
)


def test_other_kernels_are_compiled_when_needed(start: Callable[..., subprocess.Popen[str]], tmp_path: Path) -> None:
    with start("go", tmp_path / "cache", BY_NEED) as process:
        printed = process.communicate(timeout=60)[0].replace("compiling ", "")
    assert printed == (
        "encoding\n[256, 99]\narrays\n[256] 1\ndecoding\nabc b'ab'\n"
        "batches-and-training\n[[256, 99], [256]] [256, 255]\n"
    )


@pytest.mark.skipif(sys.platform != "linux" or platform.machine() != "x86_64", reason="LLVM loads them elsewhere")
def test_kernels_loaded_by_llvm_and_without_it_are_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    image = kept_image("encoding")
    blob, starts = np.frombuffer(b"abbcaab" + bytes(64), np.uint8), np.array([0, 1, 2, 4, 7], np.int64)
    tokens = np.arange(4, dtype=np.int32)
    name, results = PREFIX + "index_tokens", []
    for place in (loading._place, lambda image, known: None):
        monkeypatch.setattr(loading, "_place", place)
        address = loading.load(image, [name], {})[name]
        table = np.full(16, -1, np.int32)
        ctypes.CFUNCTYPE(ctypes.c_int64, *[ctypes.c_int64] * 6)(address)(
            blob.ctypes.data, starts.ctypes.data, tokens.ctypes.data, 4, table.ctypes.data, 60
        )
        results.append((address, table.tolist()))
    assert results[0][0] != results[1][0]
    assert results[0][1] == results[1][1]
    assert sorted(results[0][1])[-4:] == [0, 1, 2, 3]
    monkeypatch.undo()
    start = int.from_bytes(image[40:48], "little")
    sections = np.frombuffer(image, loading._SECTION, int.from_bytes(image[60:62], "little"), start)
    relocations = sections[sections["kind"] == loading._RELOCATIONS][0]
    other = bytearray(image)
    other[int(relocations["offset"]) + 8] = 2  # a reference of another kind
    assert loading._place(bytes(other), {}) is None


# --- what is changed inside Numba ----------------------------------------------------------------------------------


@inlined
def scaled(a: int, by: int) -> int:
    return a * by


@kernel
def power(a: int, n: int) -> int:
    result = 1
    while n > 0:
        if n & 1:
            result = scaled(result, a)
        a = scaled(a, a)
        n >>= 1
    return result + shift_left(0, 3) + scaled(0, 3) + scaled(0, 5)


@kernel
def raising(a: int) -> int:
    if a > 3:
        raise ValueError("too large")
    return a


def test_functions_are_collected_one_by_one_without_copies_for_constants_and_numba_is_left_as_it_was() -> None:
    codegen = cpu_target.target_context.codegen()
    owners = codegen, type(codegen), types.Function
    before = [dict(vars(owner)) for owner in owners]
    with collected() as modules:
        assert [dict(vars(owner)) for owner in owners] != before
        callback = numba.cfunc("int64(int64, int64)")(lambda a, n: power(a, n))
    assert [dict(vars(owner)) for owner in owners] == before
    assert numba.njit(lambda a: a + 1)(1) == 2
    definitions = [line for text in modules for line in text.splitlines() if line.startswith("define")]
    assert sum("scaled" in line for line in definitions) == 1
    name = PREFIX + "power"
    addresses = loading.load(image_of({name: callback}, modules), [name], {})
    function = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64, ctypes.c_int64)(addresses[name])
    assert [function(3, n) for n in (0, 1, 2, 7)] == [1, 3, 9, 2187]


def test_a_kernel_that_may_raise_is_refused() -> None:
    with collected() as modules:
        callback = numba.cfunc("int64(int64)")(lambda a: raising(a))
    refused(RuntimeError, "it can raise or allocates", image_of, {PREFIX + "raising": callback}, modules)


def test_the_digest_covers_whatever_kernels_import() -> None:
    digested = dict(build._sources())
    mark = b"\nfrom impls.compiled.language.memory import"
    kernels = [
        content.decode()
        for name, content in digested.items()
        if mark in content or name.endswith(("layout.py", "typed_memory.py"))
    ]
    imported = set()
    for module, names in re.findall(r"^from impls\.([\w.]+) import (\([^)]*\)|.*)", "".join(kernels), re.MULTILINE):
        path = module.replace(".", "/")
        if (Path(impls.__file__).parent / path).is_dir():
            imported |= {f"{path}/{name}.py" for name in re.findall(r"\w+", names)}
        else:
            imported.add(f"{path}.py")
    wanted = {"compiled/layout.py", "compiled/training/layout.py", "compiled/language/memory.py"}
    assert wanted <= imported <= set(digested)


LACKING = """
from impls.compiled.codegen import pipeline
from impls.compiled.codegen.__main__ import compiled

usual = hasattr
for lacking in ("_library_class", "set_env", "get_call_template"):
    pipeline.hasattr = lambda owner, name: name != lacking and usual(owner, name)
    try:
        compiled("decoding")
    except RuntimeError as error:
        print(error)
"""


def test_a_release_of_numba_that_lacks_a_name_is_refused_in_one_line() -> None:
    """The names are hidden in a process of its own, by owners that have all the others."""
    lines = run(LACKING, NUMBA_OPT="0").stdout.splitlines()
    for name, line in zip(("_library_class", "set_env", "get_call_template"), lines, strict=True):
        assert re.fullmatch(rf"Numba [\d.]+ lacks \w+\.{name}; install one that .* allows", line), line
