"""Where the pieces of a text end: patterns as automata, and their bit-parallel twins."""
