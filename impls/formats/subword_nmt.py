"""subword-nmt's codes: a merge per line, over characters, with the end of a word marked on its last character.

    #version: 0.2
    e r</w>
    l o

Source: Sennrich, Haddow and Birch 2016, "Neural Machine Translation of Rare Words with Subword Units".

Codes are only merges. Words are separated by spaces. The ids are assigned here: the characters of the merges in
code-point order, each without and with the mark, then the results of the merges, in order. A space between words is a
piece here; subword-nmt drops it. Such a file is read, and not written.
"""

from __future__ import annotations

import warnings

from impls.core.errors import InvalidModel
from impls.core.model import Model
from impls.formats.files import check_lines, decode_utf8
from impls.formats.vocabulary import two_parts

FORMAT = "subword-nmt"
HEADER = "#version: 0.2"
END_OF_WORD = "</w>"
PATTERN = r"[^ \r\n]+|[ \r\n]"


class IdsAssigned(UserWarning):
    """The file has merges but no ids; these are assigned by a rule of ours."""


def looks_like_codes(content: bytes) -> bool:
    """Return whether a file of merges contains the end-of-word mark."""
    return f"{END_OF_WORD}\n".encode() in content.replace(b"\r\n", b"\n")


def read(content: bytes, path: str) -> Model:
    """Read the model, with an `IdsAssigned` warning; raise `InvalidModel` naming the invalid line."""
    check_lines(content)
    merges = _lines(decode_utf8(content).split("\n")[:-1])
    parts = [part for left, right in merges for part in (left, right, left + right)]
    characters = {*" \r\n", *"".join(part.removesuffix(END_OF_WORD) for part in parts)}
    tokens = [form for character in sorted(characters) for form in (character, character + END_OF_WORD)]
    tokens += [left + right for left, right in merges]
    # Last come the parts that no merge of the file makes: merges that need them never apply.
    ids = {token: i for i, token in enumerate(dict.fromkeys([*tokens, *sorted({*parts}.difference(tokens))]))}
    warnings.warn(
        f"{path}: codes have no ids; they are numbered here: characters in code-point order, then merged tokens",
        IdsAssigned,
        stacklevel=4,
    )
    return Model(
        tokens=tuple(token.encode() for token in ids),
        merges=tuple((ids[left], ids[right]) for left, right in merges),
        pattern=(PATTERN,),
        alphabet="chars",
        end_of_word=END_OF_WORD,
    )


def _lines(lines: list[str]) -> list[tuple[str, str]]:
    """Return the merges; of duplicates the first counts."""
    if lines[0].rstrip("\r") != HEADER:
        raise InvalidModel(f"line 1: {HEADER!r} is expected, not {lines[0][:40]!a}")
    merges: dict[tuple[str, str], None] = {}
    for number, line in enumerate(lines[1:], 2):
        left, right = two_parts(line.rstrip("\r"), f"line {number}")
        if left.endswith(END_OF_WORD) or right == END_OF_WORD:
            raise InvalidModel(f"line {number}: only a word's last symbol ends in {END_OF_WORD}, not {line[:40]!a}")
        merges[left, right] = None
    return list(merges)
