"""An endless stream of documents that never repeat, made of a real corpus: its lines in random order, with new words.

Lines alone would soon hold only known words, where real text keeps bringing new ones. So a share of the words is
replaced by the first half of one and the second half of another: letters, lengths and scripts stay those of the text.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from random import Random

from harness.measure.texts import boundary

NEW_WORD_SHARE = 0.08
"""Of all words: about what a corpus of this mixture brings at a hundred megabytes. Of `mixed`, 19 % of the words after
its first 6 MB had not been seen before, 15 % after 11.5 MB."""
_MOST_LINE_CHARACTERS = 2000


def new_documents(documents: Iterable[str], document_bytes: int, seed: int = 0) -> Iterator[bytes]:
    """Yield documents of at most `document_bytes`, cut between characters, without end; `ValueError` without text."""
    lines = [
        line[:_MOST_LINE_CHARACTERS].split(" ")
        for document in documents
        for line in document.splitlines()
        if line.strip()
    ]
    if not lines:
        raise ValueError("no line to make documents from")
    chance = Random(seed)
    while True:
        content = bytearray()
        while len(content) < document_bytes:
            line = _renewed(chance.choice(lines), lines, chance)
            content += line.encode("utf-8", "surrogatepass") + b"\n"
        yield bytes(content[: boundary(bytes(content), document_bytes)])


def _renewed(line: list[str], lines: list[list[str]], chance: Random) -> str:
    """Return the line with some of its words replaced by new ones."""
    n_new = int(len(line) * NEW_WORD_SHARE + chance.random())
    if n_new:
        line = list(line)
        for _ in range(n_new):
            place = int(chance.random() * len(line))
            donor = chance.choice(chance.choice(lines))
            word = line[place]
            line[place] = word[: (len(word) + 1) // 2] + donor[len(donor) // 2 :]
    return " ".join(line)
