"""The kinds of findings, which `--fail-on` takes."""

from __future__ import annotations

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
