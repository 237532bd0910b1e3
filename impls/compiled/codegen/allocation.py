"""Allocates memory from the system and from Python, and counts references to Python's objects."""

from __future__ import annotations

import mmap

from impls.compiled.codegen.memory import declare_region, external, external_void, kernel

_raw_allocate = external("PyMem_RawMalloc", 1)
_raw_reallocate = external("PyMem_RawRealloc", 2)
release_memory = external_void("PyMem_RawFree", 1)
increment = external_void("Py_IncRef", 1)
"""Add a reference to an object."""
decrement = external_void("Py_DecRef", 1)
"""Drop a reference to an object."""
copy_memory = external_void("memcpy", 3)
"""Copy (destination, source, number of bytes); the two must not overlap."""


_aligned_memory = external("aligned_alloc", 2)
_advise = external("madvise", 3)
release_large = external_void("free", 1)
"""Free memory of `allocate_large`."""
_HUGE_PAGE = 1 << 21
_IN_HUGE_PAGES = getattr(mmap, "MADV_HUGEPAGE", 0)


@kernel
def ask_for_huge_pages(address: int, n_bytes: int) -> None:
    """Ask the system to back untouched memory by huge pages: megabytes of small pages take longer to fault in."""
    start = (address + _HUGE_PAGE - 1) & -_HUGE_PAGE
    size = (address + n_bytes - start) & -_HUGE_PAGE
    if size > 0:
        _advise(start, size, _IN_HUGE_PAGES)


@kernel
def allocate_large(region: int, n_bytes: int) -> int:
    """Allocate as `allocate` does, in huge pages if the system has them; free with `release_large`."""
    size = (n_bytes + _HUGE_PAGE - 1) & -_HUGE_PAGE
    address = _aligned_memory(_HUGE_PAGE, size)
    if address != 0:
        ask_for_huge_pages(address, size)
        declare_region(region, address, address + n_bytes)
    return address


@kernel
def reallocate(region: int, address: int, n_bytes: int) -> int:
    """Resize memory of `allocate`, keeping its content; return its address, or 0 if out of memory (the old stays)."""
    moved = _raw_reallocate(address, n_bytes)
    if moved != 0:
        declare_region(region, moved, moved + n_bytes)
    return moved


@kernel
def allocate(region: int, n_bytes: int) -> int:
    """Return the address of uninitialised memory, or 0 if there is none; `region` (0 to 7) is for the checked build."""
    address = _raw_allocate(n_bytes)
    if address != 0:
        declare_region(region, address, address + n_bytes)
    return address
