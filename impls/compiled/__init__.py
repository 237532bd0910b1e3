"""The fast implementation: Python source, Numba kernels, exact on every byte-level model.

`tokenizer` is the class; `pattern` turns a split pattern into an automaton; `symbols` and `tables` prepare a model;
`context` lays out memory; `kernels` holds the Numba sources, which `build` compiles once and keeps as an object file;
`builtins` and `plain` are the two borders to Python. Knows the interface and the model, nothing of the harness.
"""

from impls.compiled.tokenizer import Compiled

__all__ = ["Compiled"]
