"""From a corpus to the texts of a pass: joining, cutting, slicing, and the files a worker reads them from.

Texts are kept as bytes (UTF-8 with surrogatepass) so that every pass can be given `str` objects of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from random import Random

import msgspec

from harness.measure.workloads import DOCUMENTS, STRETCHES, State, Workload

SHUFFLED_CHARACTERS = 64_000_000


def shuffled(documents: Iterable[str]) -> list[str]:
    """The documents in a fixed random order, so that a slice stands for the whole; of huge corpora the beginning."""
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
    """The texts of `workload`, cut from `documents`; fewer bytes than asked for where the corpus has no more.

    A document split is kept only for `train`; elsewhere documents are joined by line ends, then cut anew. For states
    that read several stretches, the texts of one stand behind those of the other, equally many of each.
    """
    if workload.task == "train":
        return list(_whole_documents(documents, workload.skip_bytes, workload.max_bytes))
    n_stretches = STRETCHES.get(workload.state, 1)
    content = _joined(documents, workload.skip_bytes, workload.max_bytes * n_stretches)
    if workload.task == "encode-short":
        text = content.decode("utf-8", "surrogatepass")
        size = workload.text_characters
        texts = [_encoded(text[start : start + size]) for start in range(0, len(text), size)]
    elif workload.task in DOCUMENTS:
        texts = list(chunks(content, workload.document_bytes))
    else:
        size = max(1, len(content) // n_stretches)
        texts = list(chunks(content, size))[:n_stretches]
    return texts[: len(texts) // n_stretches * n_stretches]


def stretches(texts: list[bytes], workload_state: State) -> list[list[bytes]]:
    """The texts of a workload in as many groups of equally many as its state asks for (`STRETCHES`)."""
    size = len(texts) // STRETCHES.get(workload_state, 1)
    return [texts[start : start + size] for start in range(0, len(texts), size)] if size else []


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _whole_documents(documents: Iterable[str], skip: int, limit: int) -> Iterator[bytes]:
    """Documents that are not empty, from the first that reaches past `skip`; the last one is cut at `limit`."""
    position, room = 0, limit
    for document in documents:
        content = _encoded(document)
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
    """Bytes `skip` to `skip + limit` of the documents joined by line ends, both moved to a character's border."""
    content = bytearray()
    for number, document in enumerate(documents):
        if number:
            content += b"\n"
        content += _encoded(document)
        if len(content) > skip + limit:
            break
    whole = bytes(content)
    return whole[boundary(whole, skip) : boundary(whole, skip + limit)]


def boundary(content: bytes, position: int) -> int:
    """The last border between characters that is not after `position`."""
    position = max(0, min(position, len(content)))
    while 0 < position < len(content) and content[position] & 0xC0 == 0x80:
        position -= 1
    return position


def chunks(content: bytes, size: int) -> Iterator[bytes]:
    """Cut into texts of `size` bytes, borders moved to characters'."""
    start = 0
    while start < len(content):
        end = boundary(content, start + size)
        if end <= start:
            end = start + 1
            while end < len(content) and content[end] & 0xC0 == 0x80:
                end += 1
        yield content[start:end]
        start = end


def take(texts: list[bytes], n_bytes: int) -> list[bytes]:
    """The first texts that hold `n_bytes` together (all, for 0); one that does not fit whole is cut or left out.

    The first text is cut where it is too long by itself, so that the answer is never empty; a later one is left out.
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


def write_texts(path: Path, texts: list[bytes]) -> None:
    """Keep texts for `read_texts`."""
    path.write_bytes(msgspec.msgpack.encode(texts))


def read_texts(path: Path) -> list[bytes]:
    """What `write_texts` kept."""
    return msgspec.msgpack.decode(path.read_bytes(), type=list[bytes])
