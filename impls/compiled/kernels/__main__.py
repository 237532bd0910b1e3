"""Compiles the kernels: `python -m impls.compiled.kernels FILE` writes the object file for this processor.

A process of its own, so that Numba, its memory and its settings stay out of the process that uses the kernels. Numba
runs without its optimiser (NUMBA_OPT=0): LLVM optimises all entries together, once.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from llvmlite import binding as llvm

from impls.compiled.build import expose_regions, is_checked, target_machine
from impls.compiled.kernels.entries import compiled_entries


def object_file() -> bytes:
    """All entries in one object file; everything that is not exported is internal to it."""
    expose_regions()
    whole = llvm.parse_assembly("")
    entries = compiled_entries()
    for name, entry in entries.items():
        whole.link_in(_module(name, entry))
    # Only now: functions that several entries call are in every module, and linking makes them one.
    for function in whole.functions:
        if not function.is_declaration and function.name not in entries:
            function.linkage = "internal"
            if is_checked() and "reachable" in function.name:
                function.add_function_attribute("noinline")
    machine = target_machine()
    _optimise(whole, machine)
    _refuse_what_needs_numba(whole)
    image: bytes = machine.emit_object(whole)
    return image


def _module(name: str, entry: Any) -> Any:
    """The LLVM module of a callback, exported as `name`."""
    code = entry.inspect_llvm()
    for written in (f'@"{entry.native_name}"', f"@{entry.native_name}"):
        code = code.replace(written, f"@{name}")
    return llvm.parse_assembly(code)


def _refuse_what_needs_numba(module: Any) -> None:
    """A kernel that may raise calls Numba's own runtime, which is not there when the object file is loaded."""
    for function in module.functions:
        if function.is_declaration and function.name.startswith(("numba_", "NRT_")):
            raise RuntimeError(f"a kernel needs {function.name}, so it can raise or allocates; it must do neither")


def _optimise(module: Any, machine: Any) -> None:
    # The checked build is large: a check stands at every access. It is kept small rather than fast.
    options = llvm.create_pipeline_tuning_options(speed_level=1 if is_checked() else 3)
    options.loop_vectorization = not is_checked()
    options.slp_vectorization = not is_checked()
    builder = llvm.create_pass_builder(machine, options)
    builder.getModulePassManager().run(module, builder)


if __name__ == "__main__":
    Path(sys.argv[1]).write_bytes(object_file())
