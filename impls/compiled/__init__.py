"""The fast implementation: Python source, Numba kernels, exact on every byte-level model; see README.md in this folder.

There is a folder per stage: `pretokenize`, `lookup` and `merge`, with `cpython` around them, where text comes in and
ids go out; `threads` for batches, `training`; `language`, in which kernels are written, and `codegen`, which compiles
them. Knows nothing of the harness.
"""

from impls.compiled.tokenizer import Compiled

__all__ = ["Compiled"]
