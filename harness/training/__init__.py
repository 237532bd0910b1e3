"""What the verbs add to training: which text, counted by whom, where it starts and ends, what a size is worth.

Knows the trainers and the catalogue of data; must not know measurement or reports.
"""
