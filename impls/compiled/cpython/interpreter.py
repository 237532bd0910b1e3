"""Functions of the interpreter's public C API that several modules of the boundary call."""

from __future__ import annotations

import time

from impls.compiled.codegen.allocation import increment
from impls.compiled.codegen.memory import (
    external,
    external_void,
    kernel,
)
from impls.compiled.codegen.pointers import field_address
from impls.compiled.layout import ContextRecord

list_size = external("PyList_Size", 1)
list_get = external("PyList_GetItem", 2)
long_as_address = external("PyLong_AsVoidPtr", 1)
long_as_long = external("PyLong_AsLong", 1)
call_with_one = external("PyObject_CallOneArg", 2)
clear_error = external_void("PyErr_Clear", 0)
save_thread = external("PyEval_SaveThread", 0)
restore_thread = external_void("PyEval_RestoreThread", 1)
this_thread = external("PyThread_get_thread_ident", 0)

_read_clock = external("clock_gettime", 2)
_MONOTONIC: int = getattr(time, "CLOCK_MONOTONIC", 1)
LONG_WAIT_NANOSECONDS = 1_000_000


@kernel
def _nanoseconds(context: ContextRecord) -> int:
    _read_clock(_MONOTONIC, field_address(context, "clock"))
    return 1_000_000_000 * context.clock + context.clock_nanoseconds


@kernel
def restored_after_long_wait(context: ContextRecord, state: int) -> bool:
    """Call `restore_thread`; return whether it took long, as it does while other threads are busy running Python.

    The interpreter lets a thread run for 5 ms before it switches.
    """
    before = _nanoseconds(context)
    restore_thread(state)
    return _nanoseconds(context) - before > LONG_WAIT_NANOSECONDS


@kernel
def new_none(context: ContextRecord) -> int:
    """Return None as a new reference."""
    none = context.none_object
    increment(none)
    return none
