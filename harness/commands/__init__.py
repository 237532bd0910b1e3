"""The verbs of the command line, one a file: parsing and printing, nothing else."""
