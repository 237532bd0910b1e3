"""Collects the LLVM code of what Numba compiles, as it is lowered.

Numba links, optimises and translates every function separately, with all the functions it calls, so that it can run at
once. Here nothing is run: all functions are linked once, optimised once and translated once, so a code library only
collects. Also, the type of `a + b`, for which Numba tries all overloads wherever kernels add, is found only once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from numba.core import types
from numba.core.cgutils import normalize_ir_text
from numba.core.codegen import JITCodeLibrary
from numba.core.errors import TypingError
from numba.core.registry import cpu_target
from numba.core.runtime.nrt import rtsys

from impls.compiled.codegen.pipeline import reduced_compilation

_readable: Callable[[str], str] = normalize_ir_text
"""Convert the names in LLVM code: Numba writes them in Latin-1, LLVM reads UTF-8."""


@contextmanager
def collected() -> Iterator[list[str]]:
    """Collect the LLVM modules (text) of what is compiled while the block runs, one per function; none can be called.

    Yields a list that stays empty if this release of Numba makes its libraries in another way: then they are made as
    usual, and can be read.
    """
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
    usual, codegen._library_class = codegen._library_class, Collecting
    codegen.set_env = lambda *_: None
    try:
        with _types_remembered(), reduced_compilation():
            yield modules
    finally:
        codegen._library_class = usual
        del codegen.set_env


@contextmanager
def _types_remembered() -> Iterator[None]:
    """Cache the types of calls of built-in functions by argument types, including failures.

    Does nothing if this release of Numba has no such method, or does not inherit it.
    """
    functions: Any = types.Function
    usual = getattr(functions, "get_call_type", None)
    if usual is None or "get_call_type" in vars(functions):
        yield
        return
    known: dict[Any, Any] = {}

    def remembered(function: Any, context: Any, arguments: Any, by_name: Any) -> Any:
        if by_name:
            return usual(function, context, arguments, by_name)
        key = (function, context, tuple(arguments))
        if key not in known:
            try:
                known[key] = usual(function, context, arguments, by_name)
            except TypingError as error:
                known[key] = error
        found = known[key]
        if isinstance(found, TypingError):
            raise found.with_traceback(None)
        return found

    functions.get_call_type = remembered
    try:
        yield
    finally:
        del functions.get_call_type
