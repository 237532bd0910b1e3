"""The verbs of the command line, one per file: only parsing and printing."""
