"""The boundary to CPython: the only room that knows the memory layout of str, list, int and arrays."""
