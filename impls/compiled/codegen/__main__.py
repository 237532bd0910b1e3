"""Compiles kernels: `python -m impls.compiled.codegen NAME FILE` writes one of the object files.

This runs as a separate process, so that Numba, its memory and its settings stay out of the process that uses the
kernels. Numba runs without its optimiser (NUMBA_OPT=0) and links nothing: LLVM gets every function as it was lowered,
and optimises all of them together, once.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import numba
from llvmlite import binding as llvm
from numba import types

from impls.compiled.codegen.build import is_checked
from impls.compiled.codegen.entry_points import FAST_METHODS, METHODS, PREFIX, exported
from impls.compiled.codegen.pipeline import KernelCompiler, collected
from impls.compiled.codegen.target import target_machine
from impls.compiled.cpython.pyobjects import long_as_address
from impls.compiled.language.memory import OUTLINED
from impls.compiled.language.pointers import record_at, type_named
from impls.compiled.layout import ContextRecord

_context_at = record_at(ContextRecord)


def compiled(name: str) -> bytes:
    """Compile the object file `name`, for the processor that `target_machine` says."""
    with collected() as modules:
        entries = {PREFIX + kernel: entry(module, kernel) for kernel, module in exported(name).items()}
    return image_of(entries, modules)


def entry(module: str, name: str) -> Any:
    """Compile the C callback for a kernel: a plain function, or the C body of one of Python's built-in functions.

    A plain function takes and returns int64. A method takes (self, argument) and a fast method (self, arguments,
    count), as CPython's calling conventions METH_O and METH_FASTCALL do; `self` is the address of a context.
    """
    body = getattr(import_module(f"impls.compiled.{module}"), name)
    if name in METHODS:
        return numba.cfunc("int64(int64, int64)")(
            lambda bound, argument: body(_context_at(long_as_address(bound)), argument)
        )
    if name in FAST_METHODS:
        return numba.cfunc("int64(int64, int64, int64)")(
            lambda bound, arguments, count: body(_context_at(long_as_address(bound)), arguments)
        )
    function = body.py_func
    *arguments, _ = (type_named(annotation, function.__globals__) for annotation in function.__annotations__.values())
    return numba.cfunc(types.int64(*arguments), pipeline_class=KernelCompiler, error_model="numpy")(function)


def image_of(entries: Mapping[str, Any], modules: Sequence[str]) -> bytes:
    """Return an object file that exports the callbacks `entries`, by name; `modules` is their LLVM code.

    Every other function in it is internal.
    """
    program = llvm.parse_assembly("")
    names = {entry.native_name: name for name, entry in entries.items()}
    for text in modules:
        module = llvm.parse_assembly(text)
        for function in module.functions:
            function.name = names.get(function.name, function.name)
        program.link_in(module)
    # Only after linking, which resolves calls between modules and merges functions that several modules define.
    for function in program.functions:
        if not function.is_declaration and function.name not in entries:
            function.linkage = "internal"
            if any(name in function.name for name in OUTLINED):
                function.add_function_attribute("noinline")
    machine = target_machine()
    program.triple, program.data_layout = machine.triple, str(machine.target_data)
    _optimise(program, machine)
    image: bytes = machine.emit_object(program)
    return image


def _of_numba(module: Any) -> list[str]:
    """Return the functions of Numba's runtime that a module calls."""
    return [each.name for each in module.functions if each.is_declaration and each.name.startswith(("numba_", "NRT_"))]


def _optimise(module: Any, machine: Any) -> None:
    """Run LLVM's standard passes."""
    # There is a check at every access of the checked build: its code is not made large for speed. Only a second pass
    # sees that no function which was too large to be inlined returns an error.
    for _ in range(2 if is_checked() else 1):
        options = llvm.create_pipeline_tuning_options(speed_level=1 if is_checked() else 3)
        options.loop_vectorization = options.slp_vectorization = not is_checked()
        builder = llvm.create_pass_builder(machine, options)
        builder.getModulePassManager().run(module, builder)
        if not _of_numba(module):
            return
    # It would call Numba's runtime, which the loading process lacks.
    raise RuntimeError(f"a kernel needs {_of_numba(module)[0]}, so it can raise or allocates; it must do neither")


if __name__ == "__main__":
    # Nearly all objects Numba makes here stay alive, so the garbage collector runs less often than usual.
    gc.freeze()
    gc.set_threshold(10_000, 20, 20)
    Path(sys.argv[2]).write_bytes(compiled(sys.argv[1]))
