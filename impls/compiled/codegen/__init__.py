"""Compiles the kernels to machine code once, keeps it in the user's cache, and loads it. Knows no algorithm."""
