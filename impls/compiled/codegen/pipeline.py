"""Makes Numba compile a kernel faster: with only the passes kernels need, and once rather than once per constant.

Numba compiles a function anew for every constant it is called with. For a function that is always inlined the copies
are the same once LLVM has propagated the constants, and a function that is never inlined needs no copies. Also, a
variable at a join of control flow has the type of the constant that is met first, until the others are met: functions
that take it are compiled for that constant too, in copies that are never called.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import cache
from typing import Any

from numba.core import base, typed_passes, typeinfer, types, untyped_passes
from numba.core.base import BaseContext
from numba.core.compiler import CompilerBase
from numba.core.compiler_machinery import PassManager
from numba.core.interpreter import Interpreter
from numba.core.ir import UNDEFINED
from numba.core.postproc import PostProcessor
from numba.core.transforms import canonicalize_cfg
from numba.core.typing.context import BaseContext as TypingContext

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


class _Passes(PassManager):
    """Runs passes without sending an event for each of them to possible listeners."""

    def _runPass(self, index: int, one: Any, state: Any) -> None:  # noqa: N802 (Numba's name)
        one.run_initialization(state)
        one.run_pass(state)
        one.run_finalizer(state)


@cache
def _passes() -> _Passes:
    passes = _Passes("kernel")
    for one in _PASSES:
        passes.add_pass(one, one.__name__)
    passes.finalize()
    return passes


class KernelCompiler(CompilerBase):
    """Compiles kernels, which use only integers and records."""

    def define_pipelines(self) -> list[Any]:
        """Return the only pipeline: the list of passes."""
        return [_passes()]


def without_constants(dispatcher: Any) -> Any:
    """Make Numba compile a function for integers of any value, never for constants; return it."""
    usual: Callable[..., Any] = dispatcher.get_call_template
    dispatcher.get_call_template = lambda arguments, by_name: usual([_any(kind) for kind in arguments], by_name)
    return dispatcher


def _any(kind: Any) -> Any:
    """Return the general type for the type of an integer or Boolean constant; return any other type unchanged."""
    return types.unliteral(kind) if isinstance(kind, types.IntegerLiteral | types.BooleanLiteral) else kind


class _Join(typeinfer.Propagate):
    """Gives a variable at a join of control flow the general type of one of its sources, not that of a constant."""

    def __call__(self, inferer: Any) -> None:
        kind = inferer.typevars[self.src].type
        if _any(kind) is kind:
            super().__call__(inferer)
        else:
            inferer.add_type(self.dst, _any(kind), loc=self.loc)


@contextmanager
def reduced_compilation() -> Iterator[None]:
    """Leave out, while the block runs, work that Numba repeats without effect on kernels."""
    with ExitStack() as replaced:
        for owner, name, make in (
            (typeinfer.TypeInferer, "typeof_expr", _join_without_constants),  # typed as general integers at once
            (BaseContext, "get_abi_sizeof", _remembered_sizes),
            (types.Record, "__repr__", _remembered),
            (BaseContext, "refresh", _remembered),  # looks for later definitions: there are none
            (TypingContext, "refresh", _remembered),
            (PostProcessor, "run", _without_lifetimes),  # nothing here counts references
            (Interpreter, "post_process", lambda _: lambda _, __, function: function),  # for `with`, `try`, `**`
            (base, "_has_loc", cache),  # reads the signature of a lowering function
        ):
            replaced.enter_context(_replaced(owner, name, make))
        yield


@contextmanager
def _replaced(owner: Any, name: str, make: Callable[[Any], Any]) -> Iterator[None]:
    """Replace a method by what `make` returns for it; do nothing if this release of Numba has none of that name."""
    usual = vars(owner).get(name)
    if usual is None:
        yield
        return
    setattr(owner, name, make(usual))
    try:
        yield
    finally:
        setattr(owner, name, usual)


def _join_without_constants(usual: Any) -> Any:
    def typeof(inferer: Any, instruction: Any, target: Any, expression: Any) -> None:
        if expression.op != "phi":
            usual(inferer, instruction, target, expression)
            return
        for source in expression.incoming_values:
            if source is not UNDEFINED:
                inferer.constraints.append(_Join(dst=target.name, src=source.name, loc=instruction.loc))

    return typeof


def _remembered(usual: Any) -> Any:
    known: dict[int, tuple[Any, Any]] = {}

    def ask(owner: Any) -> Any:
        if id(owner) not in known:
            known[id(owner)] = owner, usual(owner)
        return known[id(owner)][1]

    return ask


def _remembered_sizes(usual: Any) -> Any:
    known: dict[tuple[Any, str], int] = {}

    def size(context: Any, kind: Any) -> int:
        key = context, str(kind)
        if key not in known:
            known[key] = usual(context, kind)
        return known[key]

    return size


def _without_lifetimes(usual: Any) -> Any:
    def run(processor: Any, emit_dels: bool = False, extend_lifetimes: bool = False) -> None:
        function = processor.func_ir
        if emit_dels or function.is_generator:
            usual(processor, emit_dels, extend_lifetimes)
            return
        function.blocks = canonicalize_cfg(function.blocks)
        function.generator_info = None

    return run
