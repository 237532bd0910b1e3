"""minbpe's `.model`: lines of text.

    minbpe v1
    '(?i:[sdmt]|ll|ve|re)|...      the pattern; an empty line where texts are not split
    1                              how many special tokens, then a line each: text, id
    <|endoftext|> 300
    97 98                          the merges in order: the two ids; the k-th makes id 256 + k

Ids 0 to 255 are the bytes. White space around the pattern is stripped on reading; a space that begins a pattern is
therefore written as the group `(?: )`.
"""

from __future__ import annotations

from impls.core.errors import InvalidModel, Unsupported
from impls.core.model import Model
from impls.core.text.patterns import resolve
from impls.core.text.stages import drops_text
from impls.formats.files import check_lines, decode_utf8
from impls.formats.vocabulary import Pair, added_as_special, listed_merges, lost_fields

FORMAT = "minbpe"
HEADER = "minbpe v1"
_MAX_BYTES = 1 << 25
"""Limit on the total bytes of all tokens: every merge may double a length, so a hundred lines could exhaust memory."""


_FIRST_SPACE = "(?: )"


def read(content: bytes) -> Model:
    """Read the model; raise `InvalidModel` naming the invalid line."""
    check_lines(content)
    lines = decode_utf8(content).split("\n")[:-1]
    if lines[0].strip() != HEADER:
        raise InvalidModel(f"line 1: {HEADER!r} is expected, not {lines[0][:40]!a}")
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
            raise InvalidModel(f"line {number}: a special token, new, and its id are expected, not {line[:40]!a}")
        special[fields[0]] = _number(fields[1], number)
    tokens, merges = _merges(lines[first_merge:], first_merge + 1)
    if pattern.startswith(_FIRST_SPACE):
        pattern = " " + pattern.removeprefix(_FIRST_SPACE)
    return Model(
        tokens=tuple(tokens),
        merges=tuple(merges),
        pattern=resolve((pattern,) if pattern else ()),
        special_tokens=special,
    )


def _number(text: str, line: int) -> int:
    if not (text.isascii() and text.isdigit()) or len(text) > 10:
        raise InvalidModel(f"line {line}: a whole number is expected, not {text[:40]!a}")
    return int(text)


def _merges(lines: list[str], first_line: int) -> tuple[list[bytes], list[Pair]]:
    tokens = [bytes([byte]) for byte in range(256)]
    merges: list[Pair] = []
    n_bytes = 256
    for number, line in enumerate(lines, first_line):
        fields = line.split()
        if len(fields) != 2:
            raise InvalidModel(f"line {number}: two ids are expected, not {line[:40]!a}")
        left, right = _number(fields[0], number), _number(fields[1], number)
        if max(left, right) >= len(tokens):
            raise InvalidModel(f"line {number}: id {max(left, right)} is made by no line before this one")
        n_bytes += len(tokens[left]) + len(tokens[right])
        if n_bytes > _MAX_BYTES:
            raise InvalidModel(f"line {number}: the tokens up to here have more than {_MAX_BYTES} bytes")
        tokens.append(tokens[left] + tokens[right])
        merges.append((left, right))
    return tokens, merges


def write(model: Model) -> bytes:
    """Return the file of `model`; raise `Unsupported` with the reason."""
    pattern = _pattern(model)
    merges = _listed(model)
    lines = [HEADER, pattern, str(len(model.whole_token_ids))]
    for text, i in model.whole_token_ids.items():
        if text.split() != [text]:
            raise Unsupported(FORMAT, f"special tokens hold no white space there, and {text!r} does")
        lines.append(f"{text} {i}")
    lines += [f"{left} {right}" for left, right in merges]
    return "\n".join([*lines, ""]).encode()


def _pattern(model: Model) -> str:
    if drops_text(model.pattern):
        raise Unsupported(FORMAT, "it does not say that a pattern drops text")
    if len(model.pattern) > 1:
        raise Unsupported(FORMAT, f"it holds one pattern; this model has {len(model.pattern)} split stages")
    pattern = model.pattern[0] if model.pattern else ""
    if pattern.startswith(" "):
        pattern = _FIRST_SPACE + pattern[1:]
    if pattern != pattern.strip() or len(pattern.splitlines()) > 1:
        raise Unsupported(FORMAT, "a pattern is one line there, without white space around it")
    return pattern


def _listed(model: Model) -> tuple[Pair, ...]:
    """Return the merges, which make the ids from 256 on in order; raise `Unsupported` if they do not."""
    if model.alphabet != "bytes":
        raise Unsupported(FORMAT, "its tokens start from bytes; this model's alphabet is 'chars'")
    if model.end_of_word is not None:
        raise Unsupported(FORMAT, f"it has no symbols that end in {model.end_of_word!r}")
    for byte in range(256):
        if (i := model.id_by_token[bytes([byte])]) != byte:
            raise Unsupported(FORMAT, f"ids 0 to 255 are the bytes there; byte {byte} has id {i}")
    merges, why = listed_merges(model)
    if why is not None:
        raise Unsupported(FORMAT, f"it lists one merge a token, and {why.partition(';')[0]}")
    made = [model.id_by_token[model.tokens[left] + model.tokens[right]] for left, right in merges]  # type: ignore[operator]
    if made != list(range(256, 256 + len(made))):
        raise Unsupported(FORMAT, "its merges make the ids from 256 on, one by one, and those of this model do not")
    if sum(token is not None for token in model.tokens) != 256 + len(made):
        raise Unsupported(FORMAT, "every token is made by a merge there, and not every one of this model is")
    return merges


def losses(model: Model) -> list[str]:
    """Return what the file would lose of `model`; raise `Unsupported` if it cannot hold it."""
    write(model)
    lost = added_as_special(model)
    lost += lost_fields(model, "normalization", "unknown", "merge_counts", "ignore_merges")
    if model.merge_rule == "concatenation":
        lost.append("merge_rule: joined bytes are looked up; the merges that gives are listed, with the same ids")
    return lost
