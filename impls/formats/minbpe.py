"""minbpe's `.model`: lines of text.

    minbpe v1
    '(?i:[sdmt]|ll|ve|re)|...      the pattern; an empty line if texts are not split
    1                              how many special tokens, then one line for each: text, id
    <|endoftext|> 300
    97 98                          the merges in order: the two ids; the k-th makes id 256 + k

Ids 0 to 255 are the bytes. Such a file can be read, but not written.
"""

from __future__ import annotations

from impls.core.errors import InvalidModel
from impls.core.model import Model
from impls.core.text.patterns import resolve
from impls.formats.files import check_lines, decode_utf8
from impls.formats.vocabulary import Pair

FORMAT = "minbpe"
HEADER = "minbpe v1"
_MAX_BYTES = 1 << 25
"""Limit on the total bytes of all tokens: every merge may double a length, so a hundred lines could exhaust memory."""


def read(content: bytes) -> Model:
    """Read the model; raise `InvalidModel` naming the invalid line."""
    check_lines(content)
    lines = decode_utf8(content).split("\n")[:-1]
    if lines[0].strip() != HEADER:
        raise InvalidModel(f"line 1: expected {HEADER!r}, not {lines[0][:40]!a}")
    if len(lines) < 3:
        raise InvalidModel("the pattern and the number of special tokens are missing; the file is cut short")
    pattern, n_special = lines[1].strip(), _number(lines[2].strip(), 3)
    first_merge = 3 + n_special
    if len(lines) < first_merge:
        raise InvalidModel(f"line 3: {n_special} special tokens, but {len(lines) - 3} lines; it is cut short")
    special: dict[str, int] = {}
    for number, line in enumerate(lines[3:first_merge], 4):
        fields = line.split()
        if len(fields) != 2 or fields[0] in special:
            raise InvalidModel(f"line {number}: expected a new special token and its id, not {line[:40]!a}")
        special[fields[0]] = _number(fields[1], number)
    tokens, merges = _merges(lines[first_merge:], first_merge + 1)
    return Model(
        tokens=tuple(tokens),
        merges=tuple(merges),
        pattern=resolve((pattern,) if pattern else ()),
        special_tokens=special,
    )


def _number(text: str, line: int) -> int:
    if not (text.isascii() and text.isdigit()) or len(text) > 10:
        raise InvalidModel(f"line {line}: expected a whole number, not {text[:40]!a}")
    return int(text)


def _merges(lines: list[str], first_line: int) -> tuple[list[bytes], list[Pair]]:
    tokens = [bytes([byte]) for byte in range(256)]
    merges: list[Pair] = []
    n_bytes = 256
    for number, line in enumerate(lines, first_line):
        fields = line.split()
        if len(fields) != 2:
            raise InvalidModel(f"line {number}: expected two ids, not {line[:40]!a}")
        left, right = _number(fields[0], number), _number(fields[1], number)
        if max(left, right) >= len(tokens):
            raise InvalidModel(f"line {number}: no earlier line makes the id {max(left, right)}")
        n_bytes += len(tokens[left]) + len(tokens[right])
        if n_bytes > _MAX_BYTES:
            raise InvalidModel(f"line {number}: the tokens up to here have more than {_MAX_BYTES} bytes")
        tokens.append(tokens[left] + tokens[right])
        merges.append((left, right))
    return tokens, merges
