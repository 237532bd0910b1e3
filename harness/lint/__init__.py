"""The health of a vocabulary: tokens that no text encodes to, and suspicious tokens.

`reach` finds which tokens are reached, `proofs` proves which are not (`utf8`: texts around parts of characters).
"""

FINDINGS = {
    "unreachable": "no text is encoded to it (proven)",
    "unreached": "no text was found that is encoded to it",
    "partial": "several bytes, not whole characters",
    "duplicate-nfc": "the same text as another, in NFC",
    "duplicate-nfkc": "the same text as another, in NFKC",
    "unused-byte": "a byte that UTF-8 never has",
}
"""Kind of finding -> what it means. A vocabulary over bytes has 13 unused bytes, which is not a fault."""
