"""Functions of the interpreter's public C API that several parts of the border call."""

from __future__ import annotations

from impls.compiled.kernels.memory import external, external_void, increment, kernel, load_i64
from impls.compiled.layout import NOTHING

list_size = external("PyList_Size", 1)
list_get = external("PyList_GetItem", 2)
long_as_address = external("PyLong_AsVoidPtr", 1)
long_as_long = external("PyLong_AsLong", 1)
clear_error = external_void("PyErr_Clear", 0)
save_thread = external("PyEval_SaveThread", 0)
restore_thread = external_void("PyEval_RestoreThread", 1)


@kernel
def nothing(context: int) -> int:
    """None, as a new reference."""
    none = load_i64(context + NOTHING)
    increment(none)
    return none
