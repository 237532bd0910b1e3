"""How the distinct pieces of a text, and what their counts take, grow with the text; and what that means for 1 TB.

    python tests/bench/distinct_pieces.py [PATTERN] [MEGABYTES]

First the documents of the corpora, each once, in one random order: the whole real text there is. Then, to MEGABYTES
(300), documents that never repeat (`new_documents`), a fixed share of whose words is new: more
than in any real text of that size. Nothing is kept. Of the real text, Heaps' law D = K n^b (Heaps 1978, "Information
Retrieval") is fitted to the last four points, and carried on to 1 TB on 100 machines.
"""

from __future__ import annotations

import math
import random
import sys
import tempfile
import time
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

import numpy as np

from harness.data import load_corpus
from harness.data.documents import encoded
from impls.compiled.training.learning import MOST_CELLS
from impls.compiled.training.parts import batches, new_words
from impls.compiled.training.words import Pieces, Words
from impls.core.text.patterns import resolve
from impls.formats.counts import save_counts

CORPORA = ("english", "turkish", "code", "cjk", "parallel")
MACHINES = 100
NEW_WORD_SHARE = 0.08
"""Share of new words in `new_documents`: about that of a corpus of this mixture at a hundred megabytes. Of `mixed`, 19
% of the words after its first 6 MB had not been seen before, 15 % after 11.5 MB."""
MOVED = 16
"""Bytes of a piece that such a worker sends back, besides its own: its end and its count."""
LEARNING = 16
"""Bytes that learning takes for each byte of the distinct pieces, their pairs included."""
GROUP_BYTES = 1 << 28
"""What a worker of `bpebench train --count-only --scheduler` counts at once."""


def new_documents(documents: list[bytes]) -> Iterator[bytes]:
    """Yield documents that never repeat: lines of a corpus in random order.

    Lines alone would soon hold only known words, whereas real text keeps bringing new ones; so a share of the words is
    replaced by the first half of one word and the second half of another, which preserves letters, lengths and scripts.
    Raise `ValueError` for documents without text.
    """
    lines = [
        line[:2000].split(" ")
        for document in documents
        for line in document.decode("utf-8", "surrogatepass").splitlines()
        if line.strip()
    ]
    if not lines:
        raise ValueError("no line to make documents from")
    chance = random.Random(0)
    while True:
        content = bytearray()
        while len(content) < 4096:
            content += encoded(_renewed(chance.choice(lines), lines, chance)) + b" "
        yield bytes(content)


def _renewed(line: list[str], lines: list[list[str]], chance: random.Random) -> str:
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


def documents() -> Iterator[str]:
    """Yield the documents of the corpora, each once."""
    texts = list(dict.fromkeys(chain.from_iterable(load_corpus(name).documents() for name in CORPORA)))
    random.Random(1).shuffle(texts)
    return iter(texts)


def growth(texts: Iterator[str], pattern: tuple[str, ...], most_bytes: float) -> tuple[Words, list[tuple[int, int]]]:
    """Count texts and print a line whenever they have doubled; return the counts, and bytes and pieces of each line."""
    words, points, n_bytes, following = new_words(pattern), list[tuple[int, int]](), 0, 1_000_000
    for batch in batches(texts, None):
        words.add(batch)
        n_bytes += sum(map(len, batch))
        if n_bytes >= min(following, most_bytes):
            points.append(_printed(words, n_bytes))
            following *= 2
        if n_bytes >= most_bytes:
            return words, points
    points.append(_printed(words, n_bytes))
    return words, points


def _printed(words: Words, n_bytes: int) -> tuple[int, int]:
    words.collect()
    n_pieces = len(words.counts)
    once = int((words.counts == 1).sum()) / n_pieces
    in_tables, in_file = (size / n_pieces for size in (sum(array.nbytes for array in words.arrays), file_bytes(words)))
    print(
        f"{n_bytes / 1e6:8.0f} MB {n_pieces:12,} pieces of {words.lengths.mean():.1f} bytes, {once:.0%} of them once; "
        f"{in_tables:4.0f} bytes each in tables, {in_file:4.1f} in a file",
        flush=True,
    )
    return n_bytes, n_pieces


def file_bytes(words: Words) -> int:
    """Return the size of the file of counts."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "counts"
        save_counts(words.counted().sorted(), path)
        return path.stat().st_size


def main(pattern: str = "cl100k", megabytes: str = "300") -> None:
    """Print both tables and what follows."""
    stages = resolve(pattern)
    print("real text")
    words, points = growth(documents(), stages, math.inf)
    sizes, pieces = np.log(np.array(points[-4:], float)).T
    b, log_k = np.polyfit(sizes, pieces, 1)
    bytes_each = file_bytes(words) / len(words.counts)

    def distinct(n_bytes: float) -> float:
        return float(math.exp(log_k) * n_bytes**b)

    other, started = new_words(stages), time.process_time()
    other.add_counts(Pieces.of(words.counted()))
    rate = len(words.counts) / (time.process_time() - started)
    n_bytes_each = float(words.lengths.mean())
    limit = (MOST_CELLS / (n_bytes_each + 1) / math.exp(log_k)) ** (1 / b)
    print(
        f"D = {math.exp(log_k):.3g} n^{b:.2f}; learning ends where there are {MOST_CELLS} cells, at {limit:.2g} bytes"
    )
    print(f"one core adds up {rate / 1e6:.1f} million counts a second")
    for text, n_parts, moved in (
        (1e10, 1, bytes_each),
        (1e12, MACHINES, bytes_each),
        (1e12, int(1e12 / GROUP_BYTES), MOVED + n_bytes_each),
    ):
        each = distinct(text / n_parts)
        print(
            f"{text:.0e} bytes: {distinct(text):.2g} pieces, {bytes_each * distinct(text) / 1e9:.2g} GB in a file, "
            f"learned from in {LEARNING * n_bytes_each * distinct(text) / 1e9:.2g} GB; in {n_parts} part(s): "
            f"{each:.2g} pieces and {each * moved / 1e6:.2g} MB each, {n_parts * each * moved / 1e9:.2g} GB moved, "
            f"added up in {n_parts * each / rate:.2g} s"
        )
    levels = range(math.ceil(math.log2(MACHINES)))
    path = sum(distinct(1e12 / MACHINES * 2**level) for level in levels)
    sent = sum(MACHINES / 2 ** (level + 1) * distinct(1e12 / MACHINES * 2**level) for level in levels)
    print(
        f"as a tree of {len(levels)} levels: {sent * bytes_each / 1e9:.2g} GB moved, {path:.2g} counts added one after "
        f"the other, in {path / rate:.2g} s"
    )
    print("text in which new words never become rarer")
    growth(map(bytes.decode, new_documents([text.encode() for text in documents()])), stages, float(megabytes) * 1e6)


if __name__ == "__main__":
    main(*sys.argv[1:])
