"""The health of a vocabulary: tokens no text is encoded to, suspicious tokens, and what becomes of digits and spaces.

`reach` says which tokens are reached, `proofs` proves which are not (`factors`: what a piece of a pattern can hold;
`utf8`: texts around parts of characters), `tokens` finds parts of characters, duplicates and glitch candidates,
`policy` measures what becomes of white space and digits, `report` puts it together. Nothing is asked of a language
model: what is found are candidates, as far as the tokenizer shows them.
"""

FINDINGS = {
    "unreachable": "no text is encoded to it (proven)",
    "unreached": "no text was found that is encoded to it",
    "unmet": "never met on the corpus",
    "glitch": "may be under-trained",
    "partial": "several bytes, not whole characters",
    "duplicate-nfc": "the same text as another, in NFC",
    "duplicate-nfkc": "the same text as another, in NFKC",
    "unused-byte": "a byte that UTF-8 never has",
}
"""Kind of finding -> what it says of a token. A vocabulary over bytes has 13 unused bytes, which is no fault of it."""
