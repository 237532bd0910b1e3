"""Training as the verbs offer it: which text, counted by which workers, where it starts and ends, and sizes compared.

Knows the trainers and the catalogue of data; must not know measurement or reports.
"""
