"""What to learn, as the user writes it: numbers of ids and shares of a text."""

from __future__ import annotations

import re
from collections.abc import Iterator

from harness.data.documents import shuffle_key
from harness.evaluate.texts import Documents
from impls.core.errors import BPEError


class InvalidSizes(BPEError):
    """Sizes or shares that cannot be parsed."""


def parse_sizes(text: str, least: int) -> list[int]:
    """Return numbers of ids, ascending: of `1k,2k,32768` these, of `1k..128k` doubled from the first to the last.

    k is 1,000, and the last is always among them. Raise `InvalidSizes`, also for one below `least`.

    >>> parse_sizes("500..3k,2500", 257)
    [500, 1000, 2000, 2500, 3000]
    """
    sizes = set()
    for part in text.split(","):
        ends = [_number(end, part) for end in part.split("..")]
        if len(ends) > 2 or ends[0] > ends[-1]:
            raise InvalidSizes(f"{part.strip()!r} is not a range of sizes; write it like 1k..128k")
        size = ends[0]
        while size < ends[-1]:
            sizes.add(size)
            size *= 2
        sizes.add(ends[-1])
    if min(sizes) < least:
        raise InvalidSizes(f"{min(sizes)} is too small: the {least - 1} bytes are tokens too; use at least {least}")
    return sorted(sizes)


def _number(text: str, part: str) -> int:
    parsed = re.fullmatch(r"\s*(\d+(?:\.\d+)?)(k?)\s*", text, re.ASCII | re.IGNORECASE)
    number = float(parsed[1]) * (1000 if parsed[2] else 1) if parsed else 0.0
    if not number or number != int(number) or number > 1e9:
        raise InvalidSizes(f"{part.strip()!r} is not a number of ids; write it like 32k, 32768 or 1k..128k")
    return int(number)


def parse_shares(text: str) -> list[float]:
    """Return shares, ascending, of `1%,10%,100%`; raise `InvalidSizes`.

    >>> parse_shares("100%, 0.5%")
    [0.005, 1.0]
    """
    shares = set()
    for part in text.split(","):
        parsed = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*%\s*", part, re.ASCII)
        if parsed is None or not 0 < float(parsed[1]) <= 100:
            raise InvalidSizes(f"{part.strip()!r} is not a share of the documents; write it like 10%, up to 100%")
        shares.add(float(parsed[1]) / 100)
    return sorted(shares)


def sample(documents: Documents, share: float) -> Documents:
    """Return about that share of the documents, at least one.

    Documents are chosen by their text, so that a larger share includes a smaller one.
    """
    if share == 1:
        return documents
    limit = round(share * 2**64).to_bytes(8, "big")

    def chosen() -> Iterator[str]:
        return (text for text in documents() if shuffle_key(text) < limit)

    return chosen if any(True for _ in chosen()) else lambda: iter([min(documents(), key=shuffle_key)])
