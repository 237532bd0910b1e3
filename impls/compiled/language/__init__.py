"""What kernels are written in: bit operations, typed pointers, vectors; extensions of Numba. Knows no algorithm."""
