"""The Numba sources of the compiled engine. Imported only to compile them; see `impls.compiled.build`.

Every value is an int64; memory is reached by address through `kernels.memory`, never through array arguments.
"""
