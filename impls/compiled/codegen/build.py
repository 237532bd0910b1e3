"""The object file of the kernels: compiled by Numba once, kept in the user's cache, loaded by llvmlite alone.

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
from threading import Lock
from typing import Any

import llvmlite
from llvmlite import binding as llvm

from impls.compiled.codegen.entry_points import PLAIN, PREFIX
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
    "compiled/training/layout.py",
    "compiled/pretokenize/pattern/flags.py",
    "compiled/pretokenize/pattern/steps.py",
)
"""What the kernels and their compilation depend on besides the modules that import `codegen.memory`."""
_REGIONS_SYMBOL = "bpebench_regions"
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


class Kernels:
    """The loaded object file; one per process, see `kernels`."""

    def __init__(self, image: bytes) -> None:
        # An engine needs a module; unless removed, this empty one would be compiled, which takes 2 ms and 5 MB.
        module = llvm.parse_assembly("")
        self._engine = llvm.create_mcjit_compiler(module, target_machine())
        self._engine.remove_module(module)
        self._engine.add_object_file(llvm.ObjectFileRef.from_data(image))
        self._engine.finalize_object()

    def address(self, name: str) -> int:
        """Return the address of an exported function."""
        address: int = self._engine.get_function_address(PREFIX + name)
        if not address:
            raise RuntimeError(f"the object file of the compiled kernels exports no {name!r}")
        return address

    def plain(self, name: str) -> Any:
        """Return an exported plain function as a ctypes function of int64; calls release the interpreter lock."""
        kind = ctypes.CFUNCTYPE(ctypes.c_int64, *[ctypes.c_int64] * PLAIN[name][1])
        return kind(self.address(name))


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


_loading = Lock()


def _new_lock() -> None:
    global _loading
    _loading = Lock()


if hasattr(os, "register_at_fork"):
    # A thread that was loading does not exist in a forked child.
    os.register_at_fork(after_in_child=_new_lock)


def kernels() -> Kernels:
    """Return the kernels; compile them when the cache does not hold them."""
    # Loaded once: a second engine would be freed with its addresses still in use.
    with _loading:
        return _loaded()


@cache
def _loaded() -> Kernels:
    expose_regions()
    path = cache_folder() / "kernels" / f"{source_digest()[:32]}.o"
    if not is_private(path.parent):
        return Kernels(_compile())
    image = _kept(path)
    if image is None:
        with turn(path.with_suffix(".lock"), LONGEST_WAIT_SECONDS, _say_waiting):
            image = _kept(path)
            if image is None:
                image = _compile()
                write_checked(path, image)
    return Kernels(image)


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


def _compile() -> bytes:
    """Compile all entries in another process; return the object file."""
    if not sys.executable:
        raise Unsupported("compiled", "its kernels are compiled by another Python process, but sys.executable is empty")
    _say("compiling the kernels of 'compiled' (once per machine and version) ...")
    started = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "kernels.o"
        folders = [entry or str(Path.cwd()) for entry in sys.path]
        environment = os.environ | {"NUMBA_OPT": "0", "PYTHONPATH": os.pathsep.join(folders)}
        # -P: the current folder might hold another package of our name.
        command = [sys.executable, "-P", "-m", "impls.compiled.codegen", str(path)]
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
