"""Training as the verbs offer it: which text, counted by which workers, and where it starts and ends.

Knows the trainers and the catalogue of data; must not know measurement or reports.
"""
