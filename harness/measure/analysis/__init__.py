"""Derive from the records of a run which claims they support. Reads records; measures nothing.

`stats` computes on numbers, `samples` extracts them from records, `comparison` decides which differences may be
claimed, `cautions` warns of doubtful figures.
"""
