"""Compiles the kernels to machine code once, keeps it in the user's cache, loads and calls it. Knows no algorithm."""
