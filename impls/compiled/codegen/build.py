"""The object files of the kernels: compiled by Numba when first needed, kept in the user's cache, loaded by llvmlite.

The key of the cache is a digest of every source that goes into it, of the versions of Numba, llvmlite and Python and of
the processor's features. A file is written whole, then renamed. Of several processes that start at once one compiles
and the others wait for it, up to a limit; where the cache cannot be written, or others can write it, each compiles for
itself.
"""

from __future__ import annotations

import contextlib
import ctypes
import hashlib
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from functools import cache
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from threading import RLock
from typing import Any

import llvmlite
from llvmlite import binding as llvm

from impls.compiled.codegen.entry_points import PLAIN, PREFIX, object_file_of
from impls.compiled.codegen.locks import turn
from impls.compiled.layout import N_REGIONS
from impls.compiled.storage import cache_folder, is_private, read_checked, write_checked
from impls.core.errors import Unsupported

_IMPLS = Path(__file__).parents[2]
_MARK = b"impls.compiled.codegen.memory"
_NO_KERNELS = (
    "core/cache.py",
    "core/private_files.py",
    "compiled/layout.py",
    "compiled/storage.py",
    "compiled/typed_memory.py",
    "compiled/threads/layout.py",
    "compiled/training/layout.py",
    "compiled/pretokenize/pattern/flags.py",
    "compiled/pretokenize/pattern/steps.py",
)
"""What the kernels and their compilation depend on besides the modules that import `codegen.memory`."""
_REGIONS_SYMBOL = "bpebench_regions"
_PURPOSE = {"encoding": "encoding, about 10 s", "later": "batches and training, about 5 s"}
LONGEST_WAIT_SECONDS = 120.0
"""Maximum wait for another process that compiles; after it this process compiles too."""


def is_checked() -> bool:
    """Return whether this process runs the build that checks every access to memory (for tests; slow)."""
    return os.environ.get("BPEBENCH_COMPILED_BUILD") == "checked"


@cache
def source_digest() -> str:
    """Return the SHA-256 (hex) of the sources of the kernels, and of what compiles them."""
    hasher = hashlib.sha256()
    for name, content in _sources():
        hasher.update(f"{name}\0".encode() + content + b"\0")
    features = llvm.get_host_cpu_features().flatten()
    for part in (
        _numba_version(),
        llvmlite.__version__,
        sys.version,
        llvm.get_process_triple(),
        llvm.get_host_cpu_name(),
        features,
        str(is_checked()),
    ):
        hasher.update(part.encode() + b"\0")
    return hasher.hexdigest()


def _sources() -> Iterator[tuple[str, bytes]]:
    """Yield path and content of every module that the object file depends on."""
    for path in sorted((_IMPLS / "compiled").rglob("*.py")):
        content = path.read_bytes()
        if _MARK in content or path.parent.name == "codegen":
            yield path.relative_to(_IMPLS).as_posix(), content
    for name in _NO_KERNELS:
        yield name, (_IMPLS / name).read_bytes()


def _numba_version() -> str:
    """Return Numba's version from its own file: package metadata takes 2 ms, importing Numba 300."""
    found = find_spec("numba")
    if found is not None and found.origin is not None:
        with contextlib.suppress(OSError):
            return Path(found.origin).with_name("_version.py").read_text("utf-8")
    return version("numba")


def kernel_address(name: str) -> int:
    """Return the address of an exported function; load or compile the object file it is in."""
    with _loading:
        address: int = _engine(object_file_of(name)).get_function_address(PREFIX + name)
    if not address:
        raise RuntimeError(f"the object file of the compiled kernels exports no {name!r}")
    return address


def plain_function(name: str) -> Any:
    """Return an exported plain function as a ctypes function of int64; calls release the interpreter lock."""
    return ctypes.CFUNCTYPE(ctypes.c_int64, *[ctypes.c_int64] * PLAIN[name][1])(kernel_address(name))


@cache
def regions() -> Any:
    """Return the checked build's table: number of faults, address and size of the last one, ..., regions from 8 on.

    A region is a pair (start, end). int64 of shape (8 + 2 * N_REGIONS,); kept for the life of the process.
    """
    import numpy as np

    return np.zeros(8 + 2 * N_REGIONS, np.int64)


def expose_regions() -> None:
    """Make the checked build's table known to the linker, which needs it before kernels are loaded."""
    if is_checked():
        llvm.add_symbol(_REGIONS_SYMBOL, regions().ctypes.data)


_loading = RLock()
_engines: dict[str, Any] = {}
_living: list[Any] = []
"""Every engine of this process: freed, it would take its functions with it, whose addresses are in use."""


def _new_lock() -> None:
    global _loading
    _loading = RLock()


if hasattr(os, "register_at_fork"):
    # A thread that was loading does not exist in a forked child.
    os.register_at_fork(after_in_child=_new_lock)


def _engine(object_file: str) -> Any:
    """Return the engine that has loaded an object file; compile it when the user's cache does not hold it."""
    if object_file not in _engines:
        if object_file == "later":
            llvm.add_symbol(PREFIX + "encode", _engine("encoding").get_function_address(PREFIX + "encode"))
        expose_regions()
        engine = engine_of(_cached_or_compiled(object_file))
        _living.append(engine)
        # A finalizer that ran meanwhile, in this thread, may have loaded it too.
        _engines.setdefault(object_file, engine)
    return _engines[object_file]


def engine_of(image: bytes) -> Any:
    """Return a new engine that has loaded the content of an object file."""
    # An engine needs a module; unless removed, this empty one would be compiled, which takes 2 ms and 5 MB.
    module = llvm.parse_assembly("")
    engine = llvm.create_mcjit_compiler(module, target_machine())
    engine.remove_module(module)
    engine.add_object_file(llvm.ObjectFileRef.from_data(image))
    engine.finalize_object()
    return engine


def _cached_or_compiled(object_file: str) -> bytes:
    path = cache_folder() / "kernels" / f"{source_digest()[:32]}-{object_file}.o"
    if not is_private(path.parent):
        return _compile(object_file)
    image = _kept(path)
    if image is None:
        with turn(path.with_suffix(".lock"), LONGEST_WAIT_SECONDS, _say_waiting):
            image = _kept(path)
            if image is None:
                image = _compile(object_file)
                write_checked(path, image)
    return image


def _kept(path: Path) -> bytes | None:
    content = read_checked(path)
    return None if content is None else content.tobytes()


def target_machine() -> Any:
    """Return a target machine for this processor."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    return llvm.Target.from_default_triple().create_target_machine(
        cpu=llvm.get_host_cpu_name(),
        features=llvm.get_host_cpu_features().flatten(),
        opt=3,
        codemodel="jitdefault",
        jit=True,
    )


def _compile(object_file: str) -> bytes:
    """Compile an object file in another process; return its content."""
    if not sys.executable:
        raise Unsupported("compiled", "its kernels are compiled by another Python process, but sys.executable is empty")
    _say(f"compiling the kernels of 'compiled' for {_PURPOSE[object_file]} (once per machine and version) ...")
    started = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "kernels.o"
        folders = [entry or str(Path.cwd()) for entry in sys.path]
        environment = os.environ | {"NUMBA_OPT": "0", "PYTHONPATH": os.pathsep.join(folders)}
        # -P: the current folder might hold another package of our name.
        command = [sys.executable, "-P", "-m", "impls.compiled.codegen", object_file, str(path)]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            last_line = (done.stderr.strip().splitlines() or ["no message"])[-1]
            raise Unsupported("compiled", f"its kernels do not compile here: {last_line}")
        image = path.read_bytes()
    _say(f"compiled the kernels in {time.perf_counter() - started:.1f} s")
    return image


def _say_waiting() -> None:
    _say("another process is compiling the kernels of 'compiled'; waiting for it ...")


def _say(message: str) -> None:
    print(f"bpebench: {message}", file=sys.stderr, flush=True)
