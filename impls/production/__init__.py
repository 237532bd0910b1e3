"""Adapters: the libraries people run, each over the same `Model` by conversion; one file each, imported on demand."""
