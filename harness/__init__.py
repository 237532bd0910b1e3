"""The harness: proves what implementations have in common, then measures them. Sees them only through `impls`."""
