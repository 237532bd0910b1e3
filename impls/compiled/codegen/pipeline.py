"""All that is changed inside Numba: what it does to kernels, and how their LLVM code is collected.

Numba links, optimises and translates every function separately, with all the functions it calls, so that it can run at
once. Here nothing is run: all functions are linked once, optimised once and translated once, so a code library only
collects. Numba also compiles a function anew for every constant it is called with. For a function that is always
inlined the copies are the same once LLVM has propagated the constants, and a function that is never inlined needs no
copies.

What remains unchanged would take the first object file 1.15 (passes), 1.2 (types of calls) and 1.07 times (joins) the
processor time. The names used here are Numba's own; `internal` says which one a release lacks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

import numba
from numba.core import typed_passes, typeinfer, types, untyped_passes
from numba.core.cgutils import normalize_ir_text
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase
from numba.core.compiler_machinery import PassManager
from numba.core.errors import TypingError
from numba.core.ir import UNDEFINED
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
        return [_passes()]


@cache
def _passes() -> Any:
    passes = PassManager("kernel")
    for one in _PASSES:
        passes.add_pass(one, one.__name__)
    passes.finalize()
    return passes


def without_constants(dispatcher: Any) -> Any:
    """Make Numba compile a function for integers of any value, never for constants; return it."""
    usual: Callable[..., Any] = internal(dispatcher, "get_call_template")
    dispatcher.get_call_template = lambda arguments, by_name: usual([_any(kind) for kind in arguments], by_name)
    return dispatcher


def _any(kind: Any) -> Any:
    """Return the general type for the type of an integer or Boolean constant; return any other type unchanged."""
    return types.unliteral(kind) if isinstance(kind, types.IntegerLiteral | types.BooleanLiteral) else kind


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
    with (
        _replaced(codegen, "_library_class", Collecting),
        _replaced(codegen, "set_env", lambda *_: None),
        _replaced(typeinfer.TypeInferer, "typeof_expr", _joined_without_constants(typeinfer.TypeInferer)),
        _replaced(types.Function, "get_call_type", _remembered_types(types.Function)),
    ):
        yield modules


@contextmanager
def _replaced(owner: Any, name: str, by: Any) -> Iterator[None]:
    """Replace an attribute while the block runs."""
    own, usual = name in vars(owner), internal(owner, name)
    setattr(owner, name, by)
    try:
        yield
    finally:
        if own:
            setattr(owner, name, usual)
        else:
            delattr(owner, name)


class _Join(typeinfer.Propagate):
    """Gives a variable at a join of control flow the general type of one of its sources, not that of a constant.

    Numba gives it the type of the constant that is met first, until the others are met: functions that take the
    variable are compiled for that constant too, in copies that are never called.
    """

    def __call__(self, inferer: Any) -> None:
        kind = inferer.typevars[self.src].type
        if _any(kind) is kind:
            super().__call__(inferer)
        else:
            inferer.add_type(self.dst, _any(kind), loc=self.loc)


def _joined_without_constants(inference: Any) -> Callable[..., None]:
    usual = internal(inference, "typeof_expr")

    def typeof(inferer: Any, instruction: Any, target: Any, expression: Any) -> None:
        if expression.op != "phi":
            usual(inferer, instruction, target, expression)
            return
        for source in expression.incoming_values:
            if source is not UNDEFINED:
                inferer.constraints.append(_Join(dst=target.name, src=source.name, loc=instruction.loc))

    return typeof


def _remembered_types(functions: Any) -> Callable[..., Any]:
    """Find the type of `a + b`, for which Numba tries all overloads wherever kernels add, only once; failures too."""
    usual = internal(functions, "get_call_type")
    known: dict[Any, Any] = {}

    def remembered(function: Any, context: Any, arguments: Any, by_name: Any) -> Any:
        key = (function, context, tuple(arguments), tuple(by_name.items()))
        if key not in known:
            try:
                known[key] = usual(function, context, arguments, by_name)
            except TypingError as error:
                known[key] = error
        found = known[key]
        if isinstance(found, TypingError):
            raise found.with_traceback(None)
        return found

    return remembered
