"""The boundary to CPython: the only folder that knows the memory layout of str, list, int and arrays."""
