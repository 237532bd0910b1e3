"""Compiles kernels: `python -m impls.compiled.codegen NAME FILE` writes one of the object files for this processor.

Any number of further pairs PROCESSOR FILE may follow: each writes the same object file for one of `target.generations`.

This runs as a separate process, so that Numba, its memory and its settings stay out of the process that uses the
kernels. Numba runs without its optimiser (NUMBA_OPT=0) and links nothing: LLVM gets every function as it was lowered,
and optimises all of them together, once.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from llvmlite import binding as llvm

from impls.compiled.codegen.build import is_checked
from impls.compiled.codegen.entries import compiled_entries
from impls.compiled.codegen.memory import OUTLINED
from impls.compiled.codegen.pipeline import collected
from impls.compiled.codegen.target import target_machine


def compile_to(name: str, paths: Mapping[str, Path]) -> None:
    """Compile the object file `name` for each processor in `paths` (see `target_machine`); write it to that path."""
    with collected() as modules:
        entries = compiled_entries(name)
    for processor, path in paths.items():
        path.write_bytes(image_of(entries, modules, processor))


def image_of(entries: Mapping[str, Any], modules: Sequence[str], processor: str = "") -> bytes:
    """Return an object file that exports the callbacks `entries`, by name; `modules` is their LLVM code.

    Every other function in it is internal. For `processor` see `target_machine`.
    """
    whole = llvm.parse_assembly("")
    for text in modules:
        whole.link_in(llvm.parse_assembly(_exported(text, entries)))
    # Only after linking, which resolves calls between modules and merges functions that several modules define.
    for function in whole.functions:
        if not function.is_declaration and function.name not in entries:
            function.linkage = "internal"
            if any(name in function.name for name in OUTLINED) or (is_checked() and "reachable" in function.name):
                function.add_function_attribute("noinline")
    machine = target_machine(processor)
    whole.triple, whole.data_layout = machine.triple, str(machine.target_data)
    _optimise(whole, machine)
    _refuse_what_needs_numba(whole)
    image: bytes = machine.emit_object(whole)
    return image


def _exported(code: str, entries: Mapping[str, Any]) -> str:
    """Return `code` (LLVM, text) with the callbacks it defines renamed to their exported names."""
    for name, entry in entries.items():
        if entry.native_name in code:
            code = code.replace(f'@"{entry.native_name}"', f"@{name}").replace(f"@{entry.native_name}", f"@{name}")
    return code


def _refuse_what_needs_numba(module: Any) -> None:
    """Raise RuntimeError if a kernel may raise: it would call Numba's runtime, which the loading process lacks."""
    for name in _of_numba(module):
        raise RuntimeError(f"a kernel needs {name}, so it can raise or allocates; it must do neither")


def _of_numba(module: Any) -> Iterator[str]:
    """Yield the functions of Numba's runtime that a module calls."""
    for function in module.functions:
        if function.is_declaration and function.name.startswith(("numba_", "NRT_")):
            yield function.name


def _optimise(module: Any, machine: Any) -> None:
    if is_checked():
        # There is a check at every access: optimise for size rather than speed, and no more than necessary.
        _run(module, machine, 1, vectorised=False)
        if any(_of_numba(module)):
            # Only the second pass sees that no function which was too large to be inlined returns an error.
            _run(module, machine, 1, vectorised=False)
        return
    _run(module, machine, 3, vectorised=True)


def _run(module: Any, machine: Any, level: int, *, vectorised: bool) -> None:
    """Run LLVM's standard passes of an optimisation level."""
    options = llvm.create_pipeline_tuning_options(speed_level=level)
    options.loop_vectorization = options.slp_vectorization = vectorised
    builder = llvm.create_pass_builder(machine, options)
    builder.getModulePassManager().run(module, builder)


if __name__ == "__main__":
    # Nearly all objects Numba makes here stay alive, so the garbage collector runs less often than usual.
    gc.freeze()
    gc.set_threshold(10_000, 20, 20)
    name, own, *others = sys.argv[1:]
    compile_to(name, {"": Path(own)} | dict(zip(others[::2], map(Path, others[1::2]), strict=True)))
