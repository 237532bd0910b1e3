"""The health of a vocabulary: tokens no text is encoded to, suspicious tokens, and what becomes of digits and spaces.

`reach` says which tokens are reached, `proofs` proves which are not (`factors`: what a piece of a pattern can hold;
`utf8`: texts around parts of characters), `tokens` finds parts of characters, duplicates and glitch candidates,
`policy` measures what becomes of white space and digits, `report` puts it together. Nothing is asked of a language
model: what is found are candidates, as far as the tokenizer shows them.
"""
