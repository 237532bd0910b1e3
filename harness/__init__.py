"""The harness: checks that implementations agree, then measures them. Sees them only through `impls`."""
