"""Builds the object files of the kernels: compiles them when first needed, caches them per user, has them loaded.

The key of the cache is a digest of every source that goes into it, of the versions of Numba, llvmlite and Python, and
of the processor's features. A file is written completely, then renamed. If several processes start at once, one
compiles and the others wait for it; if the cache cannot be written, or other users can write it, each process compiles
for itself.
"""

from __future__ import annotations

import contextlib
import ctypes
import hashlib
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from threading import RLock
from typing import Any

import numpy as np

from impls.compiled.codegen import target
from impls.compiled.codegen.entry_points import (
    CALL_ENCODE,
    OBJECT_FILE_OF,
    OBJECT_FILES,
    PREFIX,
    REGIONS_SYMBOL,
    exported,
)
from impls.compiled.codegen.loading import load
from impls.compiled.layout import N_COUNTERS, N_REGIONS
from impls.compiled.pages import cache_folder, is_private, read_checked, write_checked
from impls.core.errors import Unsupported

_IMPLS = Path(__file__).parents[2]
READY_MADE = Path(__file__).with_name("ready_made")
"""The folder of the object files in a wheel; see `bpebench/wheel_hook.py`."""
_MARK = b"impls.compiled.language"
"""What modules of kernels, and of the records that kernels access, import."""
_OTHERS = "core/pattern/flags.py", "core/pattern/steps.py"
"""What the kernels depend on besides the modules with the mark, `language` and `codegen`."""


@cache
def is_checked() -> bool:
    """Return whether this process uses the build that checks every memory access (for tests; slow)."""
    return os.environ.get("BPEBENCH_COMPILED_BUILD") == "checked"


@cache
def source_digest() -> str:
    """Return the SHA-256 (hex) of the kernels' sources, of what compiles them and of the processor's description."""
    compilers = _release("numba"), _release("llvmlite")
    return _digest(*compilers, sys.version, target.description(), str(is_checked()))


def ready_made_name(object_file: str, generation: str) -> str:
    """Return the file name of an object file in a wheel; it depends on the sources alone.

    `generation` is one of `target.generations`.
    """
    return f"{_digest(generation)[:32]}-{object_file}.o"


def _digest(*parts: str) -> str:
    hasher = hashlib.sha256()
    for name, content in _sources():
        hasher.update(f"{name}\0".encode() + content + b"\0")
    for part in (sys.platform, *parts):
        hasher.update(part.encode() + b"\0")
    return hasher.hexdigest()


def _sources() -> Iterator[tuple[str, bytes]]:
    """Yield the path and content of every module that the object files depend on."""
    for path in sorted((_IMPLS / "compiled").rglob("*.py")):
        content = path.read_bytes()
        if path.parent.name in ("codegen", "language") or _MARK in content:
            yield path.relative_to(_IMPLS).as_posix(), content
    for name in _OTHERS:
        yield name, (_IMPLS / name).read_bytes()


def _release(package: str) -> str:
    """Return the content of the file in which a package (Numba or llvmlite) records its version; "" without it.

    Reading package metadata takes 2 ms, importing Numba 300 ms.
    """
    spec = find_spec(package)
    if spec is None or spec.origin is None:
        return ""
    return Path(spec.origin).with_name("_version.py").read_text("utf-8")


def kernel_address(name: str) -> int:
    """Return the address of an exported function; load its object file, compiled if need be, on first use."""
    if name not in _addresses:
        with _loading:
            _load(OBJECT_FILE_OF[name])
    return _addresses[name]


def plain_function(name: str, n_arguments: int) -> Any:
    """Return an exported plain function as a ctypes function of int64; a call releases the interpreter lock."""
    return ctypes.CFUNCTYPE(ctypes.c_int64, *[ctypes.c_int64] * n_arguments)(kernel_address(name))


@cache
def regions() -> np.ndarray:
    """Return the checked build's table: number of faults, address and size of the last one, spare memory, regions.

    A region is a pair (start, end). int64, shape (N_COUNTERS + 2 * N_REGIONS,); kept for the life of the process.
    """
    return np.zeros(N_COUNTERS + 2 * N_REGIONS, np.int64)


_loading = RLock()
_addresses: dict[str, int] = {}
"""Addresses, by exported name, of the functions of all loaded object files."""


if hasattr(os, "register_at_fork"):
    # In a child forked while another thread is loading, LLVM's locks would stay taken: a fork waits until it is loaded.
    os.register_at_fork(before=_loading.acquire, after_in_parent=_loading.release, after_in_child=_loading.release)


def _load(object_file: str) -> None:
    """Load an object file unless it is loaded already; compile it first if it is not cached."""
    names = exported(object_file)
    if names.keys() <= _addresses.keys():
        return
    known = {PREFIX + "encode": kernel_address("encode")} if object_file in CALL_ENCODE else {}
    if is_checked():
        known[REGIONS_SYMBOL] = regions().ctypes.data
    functions = load(_image(object_file), [PREFIX + name for name in names], known)
    # A finalizer that ran in this thread meanwhile may have loaded it too: then keep the functions it loaded.
    for name in names:
        _addresses.setdefault(name, functions[PREFIX + name])


def _image(object_file: str) -> bytes:
    """Return the content of an object file: from the user's cache, else from the wheel, else compiled now."""
    return _kept(_path(object_file)) or _ready_made(object_file) or _own_image(object_file)


def prepare() -> None:
    """Compile what the user's cache lacks, so that no later process waits for it or uses the wheel's slower code."""
    _for_each(_own_image if _release("numba") else _image)


def _for_each(make: Callable[[str], object]) -> None:
    """Call `make` with each object file, one per processor at a time, the slowest to compile first."""
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(make, reversed(list(OBJECT_FILES))))


def _own_image(object_file: str) -> bytes:
    """Return an object file for this processor: from the user's cache, else compiled and stored there."""
    path = _path(object_file)
    if not is_private(path.parent):
        return compile_object_file(object_file)
    with _file_lock(path.with_suffix(".lock")):
        image = _kept(path)
        if image is None:
            image = compile_object_file(object_file)
            write_checked(path, image)
    return image


@contextlib.contextmanager
def _file_lock(path: Path) -> Iterator[None]:
    """Hold the lock of a file while the block runs, if the system has such locks.

    The system releases the lock when its holder ends, however it ends. The library `filelock` is not used: what it does
    at a fork can deadlock with a thread that compiles.
    """
    with contextlib.ExitStack() as stack:
        with contextlib.suppress(OSError, ImportError):
            import fcntl

            file = stack.enter_context(path.open("ab"))
            fcntl.flock(file, fcntl.LOCK_EX)
            stack.callback(fcntl.flock, file, fcntl.LOCK_UN)  # a forked child may have the file open too
        yield


def _path(object_file: str) -> Path:
    return cache_folder() / "kernels" / f"{source_digest()[:32]}-{object_file}.o"


def _ready_made(object_file: str) -> bytes | None:
    """Return the wheel's object file, which any recent processor of this kind runs, if slower; None if it has none."""
    generation = target.generation()
    if is_checked() or generation is None:
        return None
    path = READY_MADE / ready_made_name(object_file, generation)
    return path.read_bytes() if path.is_file() else None


def _kept(path: Path) -> bytes | None:
    content = read_checked(path)
    return None if content is None else content.tobytes()


def compile_object_file(object_file: str) -> bytes:
    """Compile an object file in another process; return its content."""
    if not _release("numba"):
        raise Unsupported(
            "compiled",
            "this installation has no kernels for this processor, and Numba, which compiles them, is not installed; "
            "pip install numba",
        )
    if not sys.executable:
        raise Unsupported("compiled", "its kernels are compiled by another Python process, but sys.executable is empty")
    _say(f"compiling the '{object_file}' kernels of 'compiled' (once per machine and version) ...")
    started = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "kernels.o"
        _compile(object_file, path, {})
        image = path.read_bytes()
    _say(f"compiled the '{object_file}' kernels in {time.perf_counter() - started:.1f} s")
    return image


def compile_for_a_wheel(folder: Path) -> None:
    """Compile into `folder` what a wheel carries: each object file for each of `target.generations`."""
    for generation in target.generations():
        processor = {target.VARIABLE: generation}
        _for_each(lambda file: _compile(file, folder / ready_made_name(file, generation), processor))  # noqa: B023


def _compile(object_file: str, path: Path, environment: dict[str, str]) -> None:
    """Compile in a process that finds the same packages as this one."""
    import subprocess

    folders = os.pathsep.join(entry or str(Path.cwd()) for entry in sys.path)
    environment = os.environ | {"NUMBA_OPT": "0", "PYTHONPATH": folders} | environment
    # -P: the current folder might hold another package of the same name.
    command = [sys.executable, "-P", "-m", "impls.compiled.codegen", object_file, str(path)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        last_line = (done.stderr.strip().splitlines() or ["no message"])[-1]
        raise Unsupported("compiled", f"its kernels do not compile here: {last_line}")


def _say(message: str) -> None:
    print(f"bpebench: {message}", file=sys.stderr, flush=True)
