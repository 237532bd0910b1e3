"""Finds where the pieces of a text end: by automata made from patterns, and by their bit-parallel twins."""
