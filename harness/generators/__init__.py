"""Random texts and lists of ids, made directly from a seeded `Random`, for fuzzing and for conformance.

Direct generators make a hundred thousand texts a second, as many as a tokenizer encodes, and the same ones for the same
seed on every release of every package but Python. `alphabets` are the characters, `families` and `mutations` the texts,
`bulk` what takes thousands of texts, a size, or ids, `texts` the fixed ones and what is made of words and tokens.
"""
