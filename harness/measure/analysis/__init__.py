"""From the records of a run to what may be said of it. Reads records; measures nothing.

`stats` computes on numbers, `samples` extracts them from records, `comparison` decides which differences may be
claimed, `cautions` warns of what makes figures doubtful.
"""
