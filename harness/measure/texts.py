"""Make the texts of a pass from a corpus: joining, cutting, slicing, new documents, and the files a worker reads.

Texts are kept as bytes (UTF-8 with surrogatepass) so that every pass can get new `str` objects.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from random import Random

import msgspec

from harness.data.documents import encoded
from harness.measure.workloads import DOCUMENTS, STRETCHES, State, Workload

SHUFFLED_CHARACTERS = 64_000_000
NEW_WORD_SHARE = 0.08
"""Share of new words in `new_documents`: about that of a corpus of this mixture at a hundred megabytes. Of `mixed`, 19
% of the words after its first 6 MB had not been seen before, 15 % after 11.5 MB."""
_MOST_LINE_CHARACTERS = 2000


def shuffled(documents: Iterable[str]) -> list[str]:
    """Shuffle documents in a fixed order, so that a slice represents the whole; of a huge corpus, the beginning."""
    taken: list[str] = []
    room = SHUFFLED_CHARACTERS
    for document in documents:
        taken.append(document)
        room -= len(document)
        if room < 0:
            break
    Random(0).shuffle(taken)
    return taken


def workload_texts(documents: Iterable[str], workload: Workload) -> list[bytes]:
    """Cut the texts of `workload` from `documents`; fewer bytes than requested if the corpus is smaller.

    Document borders are kept only for `train`; otherwise documents are joined by newlines, then cut again. For states
    that read several stretches, the result holds equally many texts of each, one stretch after the other.
    """
    if workload.task == "train":
        return list(_whole_documents(documents, workload.skip_bytes, workload.max_bytes))
    n_stretches = STRETCHES.get(workload.state, 1)
    content = _joined(documents, workload.skip_bytes, workload.max_bytes * n_stretches)
    if workload.task == "encode-short":
        text = content.decode("utf-8", "surrogatepass")
        size = workload.text_characters
        texts = [encoded(text[start : start + size]) for start in range(0, len(text), size)]
    elif workload.task in DOCUMENTS:
        texts = list(chunks(content, workload.document_bytes))
    else:
        size = max(1, len(content) // n_stretches)
        texts = list(chunks(content, size))[:n_stretches]
    return texts[: len(texts) // n_stretches * n_stretches]


def stretches(texts: list[bytes], workload_state: State) -> list[list[bytes]]:
    """Divide the texts of a workload into equal groups, as many as its state requires (`STRETCHES`)."""
    size = len(texts) // STRETCHES.get(workload_state, 1)
    return [texts[start : start + size] for start in range(0, len(texts), size)] if size else []


def _whole_documents(documents: Iterable[str], skip: int, limit: int) -> Iterator[bytes]:
    """Yield non-empty documents, from the first that ends after `skip`; the last one is cut at `limit`."""
    position, room = 0, limit
    for document in documents:
        content = encoded(document)
        position += len(content)
        if not content or position <= skip:
            continue
        content = content[: boundary(content, room)]
        room -= len(content)
        if content:
            yield content
        if room < 4:
            return


def _joined(documents: Iterable[str], skip: int, limit: int) -> bytes:
    """Return bytes `skip` to `skip + limit` of the documents joined by newlines, cut between characters."""
    content = bytearray()
    for number, document in enumerate(documents):
        if number:
            content += b"\n"
        content += encoded(document)
        if len(content) > skip + limit:
            break
    whole = bytes(content)
    return whole[boundary(whole, skip) : boundary(whole, skip + limit)]


def boundary(content: bytes, position: int) -> int:
    """Return the last border between characters at or before `position`."""
    position = max(0, min(position, len(content)))
    while 0 < position < len(content) and content[position] & 0xC0 == 0x80:
        position -= 1
    return position


def boundary_after(content: bytes, position: int) -> int:
    """Return the first border between characters at or after `position`."""
    while position < len(content) and content[position] & 0xC0 == 0x80:
        position += 1
    return min(position, len(content))


def chunks(content: bytes, size: int) -> Iterator[bytes]:
    """Cut into texts of about `size` bytes, between characters."""
    start = 0
    while start < len(content):
        end = boundary(content, start + size)
        if end <= start:
            end = boundary_after(content, start + 1)
        yield content[start:end]
        start = end


def take(texts: list[bytes], n_bytes: int) -> list[bytes]:
    """Return the first texts that fit into `n_bytes` together (0: all of them).

    A first text that is too long by itself is cut, so that the result is never empty; later ones are left out.
    """
    if not n_bytes:
        return texts
    taken: list[bytes] = []
    room = n_bytes
    for text in texts:
        if len(text) > room:
            if not taken:
                taken.append(next(chunks(text, room)))
            break
        taken.append(text)
        room -= len(text)
    return taken


def new_documents(documents: Iterable[str], document_bytes: int) -> Iterator[bytes]:
    """Yield documents of at most `document_bytes` that never repeat, cut between characters.

    They are lines of a corpus in random order. Lines alone would soon hold only known words, whereas real text keeps
    bringing new ones; so a share of the words is replaced by the first half of one word and the second half of another,
    which preserves letters, lengths and scripts. Raise `ValueError` for documents without text.
    """
    lines = [
        line[:_MOST_LINE_CHARACTERS].split(" ")
        for document in documents
        for line in document.splitlines()
        if line.strip()
    ]
    if not lines:
        raise ValueError("no line to make documents from")
    chance = Random(0)
    while True:
        content = bytearray()
        while len(content) < document_bytes:
            line = _renewed(chance.choice(lines), lines, chance)
            content += encoded(line) + b"\n"
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


def write_texts(path: Path, texts: list[bytes]) -> None:
    """Write texts for `read_texts`."""
    path.write_bytes(msgspec.msgpack.encode(texts))


def read_texts(path: Path) -> list[bytes]:
    """Return the texts `write_texts` wrote."""
    return msgspec.msgpack.decode(path.read_bytes(), type=list[bytes])
