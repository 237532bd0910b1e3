"""All that is changed inside Numba: what it does to kernels, and how their LLVM code is collected.

Numba links, optimises and translates every function separately, with all the functions it calls, so that it can run at
once. Here nothing is run: all functions are linked once, optimised once and translated once, so a code library only
collects. Numba also compiles a function anew for every constant it is called with. For a function that is always
inlined the copies are the same once LLVM has propagated the constants, and a function that is never inlined needs no
copies.

Without the list of passes the first object file would take 1.25 times the processor time, and 1.2 times if operators
were resolved at every place. The names used here are Numba's own; `internal` says which one a release lacks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FunctionType
from typing import Any
from unittest.mock import patch

import numba
from numba.core import typed_passes, types, untyped_passes
from numba.core.cgutils import normalize_ir_text
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase
from numba.core.compiler_machinery import PassManager
from numba.core.registry import cpu_target
from numba.core.runtime.nrt import rtsys

_PASSES = (
    untyped_passes.TranslateByteCode,
    untyped_passes.FixupArgs,
    untyped_passes.IRProcessing,
    untyped_passes.RewriteDynamicRaises,  # so that the object file refuses what raises, see `__main__`
    untyped_passes.ReconstructSSA,
    typed_passes.NopythonTypeInference,
    typed_passes.PreLowerStripPhis,
    typed_passes.NativeLowering,
    typed_passes.NoPythonBackend,
)
"""Numba's own passes, except those for closures, `with`, containers, parallel loops, rewriting and lifetimes."""

_readable: Callable[[str], str] = normalize_ir_text
"""Convert the names in LLVM code: Numba writes them in Latin-1, LLVM reads UTF-8."""


def internal(owner: Any, name: str) -> Any:
    """Return what Numba calls `name`; raise RuntimeError, in one line, if this release has no such thing."""
    if not hasattr(owner, name):
        whose = getattr(owner, "__name__", type(owner).__name__)
        raise RuntimeError(f"Numba {numba.__version__} lacks {whose}.{name}; install one that pyproject.toml allows")
    return getattr(owner, name)


class KernelCompiler(CompilerBase):
    """Compiles kernels, which use only integers and records."""

    def define_pipelines(self) -> list[Any]:
        """Return the only pipeline: the list of passes."""
        passes = PassManager("kernel")
        for each in _PASSES:
            passes.add_pass(each, each.__name__)
        passes.finalize()
        return [passes]


def _remembered(resolve: Callable[..., Any]) -> Callable[..., Any]:
    """Make Numba resolve an operator or intrinsic once for arguments of the same types, not at every place."""
    known: dict[Any, tuple[Any, Any]] = {}

    def call_type(function: Any, context: Any, arguments: Any, by_name: Any) -> Any:
        asked = function, arguments, tuple(by_name.items())
        if asked in known:
            signature, function._impl_keys[signature.args] = known[asked]
            return signature
        signature = resolve(function, context, arguments, by_name)
        code = function.get_impl_key(signature)
        # Any other code, such as that of `max`, is a function that Numba compiles as its caller is compiled.
        if code is function.typing_key or isinstance(code, FunctionType):
            known[asked] = signature, code
        return signature

    return call_type


def without_constants(dispatcher: Any) -> Any:
    """Make Numba compile a function for integers of any value, never for constants; return it."""
    usual: Callable[..., Any] = internal(dispatcher, "get_call_template")
    dispatcher.get_call_template = lambda arguments, by_name: usual([*map(types.unliteral, arguments)], by_name)
    return dispatcher


@contextmanager
def collected() -> Iterator[list[str]]:
    """Collect the LLVM modules (text) of functions compiled while the block runs, one for each; none can be called."""
    modules: list[str] = []

    class Collecting(JITCodeLibrary):
        """Collects modules instead of linking them."""

        def add_ir_module(self, ir_module: Any) -> None:
            modules.append(_readable(str(ir_module)))

        def add_linking_library(self, library: Any) -> None:
            pass

        def finalize(self) -> None:
            self._finalized = True

        def get_pointer_to_function(self, name: str) -> int:
            return 0

    rtsys.initialize(cpu_target.target_context)  # Numba's own runtime, which other code of this process may need
    codegen = cpu_target.target_context.codegen()
    # `set_env` writes to a function that is loaded; none is.
    replacements: dict[str, Any] = {"_library_class": Collecting, "set_env": lambda *_: None}
    for name in replacements:
        internal(codegen, name)
    remembered = _remembered(internal(types.BaseFunction, "get_call_type"))
    with patch.multiple(codegen, **replacements), patch.object(types.BaseFunction, "get_call_type", remembered):
        yield modules
