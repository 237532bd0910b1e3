"""Texts of 2^n bytes or characters, one less and one more: where buffers end.

Also every length up to a few hundred bytes with each kind of character last: where vectors and blocks have tails.
"""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

from harness.conform.case import Case
from harness.conform.checks.over_texts import over_texts
from harness.data.generated import generate
from harness.generators.bulk import of_bytes
from harness.generators.texts import prose

_EVERY_LENGTH = 300
_LAST = ("", " ", "é", "中", "👍", "\u0301", "\n")
_POWERS = range(9, 17)
_GREAT_POWERS = range(17, 21)
_PAST_64K = 70_001
_AT_ONCE_SECONDS = 1.0
_OTHERS = (1_000, 1_536, 3_000, 6_144, 10_000, 12_288, 20_480, 49_152, 100_000)


def sizes(case: Case) -> str:
    """Check the ids and the round trip at each size from a few bytes to a megabyte."""
    fitting = [text for text in (*_short(case.seed), *_of_powers(case.seed)) if case.can_ask(text)]
    remark = over_texts(case, fitting, case.survives)
    longest = max(map(len, fitting[: case.n_inputs]))
    return "; ".join(filter(None, [remark, f"up to {longest:,} characters"]))


def past_64k(case: Case) -> list[str]:
    """Return a few texts of more than 65,536 characters, one of them of more ids; none where the target is too slow."""
    if not case.affordable(4 * _PAST_64K) or case.client.seconds_for(4 * _PAST_64K) > _AT_ONCE_SECONDS:
        return []
    mixed = "".join(generate(f"gen/mixed:{_PAST_64K}"))
    texts = [
        prose(_PAST_64K, case.seed + 5),
        mixed[:_PAST_64K],
        prose(2 * _PAST_64K, case.seed + 6),
        "a b c d " * (_PAST_64K // 4),
    ]
    return [text for text in texts if case.can_ask(text)]


def _short(seed: int) -> Iterator[str]:
    words = prose(_EVERY_LENGTH + 8, seed + 3).encode("ascii", "ignore").decode()
    for n_bytes in range(1, _EVERY_LENGTH):
        for last in _LAST:
            head = n_bytes - len(last.encode())
            if head >= 0:
                yield words[:head] + last


def _of_powers(seed: int) -> Iterator[str]:
    """Yield, by length, texts of mixed scripts and of plain words with so many bytes and so many characters."""
    greatest = 1 << _GREAT_POWERS[-1]
    shift = Random(f"sizes:{seed}").randrange(64)
    mixed = "".join(generate(f"gen/mixed:{greatest + 80}"))[shift:]
    words = prose(greatest + 80, seed + 4).encode("ascii", "ignore").decode()
    words += "x" * (greatest + 80 - len(words))
    near = {(1 << power) + more for power in _POWERS for more in (-1, 0, 1)}
    great = {1 << power for power in _GREAT_POWERS}
    for n in sorted(near | set(_OTHERS) | great):
        yield of_bytes(mixed, n)
        yield mixed[:n]
        yield words[: n + (n in great)]
