"""Adapters of the libraries used in production, each over a converted `Model`; one file each, imported on demand."""
