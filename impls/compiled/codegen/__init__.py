"""Makes machine code of kernels once, keeps it in the user's cache, and loads it. Knows no algorithm."""
