"""Random texts and lists of ids, made directly from a seeded `Random`, for fuzzing and for conformance.

Direct generators make a hundred thousand texts a second, as many as a tokenizer encodes, and the same ones for the same
seed on every release of every package but Python. `alphabets` holds the characters, `families` makes texts of one kind,
and `texts` makes the fixed texts, those of words and tokens, and lists of ids.
"""
