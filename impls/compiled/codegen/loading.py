"""Loads object files into this process, without LLVM if absolute addresses are the only relocations a file needs.

LLVM's library takes 43 MB of memory and 50 ms, a cost that a process with compiled kernels need not pay. Kernels are
compiled for code that may lie anywhere ("large code model"), so on Linux and x86-64 every reference from one place to
another is a full 64-bit address.
"""

from __future__ import annotations

import ctypes
import mmap
import os
import sys
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

_ELF_X86_64 = b"\x7fELF\x02\x01", 62
_SECTION = np.dtype("u4,u4,u8,u8,u8,u8,u4,u4,u8,u8")
_SECTION.names = "name", "kind", "flags", "address", "offset", "size", "link", "info", "alignment", "entry_size"
_SYMBOL = np.dtype([("name", "u4"), ("info", "u2"), ("section", "u2"), ("value", "u8"), ("size", "u8")])
_RELOCATION = np.dtype([("offset", "u8"), ("kind", "u4"), ("symbol", "u4"), ("addend", "i8")])
_CONTENT, _RELOCATIONS, _SYMBOLS = 1, 4, 2
"""Kinds of sections."""
_WRITABLE, _ALLOCATED = 1, 2
"""Flags of sections."""
_UNDEFINED, _FIRST_RESERVED = 0, 0xFF00
"""Section numbers that denote no section."""
_WHOLE_ADDRESS = 1
"""The type of relocation that is a 64-bit address (R_X86_64_64)."""
_loaded: list[Any] = []
"""Memory and engines in use: never freed, since that would free functions whose addresses are in use."""


def load(image: bytes, names: Iterable[str], known: Mapping[str, int]) -> dict[str, int]:
    """Load an object file, given its content; return addresses by name, among them `names`.

    `known` gives the addresses of the symbols it refers to, other than C's and Python's functions.
    """
    if sys.platform == "linux" and (image[:6], int.from_bytes(image[18:20], "little")) == _ELF_X86_64:
        addresses = _place(image, known)
        if addresses is not None:
            return addresses
    return _load_by_llvm(image, names, known)


def _place(image: bytes, known: Mapping[str, int]) -> dict[str, int] | None:
    """Load an ELF file for x86-64; return addresses by name, or None if it needs any other kind of relocation."""
    n_sections, start = int.from_bytes(image[60:62], "little"), int.from_bytes(image[40:48], "little")
    sections = np.frombuffer(image, _SECTION, n_sections, start)
    # Tables for unwinding frames (another kind) are left out: no exception passes through kernels.
    placed = (sections["kind"] == _CONTENT) & (sections["flags"] & _ALLOCATED != 0) & (sections["size"] > 0)
    if (sections["flags"][placed] & _WRITABLE).any():
        return None
    ends = np.cumsum(np.where(placed, -(-sections["size"].astype(int) // mmap.PAGESIZE) * mmap.PAGESIZE, 0))
    memory = mmap.mmap(-1, int(ends[-1]), flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    content = np.frombuffer(memory, np.uint8)
    bases = np.concatenate([[0], ends[:-1]])
    for number in np.flatnonzero(placed):
        offset, n_bytes = map(int, sections[["offset", "size"]][number])
        content[bases[number] :][:n_bytes] = np.frombuffer(image, np.uint8, n_bytes, offset)

    table = sections[sections["kind"] == _SYMBOLS][0]
    symbols = np.frombuffer(image, _SYMBOL, int(table["size"]) // _SYMBOL.itemsize, int(table["offset"]))
    texts = int(sections["offset"][table["link"]])

    def name_of(symbol: int) -> str:
        begin = texts + int(symbols["name"][symbol])
        return image[begin : image.index(b"\0", begin)].decode()

    begin = content.__array_interface__["data"][0]
    sections_of, addresses = symbols["section"], symbols["value"].astype(int)
    defined = (sections_of != _UNDEFINED) & (sections_of < _FIRST_RESERVED)
    addresses[defined] += bases[sections_of[defined]] + begin
    process = ctypes.CDLL(None, use_errno=True)
    for section in sections[sections["kind"] == _RELOCATIONS]:
        if not placed[section["info"]]:
            continue
        changes = np.frombuffer(
            image, _RELOCATION, int(section["size"]) // _RELOCATION.itemsize, int(section["offset"])
        )
        used = np.flatnonzero(np.bincount(changes["symbol"]))
        if (changes["kind"] != _WHOLE_ADDRESS).any() or (sections_of[used] >= _FIRST_RESERVED).any():
            return None
        for symbol in used[sections_of[used] == _UNDEFINED]:
            name = name_of(symbol)
            addresses[symbol] = known.get(name) or ctypes.cast(getattr(process, name), ctypes.c_void_p).value
        places = changes["offset"].astype(int) + bases[section["info"]]
        words = addresses[changes["symbol"]] + changes["addend"]
        content[places[:, None] + np.arange(8)] = words.view(np.uint8).reshape(-1, 8)
    if process.mprotect(ctypes.c_void_p(begin), ctypes.c_size_t(len(content)), mmap.PROT_READ | mmap.PROT_EXEC) != 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    _loaded.append(memory)
    return {name_of(symbol): int(addresses[symbol]) for symbol in map(int, np.flatnonzero(defined))}


def _load_by_llvm(image: bytes, names: Iterable[str], known: Mapping[str, int]) -> dict[str, int]:
    from llvmlite import binding as llvm

    from impls.compiled.codegen.target import target_machine

    for name, address in known.items():
        llvm.add_symbol(name, address)
    # An engine needs a module; unless this empty one is removed, it would be compiled, which takes 2 ms and 5 MB.
    module = llvm.parse_assembly("")
    engine = llvm.create_mcjit_compiler(module, target_machine())
    engine.remove_module(module)
    engine.add_object_file(llvm.ObjectFileRef.from_data(image))
    engine.finalize_object()
    _loaded.append(engine)
    return {name: engine.get_function_address(name) for name in names}
